// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"

	"lathe/ir"
	"lathe/ir/unit"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/schedule/lanes"
	"lathe/rtl"
)

// search is the policy of a mode: it says which design to evaluate next, by what the last one came to, nil at first.
// Its last point holds the design that it found. Searches consist of searches, whose points they pass on.
type search interface {
	next(last *outcome) (point, error)
}

// need is how much of a design a search wants to know.
type need int

const (
	units    need = iota // all but FIFOs, which take the longest
	fitted               // with FIFOs if the units alone are within a budget
	complete             // with FIFOs
)

// point is a design to evaluate, or the end of a search.
type point struct {
	foldings lanes.Foldings // nil: the plain lanes
	need     need
	most     unit.Budget // of a design that is fitted
	from     *outcome    // what lacks nothing but FIFOs, to go on from instead of foldings; nil: none
	found    *outcome    // the design with which the search ends; nil: it goes on
	over     *outcome    // the least design, which is beyond the budget, where the search ends with an error for that
	proof    string      // why the design found is no faster, or no smaller; "" where nobody asks
}

// outcome is a design, evaluated as far as a point needs it.
type outcome struct {
	graph    *ir.Graph
	report   *Report
	cost     rtl.Cost
	foldings lanes.Foldings
	stage    *stage // what sizes its FIFOs; nil if they are sized
	run      *pass.Runner
}

// sized says that the design has its FIFOs.
func (o *outcome) sized() bool { return o.stage == nil }

// bottleneck is the first node that takes so many cycles.
func (o *outcome) bottleneck(ii int) (name string) {
	if o.report.Traffic() > ii {
		return memoryPort
	}
	for _, u := range o.report.Units {
		switch {
		case u.II == ii && u.Module != "":
			return u.Node
		case u.II == ii && name == "":
			name = u.Node
		}
	}
	return name
}

// evaluator makes designs of one graph for a search.
type evaluator struct {
	ctx   context.Context
	plan  *plan.Plan
	graph *ir.Graph
	opts  Options
	pads  lanes.Pads // of the designs of the mode balance
}

// find evaluates what a search asks for until it has found its design.
func (e *evaluator) find(s search) (*outcome, error) {
	var last *outcome
	for {
		p, err := s.next(last)
		if err != nil || p.found != nil {
			return p.found, err
		}
		if last, err = e.evaluate(p); err != nil {
			return nil, err
		}
	}
}

// evaluate runs the pipeline as far as a point needs it.
func (e *evaluator) evaluate(p point) (o *outcome, err error) {
	if o = p.from; o == nil {
		if o, err = e.begin(p.foldings); err != nil {
			return nil, err
		}
	}
	if p.need == complete || p.need == fitted && Beyond(o.cost, p.most) == nil {
		err = o.finish()
	}
	return o, err
}

// begin runs the pipeline with a choice of foldings up to the FIFOs.
func (e *evaluator) begin(foldings lanes.Foldings) (*outcome, error) {
	c := e.graph.Clone()
	s := newStage(e.ctx, e.plan, e.opts.Units)
	s.chosen, s.pads = foldings, e.pads
	o := &outcome{graph: c, report: s.report, foldings: foldings, stage: s, run: s.runner(c, e.opts.Options)}
	err := pass.Run(o.run, s, Pipeline.Before("size_fifos"), c)
	o.cost = o.report.Cost()
	return o, err
}

// finish sizes the FIFOs.
func (o *outcome) finish() error {
	err := pass.Run(o.run, o.stage, Pipeline.From("size_fifos"), o.graph)
	o.cost, o.stage, o.run = o.report.Cost(), nil, nil
	return err
}

// plain is the search of the modes whose lanes the plan alone decides.
type plain struct{}

func (plain) next(last *outcome) (point, error) { return point{need: complete, found: last}, nil }
