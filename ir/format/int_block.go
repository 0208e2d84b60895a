// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math/bits"

	"lathe/ir/hlo"
	"lathe/rtl"
)

// IntBlock is what block formats share whose elements are two's complement integers q of W bits, with values
// q*2^-(W-2)*2^(X-Bias) for the scale field X of their block. The field of all ones makes the whole block NaN. Encode
// never makes the most negative code, which decodes all the same.
type IntBlock struct {
	W, K  int
	Rows  int   // of a tile of K columns; 0 and 1: no tile
	Round Round // of the elements
	// Along is the block axis plus one; 0 means the last axis.
	Along int
	// ScaleBits and Bias describe the scale field.
	ScaleBits, Bias int
}

// Width is W.
func (f IntBlock) Width() int { return f.W }

// BlockSize is K.
func (f IntBlock) BlockSize() int { return f.K }

// BlockRows is Rows, at least 1.
func (f IntBlock) BlockRows() int { return max(f.Rows, 1) }

// Axis is the block axis, -1 for the last.
func (f IntBlock) Axis() int { return f.Along - 1 }

// ScaleWidth is ScaleBits.
func (f IntBlock) ScaleWidth() int { return f.ScaleBits }

// Element is fixed(W,W-2), symmetric.
func (f IntBlock) Element() Format { return f.element() }

func (f IntBlock) element() Fixed {
	return Fixed{W: f.W, F: f.W - 2, Signed: true, Round: f.Round, Over: Sym}
}

// Lattice has none: every block has its own step.
func (f IntBlock) Lattice() (exp int, bits int, ok bool) { return 0, 0, false }

// Limits are those of the elements at scale 1.
func (f IntBlock) Limits() (lo, hi Exact) { return f.element().Limits() }

// Decode is the value of an element at scale 1.
func (f IntBlock) Decode(code int64) Exact { return f.element().Decode(code) }

// Encode is the code of an element at scale 1.
func (f IntBlock) Encode(v Exact) int64 { return f.element().Encode(v) }

// nan is the scale field that makes a block NaN.
func (f IntBlock) nan() int64 { return 1<<f.ScaleBits - 1 }

// ScaleExp is X-Bias. The field of all ones, which is NaN, counts as a number here: encoders make it of no finite
// block, and hardware does not look for it.
func (f IntBlock) ScaleExp(scale int64) int { return int(scale&f.nan()) - f.Bias }

// ScaleLimits are the exponents of fields 0 and 2^ScaleBits-2.
func (f IntBlock) ScaleLimits() (lo, hi int) { return -f.Bias, int(f.nan()) - 1 - f.Bias }

// ScaleField is exp+Bias.
func (f IntBlock) ScaleField(exp int) (scale int64, ok bool) {
	lo, hi := f.ScaleLimits()
	return int64(exp + f.Bias), exp >= lo && exp <= hi
}

// ScaleValue is 2^(X-Bias), NaN for the field of all ones.
func (f IntBlock) ScaleValue(scale int64) Exact {
	if scale&f.nan() == f.nan() {
		return NaN()
	}
	return FromInt(1, f.ScaleExp(scale))
}

// shared is the exponent of a block whose greatest magnitude lies in [2^top, 2^(top+1)).
func (f IntBlock) shared(top int) int {
	lo, hi := f.ScaleLimits()
	return min(max(top, lo), hi)
}

// EncodeBlock takes e = floor(log2 max|x|) within ScaleLimits, the field of e, and rounds each x*2^-e. A block of
// zeros has field 0; a block with NaN or an infinity the field of all ones and codes 0.
func (f IntBlock) EncodeBlock(x []Exact, codes []int64) (scale int64) {
	clear(codes)
	top, some := 0, false
	for _, v := range x {
		if !v.IsFinite() {
			return f.nan()
		}
		if !v.IsZero() && (!some || v.Log2() > top) {
			top, some = v.Log2(), true
		}
	}
	if !some {
		return 0
	}
	e, elem := f.shared(top), f.element()
	for i, v := range x {
		codes[i] = elem.Encode(v.Shift(-e))
	}
	return int64(e + f.Bias)
}

// DecodeBlock gives q*2^-(W-2)*2^(X-Bias) for every element; NaN for the field of all ones.
func (f IntBlock) DecodeBlock(codes []int64, scale int64, out []Exact) {
	s, elem := f.ScaleValue(scale), f.element()
	for i, c := range codes {
		out[i] = elem.Decode(c).Mul(s)
	}
}

// EncodeInts is EncodeBlock for the values v[i]*2^exp, in integers only: with L the bits of the largest magnitude,
// e = L-1+exp within ScaleLimits and codes clamp(RS(v[i], e-(W-2)-exp)).
func (f IntBlock) EncodeInts(v []int64, exp int, codes []int64) (scale int64) {
	var all uint64
	for _, x := range v {
		all |= uint64(max(x, -x)) // the magnitude of the least int64 is its own bit pattern
	}
	if all == 0 {
		clear(codes)
		return 0
	}
	e, elem := f.shared(bits.Len64(all)-1+exp), f.element()
	for i, x := range v {
		codes[i] = elem.Requant(x, exp-e)
	}
	return int64(e + f.Bias)
}

