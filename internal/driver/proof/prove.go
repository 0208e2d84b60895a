// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/emit"
	"lathe/emit/circuit"
	"lathe/internal/driver"
	"lathe/internal/evidence"
	"lathe/sim"
)

const (
	randomSamples = 5000
	// leastRandom is how many random ones a circuit has that takes very many cycles.
	leastRandom = 200
	// secondSamples run in Icarus, one where a sample takes more than slowSample cycles; gateSamples run as gates.
	secondSamples, slowSample, gateSamples = 2, 5000, 20
	// Where the runs would simulate more cycles than this, runs behind the first have laterSamples samples; and where
	// the first alone does, it has fewer random ones.
	runCycles    = 12_000_000
	laterSamples = 1000
)

// Prover compares the engines on circuits.
type Prover struct {
	Examples string // the folder of the examples
	Commit   string // the state of the sources, for the lines
	Edges    []circuit.Edge
	Engines  driver.Engines
	// Version stands for the code that compares and for the tools: outcomes of earlier runs are taken where it is the
	// same.
	Version string
}

// Prove is the line of the circuit of a use, with the codes that differ, or why there is none, in its Failure.
func (p *Prover) Prove(ctx context.Context, u evidence.Use) evidence.Proof {
	line := evidence.Proof{}
	d := Compile(ctx, p.Examples, u, p.Edges)
	if line.Failure = d.Failure; line.Failure == "" {
		if err := p.run(ctx, d, &line); err != nil {
			line.Failure, _, _ = strings.Cut(err.Error(), "\n")
		}
	}
	line.Circuit, line.Answers, line.Commit = d.Use.Circuit, d.Answers, p.Commit
	return line
}

func (p *Prover) run(ctx context.Context, d *Design, line *evidence.Proof) error {
	j := d.job
	again, err := jobOf(ctx, p.Examples, d.Use)
	if err != nil {
		return err
	}
	if !same(j.HW.Design, again.HW.Design) {
		return fmt.Errorf("two emissions of one model under one plan differ")
	}
	line.Stored = len(j.Samples)
	line.Random, line.Later = samples(line.Stored, d.II)
	extra, err := driver.RandomSamples(j.HW.Scheduled, line.Random, 1)
	if err != nil {
		return err
	}
	j.Samples = append(j.Samples, extra...)
	j.Seeds, j.Stalls, j.Later = evidence.StallSeeds, evidence.StallPercent, line.Later
	j.Second.Frames = secondSamples
	if d.II > slowSample {
		j.Second.Frames = 1
	}
	if d.File == "model.onnx" && slices.Contains([]string{Default, "mx"}, d.Plan) { // one of each kind
		j.Second.Gates = gateSamples
	}
	key, err := p.key(ctx, d)
	if err != nil {
		return err
	}
	path := filepath.Join(p.Engines.Cache, "proofs", key+".json")
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, line) == nil {
		return nil
	}
	if err := readable(ctx, p.Engines.Cache, j.HW.Design); err != nil {
		return err
	}
	c, err := p.Engines.Verify(ctx, *j)
	if err != nil {
		return err
	}
	take(line, c)
	if err := judge(c, j); err != nil {
		return err
	}
	return keep(path, line)
}

// samples are how many random ones the first run has, and how many samples the others have at most, 0 for all.
func samples(stored, ii int) (random, later int) {
	random = randomSamples
	if cycles := (stored + random) * ii; cycles*len(evidence.StallSeeds) > runCycles {
		later = laterSamples
		random = max(min(random, 2*runCycles/max(ii, 1)-stored), leastRandom)
	}
	return random, later
}

// take copies what a check has found into a line, percents and decibels as a page shows them.
func take(line *evidence.Proof, c *driver.Check) {
	line.Codes, line.Mismatches, line.Latency, line.II = c.Compared, c.Mismatches, c.Latency, c.II
	if a := c.Accuracy; a != nil {
		if a.Float != nil {
			line.Float = rounded(100**a.Float, 2)
		}
		line.Quantized = rounded(100*a.Quantized, 2)
	}
	if c.SQNR != nil {
		line.SQNR = rounded(*c.SQNR, 1)
	}
}

func rounded(v float64, decimals int) *float64 {
	scale := math.Pow(10, float64(decimals))
	v = math.Round(v*scale) / scale
	return &v
}

// judge finds codes that differ, an engine that was compared on fewer codes than it should, cycles that were not
// predicted, a kind of stall that never happened.
func judge(c *driver.Check, j *driver.Job) error {
	if c.Mismatches != 0 {
		return fmt.Errorf("%d of %d codes differ: %v", c.Mismatches, c.Outputs, c.First)
	}
	each := 0 // codes of a sample, and the scales of its blocks
	for _, out := range j.HW.Scheduled.Out {
		each += out.Node.Type.Elems() + out.Node.Type.Blocks()
	}
	want := map[string]int{"pjrt": c.Samples * each, "rtl": (c.Quiet + c.Samples) * each,
		driver.SecondSimulator: j.Second.Frames * each}
	for range j.Seeds[1:] {
		if j.Later > 0 {
			want["rtl"] += min(j.Later, c.Samples) * each
		} else {
			want["rtl"] += c.Samples * each
		}
	}
	if j.Second.Gates > 0 {
		want[driver.GateLevel] = j.Second.Gates * each
	}
	for engine, n := range want {
		if c.Compared[engine] != n || n == 0 {
			return fmt.Errorf("%s was compared on %d codes, not on %d", engine, c.Compared[engine], n)
		}
	}
	if ii := j.HW.Interval(); c.II != ii {
		return fmt.Errorf("a sample takes %g cycles, promised are %g", c.II, ii)
	}
	if c.Stalls.Starved == 0 || c.Stalls.Blocked == 0 {
		return fmt.Errorf("a kind of stall never happened: %+v", c.Stalls)
	}
	return nil
}

// readable demands that Verilator finds nothing to warn of, and that Icarus and Yosys take the design.
func readable(ctx context.Context, cache string, d *emit.Design) error {
	if err := sim.Lint(ctx, cache, d.Top, d.Files); err != nil {
		return err
	}
	if err := sim.Elaborate(ctx, cache, d.Top, d.Files); err != nil {
		return err
	}
	return sim.Yosys(ctx, sim.DesignSpec(d, cache, false, false))
}
