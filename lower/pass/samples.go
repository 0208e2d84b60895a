// SPDX-License-Identifier: Apache-2.0

package pass

import (
	"context"
	"slices"

	"lathe/ir"
	"lathe/ir/ref"
)

// Enter turns a sample in the caller's layout into values of the graph's inputs: permuted, in their unit, and
// encoded.
func Enter(g *ir.Graph, s ref.Sample) ref.Sample {
	out := make(ref.Sample, len(s))
	for i, n := range g.In {
		a := n.Attrs.(*ir.Input)
		t := permute(s[i], a.Perm)
		if a.Exponents != nil {
			t = &ir.Tensor{Type: t.Type, Floats: slices.Clone(t.Floats)}
			a.Scale(t.Floats)
		}
		if !n.Type.IsFloat() {
			t = ir.EncodeFloats(n.Type, t.Floats)
		}
		out[i] = t
	}
	return out
}

// leave turns graph outputs into the caller's layout.
func leave(g *ir.Graph, s ref.Sample) (ref.Sample, error) {
	out := make(ref.Sample, len(s))
	for i, o := range g.Out {
		t := s[i]
		if _, blocks := t.Type.BlockFormat(); blocks && o.Perm != nil { // which run along an axis that moves
			var err error
			if t, err = decoded(t); err != nil {
				return nil, err
			}
		}
		out[i] = permute(t, o.Perm)
	}
	return out, nil
}

// permute makes axis i of the result axis perm[i] of t, which has no blocks; a nil perm returns t.
func permute(t *ir.Tensor, perm []int) *ir.Tensor {
	if perm == nil {
		return t
	}
	out := ir.NewTensor(t.Type.WithShape(ir.TransposeShape(t.Type.Shape, perm)))
	for i, from := range ir.TransposeIndex(t.Type.Shape, perm) {
		if out.Codes != nil {
			out.Codes[i] = t.Codes[from]
		} else {
			out.Floats[i] = t.Floats[from]
		}
	}
	return out
}

// decoded is a value in a block format as floats, which hold those of 8 bits exactly.
func decoded(t *ir.Tensor) (*ir.Tensor, error) {
	out := ir.NewTensor(ir.Float(t.Type.Shape...))
	x, err := t.Decode()
	for i := range x {
		out.Floats[i] = float32(x[i])
	}
	return out, err
}

// Outputs evaluates the graph on samples in the caller's layout and returns its outputs in the caller's layout.
func Outputs(ctx context.Context, g *ir.Graph, samples []ref.Sample) ([]ref.Sample, error) {
	p, err := ref.New(g)
	if err != nil {
		return nil, err
	}
	in := make([]ref.Sample, len(samples))
	for i, s := range samples {
		in[i] = Enter(g, s)
	}
	out, err := p.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if out[i], err = leave(g, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// CallerLayout is float samples in the layout of the graph's inputs as the caller has them.
func CallerLayout(g *ir.Graph, samples []ref.Sample) []ref.Sample {
	out := make([]ref.Sample, len(samples))
	for i, s := range samples {
		out[i] = slices.Clone(s)
		for k, n := range g.In {
			perm := n.Attrs.(*ir.Input).Perm
			if perm == nil {
				continue
			}
			inverse := make([]int, len(perm))
			for i, p := range perm {
				inverse[p] = i
			}
			out[i][k] = permute(s[k], inverse)
		}
	}
	return out
}
