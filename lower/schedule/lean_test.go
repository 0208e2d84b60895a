// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"testing"

	"lathe/ir"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize"
	"lathe/rtl"
)

// inMode schedules a quantized graph under [fold] keys and rules, with every pass verified.
func inMode(t *testing.T, q *ir.Graph, fold string) (*ir.Graph, *Report) {
	t.Helper()
	g, r, err := Run(t.Context(), q, lowertest.Plan(t, "[fold]\n"+fold), Options{Options: pass.Options{Verify: true}})
	if err != nil {
		t.Fatal(err)
	}
	return g, r
}

// TestLean: the default mode keeps the cycles of the plain lanes, with less hardware.
func TestLean(t *testing.T) {
	q, _, err := quantize.Run(t.Context(), lowertest.Classifier(t), plan.Default(), quantize.Calibration{},
		quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, fold := inMode(t, q, `mode = "fold"`)
	_, lean := inMode(t, q, "")
	if lean.II() != fold.II() {
		t.Errorf("%d cycles, with the plain lanes %d", lean.II(), fold.II())
	}
	if a, b := lean.Cost(), fold.Cost(); a.LUT >= b.LUT || a.DSP >= b.DSP || a.BRAM > b.BRAM {
		t.Errorf("%+v, with the plain lanes %+v", a, b)
	}
}

// TestLeanRules: what rules say of lanes or style stands, and sets the pace where it is the slowest.
func TestLeanRules(t *testing.T) {
	q, _, err := quantize.Run(t.Context(), lowertest.Classifier(t), plan.Default(), quantize.Calibration{},
		quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []string{"in_lanes = 18\nout_lanes = 5", `style = "fold"`, `style = "unroll"`,
		"in_lanes = 1\nout_lanes = 1"} {
		rule = "\n[[fold.rule]]\nname = \"conv2\"\n" + rule
		plain, fold := inMode(t, q, `mode = "fold"`+rule)
		g, lean := inMode(t, q, rule)
		have, want := g.Find("conv2").HW, plain.Find("conv2").HW
		if have.InLanes != want.InLanes || have.OutLanes != want.OutLanes || have.Style != want.Style {
			t.Errorf("%s: %+v, with the plain lanes %+v", rule, have, want)
		}
		if lean.II() != fold.II() {
			t.Errorf("%s: %d cycles, with the plain lanes %d", rule, lean.II(), fold.II())
		}
	}
}

// TestLeanFallsBack takes the plain lanes where the choice runs slower than promised, or is larger.
func TestLeanFallsBack(t *testing.T) {
	q, _, err := quantize.Run(t.Context(), lowertest.Classifier(t), plan.Default(), quantize.Calibration{},
		quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := newBalancer(&evaluator{ctx: t.Context(), plan: plan.Default(), graph: q})
	plain, err := b.evaluate(point{need: units})
	if err != nil {
		t.Fatal(err)
	}
	ii, cost := float64(plain.report.II()), plain.cost
	for _, c := range []struct {
		what     string
		measured float64
		more     rtl.Cost
		lean     bool
	}{
		{"no run", 0, rtl.Cost{}, true},
		{"as fast", ii, rtl.Cost{}, true},
		{"slower", ii + 1, rtl.Cost{}, false},
		{"larger", ii, rtl.Cost{LUT: 1000}, false},
	} {
		least := &outcome{report: &Report{Measured: c.measured}, cost: cost.Add(c.more)}
		if plain, err = b.evaluate(point{need: units}); err != nil {
			t.Fatal(err)
		}
		s := &lean{balancer: b, plain: plain}
		p, err := s.next(least)
		if doubt := p.from != nil; err != nil || doubt == c.lean || doubt && (p.from != plain || p.need != complete) {
			t.Fatalf("%s: %+v, %v", c.what, p, err)
		}
		if p.from != nil {
			last, err := b.evaluate(p)
			if err != nil {
				t.Fatal(err)
			}
			if p, err = s.next(last); err != nil || !plain.sized() {
				t.Errorf("%s: %+v, %v", c.what, p, err)
			}
		}
		if (p.found == least) != c.lean || !c.lean && p.found != plain {
			t.Errorf("%s: %v", c.what, p.found == least)
		}
	}
}

// TestWithin: a limit leaves out no folding but those
// that are too slow or have more than twice the lanes that are needed.
func TestWithin(t *testing.T) {
	q, _, err := quantize.Run(t.Context(), lowertest.Classifier(t), plan.Default(), quantize.Calibration{},
		quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := newBalancer(&evaluator{ctx: t.Context(), plan: plan.Default(), graph: q})
	if err := b.try(0, nil); err != nil {
		t.Fatal(err)
	}
	all, fewer := b.table, 0
	const limit = 300
	if err := b.try(limit, nil); err != nil {
		t.Fatal(err)
	}
	for i, l := range b.table.Layers {
		for _, o := range all.Layers[i].Options {
			least := o.In
			for _, other := range all.Layers[i].Options {
				if other.Asked == o.Asked && other.II <= limit {
					least = min(least, other.In)
				}
			}
			if o.II <= limit && o.In <= 2*least && !slices.Contains(l.Options, o) {
				t.Errorf("%s: %+v is left out", b.table.Nodes[i].Name, o)
			}
		}
		fewer += len(all.Layers[i].Options) - len(l.Options)
	}
	if fewer < 50 {
		t.Errorf("%d foldings are left out: this tests nothing", fewer)
	}
}
