// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"

	"lathe/internal/diag"
	"lathe/lower/schedule/balance"
)

// speed is the search of a design as fast as the budget allows: the steps of cycles a sample are searched by estimates,
// and those around the best evaluated in full.
type speed struct {
	*balancer
	steps []int
	step  int // that of the fit
	fit   *fit
	best  *outcome // the fastest within the budget; nil: none yet, so steps get slower
}

func (b *balancer) speed() *speed {
	s := &speed{balancer: b, steps: balance.Steps(b.table.Layers)}
	at, _ := slices.BinarySearchFunc(s.steps, 0, func(step, _ int) int {
		if b.estimateFits(step) {
			return 1
		}
		return -1
	})
	s.turn(min(at, len(s.steps)-1), true)
	return s
}

// turn turns to a step.
func (s *speed) turn(step int, bound bool) {
	s.step, s.fit = step, s.balancer.fit(s.steps[step], bound)
}

func (s *speed) next(last *outcome) (point, error) {
	for ; ; last = nil {
		p, err := s.fit.next(last)
		if err != nil || p.found == nil {
			return p, err
		}
		over := s.beyond(p.found)
		switch {
		case s.best != nil && over != "":
			return point{found: s.best, proof: fmt.Sprintf("the next faster folding, %s cycles, takes %s",
				diag.Grouped(s.steps[s.step]), over)}, nil
		case over != "" && s.step+1 < len(s.steps):
			s.turn(s.step+1, true)
		case over != "" && !p.found.sized():
			s.turn(s.step, false) // what it takes in all
		case over != "":
			return point{over: p.found}, diag.New(diag.OverBudget, s.graph.Name, "the slowest folding takes %s", over).
				WithNote("set by %s", s.plan.Fold.From).WithHint("%s", s.less(p.found))
		case s.step > 0:
			s.best = p.found
			s.turn(s.step-1, false)
		default:
			least, slow := balance.Fastest(s.table.Layers)
			return point{found: p.found, proof: fmt.Sprintf("no folding is faster: %s takes %s cycles with %s",
				s.table.Nodes[slow].Name, diag.Grouped(least), s.lanes(slow, least))}, nil
		}
	}
}
