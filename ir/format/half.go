// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"

	"lathe/internal/diag"
	"lathe/ir/hlo"
)

// Half is a float of 16 bits in which a float graph keeps a value: the value is computed in float32 and rounded once.
// Engines other than the GPU carry it as the float32 that it is.
type Half struct {
	name      string
	exp, frac int
}

// The floats of 16 bits.
var (
	// BF16 is bfloat16: the upper half of a float32.
	BF16 Format = Half{"bf16", 8, 7}
	// F16 is IEEE 754 binary16.
	F16 Format = Half{"f16", 5, 10}
)

// AsHalf is f where it is one of them.
func AsHalf(f Format) (h Half, ok bool) {
	h, ok = f.(Half)
	return h, ok
}

func buildHalf(c *call) (Format, error) {
	for _, f := range []Format{BF16, F16} {
		if f.String() == c.name {
			return f, c.noScale()
		}
	}
	return nil, c.fail(diag.OpenFormat, 1, "%s is no float of 16 bits", c.name)
}

// String is "bf16" or "f16".
func (h Half) String() string { return h.name }

// Width is 16.
func (Half) Width() int { return 16 }

// CodeSet is h.
func (h Half) CodeSet() Format { return h }

// Lattice has none: graphs compute on the values in float32.
func (Half) Lattice() (exp int, bits int, ok bool) { return 0, 0, false }

// brain says that h is BF16: its values are float32 numbers whose lower half is 0.
func (h Half) brain() bool { return h.exp == 8 }

// bias is that of the exponent field.
func (h Half) bias() int { return 1<<(h.exp-1) - 1 }

// Decode is the value of the bit pattern.
func (h Half) Decode(code int64) Exact { return FromFloat32(h.Value(uint16(code))) }

// Encode rounds half to even, overflows to an infinity, and gives a quiet NaN for NaN.
func (h Half) Encode(v Exact) int64 {
	bias := h.bias()
	return int64(h.Bits(float32(v.round(h.frac+1, 1-bias-h.frac, bias+1))))
}

// Limits are plus and minus the largest finite value.
func (h Half) Limits() (lo, hi Exact) {
	hi = FromInt(1<<(h.frac+1)-1, h.bias()-h.frac)
	return hi.Neg(), hi
}

// KernelType is bf16_code or fp16_code.
func (h Half) KernelType() string {
	if h.brain() {
		return "bf16_code"
	}
	return "fp16_code"
}

// Value is the number with the given bits.
func (h Half) Value(bits uint16) float32 {
	if h.brain() {
		return math.Float32frombits(uint32(bits) << 16)
	}
	sign, exp, frac := uint32(bits>>15)<<31, uint32(bits>>10&31), uint32(bits&1023)
	switch exp {
	case 31:
		return math.Float32frombits(sign | 255<<23 | frac<<13)
	case 0: // frac*2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*0x1p-24))
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | frac<<13)
}

// Bits are those of x, rounded to nearest even; a NaN is the quiet one that XLA, PyTorch and NumPy write, 7fc0 or 7e00.
func (h Half) Bits(x float32) uint16 {
	if x != x {
		return 1<<15 - 1<<(h.frac-1)
	}
	x = h.Round(x)
	b := math.Float32bits(x)
	switch a := math.Abs(float64(x)); {
	case h.brain():
		return uint16(b >> 16)
	case math.IsInf(a, 1):
		return uint16(b>>16&0x8000 | 31<<10)
	case a < leastHalf:
		return uint16(b>>16&0x8000) | uint16(a*0x1p24)
	}
	return uint16(b>>16&0x8000 | (b&(1<<31-1)-(127-15)<<23)>>13)
}

// The least normal number of f16, and the least float32 that is rounded beyond its greatest.
const (
	leastHalf = 0x1p-14
	beyondF16 = 65520
)

// Round is x rounded to the nearest value, ties to the even one; a NaN stays.
func (h Half) Round(x float32) float32 {
	if h.brain() {
		return dropBits(x, 16)
	}
	switch a := math.Abs(float64(x)); {
	case a >= beyondF16:
		return float32(math.Copysign(math.Inf(1), float64(x)))
	case a < leastHalf:
		return float32(math.RoundToEven(float64(x)*0x1p24) * 0x1p-24)
	}
	return dropBits(x, 13)
}

// dropBits rounds the last bits of the significand away, to nearest even.
func dropBits(x float32, drop int) float32 {
	if x != x {
		return x
	}
	b := math.Float32bits(x)
	b += 1<<(drop-1) - 1 + b>>drop&1
	return math.Float32frombits(b >> drop << drop)
}

// RoundHLO prints Round of float32 values.
func (h Half) RoundHLO(b *hlo.Builder, x hlo.Value) hlo.Value {
	number := func(v float64) hlo.Value { return b.Float(hlo.F32, v) }
	drop := func(n int64) hlo.Value {
		bits := b.Bitcast(x, hlo.I32)
		odd := b.And(b.ShiftRightLogical(bits, b.Int(hlo.I32, n)), b.Int(hlo.I32, 1))
		up := b.Add(b.Add(bits, b.Int(hlo.I32, 1<<(n-1)-1)), odd)
		return b.Bitcast(b.And(up, b.Int(hlo.I32, -1<<n)), hlo.F32)
	}
	isNaN := b.Compare(hlo.NE, x, x)
	if h.brain() {
		return b.Select(isNaN, x, drop(16))
	}
	a := b.Abs(x)
	small := b.Mul(b.RoundEven(b.Mul(x, number(0x1p24))), number(0x1p-24))
	v := b.Select(b.Compare(hlo.LT, a, number(leastHalf)), small, drop(13))
	far := b.Mul(b.Sign(x), number(math.Inf(1)))
	return b.Select(isNaN, x, b.Select(b.Compare(hlo.GE, a, number(beyondF16)), far, v))
}
