// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lathe/golden"
	"lathe/golden/pjrt"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/ir/unit"
	"lathe/lower/plan"
	"lathe/sim"
)

// Engines are what verify compares with the reference.
type Engines struct {
	// Cache is the folder of compiled simulations.
	Cache string
	PJRT  pjrt.Config
	// NoPJRT leaves PJRT out, which a check without it says by its list of engines.
	NoPJRT bool
	// CUDA, if not nil, computes a quantized graph by its kernels.
	CUDA func(context.Context, *ir.Graph, []ref.Sample) ([]ref.Sample, error)
	// Now is the clock that times the steps.
	Now func() time.Time
}

// Check is the result of comparing engines on samples.
type Check struct {
	Model   string `json:"model"`
	Samples int    `json:"samples"`
	Outputs int    `json:"outputs"`
	// Compared counts the codes that each engine was compared on, over all its runs.
	Compared   map[string]int `json:"compared"`
	Mismatches int            `json:"mismatches"`
	Engines    []string       `json:"engines"`
	// Balance is what the balance mode aimed at and reached; nil in other modes.
	Balance *unit.Balance      `json:"balance,omitempty"`
	First   []*golden.Mismatch `json:"first_mismatches,omitempty"`
	// Quiet is the number of samples of the run without stalls.
	Quiet int `json:"quiet_samples"`
	// Latency is first beat in to first beat out, II the distance of samples, both without stalls; Cycles is the length
	// of the stalled runs.
	Latency int     `json:"latency_cycles"`
	II      float64 `json:"ii_cycles"`
	Cycles  int     `json:"cycles"`
	Stalls  Stalls  `json:"stalls"`
	Fifos   []Fifo  `json:"fifos,omitempty"`
	Right
	// SQNR is that of all outputs together, OutputSQNR of each, where they are no numbers of classes.
	SQNR       *float64           `json:"sqnr_db,omitempty"`
	OutputSQNR []OutputSQNR       `json:"output_sqnr,omitempty"`
	Seconds    map[string]float64 `json:"seconds"`
	Folder     string             `json:"folder,omitempty"`
	// Second are the opinions of other simulators on a few samples; their mismatches are counted in Mismatches too.
	Second []Opinion `json:"second,omitempty"`
	// Missed says that samples follow each other more slowly than the plan asks for or the balance mode promised.
	Missed string `json:"rate_missed,omitempty"`
	// Warnings say what weakens the proof.
	Warnings []string `json:"warnings,omitempty"`

	// Lengths is what was found of a design whose frames change in length; nil of other designs.
	Lengths *Lengths `json:"lengths,omitempty"`
	// Decode is what was found of a decoder; nil of other designs.
	Decode *Decoding `json:"decode,omitempty"`

	predicted float64 // cycles of a sample
}

// OutputSQNR is the ratio in dB of one output.
type OutputSQNR struct {
	Name string  `json:"name"`
	SQNR float64 `json:"sqnr_db"`
}

// Stalls say what the simulated streams went through.
type Stalls struct {
	Percent int      `json:"percent"`
	Seeds   []uint64 `json:"seeds"`
	// Starved counts cycles in which an input port was ready and no data came, Blocked those in which a result was held
	// back at an output port: both kinds of stall must have happened.
	Starved int `json:"starved_cycles"`
	Blocked int `json:"blocked_cycles"`
}

// Right is how right the outputs of the model are: the accuracy or, in its place, what a metric says.
type Right struct {
	Accuracy *Accuracies `json:"accuracy,omitempty"`
	// Metric names what Score is of; Least says that less of it is better.
	Metric string      `json:"metric,omitempty"`
	Least  bool        `json:"less_is_better,omitempty"`
	Score  *Accuracies `json:"score,omitempty"`
}

// Accuracies compare the model before and after quantization. A model that was saved quantized has no float form.
type Accuracies struct {
	Float     *float64 `json:"float,omitempty"`
	Quantized float64  `json:"quantized"`
}

// Job is one verification.
type Job struct {
	HW      *Hardware
	Samples []ref.Sample
	Labels  [][]int64 // of the first samples; nil: none
	Metric  *Metric   // of the first samples, in place of the accuracy; nil: none
	// Floats are the first samples as the float graph takes them; random codes have no such form.
	Floats   []ref.Sample
	Stalls   int      // percent of cycles in which each port holds still
	Seeds    []uint64 // one stalled run each
	Later    int      // samples of the stalled runs behind the first, 0 for all
	Prefill  int      // tokens of a decoder's first sequence that come at once; 0 for DefaultPrefill
	Trace    bool
	FST      string // file for a waveform of the first stalled run, empty for none
	Second   Second
	Progress Progress
}

