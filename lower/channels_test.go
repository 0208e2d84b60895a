// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/lower/lowertest"
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
	p := mustPlan(t, plan)
	g, _, err := Quantize(context.Background(), b.Done(net(b)), p, Calibration{})
	if err != nil {
		t.Fatal(err)
	}
	s := &State{Plan: p, Report: &Report{}}
	r := newRunner(context.Background(), g, s, Options{Verify: true})
	last := slices.IndexFunc(SchedulePipeline, func(p Pass) bool { return p.Name == "absorb_channels" })
	if err := r.run(s, SchedulePipeline[:last+1], g); err != nil {
		t.Fatal(err)
	}
	for _, n := range g.Nodes {
		if !n.IsConst() && (n.Op.Traits.Weighted || n.Op.Each != nil) {
			units = append(units, n.Op.Name)
		}
	}
	return units
}

// TestChannelsOfInput: an input has the range of the channels that it is rounded to, and bits below their finest step,
// without samples and whatever their range; not where something else reads it.
func TestChannelsOfInput(t *testing.T) {
	for _, c := range []struct {
		format string
		bits   []int
		other  bool
		want   string
	}{
		{"fixed(7,2)", []int{7, 3, 4}, false, "fixed(16,11)"}, {"ufixed(18,14)", []int{4, 8, 6}, false, "ufixed(22,18)"},
		{"fixed(7,2)", []int{7, 3, 4}, true, "fixed(16,14)"},
	} {
		b := lowertest.New(t, 1)
		x := b.Input("x", 1, 3)
		a := &pointwise.QuantEachAttrs{Axis: 1, Format: c.format, Bits: c.bits, Drop: []int{0, 0, 2}}
		out := []*ir.Node{b.Linear("y", b.Add(pointwise.QuantEach, "q", a, x), 2, true)}
		if c.other {
			out = append(out, b.Linear("z", x, 2, true))
		}
		q, _ := mustQuantize(t, b.Done(out...), "", Calibration{})
		if got := q.Find("x").Type.Format.String(); got != c.want {
			t.Errorf("%s, another reader %v: %s, want %s", c.format, c.other, got, c.want)
		}
	}
}
