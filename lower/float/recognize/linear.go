// SPDX-License-Identifier: Apache-2.0

package recognize

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
)

var linears = []Pattern{
	{"linear", "matmul(x, constant)", linear},
	{"linear", "linear of the rows of x as one matrix", linearRows},
	{"linear", "linear(x) + constant", linearBias},
}

// constant says that n is a constant, or a transpose of one, which later passes compute.
func constant(n *ir.Node) bool { return n.IsConst() || n.Op == move.Transpose && n.Args[0].IsConst() }

// linear needs the weights the other way round: a transposed constant gives them as they are.
func linear(_ *matcher, n *ir.Node) *made {
	if n.Op != sum.MatMul || constant(n.Args[0]) || !constant(n.Args[1]) {
		return nil
	}
	w := n.Args[1]
	shape := w.Type.Shape
	r := &made{op: sum.Linear, args: []*ir.Node{n.Args[0]}, name: n}
	if w.Op == move.Transpose && slices.Equal(w.Attrs.(*move.TransposeAttrs).Perm, []int{1, 0}) {
		r.args = append(r.args, w.Args[0])
		return r
	}
	if len(withoutOnes(shape[:len(shape)-2])) > 0 || len(n.Type.Shape) != len(n.Args[0].Type.Shape) {
		return nil
	}
	w = r.reshaped(w, shape[len(shape)-2:])
	r.args = append(r.args, r.transposed(w, []int{1, 0}))
	return r
}

// transposed is x with its axes permuted.
func (r *made) transposed(x *ir.Node, perm []int) *ir.Node {
	y := &ir.Node{Name: x.Name + ".transposed", Op: move.Transpose, Attrs: &move.TransposeAttrs{Perm: perm}, Pos: x.Pos,
		Args: []*ir.Node{x}, Type: x.Type.WithShape(ir.TransposeShape(x.Type.Shape, perm))}
	r.before = append(r.before, y)
	return y
}

// linearRows knows linear between reshapes to a matrix and back.
func linearRows(m *matcher, n *ir.Node) *made {
	y := n.Args
	if n.Op != move.Reshape || y[0].Op != sum.Linear || !m.single(y[0]) || y[0].Args[0].Op != move.Reshape {
		return nil
	}
	x := y[0].Args[0].Args[0]
	from, to := x.Type.Shape, n.Type.Shape
	if len(from) == 0 || len(from) != len(to) || !slices.Equal(from[:len(from)-1], to[:len(to)-1]) ||
		last(x) != y[0].Args[1].Type.Shape[1] || last(n) != y[0].Args[1].Type.Shape[0] {
		return nil
	}
	return &made{op: sum.Linear, args: append([]*ir.Node{x}, y[0].Args[1:]...), name: y[0]}
}

func linearBias(m *matcher, n *ir.Node) *made {
	if n.Op != pointwise.Add {
		return nil
	}
	for i, x := range n.Args {
		b := spread(n.Args[1-i], len(n.Type.Shape))
		if x.Op != sum.Linear || len(x.Args) != 2 || !m.single(x) || !b.IsConst() || !b.Type.IsFloat() {
			continue
		}
		width := x.Args[1].Type.Shape[0]
		if b.Type.Elems() != width || b.Type.Shape[len(b.Type.Shape)-1] != width {
			continue
		}
		r := &made{op: sum.Linear, args: slices.Clone(x.Args), name: x}
		r.args = append(r.args, r.reshaped(b, []int{width}))
		return r
	}
	return nil
}