// Verify runs the reference, PJRT, kernels and the simulated design on the same samples and compares them code by code.
// Where outputs differ, or on request, every intermediate value is compared and the first node that differs is named.
func (e Engines) Verify(ctx context.Context, j Job) (*Check, error) {
	c := &Check{Model: j.HW.Scheduled.Name, Samples: len(j.Samples), Engines: []string{"ref"}, Compared: map[string]int{},
		Seconds: map[string]float64{}, Stalls: Stalls{Percent: j.Stalls, Seeds: j.Seeds}}
	if lengthsAt(j.HW.Scheduled) >= 0 {
		if _, err := lengthsOf(j.HW.Scheduled, j.Samples); err != nil {
			return nil, err
		}
	}
	start := e.Now()
	done := func(step string) {
		now := e.Now()
		c.Seconds[step], start = now.Sub(start).Seconds(), now
	}
	j.Progress.report("reference", 0, len(j.Samples))
	program, err := ref.New(j.HW.Scheduled)
	if err != nil {
		return nil, err
	}
	if c.Fifos, c.predicted, c.Quiet, err = predict(ctx, j.HW); err != nil {
		return nil, err
	}
	want, err := program.Run(ctx, j.Samples)
	if err != nil {
		return nil, err
	}
	done("ref")
	if err := c.quality(ctx, j, want); err != nil {
		return nil, err
	}
	done("float")
	nodes := OutputNodes(j.HW.Scheduled)
	c.Outputs = outputs(j.HW.Scheduled, len(want))
	if err := e.software(ctx, j, c, nodes, want, done); err != nil {
		return nil, err
	}
	j.Progress.report("build simulation", 0, 0)
	model, simulate, err := e.model(ctx, j, c)
	if err != nil {
		return nil, err
	}
	done("build")
	if err := simulate(ctx, j, model, want, nodes); err != nil {
		return nil, e.stuck(ctx, j, err)
	}
	done("simulate")
	if j.Trace || c.Mismatches > 0 {
		err = e.trace(ctx, j, c)
		done("trace")
	}
	if err != nil || j.Second == (Second{}) {
		return c, err
	}
	err = e.second(ctx, j, c, want)
	done("second")
	return c, err
}

// OutputNodes are the nodes that the outputs of g read, in their order.
func OutputNodes(g *ir.Graph) []*ir.Node {
	var nodes []*ir.Node
	for _, o := range g.Out {
		nodes = append(nodes, o.Node)
	}
	return nodes
}

// outputs counts the values that samples have at the outputs of g.
func outputs(g *ir.Graph, samples int) (n int) {
	for _, node := range OutputNodes(g) {
		n += samples * node.Type.Elems()
	}
	return n
}

// compare adds one engine to the counts.
func (c *Check) compare(engine string, nodes []*ir.Node, want, got []ref.Sample) error {
	compared, mismatches, first, err := golden.Compare(engine, nodes, want, got)
	if err != nil {
		return err
	}
	if !slices.Contains(c.Engines, engine) {
		c.Engines = append(c.Engines, engine)
	}
	c.Compared[engine] += compared
	c.Mismatches += mismatches
	if first != nil {
		c.First = append(c.First, first)
	}
	return nil
}

// quietSamples is how many samples measure latency and initiation interval at least.
const quietSamples = 16

