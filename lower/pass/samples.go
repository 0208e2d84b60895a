// SPDX-License-Identifier: Apache-2.0

package pass

import (
	"context"

	"lathe/golden/ref"
	"lathe/ir"
	"lathe/ir/op/column"
)

// Enter turns a sample in the caller's layout into values of the graph's inputs: permuted and encoded.
func Enter(g *ir.Graph, s ref.Sample) ref.Sample {
	out := make(ref.Sample, len(s))
	for i, n := range g.In {
		t := permute(s[i], n.Attrs.(*ir.Input).Perm)
		if !n.Type.IsFloat() {
			t = ir.EncodeFloats(n.Type, t.Floats)
		}
		out[i] = t
	}
	return out
}

// leave turns graph outputs into the caller's layout.
func leave(g *ir.Graph, s ref.Sample) ref.Sample {
	out := make(ref.Sample, len(s))
	for i, o := range g.Out {
		out[i] = permute(s[i], o.Perm)
	}
	return out
}

// permute makes axis i of the result axis perm[i] of t; a nil perm returns t.
func permute(t *ir.Tensor, perm []int) *ir.Tensor {
	if perm == nil {
		return t
	}
	if _, blocks := t.Type.BlockFormat(); blocks {
		t = decoded(t) // blocks run along an axis that moves
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
func decoded(t *ir.Tensor) *ir.Tensor {
	out := ir.NewTensor(ir.Float(t.Type.Shape...))
	x, err := t.Decode()
	for i := range x {
		out.Floats[i] = float32(x[i])
	}
	if err != nil {
		return t
	}
	return out
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
		out[i] = leave(g, out[i])
	}
	return out, nil
}

// CallerLayout turns samples in the layout of the graph's inputs into the caller's.
func CallerLayout(g *ir.Graph, samples []ref.Sample) []ref.Sample {
	for _, s := range samples {
		for k, n := range g.In {
			perm := n.Attrs.(*ir.Input).Perm
			if perm == nil {
				continue
			}
			inverse := make([]int, len(perm))
			for i, p := range perm {
				inverse[p] = i
			}
			s[k] = permute(s[k], inverse)
		}
	}
	return samples
}

// Mapped are the results of n for these codes of its argument.
func Mapped(n *ir.Node, codes ...int64) ([]int64, error) {
	a := n.Args[0]
	x := &ir.Tensor{Type: a.Type.WithShape([]int{len(codes)}), Codes: codes}
	one := *n
	one.Type = n.Type.WithShape(x.Type.Shape)
	one.Args = []*ir.Node{{Name: a.Name, Op: a.Op, Attrs: a.Attrs, Type: x.Type}}
	y, err := column.Apply(&one, x)
	if err != nil {
		return nil, err
	}
	return y.Codes, nil
}
