// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/sum"
)

// TestForms wants every form of products among the graphs that are drawn for hardware.
func TestForms(t *testing.T) {
	drawn := map[ir.Products]int{}
	count := func(g *ir.Graph) {
		for _, n := range g.Nodes {
			drawn[n.HW.Products]++
		}
	}
	for _, o := range []*ir.Op{sum.Linear, sum.Conv, sum.Scale} {
		for i := range 300 {
			g, r := Case(o, i)
			Schedule(r, g)
			count(g)
		}
	}
	f, err := format.Parse("mxfp(e4m3,8)")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		g := SumOfBlocks(f.(format.Block), f.(format.Block), 16, 4)
		Schedule(Rand("forms", i), g)
		count(g)
	}
	for _, want := range []ir.Products{{Factors: "integers"}, {Factors: "multiples"}, {Factors: "weights"},
		{Factors: "integers", Shifted: true}, {Factors: "multiples", Shifted: true}, {Factors: "weights", Shifted: true},
		{Factors: "data"}, {Factors: "codes"}} {
		if drawn[want] < 3 {
			t.Errorf("%+v was drawn %d times: %v", want, drawn[want], drawn)
		}
	}
}
