// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/big"
	"testing"

	"lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/golden/ref"
	"lathe/ir"
	"lathe/ir/op/dot"
	"lathe/ir/op/sum"
)

// blockGraphs draws count graphs of a kind that are legal.
func blockGraphs(t *testing.T, kind string, count int) (graphs []*ir.Graph) {
	t.Helper()
	refused := 0
	for i := 0; len(graphs) < count; i++ {
		g, _ := BlockCase(kind, i)
		if err := g.Check(); err == nil {
			graphs = append(graphs, g)
		} else if refused++; refused > count+10 {
			t.Fatalf("%d of %s refused: %v\n%s", refused, kind, err, Describe(g))
		}
	}
	return graphs
}

// TestBlocks compares the reference engine with the slow evaluator on graphs over blocks.
func TestBlocks(t *testing.T) {
	for _, kind := range BlockKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for i, g := range blockGraphs(t, kind, exactCases/2) {
				compareSlow(t, g, Rand(kind, i), exactSamples)
			}
		})
	}
}

// TestBlocksPJRT compares StableHLO on PJRT with the reference engine.
func TestBlocksPJRT(t *testing.T) {
	for _, kind := range BlockKinds {
		t.Run(kind, func(t *testing.T) {
			graphs := blockGraphs(t, kind, pjrtCases/2)
			for _, g := range graphs {
				if _, err := golden.Print(g, 1, false); err != nil {
					t.Fatalf("%v\n%s", err, Describe(g))
				}
			}
			pjrttest.Engine(t)
			for i := 0; i < len(graphs); i += perProgram {
				comparePJRT(t, Merge(kind, graphs[i:min(i+perProgram, len(graphs))]), Rand(kind+" on pjrt", i), 0)
			}
		})
	}
}

// TestBlocksRTL compares simulated hardware with the reference engine, under stalls.
func TestBlocksRTL(t *testing.T) {
	for _, kind := range BlockKinds {
		graphs := blockGraphs(t, kind, rtlCases)
		for i, g := range graphs {
			Schedule(Rand(kind+" lanes", i), g)
		}
		for i := 0; i < len(graphs); i += perDesign {
			t.Run(fmt.Sprint(kind, "/", i/perDesign), func(t *testing.T) {
				t.Parallel()
				r := Rand(kind+" on rtl", i)
				compareRTL(t, r, graphs[i:min(i+perDesign, len(graphs))], rtlSamples, i == 0)
			})
		}
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
	out, err := evaluate(t.Context(), &c, samples)
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
