// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math"

	"lathe/internal/diag"
	"lathe/lower/plan"
	"lathe/lower/schedule/balance"
)

// area is the search of the least area at the rate of the plan. Where it finds none, it searches the fastest design
// within the budget: that is taken if it reaches the rate, and else goes into the error, so that a rate which an error
// names is one that is reached.
type area struct {
	*balancer
	limit, least int // the cycles a sample may take, and the least that some choice has
	inner        search
	refused      *diag.Error // what lacks the rate that is reached, for which inner searches; nil: nothing
}

func (b *balancer) area() *area {
	s := &area{balancer: b, limit: b.limit()}
	s.least, _ = balance.Fastest(b.table.Layers)
	if s.limit < s.least {
		s.refused = s.unreachable()
		s.inner = b.speed()
	} else {
		s.inner = s.hurry(s.limit, s.least)
	}
	return s
}

func (s *area) next(last *outcome) (point, error) {
	for ; ; last = nil {
		p, err := s.inner.next(last)
		switch {
		case err != nil && p.over == nil:
			return p, err
		case s.refused != nil && (err != nil || p.found != nil):
			return s.fastest(p)
		case err != nil || p.found == nil:
			return p, err
		}
		over, slow := s.beyond(p.found), p.found.report.Interval() > float64(s.limit)
		switch {
		case over != "":
			s.refused = diag.New(diag.RateOverBudget, s.graph.Name, "%s samples a second take %s", plan.TOML(s.plan.Fold.FPS),
				over).WithNote("set by %s", s.plan.Fold.From)
			s.inner = s.speed()
		case slow && s.table.Unshare():
			clear(s.done)
			s.inner = s.hurry(s.limit, s.least)
		case slow:
			s.refused = s.heldUp(p.found)
			s.inner = s.speed()
		default:
			return point{found: p.found, proof: s.proof(p.found.report.II())}, nil
		}
	}
}

// unreachable is the error of a rate that no folding reaches.
func (s *area) unreachable() *diag.Error {
	_, slow := balance.Fastest(s.table.Layers)
	n, room := s.table.Nodes[slow], fmt.Sprintf("leaves %s per sample", diag.Cycles(s.limit))
	if s.limit == 0 {
		room = "needs more than one sample per cycle"
	}
	e := n.Errorf(diag.UnreachableRate, "fps = %s %s at %g MHz; %s (%q) takes at least %s", plan.TOML(s.plan.Fold.FPS),
		room, s.plan.Target.ClockMHz, n.Op.Name, n.Name, diag.Cycles(s.least))
	if n.HW.Weights == "stream" {
		e = e.WithNote("its weights come through %s, %d bits a cycle", memoryPort, n.HW.Port)
	}
	return e.WithNote("that is with %s", s.lanes(slow, s.least)).WithNote("set by %s", s.plan.Fold.From)
}

// fastest takes the fastest design within the budget, that of p, if it reaches the rate; else it is in the hint.
func (s *area) fastest(p point) (point, error) {
	if p.found == nil {
		return point{}, s.refused.WithHint("no folding meets this budget at any rate: %s", s.less(p.over))
	}
	ii := p.found.report.Interval()
	if s.rate(ii)*(1+1e-12) >= s.plan.Fold.FPS { // which may leave a part of a cycle more than the limit
		return point{found: p.found, proof: "no smaller folding was found at this rate within the budget"}, nil
	}
	hint := fmt.Sprintf("ask for at most fps = %s, which takes %s a sample", floorRate(s.rate(ii)), cyclesOf(ii))
	if p.found.bottleneck(p.found.report.II()) == memoryPort {
		hint += `; or raise axi_bits of [memory], or say weights = "hold" for some layers`
	}
	return point{}, s.refused.WithHint("%s", hint)
}

// heldUp is the error of a design whose streams hold each other up beyond the limit.
func (s *area) heldUp(o *outcome) *diag.Error {
	return diag.New(diag.UnreachableRate, s.graph.Name,
		"fps = %s leaves %s per sample; the design found takes %s, at %q", plan.TOML(s.plan.Fold.FPS),
		diag.Cycles(s.limit), plan.TOML(o.report.Interval()), o.bottleneck(o.report.II()))
}

// proof says why a design of so many cycles is no smaller.
func (s *area) proof(ii int) string {
	proof, limit := "no folding is slower than this", s.limit
	for _, step := range balance.Steps(s.table.Layers) {
		if step > limit {
			proof = fmt.Sprintf("the next slower folding takes %s cycles, of which there are %s a sample", diag.Grouped(step),
				diag.Grouped(limit))
			break
		}
	}
	if float64(limit-ii) > 0.03*float64(limit) {
		proof += fmt.Sprintf("; no smaller folding was found between %s and %s cycles", diag.Grouped(ii), diag.Grouped(limit))
	}
	return proof
}

// hurry is the search of a design whose samples come within a limit of cycles: where streams that meet hold each other
// up, its units must be faster than the limit. The design found is slower if all are, and beyond the budget if the
// first within the limit is.
type hurry struct {
	*balancer
	limit, least int
	aim          int // the cycles that units may take
	fit          *fit
}

func (b *balancer) hurry(limit, least int) *hurry {
	return &hurry{b, limit, least, limit, b.fit(limit, false)}
}

func (s *hurry) next(last *outcome) (point, error) {
	for ; ; last = nil {
		p, err := s.fit.next(last)
		if err != nil || p.found == nil || s.beyond(p.found) != "" {
			return p, err
		}
		interval, limit := p.found.report.Interval(), float64(s.limit)
		if interval <= limit {
			return p, nil
		}
		s.aim = min(s.aim-1, int(float64(s.aim)*limit/interval))
		if s.aim < s.least {
			return p, nil
		}
		s.fit = s.balancer.fit(s.aim, false)
	}
}

// floorRate prints a rate to three digits, rounded down so that it can be reached.
func floorRate(fps float64) string {
	scale := math.Pow(10, math.Floor(math.Log10(fps))-2)
	return plan.TOML(math.Floor(fps/scale) * scale)
}

// cyclesOf is a mean number of cycles in words.
func cyclesOf(ii float64) string {
	if ii == 1 {
		return diag.Cycles(1)
	}
	return plan.TOML(ii) + " cycles"
}
