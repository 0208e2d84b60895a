// SPDX-License-Identifier: Apache-2.0

// Package schedule gives every node of a quantized graph its hardware: lanes, style and memories by the plan or by a
// search (the modes lean and balance), forks and adapters between units, and FIFOs.
package schedule

import (
	"cmp"
	"context"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/target"
	"lathe/ir/unit"
	"lathe/lower/float"
	"lathe/lower/loop"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/schedule/forms"
	"lathe/lower/schedule/lanes"
	"lathe/lower/schedule/timing"
	"lathe/lower/schedule/tokens"
	"lathe/rtl"
)

// Report tells what scheduling decided and what it costs.
type Report struct {
	pass.Report
	// Units lists the hardware of each node of a scheduled graph.
	Units []timing.Unit
	// Port is what the port to a memory outside costs that units share.
	Port rtl.Cost
	// Measured is the cycles of a sample by a run beat by beat: more than those of the slowest unit where units hold each
	// other up.
	Measured float64
	// Pads are the layers with dead channels, and how many channels they then compute.
	Pads lanes.Pads
	// Balance is what the balance mode aimed at and reached; nil in other modes.
	Balance *unit.Balance
}

// stage is what the passes of scheduling share beside the graph.
type stage struct {
	plan   *plan.Plan
	report *Report
	ctx    context.Context
	chosen lanes.Foldings // by the modes lean and balance
	pads   lanes.Pads     // by the mode balance
	units  *unit.Cache    // plans of the units of the graph
	shared *loop.Sharing  // the layers that share units; nil: none do
}

func newStage(ctx context.Context, plan *plan.Plan, units *unit.Cache) *stage {
	if units == nil {
		units = &unit.Cache{Forms: forms.Cheapest}
	}
	return &stage{plan: plan, report: &Report{}, ctx: ctx, units: units}
}

// runner runs passes over g.
func (s *stage) runner(g *ir.Graph, o pass.Options) *pass.Runner {
	return float.NewRunner(s.ctx, g, s.plan, nil, &s.report.Report, o)
}

// Options are about the running of passes, and what the caller wants to have of them.
type Options struct {
	pass.Options
	// Units, if not nil, holds what is planned of the units, for who emits the graph afterwards.
	Units *unit.Cache
}

// Run decides lanes, styles and memories of a quantized graph, joins streams of different width, and takes
// latency and initiation interval from the module headers. g is not changed.
func Run(ctx context.Context, g *ir.Graph, plan *plan.Plan, o Options) (*ir.Graph, *Report, error) {
	if g.Stage != ir.StageQuantized {
		return nil, nil, diag.New(diag.WrongStage, g.Name, "the graph is %s; only quantized graphs are scheduled", g.Stage)
	}
	if o.Units == nil {
		o.Units = &unit.Cache{}
	}
	o.Units.Part, o.Units.Forms = plan.Fold.Part, forms.Cheapest
	s, c := newStage(ctx, plan, o.Units), g.Clone()
	if err := pass.Run(s.runner(c, o.Options), s, Preparation, c); err != nil {
		return nil, nil, err
	}
	c, r, err := oneEach(ctx, c, plan, o)
	if err != nil {
		return nil, nil, err
	}
	prepared := len(s.report.Passes)
	if err := pass.Run(s.runner(c, o.Options), s, Completion, c); err != nil {
		return nil, nil, err
	}
	r.Passes = slices.Concat(s.report.Passes[:prepared], r.Passes, s.report.Passes[prepared:])
	r.Notes = append(r.Notes, s.report.Notes...)
	r.warnPart(&plan.Target.FPGA)
	return c, r, nil
}

// oneEach is Run of a graph in which each node has a unit of its own.
func oneEach(ctx context.Context, g *ir.Graph, plan *plan.Plan, o Options) (*ir.Graph, *Report, error) {
	e := &evaluator{ctx: ctx, plan: plan, graph: g, opts: o}
	find := func() (*outcome, error) { return e.find(plain{}) }
	switch plan.Fold.Mode {
	case "lean":
		find = func() (*outcome, error) { return e.find(&lean{balancer: newBalancer(e)}) }
	case "balance":
		find = e.balanced
	}
	found, err := find()
	if err != nil {
		return nil, nil, err
	}
	return found.graph, found.report, nil
}

// II is the initiation interval of the slowest unit, in cycles a sample.
func (r *Report) II() int {
	ii := 0
	for _, u := range r.Units {
		ii = max(ii, u.II)
	}
	return ii
}

// Interval is how many cycles a sample takes: those of the slowest unit, or of the memory port, or more where streams
// that part meet again and hold each other up.
func (r *Report) Interval() float64 {
	return max(float64(max(r.II(), r.Traffic())), r.Measured)
}

// Cost is the sum over the units and the memory port, as far as their headers state it.
func (r *Report) Cost() rtl.Cost {
	sum := r.Port
	for _, u := range r.Units {
		sum = sum.Add(u.Cost)
	}
	return sum
}

// warnPart says what a part has too little of, and which unit takes most of it.
func (r *Report) warnPart(part *target.Device) {
	has := capacity(part)
	of := func(c rtl.Cost) []resource { return resources(has, c) }
	for i, all := range of(r.Cost()) {
		if all.has <= all.most {
			continue
		}
		most := slices.MaxFunc(r.Units, func(a, b timing.Unit) int {
			return cmp.Compare(of(a.Cost)[i].has, of(b.Cost)[i].has)
		})
		r.Warn("%s has %d %s, and %d are predicted, %d of them for %s (%s)", part.Name, all.most, all.name, all.has,
			of(most.Cost)[i].has, most.Node, most.Module)
	}
}

// Traffic is the beats of weights that cross the memory port for a sample.
func (r *Report) Traffic() (beats int) {
	for _, u := range r.Units {
		beats += u.Traffic
	}
	return beats
}

// Named runs the passes of the first names that are those of passes of this stage, in place, and says how many.
func Named(ctx context.Context, g *ir.Graph, plan *plan.Plan, names []string, o pass.Options) (ran int, err error) {
	p, s := slices.Concat(Preparation, Pipeline, Completion).Named(names), newStage(ctx, plan, nil)
	return len(p), pass.Run(s.runner(g, o), s, p, g)
}

// sizeFifos puts FIFOs behind forks, which have latencies too.
func sizeFifos(s *stage, g *ir.Graph) error {
	fifos, ii, err := tokens.Size(s.ctx, g, s.units)
	if s.report.Measured = ii; err != nil || fifos == 0 {
		return err
	}
	return s.time(g)
}

// time fills in the units of the report.
func (s *stage) time(g *ir.Graph) (err error) {
	s.report.Units, s.report.Port, err = timing.Units(s.units, g)
	return err
}

// withUnits is a pass that plans units.
func withUnits(f func(*unit.Cache, *ir.Graph) error) func(*stage, *ir.Graph) error {
	return func(s *stage, g *ir.Graph) error { return f(s.units, g) }
}

// only is pass.Only of this stage.
var only = pass.Only[*stage]
