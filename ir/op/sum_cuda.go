// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math"
	"math/big"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/ir"
)

// product is a product of bytes.
func (m *exactSum) product(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
	p, channels, weights, err := m.int8Product(n)
	if err != nil {
		return nil, err
	}
	var u cuda.Unit
	var o gemm.Operands
	o.X = u.Add(cuda.Operand{Kind: cuda.Input})
	o.W = u.Add(cuda.Operand{Kind: cuda.Table, Data: gemm.LayoutInt8.Pack(weights, p.N, p.K)})
	o.Bias = u.Add(cuda.Operand{Kind: cuda.Table, Data: gemm.PackChannels(channels)})
	o.Y = u.Add(cuda.Operand{Kind: cuda.Output})
	u.Notes = []string{productNote(p.M, p.N, p.K, t)}
	return unitOf(&u, p, o, t)
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
	if _, ok := integersOf(n.Type.Format); !ok {
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
func (c CodesChannel) fits(weights []int64, most int64) bool {
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
