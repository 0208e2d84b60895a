// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math/bits"
	"strconv"

	"lathe/ir/hlo"
	"lathe/rtl"
)

// sharedBlock is what block formats have in common whose elements have codes of their own (fields): the scale 2^e of a
// block is e = floor(log2 max|x|) + lead, within limits, in a field that ascends or falls with e.
type sharedBlock struct {
	elem      fields
	k         int
	rows      int // of a tile of k columns, less 1
	along     int // the block axis plus one; 0 means the last axis
	scaleBits int
	least     int  // e of the least scale
	lead      int  // e of blocks whose greatest magnitude lies in [1, 2)
	falls     bool // the field is 0 at the greatest scale
	nan       bool // the field of all ones makes the whole block NaN
	ceil      bool // ceil(log2 max|x|) in place of floor
}

// maxScaleBits bounds scale fields.
const maxScaleBits = 8

// finishBlock reads the options that all block formats have.
func (c *call) finishBlock(f *sharedBlock) error {
	axis, err := c.intOption(-1, intRange{"axis", 0, maxAxis})
	if err != nil {
		return err
	}
	f.along, f.elem.round = axis+1, c.round()
	return c.noScale()
}

// dialectText prints the dialect of formats whose greatest magnitudes count by floor(log2) without one.
func (f sharedBlock) dialectText() string {
	if f.ceil {
		return ",dialect=mase"
	}
	return ""
}

// optionsText prints those options, the given one, and the bracket.
func (f sharedBlock) optionsText(last string) string {
	s := optionText(f.elem.round, Sat)
	if f.along > 0 {
		s += ",axis=" + strconv.Itoa(f.Axis())
	}
	return s + last + ")"
}

// Width is that of the elements.
func (f sharedBlock) Width() int { return f.elem.Width() }

// BlockSize is k.
func (f sharedBlock) BlockSize() int { return f.k }

// BlockRows is the rows of a tile.
func (f sharedBlock) BlockRows() int { return f.rows + 1 }

// Axis is the block axis, -1 for the last.
func (f sharedBlock) Axis() int { return f.along - 1 }

// ScaleWidth is the bits of the field.
func (f sharedBlock) ScaleWidth() int { return f.scaleBits }

// Element is the format of the elements at scale 1.
func (f sharedBlock) Element() Format { return f.elem }

// Lattice has none: every block has its own step.
func (f sharedBlock) Lattice() (exp int, bits int, ok bool) { return 0, 0, false }

// Limits are those of the elements at scale 1.
func (f sharedBlock) Limits() (lo, hi Exact) { return f.elem.Limits() }

// Decode is the value of an element at scale 1.
func (f sharedBlock) Decode(code int64) Exact { return f.elem.Decode(code) }

// Encode is the code of an element at scale 1.
func (f sharedBlock) Encode(v Exact) int64 { return f.elem.Encode(v) }

// ElementInt is code in steps of the lattice of Element.
func (f sharedBlock) ElementInt(code int64) int64 { return f.elem.integer(code) }

// ones is the field of all ones.
func (f sharedBlock) ones() int64 { return 1<<f.scaleBits - 1 }

// ScaleExp is least plus the field, or the complement of the field where it falls.
func (f sharedBlock) ScaleExp(scale int64) int {
	if f.falls {
		scale = ^scale
	}
	return int(scale&f.ones()) + f.least
}

// ScaleLimits are the exponents of the least and the greatest scale that is no NaN.
func (f sharedBlock) ScaleLimits() (lo, hi int) {
	hi = f.least + int(f.ones())
	if f.nan {
		hi--
	}
	return f.least, hi
}

// ScaleField is the field of 2^exp.
func (f sharedBlock) ScaleField(exp int) (scale int64, ok bool) {
	lo, hi := f.ScaleLimits()
	scale = int64(exp - lo)
	if f.falls {
		scale = f.ones() - scale
	}
	return scale, exp >= lo && exp <= hi
}

// ScaleValue is 2^ScaleExp, NaN for the field of NaN.
func (f sharedBlock) ScaleValue(scale int64) Exact {
	if f.nan && scale&f.ones() == f.ones() {
		return NaN()
	}
	return FromInt(1, f.ScaleExp(scale))
}

