// SPDX-License-Identifier: Apache-2.0

package streams

import (
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/curve"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
)

// chainOf is a graph of operations one behind the other, and its nodes; the first one makes formats[0].
func chainOf(t *testing.T, ops []*ir.Op, formats ...string) (*ir.Graph, []*ir.Node) {
	t.Helper()
	g := &ir.Graph{}
	for i, text := range formats {
		f, err := format.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		n := &ir.Node{Name: string(rune('a' + i)), Op: leaf.Input, Type: ir.Type{Shape: []int{1, 4}, Format: f}}
		if i > 0 {
			n.Op, n.Args = ops[i-1], []*ir.Node{g.Nodes[i-1]}
		}
		g.Nodes = append(g.Nodes, n)
	}
	return g, g.Nodes
}

// TestLevels counts the thresholds that every code of the first format reaches. A format between that has other steps
// than the last one is read by its own.
func TestLevels(t *testing.T) {
	for _, formats := range [][]string{
		{"fixed(8,8)", "fixed(7,7)", "uint(4,z=7)*0.1"},
		{"fixed(9,5,over=sym)", "fixed(9,6)", "int(4,z=3)*0.3"},
		{"ufixed(10,7)", "fixed(12,3)", "codebook(nf4)"},
		{"fixed(9,4)", "fixed(6,2)", "fixed(3,1,round=outward)"},
	} {
		_, chain := chainOf(t, []*ir.Op{curve.Tanh, pointwise.Cast}, formats...)
		low, from, ok := levels(chain[0], chain)
		mid, err := functionOf(chain[:2])
		if err != nil || !ok {
			t.Fatalf("%v: levels %v, %v", formats, ok, err)
		}
		in, _ := format.AsFixed(chain[0].Type.Format)
		for q := in.Min(); q <= in.Max(); q++ {
			y, err := mid(q)
			if err != nil {
				t.Fatal(err)
			}
			got := low
			for _, at := range from {
				if q >= at {
					got++
				}
			}
			if want := chain[2].Type.Format.Encode(chain[1].Type.Format.Decode(y)); got != want {
				t.Fatalf("%v: code %d reaches %d, not %d", formats, q, got, want)
			}
		}
	}
}

// TestLevelsOfParabolas: an interpolated function may fall by a step, so that thresholds do not say what it is.
func TestLevelsOfParabolas(t *testing.T) {
	for first, want := range map[string]int{"fixed(16,7)": 0, "fixed(12,3)": 2} {
		g, chain := chainOf(t, []*ir.Op{curve.Erf}, first, "int(3,round=outward)")
		if got := levelChain(g, g.Users(), chain[0]); len(got) != want {
			t.Errorf("%s: a chain of %d nodes, not %d", first, len(got), want)
		}
	}
}
