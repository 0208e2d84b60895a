// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"
	"testing"

	"lathe/ir"
	"lathe/lower/lowertest"
	"lathe/lower/quantize"
)

// TestNotUnrolled names the layers that keep multipliers although the plan asks for sums, and why; and it warns of keys
// of [unroll] that nothing reads.
func TestNotUnrolled(t *testing.T) {
	const rule = "[[fold.rule]]\nname = \"y\"\nstyle = \"unroll\"\n"
	linear := func(b *lowertest.Builder) *ir.Node { return b.Linear("y", b.Input("x", 1, 32), 4, true) }
	conv := func(groups int) func(b *lowertest.Builder) *ir.Node {
		return func(b *lowertest.Builder) *ir.Node {
			return b.Conv("y", b.Input("x", 1, 4, 5, 5), 4, 3, 1, 1, groups, true)
		}
	}
	const nothing = "changes nothing: no layer is unrolled"
	for _, c := range []struct {
		about, plan   string
		net           func(b *lowertest.Builder) *ir.Node
		style         ir.Style
		note, warning string
	}{
		{"linear", rule + "[unroll]\neffort = 8", linear, ir.StyleUnroll, "", ""},
		{"depthwise", rule, conv(4), ir.StyleUnroll, "", ""},
		{"groups", rule + "[unroll]\neffort = 8", conv(2), ir.StyleFold, "y is not unrolled: of convolutions in groups, " +
			"only depthwise ones have an unrolled unit; it multiplies with in_lanes = 2 and out_lanes = 2", nothing},
		{"groups, by mode", "[fold]\nmode = \"unroll\"", conv(2), ir.StyleFold, "y is not unrolled: of convolutions", ""},
		{"blocks", "[quantize]\ndata = \"mxint8\"\nweight = \"mxint8\"\n" + rule, linear, ir.StyleFold,
			"y is not unrolled: there is no unrolled unit of sums over blocks", ""},
		{"lanes of its own", rule + "in_lanes = 2", linear, ir.StyleFold, "", ""},
		{"keys for nothing", "[fold]\nmode = \"fold\"\n[unroll]\nfamily = \"lut4\"", linear, ir.StyleFold, "",
			"plan.toml:3 [unroll] " + nothing},
	} {
		b := lowertest.New(t, 2)
		q, r, err := decided(t, b.Done(c.net(b)), c.plan)
		if err != nil {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		if have := q.Find("y").HW.Style; have != c.style {
			t.Errorf("%s: style %s", c.about, have)
		}
		for _, s := range []struct{ all, want, any string }{{strings.Join(r.Notes, "\n"), c.note, "unrolled"},
			{strings.Join(r.Warnings, "\n"), c.warning, "unroll"}} {
			if !strings.Contains(s.all, s.want) || s.want == "" && strings.Contains(s.all, s.any) {
				t.Errorf("%s: %q instead of %q", c.about, s.all, s.want)
			}
		}
	}
}

// TestSharedNotUnrolled: a unit that layers share has multipliers, with lanes as without the wish.
func TestSharedNotUnrolled(t *testing.T) {
	f, _ := lowertest.Layers(t, 1)
	p := lowertest.Plan(t, "[fold]\nmode = \"unroll\"\nlayers = \"loop\"")
	q, _, err := quantize.Run(t.Context(), f, p, quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, r, err := Run(t.Context(), q, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = "is not unrolled: layers with weights of their own share its unit"
	if all := strings.Join(r.Notes, "\n"); !strings.Contains(all, want) {
		t.Errorf("notes %q", all)
	}
}

// TestBalanceDigits has the balance mode weigh layers that come digit by digit: they take less where a sample has the
// cycles, and are left where it has not.
func TestBalanceDigits(t *testing.T) {
	b := lowertest.New(t, 3)
	g := b.Done(b.Linear("last", b.Linear("first", b.Input("x", 1, 16), 16, true), 6, true))
	run := func(fps, digits string) *Report {
		p := lowertest.Plan(t, "[fold]\nmode = \"balance\"\ndsp = \"none\"\nfps = "+fps+
			"\n[unroll]\nauto = true\neffort = 8\n"+digits)
		q, _, err := quantize.Run(t.Context(), g, p, quantize.Calibration{}, quantize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, r, err := Run(t.Context(), q, p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	whole, digits, fast := run("3e7", ""), run("3e7", "digits = 1\n"), run("1e8", "digits = 1\n")
	if a, b := digits.Cost(), whole.Cost(); a.LUT > b.LUT*3/4 || digits.Interval() != 8 {
		t.Errorf("%g cycles: %+v, with whole elements %+v", digits.Interval(), a, b)
	}
	if fast.Interval() > 2 {
		t.Errorf("%g cycles, 2 were asked for", fast.Interval())
	}
}
