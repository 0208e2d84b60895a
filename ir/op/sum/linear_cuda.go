// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/dot"
	"lathe/ir/op/walk"
)

func linearCUDA(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
	if n.Type.IsFloat() {
		return linearHalves(n, t)
	}
	p, err := dot.New(n)
	if err != nil {
		return nil, err
	}
	return p.Product(n, t)
}

// linearHalves is the product of data and constant weights in one float of 16 bits.
func linearHalves(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
	in, out, err := column.FloatWords(n)
	if err != nil {
		return nil, err
	}
	x, w := n.Args[0].Type, n.Args[1]
	switch {
	case in == word.Float32:
		return nil, cuda.Refuse("the library does not multiply fp32 matrices")
	case !w.IsConst() || w.Type.Format != x.Format:
		return nil, cuda.Refuse("the library multiplies %s by constant weights in %s, not in %s", x.Format, x.Format,
			w.Type.Format)
	case len(n.Args) > 2 && (!n.Args[2].IsConst() || len(n.Args[2].Type.Shape) != 1):
		return nil, cuda.Refuse("the library adds a constant bias of one number an output")
	case out.Type() == word.F16:
		return nil, cuda.Refuse("the library's products are stored in bf16 or fp32, not %s", n.Type.Format)
	}
	rows := x.Shape[:len(x.Shape)-1]
	p := gemm.W16A16{M: walk.Size(rows), N: w.Type.Shape[0], K: w.Type.Shape[1], Word: in,
		BatchInvariant: t.BatchInvariant, Epilogue: gemm.Epilogue{Out: out.Type(), Bias: len(n.Args) > 2}}
	if err := p.Valid(); err != nil {
		return nil, cuda.Refused(err)
	}
	var u cuda.Unit
	o := gemm.Operands{X: u.Add(cuda.Operand{Kind: cuda.Input}), Bias: cuda.Null(), Residual: cuda.Null(),
		YScales: cuda.Null()}
	o.W = u.Add(cuda.Operand{Kind: cuda.Table, Data: p.Pack(w.Attrs.(*ir.Const).Data.Bytes)})
	if p.Bias {
		v, err := n.Args[2].Value()
		if err != nil {
			return nil, err
		}
		o.Bias = u.Add(cuda.Operand{Kind: cuda.Table, Data: hlo.FromFloat32s([]int{p.N}, v.Floats).Data})
	}
	o.Y = u.Add(cuda.Operand{Kind: cuda.Output})
	return column.CUDAUnit(&u, p, o, t)
}
