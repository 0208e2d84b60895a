// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"lathe/cuda"
	"lathe/cuda/reduce"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/walk"
)

// normCUDA takes floats whose gain and bias, if any, are constants of a value a column.
func normCUDA(n *ir.Node, rms bool, t cuda.Target) (*cuda.Unit, error) {
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
	args := reduce.NormArgs{X: u.Add(cuda.Operand{Kind: cuda.Input}), Addend: cuda.Null(), Sum: cuda.Null(),
		Gain: cuda.Null(), Bias: cuda.Null(), Scales: cuda.Null()}
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
	args.Y = u.Add(cuda.Operand{Kind: cuda.Output})
	return column.CUDAUnit(&u, p, args, t)
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
