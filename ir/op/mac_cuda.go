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

func linearCUDA(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
	switch {
	case n.Type.IsFloat():
		return nil, cuda.Refuse("the library has no product of fp32 matrices")
	case usesWindow(n):
		return windowLinearCUDA(n, t)
	}
	p, channels, weights, err := int8Product(n)
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
	call, err := p.Call(o, t)
	return unitOf(&u, call, err)
}

// productNote says for what the configuration of a product was chosen.
func productNote(m, n, k int, t cuda.Target) string {
	return fmt.Sprintf("the configuration is for %d rows, %d columns, %d products each", t.Rows(m, math.MaxInt32), n, k)
}

// convCUDA takes convolutions whose windows are single pixels, as linear nodes over pixels.
func convCUDA(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
	a := n.Attrs.(*ConvAttrs)
	g, err := NewGeometry(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	single := g.KH*g.KW == 1 && g.SH*g.SW == 1 && g.OH == g.H && g.OW == g.W
	if !single || a.Groups != 1 || !a.ChannelsLast {
		return nil, cuda.Refuse("the library has no convolution but that of single pixels, channels last")
	}
	return linearCUDA(n, t)
}

// int8Product is a linear node, or a convolution of single pixels, as a product of bytes of the rows of one sample.
func int8Product(n *ir.Node) (p gemm.Int8, channels []gemm.Channel, weights []byte, err error) {
	refuse := func(why string, args ...any) (gemm.Int8, []gemm.Channel, []byte, error) {
		return p, nil, nil, cuda.Refuse(why, args...)
	}
	x, ok := integersOf(n.Args[0].Type.Format)
	if !ok || x.ints.W > 8 {
		return refuse("products of bytes take integers of up to 8 bits, not %s", n.Args[0].Type.Format)
	}
	if _, ok := integersOf(n.Type.Format); !ok {
		return refuse("products of bytes give integers, not %s", n.Type.Format)
	}
	shape := n.Args[1].Type.Shape
	p = gemm.Int8{M: n.Type.Elems() / max(shape[0], 1), N: shape[0], K: product(shape[1:]), Unsigned: !x.ints.Signed}
	c, err := LinearCodes(n)
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
	span := mostByte(x.ints.Signed)
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
