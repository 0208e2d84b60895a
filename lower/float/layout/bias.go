// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
)

// scoreBias is what a constant mask does to attention n, tokens before heads: what is added to scores before they are
// scaled, and what the weights of each token and head are multiplied by, and what is added to them then; nil for
// nothing.
type scoreBias struct{ add, keep, fill *ir.Node }

// biasOf is that of attention n. Of keys that its mask hides, the weights become those of scores that are less by
// lowered. A token that the mask hides all keys from has the weights 0, or where the mask adds one finite number to all
// its scores, beside which they vanish, the same weight for all keys. nil where the mask is no such constant.
func biasOf(g *ir.Graph, n *ir.Node) *scoreBias {
	mask := n.Args[3]
	if !mask.IsConst() {
		return nil
	}
	v, err := mask.Value()
	if err != nil {
		return nil
	}
	shape := slices.Concat(slices.Repeat([]int{1}, 4-len(mask.Type.Shape)), mask.Type.Shape)
	scale := n.Attrs.(*sequence.AttentionAttrs).Resolved(n).(*sequence.AttentionAttrs).Scale
	trial := &maskTrial{shape: shape, keys: shape[3]}
	values := make([]float32, trial.elems())
	rows := make([]maskRow, len(values)/trial.keys)
	for i, from := range ir.TransposeIndex(shape, headed) {
		x, hides := trial.biasAt(v, from)
		if x != x || math.IsInf(float64(x), 1) {
			return nil
		}
		rows[i/trial.keys].add(x, hides, i%trial.keys == 0, mask.Type.IsFloat())
		if hides {
			x = -lowered
		}
		values[i] = x / scale
	}
	constant := func(name string, shape []int, values []float32) *ir.Node {
		c := &ir.Node{Name: g.FreshName(n.Name + "." + name), Op: leaf.Const, Pos: mask.Pos, Type: ir.Float(shape...),
			Attrs: ir.Computed(ir.FloatBlob(values), mask)}
		g.InsertBefore(n, c)
		return c
	}
	keep, fill := make([]float32, len(rows)), make([]float32, len(rows))
	for i, r := range rows {
		switch {
		case r.shown:
			keep[i] = 1
		case r.uneven: // which of the keys counts is a matter of rounding
			return nil
		case r.finite:
			fill[i] = 1 / float32(trial.keys)
		}
	}
	headedShape := ir.TransposeShape(shape, headed)
	b := &scoreBias{add: constant("bias", headedShape, values)}
	each := append(slices.Clone(headedShape[:3]), 1)
	if slices.Contains(keep, 0) {
		b.keep = constant("seeing", each, keep)
	}
	if slices.ContainsFunc(fill, func(f float32) bool { return f != 0 }) {
		b.fill = constant("blind", each, fill)
	}
	return b
}

// maskRow is what a mask says to a token.
type maskRow struct {
	shown, finite, uneven bool
	first                 float32
}

func (r *maskRow) add(x float32, hides, first, float bool) {
	if first {
		r.first = x
	}
	r.shown = r.shown || !hides
	r.uneven = r.uneven || x != r.first
	r.finite = float && !math.IsInf(float64(r.first), -1)
}

// weigh is the weights of n as the mask leaves them.
func (b *scoreBias) weigh(g *ir.Graph, n, weights *ir.Node) (*ir.Node, error) {
	var err error
	if b.keep != nil {
		weights, err = before(g, n, pointwise.Mul, "seen", nil, weights, b.keep)
	}
	if err == nil && b.fill != nil {
		weights, err = before(g, n, pointwise.Add, "filled", nil, weights, b.fill)
	}
	return weights, err
}
