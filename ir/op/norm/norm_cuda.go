// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"slices"

	"lathe/cuda"
	"lathe/cuda/reduce"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/walk"
)

// normCUDA takes floats whose gain and bias, if any, are constants of a value a column, and a sum in front that others
// read too.
func normCUDA(g *ir.Group, rms bool, t cuda.Target) (*cuda.Unit, error) {
	n := g.Anchor
	a, shape := n.Attrs.(*Attrs), n.Type.Shape
	axis, err := walk.Axis(a.Axis, len(shape))
	if err != nil {
		return nil, err
	}
	in, out, err := column.FloatWords(n)
	if err != nil {
		return nil, err
	}
	cols := walk.Size(shape[axis:])
	p := reduce.Norm{RMS: rms, In: in, Out: out, Eps: a.Eps,
		Matrix: reduce.Matrix{Rows: int64(walk.Size(shape[:axis])), Cols: int64(cols)}}
	var u cuda.Unit
	args := reduce.NormArgs{Addend: cuda.Null(), Sum: cuda.Null(), Gain: cuda.Null(), Bias: cuda.Null(),
		Scales: cuda.Null()}
	input := func(x *ir.Node) cuda.Arg {
		return u.Add(cuda.Operand{Kind: cuda.Input, Index: slices.Index(g.Inputs, x)})
	}
	if len(g.Members) == 1 {
		args.X = input(n.Args[0])
	} else {
		sum := n.Args[0]
		if err := residual(g, sum); err != nil {
			return nil, err
		}
		p.Add = true
		args.X, args.Addend = input(sum.Args[0]), input(sum.Args[1])
		args.Sum = u.Add(cuda.Operand{Kind: cuda.Output, Index: slices.Index(g.Outputs, sum)})
	}
	for i, arg := range n.Args[1:] {
		to := []*cuda.Arg{&args.Gain, &args.Bias}[i]
		switch {
		case arg.IsConst():
			v, err := arg.Value()
			if err != nil {
				return nil, err
			}
			*to = u.Add(cuda.Operand{Kind: cuda.Table, Data: func() []byte {
				return columnTable(v.Floats, arg.Type.Shape, shape[axis:])
			}})
		default:
			return nil, cuda.Refuse("%s of a scale or bias that is computed", n.Op.Name)
		}
	}
	args.Y = u.Add(cuda.Operand{Kind: cuda.Output, Index: slices.Index(g.Outputs, n)})
	return column.CUDAUnit(&u, p, args, t)
}

// residual refuses what is no sum of two values that the kernel stores.
func residual(g *ir.Group, sum *ir.Node) error {
	if len(g.Members) != 2 || !slices.Contains(g.Members, sum) || sum.Op.Chain == nil || sum.Op.Chain(sum) != "add" ||
		len(g.Outputs) != 2 {
		return cuda.Refuse("a norm takes the sum that it normalizes, which others read too, and nothing else")
	}
	for _, x := range sum.Args {
		if !slices.Contains(g.Inputs, x) || x.Type.Format != sum.Type.Format || !slices.Equal(x.Type.Shape, sum.Type.Shape) {
			return cuda.Refuse("the sum before a norm is one of two values of %s", sum.Type)
		}
	}
	return nil
}

// columnTable are the bytes of values, broadcast to a value a column.
func columnTable(values []float32, shape, columns []int) []byte {
	at := walk.BroadcastIndex(shape, columns)
	out := make([]float32, len(at))
	for i, k := range at {
		out[i] = values[k]
	}
	return hlo.FromFloat32s([]int{len(out)}, out).Data
}
