// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"math/big"
	"testing"

	"lathe/ir"
	"lathe/ir/op/dot"
	"lathe/ir/op/sum"
	"lathe/ir/ref"
)

// TestBlocks compares the reference engine with the slow evaluator on graphs over blocks.
func TestBlocks(t *testing.T) {
	for _, kind := range BlockKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for i, g := range Blocks(t, kind, exactCases/2) {
				CompareSlow(t, g, Rand(kind, i), exactSamples)
			}
		})
	}
}

// TestBlockWindow: a sum that claims to be exact is the real sum, and one that does not is low by less than it says.
func TestBlockWindow(t *testing.T) {
	exact, lossy := 0, 0
	for i := range 400 {
		g, r := BlockCase("chain", i)
		if g.Check() != nil {
			continue
		}
		for _, n := range g.Nodes {
			if n.Op != sum.Linear {
				continue
			}
			w, err := dot.WindowOf(n)
			if err != nil {
				t.Fatal(err)
			}
			if w.Saturates {
				continue
			}
			if w.Exact {
				exact++
			} else {
				lossy++
			}
			checkWindow(t, g, n, w, Samples(r, g, 4))
		}
	}
	if exact < 20 || lossy < 20 {
		t.Errorf("%d exact windows and %d others", exact, lossy)
	}
}

// checkWindow holds the accumulator of linear n, whose data are made in the graph, to what is said of it.
func checkWindow(t *testing.T, g *ir.Graph, n *ir.Node, w dot.BlockWindow, samples []ref.Sample) {
	t.Helper()
	c := *g
	c.Out = []ir.Output{{Name: "x", Node: n.Args[0]}, {Name: "y", Node: n}}
	out, err := Evaluate(t.Context(), &c, samples)
	if err != nil {
		t.Fatal(err)
	}
	var constants []value
	for _, a := range n.Args[1:] {
		v, err := a.Value()
		if err != nil {
			t.Fatal(err)
		}
		constants = append(constants, value{a.Type.Shape, decode(a.Type, v)})
	}
	for _, s := range out {
		real := slowLinear(value{n.Args[0].Type.Shape, decode(n.Args[0].Type, s[0])}, constants)
		got := decode(n.Type, s[1])
		for i, v := range real {
			low := new(big.Rat).Sub(v, got[i])
			bound := new(big.Rat).Mul(integer(int64(w.Terms)), power(-w.Acc.F))
			if w.Exact && low.Sign() != 0 || low.Sign() < 0 || low.Cmp(bound) > 0 {
				t.Fatalf("%s: result %d is %s low\n%s", w, i, low.RatString(), Describe(g))
			}
		}
	}
}
