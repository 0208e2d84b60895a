// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lathe/emit"
	"lathe/internal/diag"
	"lathe/lower/schedule/tokens"
	"lathe/sim"
)

// Fifo is one FIFO of a design: its depth, and the most beats that were in it at once.
type Fifo struct {
	Node  string `json:"node"`
	Depth int    `json:"depth"`
	// Predicted is what a run without values says, Quiet what the simulation without stalls has shown, Stalled the most
	// of those with stalls.
	Predicted int `json:"predicted"`
	Quiet     int `json:"quiet"`
	Stalled   int `json:"stalled"`

	instance string
}

// predict lists the FIFOs of a design, and says how many cycles a sample takes, and of how many samples a run shows it.
// A FIFO that is shallower than it must be is an error L0720.
func predict(ctx context.Context, hw *Hardware) (list []Fifo, ii float64, samples int, err error) {
	for _, u := range hw.Design.Units {
		if u.Depth > 0 {
			list = append(list, Fifo{Node: u.Node, Depth: u.Depth, instance: u.Instance})
		}
	}
	if err := tokens.Check(ctx, hw.Scheduled, &hw.units); err != nil {
		return nil, 0, 0, err
	}
	var times *tokens.Times
	if hw.decode != nil { // sequences do not overlap
		times, err = tokens.Lockstep(ctx, hw.Scheduled, &hw.units, hw.decode.Tokens, hw.decode.Tokens)
	} else {
		times, samples, err = tokens.Steady(ctx, hw.Scheduled, &hw.units)
	}
	if err == nil && hw.decode == nil && samples < quietSamples { // a large design
		samples = tokens.Whole(hw.Scheduled, quietSamples)
		times, err = tokens.Run(ctx, hw.Scheduled, &hw.units, samples)
	}
	if err != nil {
		return nil, 0, 0, err
	}
	for n, most := range times.Most {
		for i := range list {
			if list[i].Node == n.Name {
				list[i].Predicted = most
			}
		}
	}
	if hw.decode != nil {
		return list, hw.decode.Cycles, samples, nil
	}
	return list, max(float64(Slowest(hw.Design).Cycles), float64(hw.Design.Traffic()), times.II()), samples, nil
}

// watch notes how full the FIFOs have been in a run.
func watch(list []Fifo, r *sim.Result, quiet bool) {
	seen := r.Occupancy()
	for _, path := range slices.Sorted(maps.Keys(seen)) {
		for i := range list {
			f := &list[i]
			switch {
			case !sim.InCore(path, f.instance):
			case quiet:
				f.Quiet = max(f.Quiet, seen[path])
			default:
				f.Stalled = max(f.Stalled, seen[path])
			}
		}
	}
}

// Overflows finds a FIFO that a run without stalls has filled, which was to have a place left: error L0721. Where units
// wait for a memory port, FIFOs fill as they do under stalls.
func (c *Check) Overflows(hw *Hardware) error {
	if hw.Design != nil && !hw.Design.Memory.KeepsUp() {
		return nil
	}
	var errs diag.List
	for _, f := range c.Fifos {
		n := hw.Scheduled.Find(f.Node)
		switch {
		case n == nil:
		case f.Quiet >= f.Depth && f.Predicted < n.HW.Fifo:
			errs = append(errs, n.Errorf(diag.FIFOFilled,
				"FIFO %q is full without any stall: it holds %d beats, %d were predicted",
				f.Node, f.Depth, f.Predicted).WithHint("give it a depth of %d, and report this model: the prediction is wrong",
				f.Quiet+1))
		case f.Quiet != f.Predicted:
			c.Warnings = append(c.Warnings, fmt.Sprintf("FIFO %q held %d beats without stalls, %d were predicted", f.Node,
				f.Quiet, f.Predicted))
		}
	}
	return errs.Err()
}

// patience is how many cycles without a beat at any port are no deadlock yet: more than the design takes for a sample,
// even if all ports hold still most of the time.
func (j Job) patience() int {
	cycles := 50_000
	for _, n := range j.HW.Scheduled.Nodes {
		cycles += 2 * n.HW.II
	}
	return cycles + 8*loading(j.HW.Design)
}

// stuck explains the error of a design that has stopped: with probes on all streams, who waits for whom.
func (e Engines) stuck(ctx context.Context, j Job, err error) error {
	if diag.CodeOf(err) != diag.Stuck || j.HW.decode != nil { // whole samples do not show why a decoder stops
		return err
	}
	j.Progress.report("build simulation with probes", 0, 0)
	model, failed := sim.Build(ctx, sim.DesignSpec(j.HW.Design, e.Cache, true, false))
	if failed != nil {
		return err
	}
	for _, in := range []sim.Input{{MaxIdle: j.patience()}, j.stalled(j.Seeds[0])} {
		samples := j.Samples
		if j.HW.Design.Lengths > 0 {
			samples = j.drawnLengths(j.Seeds[0])
		}
		if _, again := j.runSamples(ctx, model, samples, in); again != nil {
			return again
		}
	}
	return err
}

// memoryLatency is the most cycles that a simulated memory takes for a burst in runs with stalls.
const memoryLatency = 40

// loading bounds the cycles after reset in which a design reads weights that it holds, and fills the buffers of others,
// from a memory that never stalls: a beat, and a word of each layer, in each cycle.
func loading(d *emit.Design) int {
	if d.Memory == nil && !d.ChecksWeights() {
		return 0
	}
	cycles := 1024
	for _, u := range d.Units {
		if u.Checked {
			cycles += u.Cycles + u.Images[len(u.Images)-1].Words
		}
	}
	for _, u := range d.Units {
		if w := u.Weights; w != nil {
			cycles += w.Sets * (w.Words + 2*w.Beats)
		}
	}
	return cycles
}

// portSlack is how much longer than predicted a sample may take where the memory port sets the pace: units that wait
// for it at different times leave it idle for some cycles.
const portSlack = 0.1
