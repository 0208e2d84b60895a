// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/sum"
)

// mostWeights bounds the elements of the weights that a product with a constant of several matrices gets, most of which
// are 0.
const mostWeights = 1 << 22

// constProduct makes a linear layer out of product n of a constant and a value: of the rows of the value, or of its
// columns where the constant stands in front. Where the constant has a matrix for each of the value's, as queries that
// are learned have one for each head, the layer reads all of them, with zeros for the others.
func constProduct(g *ir.Graph, n *ir.Node) error {
	front := n.Args[0].IsConst()
	c, x := n.Args[1], n.Args[0]
	if front {
		c, x = x, c
	}
	shape, d := n.Type.Shape, x.Type.Shape
	rank := len(shape)
	matrices := elems(shape[:rank-2])
	many := elems(c.Type.Shape[:len(c.Type.Shape)-2]) // matrices of the constant
	if elems(d[:len(d)-2]) != matrices || many != 1 && many != matrices {
		return nil
	}
	// x is [M,A,D] or, where the constant is in front, [M,D,A]; each of the A elements becomes a token of M*D features.
	rows, cols := d[len(d)-2], d[len(d)-1]
	tokens, in, out := rows, cols, shape[rank-1]
	perm, back := []int{1, 0, 2}, []int{1, 0, 2}
	if front {
		tokens, in, out = cols, rows, shape[rank-2]
		perm, back = []int{2, 0, 1}, []int{1, 2, 0}
	}
	flat, split := []int{tokens, matrices * in}, []int{tokens, matrices, out}
	if many == 1 { // the same weights for each matrix
		perm, back = []int{0, 1, 2}, []int{0, 1, 2}
		if front {
			perm, back = []int{0, 2, 1}, []int{0, 2, 1}
		}
		flat, split = []int{matrices, tokens, in}, []int{matrices, tokens, out}
	}
	if many*in*many*out > mostWeights {
		return nil
	}
	w, err := blockDiagonal(g, n, c, front)
	if err != nil {
		return err
	}
	y, err := reshaped(g, n, "matrices", x, matrices, rows, cols)
	if err != nil {
		return err
	}
	if y, err = multiplied(g, n, transpose(g, n, y, perm), w, flat, split); err != nil {
		return err
	}
	y = transpose(g, n, y, back)
	n.Op, n.Attrs, n.Args = move.Reshape, &move.ReshapeAttrs{Shape: slices.Clone(shape)}, []*ir.Node{y}
	return nil
}

// blockDiagonal is the weights [M*out, M*in] whose blocks are the matrices of constant c: [out, in], or [in, out] where
// c stands behind the value.
func blockDiagonal(g *ir.Graph, n, c *ir.Node, front bool) (*ir.Node, error) {
	v, err := c.Value()
	if err != nil {
		return nil, err
	}
	s := c.Type.Shape
	many, out, in := elems(s[:len(s)-2]), s[len(s)-2], s[len(s)-1]
	if !front {
		out, in = in, out
	}
	weights := make([]float32, many*out*many*in)
	for i, x := range v.Floats {
		m, r, k := i/(out*in), i%(out*in)/in, i%in
		if !front {
			r, k = i%out, i%(out*in)/out
		}
		weights[(m*out+r)*many*in+m*in+k] = x
	}
	return weightsFrom(g, n, c, weights, many*out, many*in), nil
}

// constScores are the scores [B,T,H,S] of attention n, whose queries [1,H,T,D] are a constant: a linear layer on the
// keys [B,G,S,D] of each token, with a row for each query and head.
func constScores(g *ir.Graph, n, q, k *ir.Node) (*ir.Node, error) {
	v, err := q.Value()
	if err != nil {
		return nil, err
	}
	heads, tokens, d := q.Type.Shape[1], q.Type.Shape[2], q.Type.Shape[3]
	s := k.Type.Shape
	groups := s[1]
	weights := make([]float32, tokens*heads*groups*d)
	for i, x := range v.Floats {
		h, t, e := i/(tokens*d), i%(tokens*d)/d, i%d
		weights[((t*heads+h)*groups+h/(heads/groups))*d+e] = x
	}
	w := weightsFrom(g, n, q, weights, tokens*heads, groups*d)
	y, err := multiplied(g, n, transpose(g, n, k, headed), w, []int{s[0], s[2], groups * d},
		[]int{s[0], s[2], tokens, heads})
	if err != nil {
		return nil, err
	}
	return transpose(g, n, y, []int{0, 2, 3, 1}), nil
}

// weightsFrom are weights [out, in] of a linear layer in front of n, which were computed of constant c.
func weightsFrom(g *ir.Graph, n, c *ir.Node, weights []float32, out, in int) *ir.Node {
	w := &ir.Node{Name: g.FreshName(n.Name + ".weights"), Op: leaf.Const, Type: ir.Float(out, in), Pos: c.Pos,
		Attrs: ir.Computed(ir.FloatBlob(weights), c)}
	g.InsertBefore(n, w)
	return w
}

// multiplied is x, in shape flat, through a linear layer, in shape split.
func multiplied(g *ir.Graph, n, x, w *ir.Node, flat, split []int) (*ir.Node, error) {
	y, err := reshaped(g, n, "flat", x, flat...)
	if err != nil {
		return nil, err
	}
	if y, err = before(g, n, sum.Linear, "linear", nil, y, w); err != nil {
		return nil, err
	}
	return reshaped(g, n, "split", y, split...)
}

func reshaped(g *ir.Graph, n *ir.Node, name string, x *ir.Node, shape ...int) (*ir.Node, error) {
	return before(g, n, move.Reshape, name, &move.ReshapeAttrs{Shape: shape}, x)
}

func elems(shape []int) int { return ir.Type{Shape: shape}.Elems() }
