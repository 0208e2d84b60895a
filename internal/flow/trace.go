// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"context"

	"lathe/golden"
	"lathe/golden/ref"
	"lathe/ir"
	"lathe/sim"
)

// traceLimit bounds the samples of a trace: every intermediate value of each is held.
const traceLimit = 64

// trace compares every intermediate value of the samples around the first mismatch and puts the first node that
// differs, per engine, in place of the output that showed it.
func (e Engines) trace(ctx context.Context, j Job, c *Check) error {
	samples, offset := traced(j.Samples, c.First)
	program, err := ref.New(j.HW.Scheduled)
	if err != nil {
		return err
	}
	nodes := golden.Traced(j.HW.Scheduled)
	want := make([]ref.Sample, len(samples))
	at := make(map[*ir.Node]int, len(j.HW.Scheduled.Nodes))
	for i, n := range j.HW.Scheduled.Nodes {
		at[n] = i
	}
	err = program.Trace(ctx, samples, func(s int, values []*ir.Tensor) error {
		for _, n := range nodes {
			want[s] = append(want[s], values[at[n]])
		}
		return nil
	})
	if err != nil {
		return err
	}
	var first []*golden.Mismatch
	got, err := e.pjrt(ctx, j.HW.Scheduled, samples, true, j.Progress)
	if err != nil {
		return err
	}
	first = appendFirst(first, "pjrt", nodes, want, got)
	tapNodes, values, err := e.taps(ctx, j, samples)
	if err != nil {
		return err
	}
	first = appendFirst(first, "rtl", tapNodes, project(want, nodes, tapNodes), values)
	if len(first) > 0 {
		for _, m := range first {
			m.Sample += offset
		}
		if c.Mismatches == 0 {
			c.Mismatches = len(first)
		}
		c.First = first
	}
	return nil
}

// traced picks the sample of the first mismatch together with some before it: the state of streams may matter.
func traced(samples []ref.Sample, first []*golden.Mismatch) (part []ref.Sample, offset int) {
	end := min(traceLimit, len(samples))
	if len(first) > 0 {
		end = min(len(samples), max(first[0].Sample+1, end))
	}
	offset = max(0, end-traceLimit)
	return samples[offset:end], offset
}

// taps simulates with a probe at every unit's result stream.
func (e Engines) taps(ctx context.Context, j Job, samples []ref.Sample) ([]*ir.Node, []ref.Sample, error) {
	j.Progress.report("build simulation with probes", 0, 0)
	model, err := sim.Build(ctx, sim.DesignSpec(j.HW.Design, e.Cache, true, false))
	if err != nil {
		return nil, nil, err
	}
	run, err := sim.RunDesign(ctx, model, j.HW.Scheduled, j.HW.Design, samples, j.stalled(j.Seeds[0]))
	if err != nil {
		return nil, nil, err
	}
	return run.TapNodes, run.Values, nil
}

// appendFirst adds the mismatch of the earliest node, in graph order, if there is any.
func appendFirst(first []*golden.Mismatch, engine string, nodes []*ir.Node, want, got []ref.Sample) []*golden.Mismatch {
	for i, n := range nodes {
		one := []*ir.Node{n}
		_, bad, m, err := golden.Compare(engine, one, column(want, i), column(got, i))
		if err == nil && bad > 0 {
			return append(first, m)
		}
	}
	return first
}

func column(samples []ref.Sample, i int) []ref.Sample {
	out := make([]ref.Sample, len(samples))
	for s := range samples {
		out[s] = samples[s][i : i+1]
	}
	return out
}

// project picks the values of some of the nodes.
func project(samples []ref.Sample, nodes, wanted []*ir.Node) []ref.Sample {
	at := make(map[*ir.Node]int, len(nodes))
	for i, n := range nodes {
		at[n] = i
	}
	out := make([]ref.Sample, len(samples))
	for s := range samples {
		for _, n := range wanted {
			out[s] = append(out[s], samples[s][at[n]])
		}
	}
	return out
}