// ElementExp is the exponent of the steps of a block: a value is ElementInt(code)*2^ElementExp.
func (f sharedBlock) ElementExp(scale int64) int { return f.ScaleExp(scale) + f.elem.step }

// shared is the exponent and the field of a block whose greatest magnitude has the logarithm top, floor or ceil.
func (f sharedBlock) shared(top int) (exp int, scale int64) {
	lo, hi := f.ScaleLimits()
	exp = min(max(top+f.lead, lo), hi)
	scale, _ = f.ScaleField(exp)
	return exp, scale
}

// EncodeBlock takes the field of the greatest magnitude and rounds each x*2^-e. A block of zeros has field 0 and codes
// 0. Where the format has a NaN, NaN and infinities make the block NaN; elsewhere NaN is 0, and infinities saturate.
func (f sharedBlock) EncodeBlock(x []Exact, codes []int64) (scale int64) {
	clear(codes)
	top, some, infinite := 0, false, false
	for _, v := range x {
		if !v.IsFinite() && f.nan {
			return f.ones()
		}
		infinite = infinite || v.IsInf()
		if v.Sign() == 0 || v.IsInf() {
			continue
		}
		if t := f.log2(v); !some || t > top {
			top, some = t, true
		}
	}
	switch {
	case infinite:
		_, top = f.ScaleLimits()
		top -= f.lead
	case !some:
		return 0
	}
	e, scale := f.shared(top)
	for i, v := range x {
		codes[i] = f.elem.Encode(v.Shift(-e))
	}
	return scale
}

// log2 is the logarithm of |v|, not zero, floor or ceil.
func (f sharedBlock) log2(v Exact) int {
	if f.ceil && v.bitLen() > 1 { // significands are odd
		return v.Log2() + 1
	}
	return v.Log2()
}

// DecodeBlock gives element times scale; NaN for the field of NaN.
func (f sharedBlock) DecodeBlock(codes []int64, scale int64, out []Exact) {
	s := f.ScaleValue(scale)
	for i, c := range codes {
		out[i] = f.elem.Decode(c).Mul(s)
	}
}

// EncodeInts is EncodeBlock for the values v[i]*2^exp, in integers only.
func (f sharedBlock) EncodeInts(v []int64, exp int, codes []int64) (scale int64) {
	clear(codes)
	var all, less uint64 // of magnitudes; of magnitudes less 1, whose bits are the ceil of the logarithm
	for _, x := range v {
		if m := uint64(max(x, -x)); m != 0 {
			all |= m
			less |= m - 1
		}
	}
	if all == 0 {
		return 0
	}
	top := bits.Len64(all) - 1
	if f.ceil {
		top = bits.Len64(less)
	}
	e, scale := f.shared(top + exp)
	for i, x := range v {
		codes[i] = f.elem.encodeInt(x, exp-e)
	}
	return scale
}

// aligned is where values of in are shifted to before elements are rounded: leading ones from place low to high, which
// the scales can follow, come to place top-1. The format of what is shifted so is shifted.
func (f sharedBlock) aligned(in Fixed) (low, high, top int, shifted Fixed) {
	lo, hi := f.ScaleLimits()
	low, high = lo-f.lead+in.F+1, hi-f.lead+in.F+1
	width := in.W + rtl.Flag(f.ceil && !in.Signed)
	top = max(min(width, high), low)
	return low, high, top, Fixed{W: width + 1, F: top - 1 + f.lead, Signed: true}
}

// EncodeHLO finds the logarithm of the greatest magnitude of each block from its bits.
func (f sharedBlock) EncodeHLO(b *hlo.Builder, x hlo.Value, in Fixed) hlo.Value {
	dims := x.Type().Dims
	row := dims[len(dims)-1]
	v := b.Blocks(b.Convert(x, hlo.I64), f.k)
	dims = v.Type().Dims
	top := b.Reduce(hlo.ReduceMax, b.Abs(v), len(dims)-1)
	zero := b.Compare(hlo.EQ, top, b.Splat(top, 0))
	if f.ceil {
		top = b.Sub(top, b.Splat(top, 1))
	}
	length := b.Sub(b.Splat(top, 64), b.CountLeadingZeros(top))
	if f.ceil {
		length = b.Add(length, b.Splat(length, 1))
	}
	low, high, to, shifted := f.aligned(in)
	bound := b.Clamp(b.Splat(length, int64(low)), length, b.Splat(length, int64(high)))
	up := b.Max(b.Sub(b.Splat(bound, int64(to)), bound), b.Splat(bound, 0)) // negative for blocks of zeros only
	codes := f.elem.encodeHLO(b, b.ShiftLeft(v, overElements(b, up, dims)), shifted)
	scale := b.Sub(bound, b.Splat(bound, int64(low)))
	if f.falls {
		scale = b.Sub(b.Splat(bound, f.ones()), scale)
	}
	scale = b.Select(zero, b.Splat(scale, 0), scale)
	return b.Unblocks(codes, row).WithScale(b.Convert(scale, hlo.I32))
}

