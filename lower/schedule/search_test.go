// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"testing"

	"lathe/ir"
	"lathe/ir/unit"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/quantize"
	"lathe/lower/schedule/forms"
	"lathe/rtl"
)

// asks is a search that asks for points of which each may depend on the last outcome.
type asks []func(last *outcome) (point, error)

func (s *asks) next(last *outcome) (point, error) {
	ask := (*s)[0]
	*s = (*s)[1:]
	return ask(last)
}

// classified is an evaluator of the classifier under a plan.
func classified(t *testing.T, text string, o pass.Options) *evaluator {
	t.Helper()
	p := lowertest.Plan(t, text)
	q, _, err := quantize.Run(t.Context(), lowertest.Classifier(t), p, quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	units := &unit.Cache{Part: p.Fold.Part, Forms: forms.Cheapest}
	return &evaluator{ctx: t.Context(), plan: p, graph: q, opts: Options{Options: o, Units: units}}
}

// TestFind evaluates designs as far as points need it, and each part of the pipeline once.
func TestFind(t *testing.T) {
	var passes []string
	dump := func(name string, _ *ir.Graph) { passes = append(passes, name) }
	e := classified(t, "", pass.Options{DumpAfter: dump})
	ran := func(first, last string, total int) {
		t.Helper()
		if len(passes) != total || passes[0] != first || passes[total-1] != last {
			t.Errorf("%d passes have run: %v", len(passes), passes)
		}
		passes = nil
	}
	var bare *outcome
	s := asks{
		func(last *outcome) (point, error) {
			if last != nil {
				t.Error("something was evaluated before anything was asked for")
			}
			return point{need: units}, nil
		},
		func(last *outcome) (point, error) {
			bare = last
			if last.sized() || last.cost.LUT == 0 || last.cost != last.report.Cost() {
				t.Errorf("units: %+v", last.cost)
			}
			ran("pad_channels", "time_units", len(Pipeline)-1)
			return point{need: fitted, most: unit.Budget{LUT: last.cost.LUT - 1}}, nil
		},
		func(last *outcome) (point, error) {
			if last.sized() || last == bare || last.cost != bare.cost {
				t.Errorf("beyond the budget: %+v", last.cost)
			}
			ran("pad_channels", "time_units", len(Pipeline)-1)
			return point{from: bare, need: complete}, nil
		},
		func(last *outcome) (point, error) {
			if !last.sized() || last != bare || last.report.Measured == 0 {
				t.Errorf("from units on: %+v", last.cost)
			}
			ran("size_fifos", "size_fifos", 1)
			return point{need: fitted, most: unit.Budget{LUT: last.cost.LUT}}, nil
		},
		func(last *outcome) (point, error) {
			if !last.sized() || last.cost != bare.cost {
				t.Errorf("within the budget: %+v, without one %+v", last.cost, bare.cost)
			}
			ran("pad_channels", "size_fifos", len(Pipeline))
			return point{found: bare}, nil
		},
	}
	if found, err := e.find(&s); err != nil || found != bare || len(s) > 0 {
		t.Errorf("%v, %v, %d points are left", found, err, len(s))
	}
	refused := errors.New("no more")
	s = asks{func(*outcome) (point, error) { return point{}, refused }}
	if found, err := e.find(&s); found != nil || err != refused {
		t.Errorf("%v, %v", found, err)
	}
}

// step is the next point of a search that must not fail.
func step(t *testing.T, s search, last *outcome) point {
	t.Helper()
	p, err := s.next(last)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPlacement walks through what becomes of one choice: nothing moves within the budget, FIFOs of what is beyond it
// are sized only if they must be, and a choice is evaluated once.
func TestPlacement(t *testing.T) {
	b := newBalancer(classified(t, "[fold]\nmode = \"balance\"\nmax_lut = 1", pass.Options{}))
	if err := b.try(0, nil); err != nil {
		t.Fatal(err)
	}
	picks := make([]int, len(b.table.Layers))
	b.budget = unit.Budget{LUT: 1} // nothing helps
	s := b.placement(picks)
	ask := step(t, s, nil)
	if ask.found != nil || ask.need != fitted || ask.most != b.budget || len(ask.foldings) != len(picks) {
		t.Errorf("%+v", ask)
	}
	bare, err := b.evaluate(ask)
	if err != nil || bare.sized() {
		t.Fatal(bare, err)
	}
	if end := step(t, s, bare); end.found != bare || len(b.done) > 0 {
		t.Errorf("%+v, %d are kept", end, len(b.done))
	}
	s.always = true
	if ask = step(t, s, bare); ask.found != nil || ask.from != bare || ask.need != complete {
		t.Errorf("%+v", ask)
	}
	full, err := b.evaluate(ask)
	if err != nil || !full.sized() {
		t.Fatal(full, err)
	}
	if end := step(t, s, full); end.found != full || step(t, b.placement(picks), nil).found != full {
		t.Errorf("%+v, %d are kept", end, len(b.done))
	}
}

// TestFit raises weights as often as boosts says, and then takes the design of the first choice, with its FIFOs unless
// a bound is all that is asked for.
func TestFit(t *testing.T) {
	for _, bound := range []bool{false, true} {
		b := newBalancer(classified(t, "[fold]\nmode = \"balance\"\nmax_lut = 1", pass.Options{}))
		if err := b.try(0, nil); err != nil {
			t.Fatal(err)
		}
		b.budget = unit.Budget{LUT: 1}
		s := b.fit(1000, bound)
		var first, last *outcome
		for try := range boosts {
			if p := step(t, s, last); p.found != nil || p.need != fitted || p.from != nil {
				t.Errorf("choice %d: %+v", try, p)
			}
			last = &outcome{cost: rtl.Cost{LUT: 1_000_001 - try}, stage: &stage{}}
			if try == 0 {
				first = last
			}
		}
		p := step(t, s, last)
		if bound {
			if p.found != first || b.beyond(first) != "at least 1,000,000 LUT more than max_lut = 1" {
				t.Errorf("%+v: %s", p, b.beyond(first))
			}
			continue
		}
		if p.found != nil || p.from != first || p.need != complete {
			t.Errorf("%+v", p)
		}
		full := &outcome{cost: rtl.Cost{LUT: 1_200_001}}
		if p = step(t, s, full); p.found != full || b.beyond(full) != "1,200,000 LUT more than max_lut = 1" {
			t.Errorf("%+v: %s", p, b.beyond(full))
		}
	}
}

// TestHurry aims at fewer cycles in the measure in which a design is too slow.
func TestHurry(t *testing.T) {
	b := newBalancer(classified(t, "[fold]\nmode = \"balance\"\nfps = 1e5", pass.Options{}))
	if err := b.try(0, nil); err != nil {
		t.Fatal(err)
	}
	const limit = 2500
	s := b.hurry(limit, limit/3)
	step(t, s, nil)
	slow := &outcome{report: &Report{Measured: 2 * limit}}
	if p := step(t, s, slow); p.found != nil || s.aim != limit/2 {
		t.Errorf("%+v, aiming at %d cycles", p, s.aim)
	}
	fast := &outcome{report: &Report{Measured: limit}}
	if p := step(t, s, fast); p.found != fast {
		t.Errorf("%+v, aiming at %d cycles", p, s.aim)
	}
	s = b.hurry(limit, limit)
	clear(b.done)
	step(t, s, nil)
	if p := step(t, s, slow); p.found != slow {
		t.Errorf("no unit can be faster: %+v, aiming at %d cycles", p, s.aim)
	}
}
