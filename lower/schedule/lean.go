// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"

	"lathe/ir"
	"lathe/lower/plan"
	"lathe/lower/schedule/balance"
)

// lean is Run in the lean mode: the cycles of a sample are those of the fold mode, and every unit has the
// least hardware that keeps them. Where that turns out slower or larger than the fold mode, the design is of that mode.
func lean(ctx context.Context, g *ir.Graph, plan *plan.Plan, o Options) (*ir.Graph, *Report, error) {
	b := newBalancer(ctx, g, plan, o)
	plain, err := b.begin(nil)
	if err != nil {
		return nil, nil, err
	}
	limit := plain.report.II()
	if err := b.try(limit, nil); err != nil {
		return nil, nil, err
	}
	lean, err := b.schedule(b.leanest(limit), false)
	if err != nil {
		return nil, nil, err
	}
	best, err := b.better(lean, plain)
	if err != nil {
		return nil, nil, err
	}
	return best.graph, best.report, nil
}

// leanest are the options that weigh the least within a limit of cycles, of what is found from the cheapest option of
// each layer on, and from those of the fold mode.
func (b *balancer) leanest(limit int) []int {
	w, layers := b.weights(), b.table.Layers
	best, cost := balance.Choose(layers, limit, w)
	from, other := balance.Improve(layers, make([]int, len(layers)), limit, w)
	if w.Of(other) < w.Of(cost) {
		return from
	}
	return best
}

// better is lean, or the design of the fold mode where that is faster or weighs less. It sizes the FIFOs of that one
// only where there is doubt.
func (b *balancer) better(lean *scheduled, plain *unsized) (*scheduled, error) {
	w, limit := b.weights(), float64(plain.report.II())
	if lean.report.Measured <= limit && w.Of(lean.cost) <= w.Of(plain.report.Cost()) {
		return lean, nil
	}
	if err := plain.finish(); err != nil {
		return nil, err
	}
	if lean.report.Measured > plain.report.Interval() || w.Of(lean.cost) > w.Of(plain.cost) {
		return &plain.scheduled, nil
	}
	return lean, nil
}
