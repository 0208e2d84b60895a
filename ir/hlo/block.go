// SPDX-License-Identifier: Apache-2.0

package hlo

// WithScale hangs the scale fields of a block format on the codes v: one field a block, blocks along the last axis.
func (v Value) WithScale(scale Value) Value {
	v.scale = &scale
	return v
}

// Scale is what WithScale hung on v; the zero Value for codes of scalar formats.
func (v Value) Scale() Value {
	if v.scale == nil {
		return Value{}
	}
	return *v.scale
}

// Blocks cuts the last axis of x into blocks of k: [..., n] becomes [..., ceil(n/k), k], filled up with zeros.
func (b *Builder) Blocks(x Value, k int) Value {
	if !b.sound("blocks", x) || k < 1 || x.typ.Rank() == 0 {
		return b.failf("blocks of %d of %s", k, x.typ)
	}
	dims := x.typ.Dims
	last := len(dims) - 1
	count := (dims[last] + k - 1) / k
	if gap := count*k - dims[last]; gap > 0 {
		high := make([]int, len(dims))
		high[last] = gap
		none := make([]int, len(dims))
		x = b.Pad(x, b.Int(x.typ.DType, 0), none, high, none)
	}
	return b.Reshape(x, append(append([]int{}, dims[:last]...), count, k)...)
}

// Unblocks is the inverse of Blocks: the first n elements of [..., blocks, k].
func (b *Builder) Unblocks(x Value, n int) Value {
	if !b.sound("unblocks", x) || x.typ.Rank() < 2 {
		return b.failf("unblocks of %s", x.typ)
	}
	dims := x.typ.Dims
	last := len(dims) - 2
	flat := b.Reshape(x, append(append([]int{}, dims[:last]...), dims[last]*dims[last+1])...)
	return b.SliceAxis(flat, last, 0, n)
}

// RoundShiftBy is RS(v, n) with a shift for every element: both I64 of one shape, |v| < 2^58 and n at most 60. A
// negative n shifts left; the caller sees to it that nothing is lost.
func (b *Builder) RoundShiftBy(v, n Value, round uint8) Value {
	zero, one := b.Splat(n, 0), b.Splat(n, 1)
	right, left := b.Max(n, zero), b.Max(b.Neg(n), zero)
	step := b.ShiftLeft(one, right)
	mask := b.Sub(step, one)
	half := b.ShiftRightLogical(step, one)
	some := b.Min(right, one) // 0 where nothing is dropped
	sign := b.ShiftRightArith(v, b.Splat(v, 63))
	q, r := b.ShiftRightArith(v, right), b.And(v, mask)
	var bump Value
	switch round {
	case RoundHalfEven:
		bump = b.Add(b.Sub(half, some), b.And(q, some))
	case RoundHalfAway:
		bump = b.Sub(half, b.And(b.Neg(sign), some))
	case RoundHalfUp:
		bump = half
	case RoundHalfDown:
		bump = b.Sub(half, some)
	case RoundHalfZero:
		bump = b.Add(b.Sub(half, some), b.And(b.Neg(sign), some))
	case RoundFloor:
		bump = zero
	case RoundCeil:
		bump = mask
	case RoundZero:
		bump = b.And(sign, mask)
	case RoundOutward:
		bump = b.And(b.Not(sign), mask)
	default:
		return b.failf("unknown rounding %d", round)
	}
	q = b.Add(q, b.ShiftRightArith(b.Add(r, bump), right))
	return b.ShiftLeft(q, left)
}

// WindowTerm is d*2^s, floor, saturated to width bits: what a window accumulator adds. d and s are I64 of one shape,
// |d| < 2^62 and width at most 62.
func (b *Builder) WindowTerm(d, s Value, width int) Value {
	zero := b.Splat(s, 0)
	right := b.Min(b.Max(b.Neg(s), zero), b.Splat(s, 63))
	left := b.Min(b.Max(s, zero), b.Splat(s, int64(width-1)))
	most, least := b.Splat(d, 1<<(width-1)-1), b.Splat(d, -1<<(width-1))
	t := b.ShiftLeft(b.ShiftRightArith(d, right), left)
	t = b.Select(b.Compare(GT, d, b.ShiftRightArith(most, left)), b.Select(b.Compare(GT, s, zero), most, t), t)
	t = b.Select(b.Compare(LT, d, b.ShiftRightArith(least, left)), b.Select(b.Compare(GT, s, zero), least, t), t)
	return b.Clamp(least, t, most)
}
