// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"

	"lathe/ir"
	"lathe/lower/pass"
	"lathe/lower/schedule/lanes"
	"lathe/rtl"
)

// scheduled is one evaluated design.
type scheduled struct {
	graph  *ir.Graph
	report *Report
	cost   rtl.Cost
	chosen lanes.Foldings
}

// rounds bounds how often stores move: once for the units, and again for the FIFOs.
const rounds = 3

// schedule runs the whole pipeline with one choice. With ifFits it stops in front of the FIFOs, which take the longest,
// where the rest alone is beyond the budget: the result is no more than that cost. Stores of weights that are beyond it
// move.
func (b *balancer) schedule(picks []int, ifFits bool) (*scheduled, error) {
	key := fmt.Sprint(picks)
	if d := b.done[key]; d != nil {
		return d, nil
	}
	chosen := b.table.Foldings(picks)
	for round := 1; ; round++ {
		d, err := b.begin(chosen)
		if err != nil {
			return nil, err
		}
		d.cost = d.report.Cost()
		next := b.moved(chosen, d.cost, round)
		if next == nil && ifFits && b.over(d.cost) != nil {
			return &scheduled{cost: d.cost}, nil
		}
		if next == nil {
			if err := d.finish(); err != nil {
				return nil, err
			}
			next = b.moved(chosen, d.cost, round)
		}
		if next == nil {
			d.chosen = chosen
			b.done[key] = &d.scheduled
			return &d.scheduled, nil
		}
		chosen = next
	}
}

// unsized is a design that lacks only the last pass, size_fifos.
type unsized struct {
	scheduled
	stage *stage
	run   *pass.Runner
}

// begin runs the pipeline with a choice of foldings up to the FIFOs, which take the longest.
func (b *balancer) begin(chosen lanes.Foldings) (*unsized, error) {
	c := b.graph.Clone()
	s := newStage(b.ctx, b.plan, b.opts.Units)
	s.chosen = chosen
	d := &unsized{scheduled{graph: c, report: s.report}, s, s.runner(c, b.opts.Options)}
	return d, pass.Run(d.run, s, Pipeline.Before("size_fifos"), c)
}

// finish sizes the FIFOs.
func (d *unsized) finish() error {
	err := pass.Run(d.run, d.stage, Pipeline.From("size_fifos"), d.graph)
	d.cost = d.report.Cost()
	return err
}
