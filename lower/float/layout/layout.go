// SPDX-License-Identifier: Apache-2.0

// Package layout turns images from channels-first, as models have them, to channels-last, as streams carry them, and
// moves the transposes that this needs to where they cost nothing: against each other, into the columns of a matrix,
// or out of the graph.
//
// The functions work on float graphs, change them in place and leave no dead nodes.
package layout

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/move"
)

// toLast is the permutation from N, C, ... to N, ..., C for the given rank; toFirst is its inverse.
func toLast(rank int) []int {
	p := []int{0}
	for i := 2; i < rank; i++ {
		p = append(p, i)
	}
	return append(p, 1)
}

func toFirst(rank int) []int { return inverse(toLast(rank)) }

// inverse undoes a permutation.
func inverse(p []int) []int {
	inv := make([]int, len(p))
	for i, v := range p {
		inv[v] = i
	}
	return inv
}

// compose is the permutation of a transpose by second behind a transpose by first.
func compose(first, second []int) []int {
	out := make([]int, len(second))
	for i, v := range second {
		out[i] = first[v]
	}
	return out
}

func isIdentity(p []int) bool {
	for i, v := range p {
		if i != v {
			return false
		}
	}
	return true
}

// permOf returns the permutation of a transpose node; nil for any other node.
func permOf(n *ir.Node) []int {
	if a, ok := n.Attrs.(*move.TransposeAttrs); ok {
		return a.Perm
	}
	return nil
}

// transpose returns x transposed: x itself for the identity, the source of x where x undoes the permutation, a merged
// transpose where x is one, else a new node directly before at.
func transpose(g *ir.Graph, at, x *ir.Node, perm []int) *ir.Node {
	if p := permOf(x); p != nil {
		x, perm = x.Args[0], compose(p, perm)
	}
	if isIdentity(perm) {
		return x
	}
	t := &ir.Node{Name: g.FreshName(x.Name + ".t"), Op: move.Transpose, Args: []*ir.Node{x}, Pos: x.Pos,
		Attrs: &move.TransposeAttrs{Perm: slices.Clone(perm)}, Type: x.Type.WithShape(ir.TransposeShape(x.Type.Shape, perm))}
	g.InsertBefore(at, t)
	return t
}

// behind puts a transpose by perm behind n: all other readers, and outputs, read the transpose.
func behind(g *ir.Graph, n *ir.Node, perm []int) {
	t := &ir.Node{Name: g.FreshName(n.Name + ".t"), Op: move.Transpose, Args: []*ir.Node{n}, Pos: n.Pos,
		Attrs: &move.TransposeAttrs{Perm: slices.Clone(perm)}, Type: n.Type.WithShape(ir.TransposeShape(n.Type.Shape, perm))}
	g.InsertAfter(n, t)
	g.Replace(n, t)
}
