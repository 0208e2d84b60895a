// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
)

// Products makes scores or sums of one head out of products of two values, which have units: scores where the second
// one is transposed. Products of a value and a constant become linear layers.
func Products(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op != sum.MatMul || !n.Type.IsFloat() {
			continue
		}
		a, b := n.Args[0], n.Args[1]
		if a.IsConst() != b.IsConst() {
			if err := constProduct(g, n); err != nil {
				return err
			}
			continue
		}
		if a.IsConst() || !sameBatches(a.Type.Shape, b.Type.Shape) {
			continue
		}
		o := sequence.AttendSum
		if turned(b) {
			o, b = sequence.AttendScores, b.Args[0]
		}
		x, err := headless(g, n, a)
		if err != nil {
			return err
		}
		y, err := headless(g, n, b)
		if err != nil {
			return err
		}
		p, err := before(g, n, o, "product", &sequence.SeenAttrs{}, x, y)
		if err != nil {
			return err
		}
		n.Op, n.Attrs, n.Args = move.Reshape, &move.ReshapeAttrs{Shape: slices.Clone(n.Type.Shape)}, []*ir.Node{p}
	}
	g.DropDead()
	return nil
}

// sameBatches says that two matrices have the same axes before the last two, but for axes of one element.
func sameBatches(a, b []int) bool {
	lead := func(s []int) []int {
		return slices.DeleteFunc(slices.Clone(s[:len(s)-2]), func(d int) bool { return d == 1 })
	}
	return slices.Equal(lead(a), lead(b))
}

// turned says that n swaps the last two axes of what it reads, and nothing else.
func turned(n *ir.Node) bool {
	perm := permOf(n)
	r := len(perm)
	if r < 2 || perm[r-1] != r-2 || perm[r-2] != r-1 {
		return false
	}
	return isIdentity(perm[:r-2])
}

// headless is x [..,T,D] as [B,T,1,D].
func headless(g *ir.Graph, n, x *ir.Node) (*ir.Node, error) {
	s := x.Type.Shape
	t, d := s[len(s)-2], s[len(s)-1]
	shape := []int{x.Type.Elems() / (t * d), t, 1, d}
	return before(g, n, move.Reshape, "rows", &move.ReshapeAttrs{Shape: shape}, x)
}
