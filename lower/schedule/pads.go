// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"maps"
	"math"
	"sort"

	"lathe/ir"
	"lathe/lower/schedule/balance"
	"lathe/lower/schedule/lanes"
)

// pad is the pass pad_channels.
func (s *stage) pad(g *ir.Graph) (err error) {
	s.report.Pads, err = lanes.Pad(g, &s.plan.Fold, s.pads, &s.report.Report)
	return err
}

// balanced searches a design of the balance mode: with the channels as they are, and with dead ones where the sums over
// the units then weigh less. The better of the two stays.
func (e *evaluator) balanced() (*outcome, error) {
	plain := &balancing{balancer: newBalancer(e)}
	found, err := e.find(plain)
	pads := plain.pads()
	if pads == nil {
		return found, err
	}
	padded := *e
	padded.pads = pads
	b := newBalancer(&padded)
	b.known = plain.known
	other, wrong := padded.find(&balancing{balancer: b})
	if wrong != nil || found != nil && !plain.better(other, found) {
		return found, err
	}
	return other, nil
}

// better says that x, a design within the budget, is faster than y or, at the rate of the plan, weighs less.
func (b *balancer) better(x, y *outcome) bool {
	if f, s := x.report.Interval(), y.report.Interval(); b.plan.Fold.FPS == 0 && f != s {
		return f < s
	}
	w := b.weights()
	return w.Of(x.cost) < w.Of(y.cost)
}

// pads are the dead channels with which the units are foreseen to weigh less, or to be faster: nil where none are. From
// the channels as they are, and from all of them padded, one layer's number after another changes.
func (s *balancing) pads() lanes.Pads {
	if s.table == nil || s.inner == nil {
		return nil
	}
	list := lanes.Paddings(s.graph, &s.plan.Fold)
	if len(list) == 0 {
		return nil
	}
	base := s.foreseen(nil, s.table)
	best, least := lanes.Pads(nil), base
	all := lanes.Pads{}
	for _, p := range list {
		all[p.Layer] = p.To[0]
	}
	for _, from := range []lanes.Pads{{}, all} {
		if pads, v := s.descend(list, from); v.less(least) {
			best, least = pads, v
		}
	}
	return best
}

// descend changes the number of channels of one layer after another to what is foreseen to be best.
func (s *balancing) descend(list []lanes.Padding, from lanes.Pads) (lanes.Pads, foresight) {
	best, least := from, s.foreseen(from, nil)
	for _, p := range list {
		for _, to := range append([]int{0}, p.To...) {
			next := maps.Clone(best)
			if next[p.Layer] = to; to == 0 {
				delete(next, p.Layer)
			}
			if v := s.foreseen(next, nil); v.less(least) {
				best, least = next, v
			}
		}
	}
	return best, least
}

// foresight is what a design is foreseen to come to.
type foresight struct {
	cycles int
	weight float64
}

func (a foresight) less(b foresight) bool {
	return a.cycles < b.cycles || a.cycles == b.cycles && a.weight < b.weight*(1-1e-9)
}

// foreseen is the least cycles within the budget, or those of the plan's rate, and what the units then weigh by the
// table of a graph with dead channels, which is made where it is nil.
func (s *balancing) foreseen(pads lanes.Pads, t *lanes.Table) foresight {
	b := *s.balancer
	if b.table = t; t == nil {
		e := *s.evaluator
		e.pads, b.evaluator, b.stores = pads, &e, map[layerMemory][]stored{}
		if err := b.try(0, s.wiring()); err != nil {
			return foresight{math.MaxInt, 0}
		}
	}
	least, _ := balance.Fastest(b.table.Layers)
	cycles := max(b.limit(), least)
	if b.plan.Fold.FPS == 0 {
		steps := balance.Steps(b.table.Layers)
		at := sort.Search(len(steps), func(i int) bool { return b.estimateFits(steps[i]) })
		cycles = steps[min(at, len(steps)-1)]
	}
	w := b.weights()
	_, cost := balance.Choose(b.table.Layers, cycles, w)
	return foresight{cycles, w.Of(cost)}
}
