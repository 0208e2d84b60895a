// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"math/rand/v2"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/difftest"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/op/sum"
)

// thin makes codes of the weights of n 0, but a few of each run.
func thin(t *testing.T, r *rand.Rand, n *ir.Node) {
	t.Helper()
	w := n.Args[1]
	v, err := w.Value()
	if err != nil {
		t.Fatal(err)
	}
	of := []int{2, 4, 8}[r.IntN(3)]
	keep := 1 + r.IntN(of/2)
	for from := 0; from < len(v.Codes); from += of {
		for i, at := range r.Perm(of) {
			if i >= keep && from+at < len(v.Codes) {
				v.Codes[from+at] = 0
			}
		}
	}
	w.Attrs = &ir.Const{Data: ir.CodeBlob(v.Codes)}
}

// TestKept runs layers whose weights are few of each run, in units that meet no others: of all kinds of products.
func TestKept(t *testing.T) {
	var graphs []*ir.Graph
	kinds := map[string]int{}
	for i := 0; len(graphs) < tools.Sample(6, 60); i++ {
		if i > 20_000 {
			t.Fatalf("only %d of %d layers keep few weights", len(graphs), i)
		}
		r := difftest.Rand("kept", i)
		o := []*ir.Op{sum.Linear, sum.Conv}[i%2]
		g := o.Gen(r, o)
		n := g.Out[0].Node
		if _, blocks := n.Args[1].Type.BlockFormat(); blocks || !n.Args[1].IsConst() || n.Type.IsFloat() {
			continue
		}
		thin(t, r, n)
		difftest.Schedule(r, g)
		key := o.Name + " " + n.HW.Products.Factors + " " + n.HW.DSP
		if n.HW.Products.Of == 0 || kinds[key] > len(graphs)/3 {
			continue
		}
		if _, err := verilog.Emit(g, verilog.Options{}); err == nil {
			graphs = append(graphs, g)
			kinds[key]++
		}
	}
	compareRTL(t, difftest.Rand("kept", 0), graphs, 12, true)
}