// ElementInt is the code, sign-extended.
func (f IntBlock) ElementInt(code int64) int64 { return f.element().low(code) }

// ElementExp is the exponent of the integer codes of a block with scale field X: a value is code*2^ElementExp.
func (f IntBlock) ElementExp(scale int64) int { return f.ScaleExp(scale) - (f.W - 2) }

// EncodeHLO finds the exponent of each block from the bits of its greatest magnitude.
func (f IntBlock) EncodeHLO(b *hlo.Builder, x hlo.Value, in Fixed) hlo.Value {
	dims := x.Type().Dims
	row := dims[len(dims)-1]
	lo, hi := f.ScaleLimits()
	v := b.Blocks(b.Convert(x, hlo.I64), f.K)
	dims = v.Type().Dims
	top := b.Reduce(hlo.ReduceMax, b.Abs(v), len(dims)-1)
	bits := b.Sub(b.Splat(top, 64), b.CountLeadingZeros(top))
	e := b.Clamp(b.Splat(top, int64(lo)), b.Add(bits, b.Splat(bits, int64(-1-in.F))), b.Splat(top, int64(hi)))
	by := b.Min(b.Add(e, b.Splat(e, int64(in.F-(f.W-2)))), b.Splat(e, 60))
	q := b.RoundShiftBy(v, overElements(b, by, dims), uint8(f.Round))
	q = b.Saturate(q, hlo.OverSym, f.W, true, Carrier(f.element()))
	zero := b.Compare(hlo.EQ, top, b.Splat(top, 0))
	scale := b.Select(zero, b.Splat(e, 0), b.Add(e, b.Splat(e, int64(f.Bias))))
	return b.Unblocks(q, row).WithScale(b.Convert(scale, hlo.I32))
}

// DecodeHLO shifts every block by its scale.
func (f IntBlock) DecodeHLO(b *hlo.Builder, x hlo.Value, out Fixed) hlo.Value {
	dims := x.Type().Dims
	v := b.Blocks(b.Convert(x, hlo.I64), f.K)
	by := b.Convert(x.Scale(), hlo.I64)
	by = b.Sub(b.Splat(by, int64(-f.ElementExp(0)-out.F)), by)
	by = b.Clamp(b.Splat(by, int64(-out.W)), by, b.Splat(by, 60))
	q := b.RoundShiftBy(v, overElements(b, by, v.Type().Dims), uint8(out.Round))
	q = b.Saturate(q, int32(out.Over), out.W, out.Signed, Carrier(out))
	return b.Unblocks(q, dims[len(dims)-1])
}

// overElements repeats one number a block over the elements of each: [..., blocks] to dims, [..., blocks, k].
func overElements(b *hlo.Builder, v hlo.Value, dims []int) hlo.Value {
	axes := make([]int, len(dims)-1)
	for i := range axes {
		axes[i] = i
	}
	return b.BroadcastInDim(v, dims, axes)
}

// ElementsHLO is the codes in 64 bits.
func (f IntBlock) ElementsHLO(b *hlo.Builder, codes hlo.Value) hlo.Value {
	return b.Convert(codes, hlo.I64)
}

// ElementRTL is -1: two's complement.
func (f IntBlock) ElementRTL() int { return -1 }

// EncodeRTL is mx_encode.
func (f IntBlock) EncodeRTL(in Fixed, s Stream) *rtl.Unit {
	return rtl.NewUnit("mx_encode", "LANES", s.Lanes, "IN_W", in.W, "IN_SIGNED", rtl.Flag(in.Signed), "EXP", -in.F,
		"W", f.W, "POINT", f.W-1, "K", f.K, "SCALE_W", f.ScaleBits, "BIAS", f.Bias, "ROW", s.Row, "ROWS", s.Rows,
		"ROUND", int(f.Round))
}

// DecodeRTL is mx_decode, with a shifter for the scales that can arrive.
func (f IntBlock) DecodeRTL(out Fixed, s Stream) *rtl.Unit {
	offset := f.ElementExp(0) + out.F
	low := min(max(-(s.ScaleLo+f.Bias+offset), 0), f.W+1)
	high := min(max(s.ScaleHi+f.Bias+offset, 0), out.W)
	return rtl.NewUnit("mx_decode", "LANES", s.Lanes, "W", f.W, "SCALE_W", f.ScaleBits, "OFFSET", offset,
		"LOW", low, "HIGH", high, "OUT_W", out.W, "OUT_SIGNED", rtl.Flag(out.Signed), "ROUND", int(out.Round),
		"OVER", int(out.Over), "BEATS", s.Beats)
}