// ElementsHLO prints codes as integers of 64 bits in steps.
func (f sharedBlock) ElementsHLO(b *hlo.Builder, codes hlo.Value) hlo.Value {
	return f.elem.integers64(b, codes)
}

// DecodeHLO shifts the integers of every block by its scale.
func (f sharedBlock) DecodeHLO(b *hlo.Builder, x hlo.Value, out Fixed) hlo.Value {
	dims := x.Type().Dims
	v := b.Blocks(f.elem.integers64(b, x), f.k)
	exp := b.Convert(x.Scale(), hlo.I64)
	if f.falls {
		exp = b.Sub(b.Splat(exp, f.ones()), exp)
	}
	by := overElements(b, b.Sub(b.Splat(exp, int64(-out.F-f.least-f.elem.step)), exp), v.Type().Dims)
	k := func(c int64) hlo.Value { return b.Splat(by, c) }
	by = b.Clamp(k(int64(-out.W)), by, k(60))
	if out.Over != Wrap { // what is shifted beyond the codes of out keeps its sign
		most := b.ShiftRightArith(k(1<<min(out.W, 58)), b.Max(b.Neg(by), k(0)))
		v = b.Select(b.Compare(hlo.LT, by, k(0)), b.Clamp(b.Neg(most), v, most), v)
	}
	q := b.RoundShiftBy(v, by, uint8(out.Round))
	q = b.Saturate(q, int32(out.Over), out.W, out.Signed, Carrier(out))
	return b.Unblocks(q, dims[len(dims)-1])
}

// ElementRTL is the bits of the exponent field of the elements: see mx_integer.
func (f sharedBlock) ElementRTL() int { return f.elem.e }

// EncodeRTL is mx_encode.
func (f sharedBlock) EncodeRTL(in Fixed, s Stream) *rtl.Unit {
	return rtl.NewUnit("mx_encode", "LANES", s.Lanes, "IN_W", in.W, "IN_SIGNED", rtl.Flag(in.Signed), "EXP", -in.F,
		"W", f.Width(), "E", f.elem.e, "MOST", f.elem.most, "ONE_ZERO", rtl.Flag(f.elem.oneZero), "SYM", 0,
		"POINT", 1-f.lead-f.elem.step, "K", f.k, "SCALE_W", f.scaleBits, "BIAS", f.lead-f.least,
		"NAN", rtl.Flag(f.nan), "FALLS", rtl.Flag(f.falls), "CEIL", rtl.Flag(f.ceil),
		"ROW", s.Row, "ROWS", s.Rows, "ROUND", int(f.elem.round))
}

// DecodeRTL is mx_decode, with a shifter for the scales that can arrive.
func (f sharedBlock) DecodeRTL(out Fixed, s Stream) *rtl.Unit {
	offset := f.least + f.elem.step + out.F
	_, width, _ := f.elem.Lattice()
	low := min(max(-(s.ScaleLo-f.least+offset), 0), width+1)
	high := min(max(s.ScaleHi-f.least+offset, 0), out.W)
	return rtl.NewUnit("mx_decode", "LANES", s.Lanes, "W", f.Width(), "E", f.elem.e, "SCALE_W", f.scaleBits, "FALLS",
		rtl.Flag(f.falls), "OFFSET", offset, "LOW", low, "HIGH", high, "OUT_W", out.W, "OUT_SIGNED", rtl.Flag(out.Signed),
		"ROUND", int(out.Round), "OVER", int(out.Over), "BEATS", s.Beats)
}
