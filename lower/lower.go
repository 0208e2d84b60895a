// SPDX-License-Identifier: Apache-2.0

// Package lower takes every decision between an imported model and a design: it simplifies the float graph, chooses
// number formats, and chooses how much hardware each node gets. Each decision is a pass; pipelines.go lists them.
package lower

import (
	"context"
	"fmt"
	"strings"

	"lathe/golden/ref"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/unit"
	"lathe/lower/calib"
)

// Quantize lowers a float graph to one in which every value has a number format. g is not changed. The report tells
// what was decided and what it cost in accuracy.
func Quantize(ctx context.Context, g *ir.Graph, plan *Plan, c Calibration) (*ir.Graph, *Report, error) {
	return QuantizeWith(ctx, g, plan, c, Options{})
}

// QuantizeWith is Quantize under options.
func QuantizeWith(ctx context.Context, g *ir.Graph, plan *Plan, c Calibration, o Options) (*ir.Graph, *Report, error) {
	if g.Stage != ir.StageFloat {
		return nil, nil, diag.New("L0411", g.Name, "the graph is %s already; only float graphs are quantized", g.Stage)
	}
	if err := plan.checkEnds(g); err != nil {
		return nil, nil, err
	}
	q := g.Clone()
	asValues(q)
	if err := refuseValues(q); err != nil {
		return nil, nil, err
	}
	notes, err := asLookups(q)
	if err != nil {
		return nil, nil, err
	}
	if err := refuseWhole(q.Clone()); err != nil {
		return nil, nil, err
	}
	samples, err := c.arrange(g)
	if err == nil {
		err = refusePadding(q, samples)
	}
	if err != nil {
		return nil, nil, err
	}
	s := &State{Plan: plan, Report: &Report{Notes: notes}, Samples: samples, labels: c.Labels, imported: g}
	r := newRunner(ctx, q, s, o)
	if err := r.run(s, FloatPipeline, q); err != nil {
		return nil, nil, err
	}
	if err := r.run(s, QuantizePipeline, q); err != nil {
		return nil, nil, err
	}
	return q, s.Report, nil
}

// Simplify runs the passes that keep a graph float: the form that quantization starts from. g is not changed.
func Simplify(ctx context.Context, g *ir.Graph, o Options) (*ir.Graph, error) {
	s := &State{Plan: DefaultPlan(), Report: &Report{}}
	c := g.Clone()
	return c, newRunner(ctx, c, s, o).run(s, FloatPipeline, c)
}

// Schedule decides lanes, styles and memories of a quantized graph, joins streams of different width, and takes latency
// and initiation interval from the module headers. g is not changed.
func Schedule(ctx context.Context, g *ir.Graph, plan *Plan) (*ir.Graph, *Report, error) {
	return ScheduleWith(ctx, g, plan, Options{})
}

// ScheduleWith is Schedule under options.
func ScheduleWith(ctx context.Context, g *ir.Graph, plan *Plan, o Options) (*ir.Graph, *Report, error) {
	if g.Stage != ir.StageQuantized {
		return nil, nil, diag.New("L0411", g.Name, "the graph is %s; only quantized graphs are scheduled", g.Stage)
	}
	if err := cacheOutside(g, plan); err != nil {
		return nil, nil, err
	}
	if plan.Decode {
		var err error
		if g, err = forDecode(g, plan); err != nil {
			return nil, nil, err
		}
	}
	if plan.Lengths {
		var err error
		if g, err = forLengths(g, plan); err != nil {
			return nil, nil, err
		}
	}
	schedule := scheduleMode
	if plan.Fold.Layers == "loop" {
		schedule = scheduleLoop
	}
	c, r, err := schedule(ctx, g, plan, o)
	if err == nil {
		r.warnPart(&plan.Target.FPGA)
	}
	return c, r, err
}

// scheduleMode is Schedule of a graph in which each node is to have a unit of its own.
func scheduleMode(ctx context.Context, g *ir.Graph, plan *Plan, o Options) (*ir.Graph, *Report, error) {
	switch plan.Fold.Mode {
	case "lean":
		return scheduleLean(ctx, g, plan, o)
	case "balance":
		return scheduleBalanced(ctx, g, plan, o)
	}
	s := &State{Plan: plan, Report: &Report{}, units: o.Units}
	c := g.Clone()
	if err := newRunner(ctx, c, s, o).run(s, SchedulePipeline, c); err != nil {
		return nil, nil, err
	}
	return c, s.Report, nil
}

