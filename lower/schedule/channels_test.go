// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"slices"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/quantize"
)

// TestAbsorbChannels names the units of sums with quant_each behind them. The runner holds the pass to the values.
func TestAbsorbChannels(t *testing.T) {
	codes := func(axis, channels int, format string) *pointwise.QuantEachAttrs {
		a := &pointwise.QuantEachAttrs{Axis: axis, Format: format}
		for c := range channels {
			a.Bits, a.Drop = append(a.Bits, []int{3, 0, 5, 4}[c%4]), append(a.Drop, []int{2, 1, 0, 0}[c%4])
		}
		return a
	}
	const unroll, signed, unsigned = "[fold]\nmode = \"unroll\"", "fixed(5,3)", "ufixed(5,3,round=away)"
	input := func(b *lowertest.Builder, shape ...int) *ir.Node {
		x := b.Input("x", append([]int{1}, shape...)...)
		return b.Add(pointwise.Quant, "few_bits", &pointwise.QuantAttrs{Format: "fixed(6,4)"}, x)
	}
	relu := func(b *lowertest.Builder, x *ir.Node) *ir.Node { return b.Add(pointwise.Relu, "relu", nil, x) }
	each := func(b *lowertest.Builder, x *ir.Node, f string) *ir.Node {
		axis := 1
		return b.Add(pointwise.QuantEach, "q", codes(axis, x.Type.Shape[axis], f), x)
	}
	for _, c := range []struct {
		about, plan string
		net         func(b *lowertest.Builder) *ir.Node
		units       []string
	}{
		{"signed", unroll, func(b *lowertest.Builder) *ir.Node {
			return b.Linear("z", each(b, b.Linear("y", input(b, 6), 5, true), signed), 3, true)
		}, []string{"linear_each", "linear"}},
		{"behind relu", unroll, func(b *lowertest.Builder) *ir.Node {
			return b.Linear("z", each(b, relu(b, b.Linear("y", input(b, 6), 5, true)), unsigned), 3, true)
		}, []string{"linear_each", "linear"}},
		{"signed behind relu", unroll, func(b *lowertest.Builder) *ir.Node {
			return each(b, relu(b, b.Linear("y", input(b, 6), 5, true)), signed)
		}, []string{"linear", "quant_each"}},
		{"ends behind the codes", unroll + "\n[[quantize.rule]]\nname = \"y\"\ndata_out = \"fixed(26,24)\"\n",
			func(b *lowertest.Builder) *ir.Node {
				return each(b, b.Linear("y", input(b, 6), 5, true), signed)
			}, []string{"linear_each"}},
		{"ends before the codes", unroll + "\n[[quantize.rule]]\nname = \"y\"\ndata_out = \"fixed(25,24)\"\n",
			func(b *lowertest.Builder) *ir.Node {
				return each(b, b.Linear("y", input(b, 6), 5, true), signed)
			}, []string{"linear", "quant_each"}},
		{"folded", "", func(b *lowertest.Builder) *ir.Node {
			return each(b, b.Linear("y", input(b, 6), 4, true), signed)
		}, []string{"linear", "quant_each"}},
		{"convolutions", unroll, func(b *lowertest.Builder) *ir.Node {
			x := each(b, relu(b, b.Conv("y", input(b, 2, 5, 5), 4, 3, 1, 1, 1, true)), unsigned)
			x = b.Conv("d", x, 4, 3, 1, 1, 4, true)
			return b.Add(pointwise.QuantEach, "p", codes(1, 4, signed), x)
		}, []string{"conv_each", "conv_each"}},
	} {
		units := absorbed(t, c.net, c.plan)
		if !slices.Equal(units, c.units) {
			t.Errorf("%s: units %v, want %v", c.about, units, c.units)
		}
	}
}

// absorbed are the sums and roundings of a network once the pass has run.
func absorbed(t *testing.T, net func(b *lowertest.Builder) *ir.Node, plan string) (units []string) {
	t.Helper()
	b := lowertest.New(t, 2)
	p := lowertest.Plan(t, plan)
	g, _, err := quantize.Run(context.Background(), b.Done(net(b)), p, quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(context.Background(), p, nil)
	if err := pass.Run(s.runner(g, pass.Options{Verify: true}), s, Pipeline.Upto("absorb_channels"), g); err != nil {
		t.Fatal(err)
	}
	for _, n := range g.Nodes {
		if !n.IsConst() && (n.Op.Traits.Weighted || n.Op.Each != nil) {
			units = append(units, n.Op.Name)
		}
	}
	return units
}

// TestPlanChannels: unrolled sums round to the formats that a rule gives their channels, behind a relu too.
func TestPlanChannels(t *testing.T) {
	net := func(b *lowertest.Builder) *ir.Node {
		y := b.Add(pointwise.Relu, "relu", nil, b.Linear("y", b.Input("x", 1, 6), 4, true))
		return b.Linear("z", y, 3, true)
	}
	const rule = "[[quantize.rule]]\nname = %\nchannels = [\"ufixed(6,4)\", \"none\", \"ufixed(3,1)\", \"ufixed(2,2)\"]\n"
	const unroll = "[fold]\nmode = \"unroll\"\n"
	for _, c := range []struct {
		about, plan string
		units       []string
	}{
		{"behind relu", unroll + strings.Replace(rule, "%", `"relu"`, 1), []string{"linear_each", "linear"}},
		{"of the sum", unroll + strings.Replace(rule, "%", `"y"`, 1), []string{"linear_each", "linear"}},
		{"folded", strings.Replace(rule, "%", `"relu"`, 1), []string{"linear", "quant_each", "linear"}},
		{"of an input", unroll + strings.NewReplacer("%", `"x"`, `"ufixed(2,2)"`, `"ufixed(2,2)", "none", "ufixed(1,0)"`).
			Replace(rule), []string{"quant_each", "linear", "linear"}},
	} {
		if units := absorbed(t, net, c.plan); !slices.Equal(units, c.units) {
			t.Errorf("%s: units %v, want %v", c.about, units, c.units)
		}
	}
}
