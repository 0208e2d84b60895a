// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"math"
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
)

const (
	// leastScale bounds the scales that weights get: float32 below it is less precise.
	leastScale = 0x1p-126
	// mostCodeBits bounds the codes whose scales take factors, floatBits those that float32 tells apart.
	mostCodeBits, floatBits = 32, 16
)

// codedWeights are codes of the model, one row of a scale each for every output channel.
type codedWeights struct {
	codes  []int64 // less their zero point
	scales []float32
	w      int // the bits of a format without zero point, 0 for others
}

// codesOf reads a constant by the format that the model gives to it; ok is false for formats that are no integers, or
// have scales along another axis.
func codesOf(n *ir.Node, rows int) (c codedWeights, ok bool) {
	k := n.Attrs.(*ir.Const)
	x, own := k.Data.Floats64(), k.Own
	c = codedWeights{codes: make([]int64, len(x)), scales: make([]float32, rows)}
	size := len(x) / rows
	if s, axis, along := format.ScaledAlong(own.Format); along {
		if axis != 0 || len(own.Scales) != rows {
			return c, false
		}
		_, zero := s.Factor()
		copy(c.scales, own.Scales)
		for i, v := range x {
			c.codes[i] = s.EncodeAt(format.FromFloat64(v), c.scales[i/size]) - zero
		}
		if ints, plain := format.OutputChannels(own.Format); plain && ints.Signed {
			c.w = ints.W
		}
		return c, true
	}
	ints, ok := format.IntegersOf(own.Format)
	if !ok {
		return c, false
	}
	for i := range c.scales {
		c.scales[i] = ints.Step.Float32()
	}
	for i, v := range x {
		c.codes[i] = own.Format.Encode(format.FromFloat64(v)) - ints.Zero
	}
	if ints.Zero == 0 && ints.Codes.Signed {
		c.w = ints.Codes.W
	}
	return c, true
}

// times multiplies every row by a factor: codes stay but for their signs, scales take the factors. ok is false where a
// scale leaves the range of float32.
func (c codedWeights) times(factors []float32) (ok bool) {
	size := len(c.codes) / len(factors)
	for row, f := range factors {
		scale, sign := float32(math.Abs(float64(f))*float64(c.scales[row])), int64(1)
		switch {
		case f == 0:
			scale, sign = c.scales[row], 0
		case !(scale >= leastScale && scale <= math.MaxFloat32):
			return false
		case f < 0:
			sign = -1
		}
		c.scales[row] = scale
		for i := row * size; i < (row+1)*size; i++ {
			c.codes[i] *= sign
		}
	}
	return true
}

// constant is the constant of the codes, which remembers their format; ok is false where they have too many bits.
func (c codedWeights) constant() (data *ir.Blob, own ir.Type, ok bool) {
	least, most := int64(0), int64(0)
	for _, v := range c.codes {
		least, most = min(least, v), max(most, v)
	}
	w := max(2, c.w, format.SignedBits(big.NewInt(least), big.NewInt(most)))
	values, size := make([]float64, len(c.codes)), len(c.codes)/len(c.scales)
	for i, v := range c.codes {
		values[i] = float64(v) * float64(c.scales[i/size])
	}
	if data = ir.DoubleBlob(values); w <= floatBits {
		data = ir.FloatBlob(data.Floats())
	}
	own = ir.Type{Format: format.Affine{W: w, Signed: true, Axis: 0}, Scales: c.scales}
	return data, own, w <= mostCodeBits
}

// rescaled is what becomes of constant w, codes of the model, times one factor for each output channel; nil where that
// is no constant of codes.
func rescaled(w *ir.Node, factors []float32) *ir.Const {
	c, ok := codesOf(w, len(factors))
	if !ok || !c.times(factors) {
		return nil
	}
	data, own, ok := c.constant()
	if !ok {
		return nil
	}
	return &ir.Const{Data: data, Own: own}
}
