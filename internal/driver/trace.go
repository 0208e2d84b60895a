// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"

	"lathe/golden"
	"lathe/golden/ref"
	"lathe/ir"
	"lathe/sim"
)

// traceLimit bounds the samples of a trace: every intermediate value of each is held.
const traceLimit = 64

// trace compares every intermediate value of the samples around each engine's first mismatch (of the first samples
// where there is none), and puts the first node that differs in place of the output that showed it.
func (e Engines) trace(ctx context.Context, j Job, c *Check) error {
	seen := c.First
	c.First = nil
	for _, engine := range c.Engines[1:] {
		var shown *golden.Mismatch
		for _, m := range seen {
			if m.Engine == engine {
				shown = m
				break
			}
		}
		samples, offset := traced(j.Samples, shown)
		first, err := e.firstNode(ctx, j, engine, samples)
		switch {
		case err != nil:
			return err
		case first != nil:
			first.Sample += offset
			c.First = append(c.First, first)
			if shown == nil {
				c.Mismatches++
			}
		case shown != nil: // the state that led there began before the traced samples
			c.First = append(c.First, shown)
		}
	}
	return nil
}

// firstNode compares an engine with the reference node by node, in graph order; nil: all are equal.
func (e Engines) firstNode(ctx context.Context, j Job, engine string, samples []ref.Sample) (*golden.Mismatch, error) {
	nodes := golden.Traced(j.HW.Scheduled)
	want, err := intermediate(ctx, j.HW.Scheduled, samples, nodes)
	if err != nil {
		return nil, err
	}
	var got []ref.Sample
	if engine == "cuda" { // most values stay in registers
		return nil, nil
	}
	if engine == "rtl" {
		var tapped []*ir.Node
		if tapped, got, err = e.taps(ctx, j, samples); err == nil {
			want, nodes = project(want, nodes, tapped), tapped
		}
	} else {
		got, err = e.pjrt(ctx, j.HW.Scheduled, samples, true, j.Progress)
	}
	if err != nil {
		return nil, err
	}
	for i, n := range nodes {
		_, _, m, err := golden.Compare(engine, []*ir.Node{n}, column(want, i), column(got, i))
		if err != nil || m != nil {
			return m, err
		}
	}
	return nil, nil
}

// intermediate evaluates the values of nodes of every sample.
func intermediate(ctx context.Context, g *ir.Graph, samples []ref.Sample, nodes []*ir.Node) ([]ref.Sample, error) {
	program, err := ref.New(g)
	if err != nil {
		return nil, err
	}
	at := make(map[*ir.Node]int, len(g.Nodes))
	for i, n := range g.Nodes {
		at[n] = i
	}
	values := make([]ref.Sample, len(samples))
	err = program.Trace(ctx, samples, func(s int, all []*ir.Tensor) error {
		for _, n := range nodes {
			values[s] = append(values[s], all[at[n]])
		}
		return nil
	})
	return values, err
}

// traced picks the sample of a mismatch together with some before it: the state of streams may matter.
func traced(samples []ref.Sample, shown *golden.Mismatch) (part []ref.Sample, offset int) {
	end := min(traceLimit, len(samples))
	if shown != nil {
		end = min(len(samples), max(shown.Sample+1, end))
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

// column picks value i of every sample.
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
