// SPDX-License-Identifier: Apache-2.0

package schedule

import "lathe/lower/schedule/balance"

// lean is the search of the lean mode: the cycles of a sample are those of the fold mode, and every unit has the least
// hardware that keeps them. Where that turns out slower or larger than the fold mode, the design is of that mode.
type lean struct {
	*balancer
	plain, least *outcome // of the fold mode, and of the least hardware; nil before they are known
}

func (s *lean) next(last *outcome) (point, error) {
	switch {
	case last == nil:
		return point{need: units}, nil
	case s.plain == nil:
		s.plain = last
		limit := last.report.II()
		if err := s.try(limit, nil); err != nil {
			return point{}, err
		}
		return point{foldings: s.table.Foldings(s.leanest(limit)), need: complete}, nil
	case s.least == nil:
		s.least = last
		if !s.worse(float64(s.plain.report.II())) {
			return point{found: s.least}, nil
		}
		return point{from: s.plain, need: complete}, nil // its FIFOs are sized only where there is doubt
	case s.worse(s.plain.report.Interval()):
		return point{found: s.plain}, nil
	}
	return point{found: s.least}, nil
}

// worse says that the least hardware takes more cycles than so many, or weighs more than the design of the fold mode.
func (s *lean) worse(cycles float64) bool {
	w := s.weights()
	return s.least.report.Measured > cycles || w.Of(s.least.cost) > w.Of(s.plain.cost)
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