func newRunner(ctx context.Context, g *ir.Graph, s *State, o Options) *runner {
	r := &runner{Options: o, ctx: ctx}
	s.runner = r
	r.samples = s.Samples[:min(len(s.Samples), verifySamples)]
	if len(r.samples) == 0 && o.Verify {
		r.samples = callerLayout(g, random(g, s.Plan, o.Seed, verifySamples))
	}
	return r
}

// checkEnds finds inputs and outputs of the plan that the model does not have. Error L0403.
func (p *Plan) checkEnds(g *ir.Graph) error {
	var errs diag.List
	var ins, outs []string
	for _, n := range g.In {
		ins = append(ins, n.Name)
	}
	for _, o := range g.Out {
		outs = append(outs, o.Name)
	}
	check := func(kind, name, from string, known []string) {
		for _, k := range known {
			if k == name {
				return
			}
		}
		e := diag.New("L0403", g.Name, "the model has no %s %q", kind, name).WithNote("set by %s", from)
		errs = append(errs, nearest(e, name, known))
	}
	for _, in := range p.Inputs {
		check("input", in.Name, in.From, ins)
	}
	for _, out := range p.Outputs {
		check("output", out.Name, out.From, outs)
	}
	return errs.Err()
}

// nearest adds the closest of the known names as a hint, or all of them.
func nearest(e *diag.Error, name string, known []string) *diag.Error {
	if near := diag.Nearest(name, known); near != "" {
		return e.WithHint("did you mean %q?", near)
	}
	return e.WithHint("it has %s", strings.Trim(fmt.Sprintf("%q", known), "[]"))
}

// warnUnmatched says that a rule matches no node, and which name in g is nearest to the one it asks for.
func (r *Report) warnUnmatched(m *Match, g *ir.Graph) {
	near := ""
	if m.Name != "" {
		var names []string
		for _, n := range g.Nodes {
			if !n.IsConst() {
				names = append(names, n.Name)
			}
		}
		if name := diag.Nearest(m.Name, names); name != "" {
			near = fmt.Sprintf("; did you mean %q?", name)
		}
	}
	r.warn("%s matches no node%s", m.From, near)
}

// Effect is what a pass may do to the values of the graph outputs. The manager can hold a pass to it.
type Effect uint8

// The effects.
const (
	Annotate Effect = iota // metadata only: same nodes, same values
	Exact                  // other nodes, the same bits
	Lossy                  // other values; the loss is measured and reported
)

// String is the word of `lathe list passes`.
func (e Effect) String() string { return [...]string{"annotate", "exact", "lossy"}[e] }

// Pass is one step of lowering.
type Pass struct {
	Name, Doc string
	Effect    Effect
	// Bound is the greatest error that a lossy pass may cause, relative to the largest magnitude of an output;
	// 0: not bounded, only reported. Rewrites that are equal in real arithmetic have the bound of float32 rounding.
	Bound float64
	// Run changes the graph in place. It must not depend on the order of nodes beyond arguments before users.
	Run func(*State, *ir.Graph) error
}

// Pipeline is a list of passes, run in order.
type Pipeline []Pass

// Order is a reason why one pass stands before another.
type Order struct{ Before, After, Why string }

// State is what passes of one run share.
type State struct {
	Plan   *Plan
	Report *Report
	// Samples are calibration samples in the caller's layout, in the order of Graph.In; empty without calibration data.
	Samples []ref.Sample

	labels   [][]int64 // of the samples, see Calibration
	imported *ir.Graph // the graph before all passes; nil where only a quantized one is known

	float   *ir.Graph                  // the graph before quantize
	wanting map[string]calib.Range     // bounds of what matters of its nodes, by name: see quantizer
	rounded map[string]string          // the names of its nodes whose channels nodes of other names round
	grids   map[*ir.Node]format.Format // what weights are encoded in, which may be part of what they are kept in
	values  map[*ir.Node]*calib.Values // what calibrate found
	bounds  map[*ir.Node]*calib.Values // what is possible, where values were seen in samples; of quantized models only
	runner  *runner
	chosen  foldings // by the modes lean and balance
	units   *unit.Cache
}

// plans are the units of the graph.
func (s *State) plans() *unit.Cache {
	if s.units == nil {
		s.units = &unit.Cache{}
	}
	return s.units
}

// only adapts a rewrite that needs nothing but the graph.
func only(f func(*ir.Graph) error) func(*State, *ir.Graph) error {
	return func(_ *State, g *ir.Graph) error { return f(g) }
}
