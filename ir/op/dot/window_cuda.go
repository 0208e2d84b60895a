// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"slices"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
)

// Product is a product over blocks of 32 elements of up to 8 bits, into a window accumulator.
func (w *windowSum) Product(n *ir.Node, of *Windows, t cuda.Target) (*cuda.Unit, error) {
	if of != nil {
		return nil, cuda.Refuse("the library has only 1x1 convolutions of blocks")
	}
	p, weights, scales, err := w.blockProduct(n)
	if err != nil {
		return nil, err
	}
	var u cuda.Unit
	o := gemm.Operands{XScales: cuda.Null()}
	o.X = u.Add(cuda.Operand{Kind: cuda.Input})
	if p.Scaled {
		o.XScales = u.Add(cuda.Operand{Kind: cuda.InputScales})
	}
	o.W = u.Add(cuda.Operand{Kind: cuda.Table, Data: func() []byte {
		return gemm.LayoutInt8.Pack(weights, p.N, p.K)
	}})
	o.WScales = u.Add(cuda.Operand{Kind: cuda.Table, Data: func() []byte {
		return gemm.LayoutInt8.PackScales(scales, p.N, p.K)
	}})
	o.Bias = u.Add(cuda.Operand{Kind: cuda.Table, Data: func() []byte {
		return gemm.PackBiases(w.bias)
	}})
	o.Y = u.Add(cuda.Operand{Kind: cuda.Output})
	u.Notes = []string{productNote(p.M, p.N, p.K, t)}
	return column.CUDAUnit(&u, p, o, t)
}

// gemmBlock is the block size of products on tensor cores.
const gemmBlock = 32

// blockProduct is the sum as the library has it, for the rows of one sample, with weights and scale fields row by row.
func (w *windowSum) blockProduct(n *ir.Node) (p gemm.Window, weights, scales []byte, err error) {
	refuse := func(why string, args ...any) (gemm.Window, []byte, []byte, error) {
		return p, nil, nil, cuda.Refuse(why, args...)
	}
	p = gemm.Window{M: n.Type.Elems() / max(w.out, 1), N: w.out, K: w.in, Scaled: w.data.fields, Bits: w.acc.W}
	switch {
	case w.data.fields && !format.SignedCodes(w.data.block):
		return refuse("products over blocks take integers, not %s", n.Args[0].Type.Format)
	case w.data.ints.W > 8:
		return refuse("products over blocks take data of up to 8 bits, not %s", n.Args[0].Type.Format)
	case !slices.Equal(w.lengths, ir.Blocks(w.in, gemmBlock)):
		return refuse("products over blocks take blocks of %d along a row of %d, not of %d", gemmBlock, w.in, w.lengths[0])
	}
	if err := p.Valid(); err != nil {
		return p, nil, nil, cuda.Refused(err)
	}
	weights = make([]byte, len(w.weights))
	for i, v := range w.weights {
		if weights[i] = byte(v); v != int64(int8(v)) {
			return refuse("products over blocks take weights from -128 to 127, not %d", v)
		}
	}
	least, most := w.exponents()
	if most-least > 255 {
		return refuse("the exponents of the weights lie %d apart, a byte holds 255", most-least)
	}
	scales = make([]byte, len(w.wexp))
	for i, e := range w.wexp {
		scales[i] = byte(min(max(e-least, 0), 255)) // clamped for blocks of zeros
	}
	p.Shift = int32(w.data.exp + least + w.acc.F)
	p.Exact = w.inside(n, int(p.Shift), most-least)
	return p, weights, scales, nil
}

// exponents are the least and the greatest of weights, blocks of zeros aside.
func (w *windowSum) exponents() (least, most int) {
	none := true
	w.each(func(c, j, from, to int) {
		if slices.ContainsFunc(w.weights[from:to], func(v int64) bool { return v != 0 }) {
			e := w.wexp[c*len(w.lengths)+j]
			if none {
				least, most = e, e
			}
			none, least, most = false, min(least, e), max(most, e)
		}
	})
	return least, most
}

// inside says that no term is shifted to the right, and that no sum leaves the window: what is known of the scales of
// the data is shift at field 0, with up to span more by the scales of the weights.
func (w *windowSum) inside(n *ir.Node, shift, span int) bool {
	lo, hi := 0, 0
	if w.data.fields {
		lo, hi = fieldRange(n.Args[0])
	}
	_, top := w.span(n)
	return shift+lo >= 0 && shift+hi+span < 63 && top <= w.acc.W-1-w.acc.F
}
