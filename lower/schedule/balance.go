// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math"

	"lathe/ir/unit"
	"lathe/lower/pass"
	"lathe/lower/schedule/lanes"
)

// balancer is what the searches of foldings of one graph share.
type balancer struct {
	*evaluator
	table  *lanes.Table
	budget unit.Budget
	done   map[string]*outcome      // by the picks: weights raised further often choose the same again
	loads  bool                     // weights may be loaded after reset although the plan does not say so
	stores map[layerMemory][]stored // what memories has found
	known  lanes.Known              // foldings that were tried, of graphs that differ in their dead channels
}

func newBalancer(e *evaluator) *balancer {
	return &balancer{evaluator: e, done: map[string]*outcome{}, stores: map[layerMemory][]stored{},
		known: lanes.Known{}}
}

// balancing is the search of the balance mode: at the rate asked for with least area, or as fast as the budget allows.
// Where UltraRAM may help a design that is beyond the budget, it searches again with weights that are loaded after
// reset. Errors: L0455 for a rate that no folding reaches, L0456 for one that the budget does not allow, L0457 for a
// budget that no folding meets.
type balancing struct {
	*balancer
	inner search
}

func (s *balancing) next(last *outcome) (point, error) {
	if s.inner == nil {
		if err := s.start(); err != nil {
			return point{}, err
		}
	}
	p, err := s.inner.next(last)
	if err != nil && !s.loads && s.mayLoad(err) {
		s.loads = true
		clear(s.done)
		clear(s.stores)
		s.inner = s.aim()
		p, err = s.inner.next(nil)
	}
	if err != nil || p.found == nil {
		return p, err
	}
	r := p.found.report
	r.Balance = s.describe(p.found, p.proof)
	for _, m := range s.table.Unknown {
		r.Warn("%s does not state what it costs: it counts as nothing", m)
	}
	return p, nil
}

// start weighs the foldings of the graph.
func (s *balancing) start() error {
	s.budget = budgetOf(s.plan)
	if err := s.try(0, s.wiring()); err != nil {
		return err
	}
	s.inner = s.aim()
	return nil
}

// wiring is what decides whether layers are unrolled; nil where none is to be.
func (b *balancer) wiring() *lanes.Wiring {
	if !b.plan.Fold.AutoUnroll {
		return nil
	}
	return &lanes.Wiring{Cycles: b.limit(), Weights: b.weights()}
}

// aim is the search of what the plan asks for.
func (s *balancing) aim() search {
	if s.plan.Fold.FPS > 0 {
		return s.area()
	}
	return s.speed()
}

// try evaluates the foldings of the graph; those that take more cycles than a limit need not be among them.
func (b *balancer) try(limit int, w *lanes.Wiring) error {
	forked := b.graph.Clone()
	s := newStage(b.ctx, b.plan, b.opts.Units)
	s.pads = b.pads
	if err := pass.Run(s.runner(forked, pass.Options{}), s, Pipeline.Before("choose_lanes"), forked); err != nil {
		return err
	}
	var err error
	b.table, err = lanes.TryFoldings(b.ctx, &b.plan.Fold, forked, limit, w, b.known)
	return err
}

func (b *balancer) describe(o *outcome, proof string) *unit.Balance {
	ii := o.report.Interval()
	return &unit.Balance{Part: b.plan.Target.FPGA.Part, ClockMHz: b.plan.Target.ClockMHz, FPS: b.plan.Fold.FPS, Cycles: ii,
		Reached: b.rate(ii), Cost: o.cost, Budget: b.budget, Stores: b.placedStores(o), Proof: proof,
		Bottleneck: o.bottleneck(o.report.II())}
}

// rate is samples a second at an initiation interval.
func (b *balancer) rate(cycles float64) float64 { return b.plan.Target.ClockMHz * 1e6 / cycles }

// limit is the cycles that a sample may take at the rate of the plan, 0 where it asks for none.
func (b *balancer) limit() int {
	if b.plan.Fold.FPS == 0 {
		return 0
	}
	return int(math.Min(b.plan.Target.ClockMHz*1e6/b.plan.Fold.FPS*(1+1e-12), math.MaxInt32))
}

// lanes names the folding with which a layer takes the given cycles.
func (b *balancer) lanes(layer, cycles int) string {
	for _, o := range b.table.Layers[layer].Options {
		if o.II == cycles {
			return fmt.Sprintf("in_lanes %d, out_lanes %d", o.In, o.Asked)
		}
	}
	return "its lanes"
}

// memoryPort names the port where it sets the pace.
const memoryPort = "the memory port"
