// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/reduce"
	"lathe/lower/float/recognize"
)

// Common lets readers of nodes that compute the same value, or are the same constant, read the first of them.
func Common(g *ir.Graph) error {
	first := map[int]*ir.Node{}
	class := recognize.Classes(g)
	for _, n := range g.Nodes {
		for i, a := range n.Args {
			if f := first[class[a]]; f != nil {
				n.Args[i] = f
			}
		}
		if _, known := first[class[n]]; !known {
			first[class[n]] = n
		}
	}
	for i, o := range g.Out {
		g.Out[i].Node = first[class[o.Node]]
	}
	g.DropDead()
	return nil
}

// Spreads lets element-wise operations read what a repeat repeats, where they broadcast to the same shape without it,
// and moves reshapes of sums that add or drop axes of one element behind them: sums that an exporter makes narrow and
// wide again then stand as they are.
func Spreads(g *ir.Graph) error {
	for _, n := range g.Nodes {
		if !n.Op.Traits.Elementwise || n.Op.Traits.Source {
			continue
		}
		for i, a := range n.Args {
			if a.Op == move.Repeat && a.Type.IsFloat() {
				n.Args[i] = a.Args[0]
				if shape, err := n.Op.Infer(n); err != nil || !slices.Equal(shape, n.Type.Shape) {
					n.Args[i] = a
				}
			}
		}
	}
	for _, n := range slices.Clone(g.Nodes) {
		sinkReshape(g, n)
	}
	g.DropDead()
	return Identities(g)
}

// Reshapes makes one of reshapes in a row, and none of one that changes nothing.
func Reshapes(g *ir.Graph) error {
	for _, n := range g.Nodes {
		if n.Op == move.Reshape && n.Args[0].Op == move.Reshape {
			n.Args[0] = n.Args[0].Args[0]
		}
	}
	g.DropDead()
	return Identities(g)
}

// sinkReshape makes f(reshape(x)) reshape(f(x)) where the reshape only adds or drops axes of one element, and all
// arguments of f are such, or single numbers.
func sinkReshape(g *ir.Graph, n *ir.Node) {
	if !n.Op.Traits.Elementwise || n.Op.Traits.Source || len(n.Args) == 0 || !n.Type.IsFloat() {
		return
	}
	var from []int
	for _, a := range n.Args {
		switch {
		case a.IsConst() && a.Type.Elems() == 1:
		case !unit(a) || !slices.Equal(a.Type.Shape, n.Type.Shape) || !reduces(a.Args[0], map[*ir.Node]bool{}):
			return
		case from != nil && !slices.Equal(a.Args[0].Type.Shape, from):
			return
		default:
			from = a.Args[0].Type.Shape
		}
	}
	if from == nil {
		return
	}
	inner := &ir.Node{Name: n.Name, Op: n.Op, Attrs: n.Attrs, Pos: n.Pos,
		Type: n.Type.WithShape(from), Args: slices.Clone(n.Args)}
	for i, a := range inner.Args {
		if !a.IsConst() {
			inner.Args[i] = a.Args[0]
		}
	}
	if shape, err := inner.Op.Infer(inner); err != nil || !slices.Equal(shape, from) {
		return
	}
	g.InsertBefore(n, inner)
	n.Name = g.FreshName(n.Name + ".shape")
	n.Op, n.Attrs, n.Args = move.Reshape, &move.ReshapeAttrs{Shape: slices.Clone(n.Type.Shape)}, []*ir.Node{inner}
}

// reduces says that x is a reduction, or computed from one element by element.
func reduces(x *ir.Node, seen map[*ir.Node]bool) bool {
	const most = 64
	if _, ok := x.Attrs.(*reduce.Attrs); ok {
		return true
	}
	if seen[x] || len(seen) > most || !x.Op.Traits.Elementwise {
		return false
	}
	seen[x] = true
	return slices.ContainsFunc(x.Args, func(a *ir.Node) bool { return reduces(a, seen) })
}

// unit says that n is a reshape that adds or drops axes of one element alone.
func unit(n *ir.Node) bool {
	one := func(d int) bool { return d == 1 }
	return n.Op == move.Reshape && n.Args[0].Type.IsFloat() &&
		slices.Equal(slices.DeleteFunc(slices.Clone(n.Type.Shape), one),
			slices.DeleteFunc(slices.Clone(n.Args[0].Type.Shape), one))
}
