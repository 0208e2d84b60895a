// SPDX-License-Identifier: Apache-2.0

// Package quantize lowers a float graph to one in which every value has a number format: it measures what values nodes
// take, has formats chosen (formats), chooses codes of constants for what layers compute, and measures the error.
package quantize

import (
	"context"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/float"
	"lathe/lower/float/recognize"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
	"lathe/lower/quantize/formats"
	"lathe/lower/quantize/loss"
)

// Report tells what quantization decided and what it cost.
type Report struct {
	pass.Report
	formats.Decisions
	// Nodes and Outputs hold the error of each value against the float model, accumulated from the inputs on, and with
	// Options.Errors = Alone also that of each node alone.
	Nodes, Outputs []loss.Value
	// Samples is how many samples that error was measured on.
	Samples int
	// Lowered is the graph before formats were chosen, whose values are float32.
	Lowered *ir.Graph
	// Moved says that powers of two have moved between layers.
	Moved bool
	// Recognized counts the operations that patterns have made, by pass.
	Recognized []recognize.Found
}

// stage is what the passes of quantization share beside the graph, by who writes it.
type stage struct {
	given
	ranges
	// Report is what the passes have decided and seen so far. quantize writes its Decisions, which all passes behind read.
	Report *Report
	// float is the graph before formats are chosen: quantize keeps it, and all passes behind compare with it.
	float *ir.Graph
}

// given is what all passes read, and none writes.
type given struct {
	Plan *plan.Plan
	// Samples are calibration samples in the caller's layout, in the order of Graph.In; empty without calibration data.
	Samples  []ref.Sample
	labels   [][]int64 // of the samples, see Calibration
	drawn    bool      // Samples are random
	imported *ir.Graph // the graph before all passes
	runner   *pass.Runner
	errors   Errors // what is measured
}

// on is the same on other samples.
func (g given) on(samples []ref.Sample) given {
	g.Samples = samples
	return g
}

// ranges are what calibrate finds, search_ranges moves and quantize reads, by node of the graph that it found them in.
type ranges struct {
	values map[*ir.Node]*calib.Values
	bounds map[*ir.Node]*calib.Values // what is possible, where values were seen in samples; of quantized models only
}

// in are the ranges of the same nodes in c, a copy of g.
func (r *ranges) in(g, c *ir.Graph) ranges {
	moved := func(of map[*ir.Node]*calib.Values) map[*ir.Node]*calib.Values {
		out := map[*ir.Node]*calib.Values{}
		for i, n := range g.Nodes {
			if v := of[n]; v != nil {
				out[c.Nodes[i]] = v
			}
		}
		return out
	}
	return ranges{moved(r.values), moved(r.bounds)}
}

// Options are about the running of passes, and what is measured of their result.
type Options struct {
	pass.Options
	// Errors is which errors the report has.
	Errors Errors
}

// Errors says which errors against the float model are measured.
type Errors uint8

// What is measured.
const (
	// Accumulated is the error of each node and output, with what the nodes before it have lost.
	Accumulated Errors = iota
	// Alone is Accumulated and the error of each node by itself, which takes as long as evaluating the quantized graph
	// again, and counts values by size.
	Alone
	// Unmeasured is none, for callers that print none.
	Unmeasured
)

// Run lowers a float graph to one in which every value has a number format. g is not changed. The report tells
// what was decided and what it cost in accuracy.
func Run(ctx context.Context, g *ir.Graph, plan *plan.Plan, c Calibration, o Options) (*ir.Graph, *Report,
	error) {
	if g.Stage != ir.StageFloat {
		return nil, nil, diag.New(diag.WrongStage, g.Name, "the graph is %s already; only float graphs are quantized",
			g.Stage)
	}
	if err := plan.CheckEnds(g); err != nil {
		return nil, nil, err
	}
	q := g.Clone()
	s := &stage{Report: &Report{}, given: given{Plan: plan, errors: o.Errors, labels: c.Labels, imported: g}}
	f := &float.State{}
	if err := pass.Run(float.NewRunner(ctx, q, plan, nil, &s.Report.Report, o.Options), f, float.Admission,
		q); err != nil {
		return nil, nil, err
	}
	s.Report.Notes = append(s.Report.Notes, f.Notes...)
	var err error
	if s.Samples, err = c.arrange(g); err != nil {
		return nil, nil, err
	}
	s.runner = float.NewRunner(ctx, q, plan, s.Samples, &s.Report.Report, o.Options)
	if err := pass.Run(s.runner, f, float.Pipeline, q); err != nil {
		return nil, nil, err
	}
	s.Report.Recognized = f.Recognized
	s.draw(q)
	if err := pass.Run(s.runner, s, Pipeline, q); err != nil {
		return nil, nil, err
	}
	return q, s.Report, nil
}

// chooseFormats gives every value a format, by the plan and by what calibration found.
func chooseFormats(s *stage, g *ir.Graph) error {
	before := g.Clone()
	d, err := formats.Choose(g, &formats.From{Plan: s.Plan, Values: s.values, Bounds: s.bounds,
		Sampled: len(s.Samples) > 0, Moved: s.Report.Moved},
		&s.Report.Report)
	if err != nil {
		return err
	}
	s.Report.Decisions, s.Report.Lowered, s.float = *d, before, before
	return nil
}

// Named runs the passes of the first names that are those of passes of this stage, in place, and says how many.
func Named(ctx context.Context, g *ir.Graph, plan *plan.Plan, names []string, o pass.Options) (ran int, err error) {
	p := Pipeline.Named(names)
	s := &stage{Report: &Report{}, given: given{Plan: plan}}
	s.runner = float.NewRunner(ctx, g, plan, nil, &s.Report.Report, o)
	return len(p), pass.Run(s.runner, s, p, g)
}

// only is pass.Only of this stage.
var only = pass.Only[*stage]
