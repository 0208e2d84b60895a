// SPDX-License-Identifier: Apache-2.0

package float

import (
	"context"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/sequence"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// Frames of changing length. In the graph a mask of keys says how many tokens a frame has: as many ones, then zeros.
// Tokens behind are computed as any others, and mean nothing. Hardware takes no such tokens: a frame ends early.

// LengthsMask is the name of the mask that models get which have none.
const LengthsMask = "attention_mask"

// WithLengths is a float graph whose frames can change in length: all attention reads a mask of keys. A graph in which
// it does already comes back as it is; another one is simplified, and gets an input for it.
func WithLengths(ctx context.Context, g *ir.Graph) (*ir.Graph, error) {
	if slices.ContainsFunc(g.In, func(n *ir.Node) bool { return n.Name == LengthsMask }) {
		return g, nil
	}
	c := g.Clone()
	p := slices.Concat(pass.Pipeline[*State]{Constants}, Admission.From("refuse_whole"), Pipeline)
	r := NewRunner(ctx, c, plan.Default(), nil, &pass.Report{}, pass.Options{})
	if err := pass.Run(r, &State{}, p, c); err != nil {
		return nil, err
	}
	var mask *ir.Node
	for _, n := range c.Nodes {
		if at := sequence.MaskOf(n.Op); at == 0 || len(n.Args) != at {
			continue
		}
		if mask == nil {
			t := ir.Float(n.Type.Shape[0], n.Type.Shape[3])
			mask = &ir.Node{Name: c.FreshName(LengthsMask), Op: leaf.Input, Attrs: &ir.Input{Lengths: true}, Type: t,
				Pos: "lengths: " + LengthsMask + " (input)"}
		}
		if !slices.Equal(mask.Type.Shape, []int{n.Type.Shape[0], n.Type.Shape[3]}) {
			return nil, n.Errorf(diag.FixedLength, "attention to %d keys and to %d: frames have one length", n.Type.Shape[3],
				mask.Type.Shape[1])
		}
		n.Args = append(n.Args, mask)
	}
	if mask == nil {
		return g, nil
	}
	c.In, c.Nodes = append(c.In, mask), slices.Insert(c.Nodes, len(c.In), mask)
	return c, c.Sort()
}

// LengthOf is how many tokens a mask has: its ones, behind which are zeros only; 0 where it is none.
func LengthOf(t *ir.Tensor) int {
	n := 0
	for i := range t.Type.Elems() {
		v := 0.0
		if t.Codes != nil {
			v = float64(t.Codes[i])
		} else {
			v = float64(t.Floats[i])
		}
		switch {
		case v == 1 && n == i:
			n++
		case v != 0:
			return 0
		}
	}
	return n
}
