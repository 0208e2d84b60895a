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

// Lengths gives frames a length, ahead of admission.
var Lengths = pass.Pipeline[*State]{
	pass.New("add_lengths", "all attention reads a mask of keys, where the plan has frames of any length", pass.Lossy, 0,
		addLengths),
}

// WithLengths runs Lengths: in the float graph that comes back frames can change in length. A graph that has the mask
// already, or no attention, comes back as it is. g is not changed; the report says which pass ran.
func WithLengths(ctx context.Context, g *ir.Graph, o pass.Options) (*ir.Graph, *pass.Report, error) {
	report := &pass.Report{}
	if slices.ContainsFunc(g.In, func(n *ir.Node) bool { return n.Name == LengthsMask }) {
		return g, report, nil
	}
	c := g.Clone()
	r := NewRunner(ctx, c, plan.Default(), nil, report, o)
	if err := pass.Run(r, &State{}, Lengths, c); err != nil {
		return nil, nil, err
	}
	if len(c.In) == len(g.In) {
		return g, report, nil
	}
	return c, report, nil
}

// addLengths simplifies a graph, as attention is whole only then, and gives it an input for the mask that all attention
// reads; a graph without attention gets none.
func addLengths(_ *State, g *ir.Graph) error {
	p := slices.Concat(pass.Pipeline[*State]{Constants}, Admission.From("refuse_whole"), Pipeline)
	if err := p.Apply(&State{}, g); err != nil { // whose notes come again with admission
		return err
	}
	var mask *ir.Node
	for _, n := range g.Nodes {
		if at := sequence.MaskOf(n.Op); at == 0 || len(n.Args) != at {
			continue
		}
		if mask == nil {
			t := ir.Float(n.Type.Shape[0], n.Type.Shape[3])
			mask = &ir.Node{Name: g.FreshName(LengthsMask), Op: leaf.Input, Attrs: &ir.Input{Lengths: true}, Type: t,
				Pos: "lengths: " + LengthsMask + " (input)"}
		}
		if !slices.Equal(mask.Type.Shape, []int{n.Type.Shape[0], n.Type.Shape[3]}) {
			return n.Errorf(diag.FixedLength, "attention to %d keys and to %d: frames have one length", n.Type.Shape[3],
				mask.Type.Shape[1])
		}
		n.Args = append(n.Args, mask)
	}
	if mask == nil {
		return nil
	}
	g.In, g.Nodes = append(g.In, mask), slices.Insert(g.Nodes, len(g.In), mask)
	return g.Sort()
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
