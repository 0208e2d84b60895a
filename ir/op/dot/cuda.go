// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"fmt"
	"math"
	"math/big"

	"lathe/cuda"
	"lathe/cuda/gemm"
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
		return nil, n.Errorf("L0308", "sums over blocks need scales beside the codes")
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
		return nil, n.Errorf("L0308", "sums need %d bits, integers have 63", m.tBits)
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
