// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/move"
	"lathe/ir/op/sum"
	"lathe/lower/float/simplify"
)

// Absorb takes transposes out of the graph at its outputs (ir.Output.Perm) and before reshapes whose readers are
// linear operations: there the columns of the constant weights are permuted instead.
func Absorb(g *ir.Graph) error {
	for i, o := range g.Out {
		if perm := permOf(o.Node); perm != nil {
			g.Out[i] = ir.Output{Name: o.Name, Node: o.Node.Args[0], Perm: through(perm, o.Perm)}
		}
	}
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op != move.Reshape || permOf(n.Args[0]) == nil {
			continue
		}
		t := n.Args[0]
		columns := columnsOf(ir.TransposeIndex(t.Args[0].Type.Shape, permOf(t)), n.Type.Shape)
		users := g.Users()
		if columns == nil || !isIdentity(columns) && !takesColumns(g, users, n) {
			continue
		}
		n.Args[0] = t.Args[0]
		if err := permuteReaders(g, users, n, columns); err != nil {
			return err
		}
	}
	g.DropDead()
	return nil
}

// through is the permutation outer (nil: none) applied behind inner; nil where nothing moves.
func through(inner, outer []int) []int {
	if outer != nil {
		inner = compose(inner, outer)
	}
	if isIdentity(inner) {
		return nil
	}
	return slices.Clone(inner)
}

// columnsOf reads the element order of a transposed value as one permutation of the last axis of shape, the same for
// every row: element j of a row comes from element columns[j] of that row. nil where it is not of that kind.
func columnsOf(index, shape []int) []int {
	if len(shape) == 0 || shape[len(shape)-1] == 0 {
		return nil
	}
	k := shape[len(shape)-1]
	columns := index[:k]
	if slices.Max(columns) >= k {
		return nil
	}
	for i, from := range index {
		if from != i/k*k+columns[i%k] {
			return nil
		}
	}
	return columns
}

// takesColumns says that all that follows n can absorb a permutation of its last axis: linear operations with constant
// weights, behind any number of element-wise operations and scales along that axis.
func takesColumns(g *ir.Graph, users map[*ir.Node][]*ir.Node, n *ir.Node) bool {
	if g.IsOutput(n) {
		return false
	}
	for _, u := range users[n] {
		switch u.Op {
		case sum.Linear:
			if u.Args[0] != n || !u.Args[1].IsConst() {
				return false
			}
			continue
		case sum.Scale:
			if u.Attrs.(*column.ScaleAttrs).Axis != len(u.Type.Shape)-1 {
				return false
			}
		default:
			if !u.Op.Traits.Elementwise || u.Op.Arity[1] > 1 {
				return false
			}
		}
		if !takesColumns(g, users, u) {
			return false
		}
	}
	return true
}

// permuteReaders moves the constants behind n from transposed to original order.
func permuteReaders(g *ir.Graph, users map[*ir.Node][]*ir.Node, n *ir.Node, columns []int) error {
	if isIdentity(columns) {
		return nil
	}
	order := inverse(columns)
	for _, u := range users[n] {
		var err error
		switch u.Op {
		case sum.Linear:
			if err = permuteRows(g, u, 1, order); err != nil {
				return err
			}
			continue
		case sum.Scale:
			for _, i := range []int{1, 2} {
				if err = permuteRows(g, u, i, order); err != nil {
					return err
				}
			}
		}
		if err = permuteReaders(g, users, u, columns); err != nil {
			return err
		}
	}
	return nil
}

// permuteRows reorders every row (last axis) of the constant argument i of n: new[j] = old[order[j]].
func permuteRows(g *ir.Graph, n *ir.Node, i int, order []int) error {
	shape := n.Args[i].Type.Shape
	index := make([]int, n.Args[i].Type.Elems())
	for at := range index {
		index[at] = at/len(order)*len(order) + order[at%len(order)]
	}
	return simplify.MoveConst(g, n, i, shape, index)
}

// Inputs takes transposes out of the graph at its inputs (ir.Input.Perm): where every reader of an input is the same
// transpose, the caller's array is permuted instead.
func Inputs(g *ir.Graph) error {
	users := g.Users()
	for _, x := range g.In {
		var perm []int
		for i, u := range users[x] {
			p := permOf(u)
			if p == nil || i > 0 && !slices.Equal(p, perm) {
				perm = nil
				break
			}
			perm = p
		}
		if perm == nil || g.IsOutput(x) {
			continue
		}
		a := x.Attrs.(*ir.Input)
		outer := a.Perm
		if outer == nil {
			outer = identity(len(perm))
		}
		a.Perm = through(outer, perm)
		x.Type.Shape = ir.TransposeShape(x.Type.Shape, perm)
		for _, u := range users[x] {
			g.Replace(u, x)
		}
	}
	g.DropDead()
	return nil
}

func identity(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// Free turns transposes that move only axes of size 1 into reshapes, and joins reshapes that follow each other.
func Free(g *ir.Graph) error {
	for _, n := range g.Nodes {
		if n.Op == move.Transpose && move.KeepsOrder(n) {
			n.Op, n.Attrs = move.Reshape, &move.ReshapeAttrs{Shape: slices.Clone(n.Type.Shape)}
		}
		if n.Op == move.Reshape && n.Args[0].Op == move.Reshape {
			n.Args[0] = n.Args[0].Args[0]
		}
	}
	return simplify.Identities(g)
}