// simulate measures an undisturbed run first, then compares one run a seed with random stalls on all ports.
func (c *Check) simulate(ctx context.Context, j Job, model *sim.Model, want []ref.Sample, nodes []*ir.Node) error {
	quiet, err := sim.RunDesign(ctx, model, j.HW.Scheduled, j.HW.Design, repeat(j.Samples, c.Quiet),
		sim.Input{Occupancy: len(c.Fifos) > 0, MaxIdle: j.patience(), Warm: loading(j.HW.Design)})
	if err != nil {
		return err
	}
	watch(c.Fifos, quiet.Result, true)
	if err := c.Overflows(j.HW); err != nil {
		return err
	}
	c.Latency, c.II = quiet.Result.LatencyCycles, quiet.Result.IICycles
	slow := c.II > c.predicted*(1+portSlack)
	if c.II > 0 && c.II != c.predicted && (j.HW.Design.Memory.KeepsUp() || slow) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("a sample takes %s cycles, %s were predicted", diag.Number(c.II, -1),
			diag.Number(c.predicted, -1)))
	}
	c.pace(j.HW.Plan, j.promised())
	if err := c.compare("rtl", nodes, repeat(want, c.Quiet), quiet.Outputs); err != nil {
		return err
	}
	for i, seed := range j.Seeds {
		in, samples := j.stalled(seed), len(j.Samples)
		if i == 0 {
			in.FSTFile = j.FST
		} else if j.Later > 0 {
			samples = min(samples, j.Later)
		}
		in.Progress = func(n int) { j.Progress.report("simulation", n, samples) }
		run, err := sim.RunDesign(ctx, model, j.HW.Scheduled, j.HW.Design, j.Samples[:samples], in)
		if err != nil {
			return err
		}
		c.stalls(run.Result)
		if err := c.compare("rtl", nodes, want[:samples], run.Outputs); err != nil {
			return err
		}
	}
	c.unstalled(j)
	return nil
}

// stalls adds up those of a run.
func (c *Check) stalls(r *sim.Result) {
	c.Cycles += r.Cycles
	watch(c.Fifos, r, false)
	for _, p := range r.In {
		c.Stalls.Starved += p.Starved
	}
	for _, p := range r.Out {
		c.Stalls.Blocked += p.Blocked
	}
}

// unstalled warns where a kind of stall did not happen.
func (c *Check) unstalled(j Job) {
	if j.Stalls > 0 && (c.Stalls.Starved == 0 || c.Stalls.Blocked == 0) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("a kind of stall never happened: %d starved and %d blocked cycles "+
			"of %d; ask for more stalls or more samples", c.Stalls.Starved, c.Stalls.Blocked, c.Cycles))
	}
}

// promised is what the balance mode has; nil of other modes.
func (j *Job) promised() *unit.Balance {
	if j.HW.Schedule == nil {
		return nil
	}
	return j.HW.Schedule.Balance
}

// pace holds the measured distance of samples to the rate that the plan asks for, and to what the balance mode, nil for
// others, has promised.
func (c *Check) pace(plan *plan.Plan, promised *unit.Balance) {
	hz, fps := plan.Target.ClockMHz*1e6, plan.Fold.FPS
	switch {
	case fps > 0 && c.II*fps > hz*(1+1e-12):
		c.Missed = fmt.Sprintf("a sample takes %s cycles, at %s MHz %s samples a second; the plan asks for %s",
			diag.Number(c.II, 10), diag.Number(plan.Target.ClockMHz, -1), diag.Number(hz/c.II, 10), diag.Number(fps, 10))
	case promised != nil && c.II > promised.Cycles:
		frame := "sample"
		if c.Decode != nil {
			frame = "sequence"
		}
		c.Missed = fmt.Sprintf("a %s takes %s cycles, %s were promised", frame, diag.Number(c.II, 10),
			diag.Number(promised.Cycles, 10))
	}
}

// stallBurst is how many cycles a stall lasts on average.
const stallBurst = 3

// stalled is a run with stalls on all ports.
func (j Job) stalled(seed uint64) sim.Input {
	in := sim.Input{Seed: seed, Back: []sim.Stall{{Percent: j.Stalls, Burst: stallBurst}}, Occupancy: true,
		Memory: sim.Stall{Percent: j.Stalls}, MemoryLatency: memoryLatency, MaxIdle: j.patience()}
	ii := Slowest(j.HW.Design).Cycles
	for _, p := range j.HW.Design.Ports {
		if p.Input {
			in.Idle = append(in.Idle, pauses(j.Stalls, ii/p.Beats))
		}
	}
	return in
}

// pauses are the stalls of an input that the design reads every so many cycles. Where that is seldom, as many beats are
// late as cycles are stalled elsewhere, by so many cycles on average: a short pause would be over before the design
// looks.
func pauses(percent, every int) sim.Stall {
	if every <= stallBurst {
		return sim.Stall{Percent: percent, Burst: stallBurst}
	}
	return sim.Stall{Percent: percent, Burst: every, Late: true}
}

// repeat takes n samples, starting over when there are fewer.
func repeat(samples []ref.Sample, n int) []ref.Sample {
	out := make([]ref.Sample, n)
	for i := range out {
		out[i] = samples[i%len(samples)]
	}
	return out
}
