// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
	"lathe/ir"
	"lathe/ir/format"
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

// linearHalves is the product of data and constant weights in one float of 16 bits; weights whose own format is MXINT8
// lie in it.
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
	}
	m, sink := walk.Size(x.Shape[:len(x.Shape)-1]), gemm.Epilogue{Out: out.Type(), Bias: len(n.Args) > 2}
	u := &cuda.Unit{}
	o := gemm.Operands{X: u.Add(cuda.Operand{Kind: cuda.Input}), Bias: cuda.Null(), Residual: cuda.Null(),
		YScales: cuda.Null()}
	if sink.Bias {
		v, err := n.Args[2].Value()
		if err != nil {
			return nil, err
		}
		o.Bias = table(u, hlo.FromFloat32s([]int{len(v.Floats)}, v.Floats).Data)
	}
	o.Y = u.Add(cuda.Operand{Kind: cuda.Output})
	c, size := w.Attrs.(*ir.Const), w.Type.Shape
	if c.Own.Format == format.MXInt8 && in == word.BFloat16 {
		p := gemm.W8A16{M: m, N: size[0], K: size[1], BatchInvariant: t.BatchInvariant, Epilogue: sink}
		v := ir.EncodeFloats(ir.Type{Shape: size, Format: c.Own.Format}, c.Data.Floats())
		o.W = table(u, gemm.LayoutBF16.Pack(word.I8.Append(nil, v.Codes...), p.N, p.K))
		o.WScales = table(u, gemm.LayoutBF16.PackScales(word.U8.Append(nil, v.BlockScales...), p.N, p.K))
		return column.CUDAUnit(u, p, o, t)
	}
	p := gemm.W16A16{M: m, N: size[0], K: size[1], Word: in, BatchInvariant: t.BatchInvariant, Epilogue: sink}
	o.W = table(u, p.Pack(c.Data.Bytes))
	return column.CUDAUnit(u, p, o, t)
}

// table is constant data as an argument.
func table(u *cuda.Unit, data []byte) cuda.Arg {
	return u.Add(cuda.Operand{Kind: cuda.Table, Data: data})
}
