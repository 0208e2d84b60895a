// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/walk"
	"lathe/ir/op/whole"
)

// Choices turns where with a constant condition, which has no unit, into a*m + b*(1-m), m being 1 where a is chosen.
// Where a constant that is chosen has an infinity or a NaN, the node stays.
func Choices(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op != whole.Where || !n.Type.IsFloat() || !n.Args[0].IsConst() || n.Args[1].IsConst() && n.Args[2].IsConst() {
			continue
		}
		if err := chosen(g, n); err != nil {
			return err
		}
	}
	g.DropDead()
	return nil
}

// chosen writes n as the sum of what it chooses of both; as one product where the other is a constant of zeros.
func chosen(g *ir.Graph, n *ir.Node) error {
	cond, err := n.Args[0].Value()
	if err != nil {
		return err
	}
	var terms []*ir.Node
	for k, a := range n.Args[1:] {
		mask := make([]float32, len(cond.Codes))
		for i, c := range cond.Codes {
			if (c != 0) == (k == 0) {
				mask[i] = 1
			}
		}
		if a.IsConst() {
			part, finite, err := masked(n, a, mask)
			if err != nil || !finite {
				return err
			}
			if slices.ContainsFunc(part, func(v float32) bool { return v != 0 }) {
				terms = append(terms, newConst(g, n, n.Name+".constant", n.Pos, n.Type.Shape, part, n.Args[0], a))
			}
			continue
		}
		m := newConst(g, n, n.Name+".chosen", n.Pos, n.Args[0].Type.Shape, mask, n.Args[0])
		x, err := ir.NewNode(pointwise.Mul, g.FreshName(n.Name+".part"), n.Pos, nil, a, m)
		if err != nil {
			return err
		}
		g.InsertBefore(n, x)
		terms = append(terms, x)
	}
	if len(terms) == 1 && slices.Equal(terms[0].Type.Shape, n.Type.Shape) {
		n.Op, n.Attrs, n.Args = pointwise.Mul, nil, terms[0].Args
		return nil
	}
	if len(terms) == 1 {
		zeros := make([]float32, n.Type.Elems())
		terms = append(terms, newConst(g, n, n.Name+".constant", n.Pos, n.Type.Shape, zeros, n.Args[0]))
	}
	n.Op, n.Attrs, n.Args = pointwise.Add, nil, terms
	return nil
}

// masked is constant a of n where the mask, of the shape of the condition, is 1, else 0; false where an infinity or a
// NaN is chosen.
func masked(n, a *ir.Node, mask []float32) (part []float32, finite bool, err error) {
	v, err := a.Value()
	if err != nil {
		return nil, false, err
	}
	at, from := walk.BroadcastIndex(n.Args[0].Type.Shape, n.Type.Shape), walk.BroadcastIndex(a.Type.Shape, n.Type.Shape)
	part = make([]float32, len(at))
	for i := range part {
		x := float64(v.Floats[from[i]])
		if mask[at[i]] == 0 {
			continue
		}
		if part[i] = float32(x); math.IsInf(x, 0) || math.IsNaN(x) {
			return nil, false, nil
		}
	}
	return part, true, nil
}
