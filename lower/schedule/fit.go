// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strings"

	"lathe/lower/schedule/balance"
	"lathe/lower/schedule/lanes"
)

// rounds bounds how often stores move: once for the units, and again for the FIFOs.
const rounds = 3

// placement is the search of one choice of options: where its design is beyond the budget, weights and line buffers
// move to other memories. The design found has no FIFOs if its units alone are beyond the budget wherever these lie.
type placement struct {
	*balancer
	key      string // in done
	foldings lanes.Foldings
	round    int
	always   bool // the design has FIFOs in any case
}

func (b *balancer) placement(picks []int) *placement {
	return &placement{balancer: b, key: fmt.Sprint(picks), foldings: b.table.Foldings(picks), round: 1}
}

func (s *placement) next(last *outcome) (point, error) {
	if last == nil {
		return point{foldings: s.foldings, need: fitted, most: s.budget, found: s.done[s.key]}, nil
	}
	moved := s.moved(s.foldings, last.cost, s.round)
	switch {
	case moved != nil:
		s.foldings, s.round = moved, s.round+1
		return point{foldings: moved, need: fitted, most: s.budget}, nil
	case last.sized():
		s.done[s.key] = last
	case s.always:
		return point{from: last, need: complete}, nil
	}
	return point{found: last}, nil
}

// boosts bounds how often the weight of what is over budget is raised.
const boosts = 5

// fit is the search of a design within a limit of cycles and the budget. Each choice that is beyond the budget makes
// what it has too much of weigh more in the next one. If none fits, the design found is that of the first choice.
type fit struct {
	*balancer
	cycles int
	bound  bool // one beyond the budget may lack its FIFOs, which saves a run of beats
	w      balance.Weights
	tries  int
	at     *placement
	first  *placement // the first choice
	design *outcome   // what was found of it, beyond the budget
}

func (b *balancer) fit(cycles int, bound bool) *fit {
	s := &fit{balancer: b, cycles: cycles, bound: bound, w: b.weights()}
	s.choose()
	return s
}

func (s *fit) choose() {
	picks, _ := balance.Choose(s.table.Layers, s.cycles, s.w)
	s.at, s.tries = s.placement(picks), s.tries+1
}

func (s *fit) next(last *outcome) (point, error) {
	for {
		p, err := s.at.next(last)
		if err != nil || p.found == nil || s.at.always {
			return p, err
		}
		excesses := s.over(p.found.cost)
		if excesses == nil {
			return p, nil
		}
		if s.tries == 1 {
			s.first, s.design = s.at, p.found
		}
		if s.tries < boosts {
			s.w = raised(s.w, excesses)
			s.choose()
			last = nil
			continue
		}
		if s.design.sized() || s.bound {
			return point{found: s.design}, nil
		}
		s.at, last = s.first, s.design
		s.at.always = true
	}
}

// beyond says what a design that a fit found takes beyond the budget; "" if it is within.
func (b *balancer) beyond(o *outcome) string {
	text := strings.Join(b.overTexts(b.over(o.cost)), " and ")
	if !o.sized() {
		text = "at least " + text
	}
	return text
}

// estimateFits says whether some weighing meets the budget, by the sum over layers.
func (b *balancer) estimateFits(cycles int) bool {
	w := b.weights()
	for range boosts {
		picks, cost := balance.Choose(b.table.Layers, cycles, w)
		over := b.over(cost)
		if over == nil || b.moved(b.table.Foldings(picks), cost, 1) != nil {
			return true
		}
		w = raised(w, over)
	}
	return false
}
