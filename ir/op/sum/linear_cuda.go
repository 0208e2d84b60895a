// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"sync"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/dot"
	"lathe/ir/op/walk"
)

// linearCUDA is a product of floats with what follows it, or one of codes alone.
func linearCUDA(g *ir.Group, t cuda.Target) (*cuda.Unit, error) {
	if g.Anchor.Args[0].Type.IsFloat() {
		return linearHalves(g, t)
	}
	return ir.OneNode(func(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
		p, err := dot.New(n)
		if err != nil {
			return nil, err
		}
		return p.Product(n, nil, t)
	})(g, t)
}

// linearHalves is the product of data and constant weights in one float of 16 bits; weights whose own format is MXINT8
// lie in it.
func linearHalves(g *ir.Group, t cuda.Target) (*cuda.Unit, error) {
	e, err := epilogueOf(g)
	if err != nil {
		return nil, err
	}
	in, err := column.FloatWord(g.Anchor, g.Anchor.Args[0].Type)
	if err != nil {
		return nil, err
	}
	sink, err := e.sink(g)
	if err != nil {
		return nil, err
	}
	if in == word.Float32 {
		return nil, cuda.Refuse("the library does not multiply fp32 matrices")
	}
	if err := e.operands(); err != nil {
		return nil, err
	}
	x, w := e.rows[0].Args[0].Type, e.rows[0].Args[1]
	m := walk.Size(x.Shape[:len(x.Shape)-1])
	u := &cuda.Unit{}
	o, err := e.arguments(u, g, sink)
	if err != nil {
		return nil, err
	}
	n, k := w.Type.Shape[0]*len(e.rows), w.Type.Shape[1]
	if w.Attrs.(*ir.Const).Own.Format == format.MXInt8 && in == word.BFloat16 {
		p := gemm.W8A16{M: m, N: n, K: k, BatchInvariant: t.BatchInvariant, Epilogue: sink}
		v := sync.OnceValue(func() *ir.Tensor {
			return ir.EncodeFloats(ir.Type{Shape: []int{n, k}, Format: format.MXInt8}, e.weights().Floats())
		})
		o.W = table(u, func() []byte { return gemm.LayoutBF16.Pack(word.I8.Append(nil, v().Codes...), n, k) })
		o.WScales = table(u, func() []byte {
			return gemm.LayoutBF16.PackScales(word.U8.Append(nil, v().BlockScales...), n, k)
		})
		if h := (gemm.Hopper8{W8A16: p}); t.Hopper && h.Worthwhile(t) {
			return column.CUDAUnit(u, h, o, t)
		}
		return column.CUDAUnit(u, p, o, t)
	}
	p := gemm.W16A16{M: m, N: n, K: k, Word: in, BatchInvariant: t.BatchInvariant, Epilogue: sink}
	if h := (gemm.Hopper16{W16A16: p}); t.Hopper && h.Worthwhile(t) {
		o.W = table(u, func() []byte { return h.Pack(e.weights().Bytes) })
		return column.CUDAUnit(u, h, o, t)
	}
	o.W = table(u, func() []byte { return p.Pack(e.weights().Bytes) })
	return column.CUDAUnit(u, p, o, t)
}

// table is constant data as an argument.
func table(u *cuda.Unit, data func() []byte) cuda.Arg {
	return u.Add(cuda.Operand{Kind: cuda.Table, Data: data})
}
