// SPDX-License-Identifier: Apache-2.0

package forms

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op"
	"lathe/ir/op/draw"
	"lathe/ir/op/sum"
	"lathe/ir/unit"
)

// linear is a layer of 16 inputs and 4 outputs, of which 8 and 4 meet in a beat.
func linear(x, w format.Format, codes func(i int) int64) *ir.Node {
	at := make([]int64, 16*4)
	for i := range at {
		at[i] = codes(i)
	}
	args := []*ir.Node{draw.Input("x", ir.Type{Shape: []int{16}, Format: x}),
		draw.Const("w", ir.Type{Shape: []int{4, 16}, Format: w}, at)}
	n := &ir.Node{Name: "y", Op: sum.Linear, Args: args,
		Type: ir.Type{Shape: []int{4}, Format: format.Fixed{W: 12, Signed: true}}}
	n.HW.InLanes, n.HW.OutLanes, n.HW.StreamIn = 8, 4, 8
	return n
}

func signed(w int) format.Fixed { return format.Fixed{W: w, Signed: true} }

// TestCheapest states what must be cheapest by what the modules are made of.
func TestCheapest(t *testing.T) {
	signs := func(i int) int64 { return int64(1 - i%3%2*2) }
	short := func(i int) int64 { return int64(i%15 - 7) }
	powers := func(i int) int64 { return 1 << (i % 15) }
	long := func(i int) int64 { return int64(i*977%4001 - 2000) }
	for _, c := range []struct {
		what string
		n    *ir.Node
		dsp  string
		want string
	}{
		{"signs are added", linear(signed(8), signed(8), signs), "", "weights"},
		{"short weights select", linear(signed(8), signed(4), short), "", "multiples"},
		{"LUTs by the plan", linear(signed(8), signed(4), short), "none", "integers"},
		{"powers of two are shifts", linear(signed(8), signed(16), powers), "", "weights"},
		{"DSPs by the plan", linear(signed(8), signed(16), powers), "pack", "integers"},
		{"a DSP takes them", linear(signed(8), signed(12), long), "", "integers"},
	} {
		c.n.HW.DSP = c.dsp
		got, err := cheapest(c.n)
		if err != nil || got.Factors != c.want || got.Shifted {
			t.Errorf("%s: %+v, want %q; %v", c.what, got, c.want, err)
		}
	}
}

// TestCheapestCodes wants codes of data to be refused exactly where integers cost less.
func TestCheapestCodes(t *testing.T) {
	parse := func(text string) format.Format {
		f, err := format.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	weights := func(i int) int64 { return int64(i*37%255 - 127) }
	wide := func(i int) int64 { return int64(8+i%8) << (i % 15) }
	if form, err := cheapest(linear(parse("e4m3"), signed(19), wide)); err != nil || form.Factors != "weights" {
		t.Errorf("e4m3, of integers of 18 bits, by such integers: %+v, %v", form, err)
	}
	if form, err := cheapest(linear(parse("e2m1"), signed(8), weights)); diag.CodeOf(err) != diag.OpFormats {
		t.Errorf("e2m1, of integers of 5 bits: %+v, %v", form, err)
	}
}

// TestCheapestOf compares the choice for random layers with the definition: no form of the same shift has a sum of
// less cost, nor one before it of the same, and no other shift or share of kept weights a unit of less.
func TestCheapestOf(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 7))
	chosen, few := map[ir.Products]int{}, 0
	for i := range 400 {
		o := []*ir.Op{sum.Linear, sum.Conv, sum.Scale}[i%3]
		n := o.Gen(r, o).Out[0].Node
		d, err := op.LanesOf(n)
		if err != nil {
			t.Fatal(err)
		}
		in, out := slices.Max(d.In.Legal), 0
		if d.Product() {
			out = d.Out.Legal[r.IntN(len(d.Out.Legal))]
		} else {
			in, out = d.Tied(d.In.Legal[0])
		}
		d.Set(&n.HW, in, out, d.Streams(in, out)[0])
		n.HW.Style = ir.StyleFold
		best, err := cheapest(n)
		if err != nil {
			continue // a format that the unit refuses
		}
		chosen[best]++
		few += best.Of
		list, err := n.Op.Products(n)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(list, func(f ir.ProductForm) bool { return f.Products == best })
		if at < 0 {
			t.Fatalf("%+v is none of %+v", best, list)
		}
		least := sumCost(t, n, list[at])
		for k, f := range list {
			same := f.Shifted == best.Shifted && f.Of == best.Of
			if cost := sumCost(t, n, f); same && (cost < least || k < at && cost == least) {
				t.Errorf("%+v costs %d, %+v %d", best, least, f.Products, cost)
			}
			if !same && f.Factors == best.Factors && unitLUTs(t, n, f.Products) < unitLUTs(t, n, best) {
				t.Errorf("%+v costs less than %+v", f.Products, best)
			}
		}
	}
	if few == 0 {
		t.Error("no unit keeps few weights")
	}
	for _, shifted := range []bool{false, true} {
		if chosen[ir.Products{Factors: "integers", Shifted: shifted}] == 0 {
			t.Errorf("chosen: %v", chosen)
		}
	}
}

func sumCost(t *testing.T, n *ir.Node, f ir.ProductForm) int {
	t.Helper()
	facts, err := f.Sum.Facts(n.HW.Part.Technology())
	if err != nil {
		t.Fatal(err)
	}
	return facts.Cost.LUT + n.HW.Part.LUTsPerDSP()*facts.Cost.DSP
}

// unitLUTs is the cost of the unit of n in LUTs, two flip-flops for each.
func unitLUTs(t *testing.T, n *ir.Node, p ir.Products) int {
	t.Helper()
	cost, err := unitCost(&unit.Cache{Part: n.HW.Part}, n, p)
	if err != nil {
		t.Fatal(err)
	}
	return cost
}

// TestForeign asks units for forms that they do not have.
func TestForeign(t *testing.T) {
	n := linear(signed(8), signed(8), func(i int) int64 { return int64(i*37%255 - 127) })
	for _, p := range []ir.Products{{Factors: "multiples"}, {Factors: "data"}, {Factors: "integers", Shifted: true}} {
		n.HW.Products = p
		if _, err := n.Op.RTL(n); diag.CodeOf(err) != diag.NoHardwareForm {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

func cheapest(n *ir.Node) (ir.Products, error) { return Cheapest(&unit.Cache{Part: n.HW.Part}, n) }
