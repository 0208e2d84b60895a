// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/column"
)

// Codes is a linear node over integers as hardware and kernels compute it on the codes q of its argument:
//
//	t = (sum_j q[j]*w[c][j]) << Up[c] + Bias[c]      code = over(Zero + RS(t*Mul[c], Shift[c]))
type Codes struct {
	Out, In int
	// Weights are row-major.
	Weights  []int64
	Channels []Channel
	// Result holds the codes as numbers, with rounding and overflow; its F is 0.
	Result format.Fixed
	Zero   int64
}

// Channel is an output channel; a Shift below 1 shifts left.
type Channel struct {
	Bias, Mul int64
	Shift     int
	Up        uint
}

// CodesOf is the plan of a quantized linear node whose sums are exact. Errors are those of New, L0310, and
// L0308 where sums do not fit 63 bits or are not exact.
func CodesOf(n *ir.Node) (*Codes, error) {
	p, err := New(n)
	if err != nil {
		return nil, err
	}
	m, exact := p.(*exactSum)
	if !exact {
		return nil, n.Errorf(diag.OpFormats, "sums over blocks need scales beside the codes")
	}
	return m.onCodes(n)
}

// onCodes is the plan for the codes of the data.
func (m *exactSum) onCodes(n *ir.Node) (*Codes, error) {
	if m.data.ints.W == 0 {
		_, err := arith.FixedOf(n, n.Args[0].Type)
		return nil, err
	}
	m = m.raw()
	if m.tBits > 63 {
		return nil, n.Errorf(diag.OpFormats, "sums need %d bits, integers have 63", m.tBits)
	}
	c := &Codes{Out: m.out, In: m.in}
	var buf []int64
	for row := range m.out {
		c.Weights = append(c.Weights, m.row(row, &buf)...)
	}
	var err error
	if c.Result, c.Zero, err = m.round.result(n); err != nil {
		return nil, err
	}
	for i, b := range m.bias64() {
		one := Channel{Bias: b, Up: m.up[i]}
		one.Mul, one.Shift = m.round.step(i)
		c.Channels = append(c.Channels, one)
	}
	return c, nil
}

// Product is a product of bytes, or a convolution.
func (m *exactSum) Product(n *ir.Node, w *Windows, t cuda.Target) (*cuda.Unit, error) {
	p, channels, weights, err := m.int8Product(n)
	if err != nil {
		return nil, err
	}
	unit := func(of cuda.Batched[gemm.Operands], pack func([]byte) []byte) (*cuda.Unit, error) {
		var u cuda.Unit
		o := gemm.Operands{X: u.Add(cuda.Operand{Kind: cuda.Input})}
		o.W = u.Add(cuda.Operand{Kind: cuda.Table, Data: func() []byte { return pack(weights) }})
		o.Bias = u.Add(cuda.Operand{Kind: cuda.Table, Data: func() []byte { return gemm.PackChannels(channels) }})
		o.Y = u.Add(cuda.Operand{Kind: cuda.Output})
		if w != nil && w.Added != nil {
			o.Residual = u.Add(cuda.Operand{Kind: cuda.Input, Index: 1})
		}
		u.Notes = []string{productNote(p.M, p.N, p.K, t)}
		return column.CUDAUnit(&u, of, o, t)
	}
	h := gemm.HopperInt8{Int8: p}
	switch {
	case w != nil:
		c := gemm.Conv8{Images: w.Images, Int8: p, Outside: int(m.data.zero), Added: w.Added}
		return unit(c, c.Pack)
	case t.Hopper && h.Worthwhile(t):
		return unit(h, h.Pack)
	}
	return unit(p, p.Pack)
}

// productNote says for what the configuration of a product was chosen.
func productNote(m, n, k int, t cuda.Target) string {
	return fmt.Sprintf("the configuration is for %d rows, %d columns, %d products each", t.Rows(m, math.MaxInt32), n, k)
}

// int8Product is the sum as the library has it, for the rows of one sample, with weights row by row.
func (m *exactSum) int8Product(n *ir.Node) (p gemm.Int8, channels []gemm.Channel, weights []byte, err error) {
	refuse := func(why string, args ...any) (gemm.Int8, []gemm.Channel, []byte, error) {
		return p, nil, nil, cuda.Refuse(why, args...)
	}
	x := m.data.ints
	if x.W == 0 || x.W > 8 {
		return refuse("products of bytes take integers of up to 8 bits, not %s", n.Args[0].Type.Format)
	}
	if _, ok := format.IntegersOf(n.Type.Format); !ok {
		return refuse("products of bytes give integers, not %s", n.Type.Format)
	}
	p = gemm.Int8{M: n.Type.Elems() / max(m.out, 1), N: m.out, K: m.in, Unsigned: !x.Signed}
	c, err := m.onCodes(n)
	if err != nil {
		return p, nil, nil, err
	}
	p.Result = c.Result
	if c.Zero != int64(int32(c.Zero)) {
		return refuse("products of bytes have a zero point of 32 bits, not %d", c.Zero)
	}
	p.Zero = int32(c.Zero)
	if err := p.Valid(); err != nil {
		return p, nil, nil, cuda.Refused(err)
	}
	weights = make([]byte, len(c.Weights))
	for i, w := range c.Weights {
		if weights[i] = byte(w); w != int64(int8(w)) {
			return refuse("products of bytes take weights from -128 to 127, not %d", w)
		}
	}
	span := mostByte(x.Signed)
	for i, one := range c.Channels {
		if !one.fits(c.Weights[i*c.In:(i+1)*c.In], span) {
			return refuse("channel %d needs more than 64 bits, or a factor of more than 32, between sum and code", i)
		}
		channels = append(channels, gemm.Channel{Bias: one.Bias, Mul: int32(one.Mul), Shift: one.Shift, Up: int(one.Up)})
	}
	return p, channels, weights, nil
}

// mostByte is the greatest magnitude of a byte.
func mostByte(signed bool) int64 {
	if signed {
		return 128
	}
	return 255
}

// fits says that ((sum << Up) + Bias)*Mul of data of magnitudes up to most stays within 63 bits and the fields of a
// channel hold its numbers.
func (c Channel) fits(weights []int64, most int64) bool {
	sum := new(big.Int)
	for _, w := range weights {
		sum.Add(sum, new(big.Int).Abs(big.NewInt(w)))
	}
	if c.Up > 63 || c.Mul != int64(int32(c.Mul)) || c.Shift != int(int16(c.Shift)) {
		return false
	}
	sum.Mul(sum, big.NewInt(most)).Lsh(sum, c.Up).Add(sum, new(big.Int).Abs(big.NewInt(c.Bias)))
	return sum.Mul(sum, new(big.Int).Abs(big.NewInt(c.Mul))).BitLen() <= 63
}

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
