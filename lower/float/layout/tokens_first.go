// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
)

// headed swaps the axes of heads and tokens of a value of four axes.
var headed = []int{0, 2, 1, 3}

// TokensFirst makes scores, weights and sums out of attention, and rotate out of rotary, on values whose tokens come
// before their heads, between transposes. Attention with a mask of other things than keys, a position or a bound of
// scores stays as it is, and so does rotary whose angles are no constants, or differ between batches.
func TokensFirst(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op == sequence.Rotary {
			turnTokens(g, n)
			continue
		}
		a, ok := n.Attrs.(*sequence.AttentionAttrs)
		if !ok || a.Placed || len(n.Args) > 4 || a.Softcap != 0 {
			continue
		}
		q, k, v := n.Args[0], n.Args[1], n.Args[2]
		if k.IsConst() || v.IsConst() || q.IsConst() && q.Type.Shape[0] != 1 {
			continue
		}
		var mask *ir.Node
		var bias *scoreBias
		seen := sequence.SeenAttrs{Causal: a.Causal}
		if len(n.Args) == 4 {
			var causal bool
			mask, causal = keyMask(g, n)
			seen.Causal = seen.Causal || causal
			if bias = biasOf(g, n); mask == nil && bias == nil {
				continue
			}
		}
		if seen.Causal {
			seen.Offset = k.Type.Shape[2] - q.Type.Shape[2]
		}
		scale := a.Resolved(n).(*sequence.AttentionAttrs).Scale
		scoresSeen, sumSeen := seen, seen
		scores, err := scoresOf(g, n, &scoresSeen)
		if err != nil {
			return err
		}
		if bias != nil {
			if scores, err = before(g, n, pointwise.Add, "biased", nil, scores, bias.add); err != nil {
				return err
			}
		}
		args := []*ir.Node{scores}
		if mask != nil {
			args = append(args, mask)
		}
		weights, err := before(g, n, sequence.AttendWeights, "weights", &sequence.WeightsAttrs{SeenAttrs: seen, Scale: scale},
			args...)
		if err == nil && bias != nil {
			weights, err = bias.weigh(g, n, weights)
		}
		if err != nil {
			return err
		}
		n.Op, n.Attrs, n.Args = sequence.AttendSum, &sumSeen, []*ir.Node{weights, transpose(g, n, v, headed)}
		n.Type.Shape = ir.TransposeShape(n.Type.Shape, headed)
		behind(g, n, headed)
	}
	g.DropDead()
	return nil
}

// scoresOf are the scores of attention n, tokens first.
func scoresOf(g *ir.Graph, n *ir.Node, seen *sequence.SeenAttrs) (*ir.Node, error) {
	q, k := n.Args[0], n.Args[1]
	if q.IsConst() {
		return constScores(g, n, q, k)
	}
	return before(g, n, sequence.AttendScores, "scores", seen, transpose(g, n, q, headed), transpose(g, n, k, headed))
}

// keyMask is a value of the shape [B,S] that is 0 at the keys that the mask of attention n hides from all tokens and
// heads, which see the others, or of them those in causal order; nil where it is another mask.
func keyMask(g *ir.Graph, n *ir.Node) (mask *ir.Node, causal bool) {
	mask, causal, ok := computedMask(n)
	if !ok || !onlyMasks(g, mask) {
		return nil, false
	}
	k := n.Args[1].Type.Shape
	want := []int{k[0], k[2]}
	if slices.Equal(mask.Type.Shape, want) {
		return mask, causal
	}
	x := &ir.Node{Name: g.FreshName(n.Name + ".mask"), Op: move.Reshape, Attrs: &move.ReshapeAttrs{Shape: want},
		Args: []*ir.Node{mask}, Pos: n.Pos, Type: mask.Type.WithShape(want)}
	g.InsertBefore(n, x)
	return x, causal
}

// before is a node of its own in front of n, named after it.
func before(g *ir.Graph, n *ir.Node, o *ir.Op, name string, attrs any, args ...*ir.Node) (*ir.Node, error) {
	m, err := ir.NewNode(o, g.FreshName(n.Name+"."+name), n.Pos, attrs, args...)
	if err == nil {
		g.InsertBefore(n, m)
	}
	return m, err
}

// turnTokens makes rotate out of the rotary n where it can.
func turnTokens(g *ir.Graph, n *ir.Node) {
	if len(n.Args) != 3 || n.Args[0].IsConst() {
		return
	}
	for _, a := range n.Args[1:] {
		if !a.IsConst() || len(a.Type.Shape) != 2 {
			return
		}
	}
	n.Op = sequence.Rotate
	n.Args = []*ir.Node{transpose(g, n, n.Args[0], headed), n.Args[1], n.Args[2]}
	n.Type.Shape = ir.TransposeShape(n.Type.Shape, headed)
	behind(g, n, headed)
}
