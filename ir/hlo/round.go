// SPDX-License-Identifier: Apache-2.0

package hlo

import "slices"

// The rounding codes of integer right shifts and divisions, as in the RTL parameter ROUND.
const (
	RoundHalfEven uint8 = iota // nearest, ties to even
	RoundHalfAway              // nearest, ties away from zero
	RoundHalfUp                // nearest, ties to +Inf
	RoundHalfDown              // nearest, ties to -Inf
	RoundHalfZero              // nearest, ties to zero
	RoundFloor
	RoundCeil
	RoundZero
	RoundOutward
	numRounds
)

// The overflow codes, as in the RTL parameter OVER. OverWrap+1+2*H clamps to 0..H, one more to -H..H.
const (
	OverSat  int32 = iota // clamp to the code range
	OverSym               // clamp, the most negative code excluded, or the greatest of an unsigned range
	OverWrap              // keep the low bits
)

// Shift is a number of binary places, to the right; negative shifts go left. By holds one number for the whole
// tensor, or one for each index of Axis.
type Shift struct {
	By   []int
	Axis int
}

// Places is the same shift for all elements.
func Places(n int) Shift { return Shift{By: []int{n}} }

// Requantize is a rounding shift and the entry into a code range.
type Requantize struct {
	// Bits bounds the input: -2^Bits <= v < 2^Bits. 0 stands for the range of its element type.
	Bits   int
	Shift  Shift
	Round  uint8 // one of the Round codes
	Over   int32 // one of the Over codes
	Width  int   // bits of the result: 1..64 signed, 1..63 unsigned
	Signed bool
	Out    DType // element type of the result, which must hold Width
}

// most is the largest code of the width.
func (q Requantize) most() int64 { return int64(uint64(1)<<(q.Width-boolInt(q.Signed)) - 1) }

// limited says that the rule, if it has limits, has codes of the range.
func (q Requantize) limited() bool {
	lo, hi := q.limits()
	return q.Over <= OverWrap || hi >= 1 && hi <= q.most() && (q.Signed || lo == 0)
}

// limits are the codes that the rule, which is not OverWrap, clamps to.
func (q Requantize) limits() (lo, hi int64) {
	hi = q.most()
	switch least := -hi - 1; {
	case q.Over > OverWrap:
		hi = int64(q.Over-OverWrap-1) >> 1
		return -hi * int64((q.Over-OverWrap-1)&1), hi
	case q.Signed && q.Over == OverSat:
		return least, hi
	case q.Signed:
		return -hi, hi
	case q.Over == OverSym:
		hi--
	}
	return 0, hi
}

// Requant gives over(RS(v, shift)) exactly, for any shift and any width. It is one operation, which keeps the code
// range for those who differentiate or count, until Program.Expand writes it out.
func (b *Builder) Requant(v Value, q Requantize) Value {
	if _, ok := q.word(b, v); !ok || !b.shiftOK(v, q.Shift) || !b.codesOK(q) {
		return Value{}
	}
	q.Shift.By = slices.Clone(q.Shift.By)
	return b.emit(KindRequantize, v.typ.With(q.Out), Attrs{Requantize: q}, v)
}

// word is the element type in which v is rounded.
func (q Requantize) word(b *Builder, v Value) (DType, bool) {
	return b.word("requantize", v, q.Bits, q.Width+boolInt(!q.Signed))
}

// expand writes Requant out: integer operations only, in I32 where input and result fit, else in I64.
func (q Requantize) expand(b *Builder, v Value) Value {
	word, ok := q.word(b, v)
	if !ok {
		return Value{}
	}
	s := scaler{b, word, v.typ.Dims, q.Shift}
	return b.Convert(s.enter(s.right(b.Convert(v, word), q.Round), q), q.Out)
}

// RoundShift is RS(v, shift) without a range at the end, for -2^bits <= v < 2^bits (bits 0: the range of the type).
// The result is I32 where input and result fit, else I64; a left shift beyond 63 bits is an error.
func (b *Builder) RoundShift(v Value, bits int, s Shift, round uint8) Value {
	if len(s.By) == 0 {
		return b.failf("round: no shift given")
	}
	left := max(0, -slices.Min(s.By))
	if b.sound("round", v) && bits == 0 {
		bits = rangeBits(v.typ.DType)
	}
	word, ok := b.word("round", v, bits, bits+left+1)
	if !ok || !b.shiftOK(v, s) {
		return Value{}
	}
	sc := scaler{b, word, v.typ.Dims, s}
	v = sc.right(b.Convert(v, word), round)
	if left > 0 {
		v = b.ShiftLeft(v, sc.constant(func(n int) int64 { return int64(max(0, -n)) }))
	}
	return v
}

// Saturate brings an integer into a code range without a shift; Over wrap keeps the low bits.
func (b *Builder) Saturate(v Value, over int32, width int, signed bool, out DType) Value {
	return b.Requant(v, Requantize{Shift: Places(0), Over: over, Width: width, Signed: signed, Out: out})
}

// word is I32 if both the bound of v and need bits (sign included) fit, else I64.
func (b *Builder) word(op string, v Value, bits, need int) (DType, bool) {
	if !b.sound(op, v) {
		return "", false
	}
	full := rangeBits(v.typ.DType)
	if !v.typ.DType.IsInt() || full > 63 {
		b.failf("%s: %s is not an integer tensor of up to 64 signed bits", op, v.typ)
		return "", false
	}
	if bits == 0 || bits > full {
		bits = full
	}
	if need > 64 || bits < 0 {
		b.failf("%s: %d bits exceed 64", op, need)
		return "", false
	}
	if bits > 31 || need > 32 {
		return I64, true
	}
	return I32, true
}

// rangeBits is the smallest n with -2^n <= v < 2^n for all v of the type.
func rangeBits(d DType) int { return d.Bits() - boolInt(d.IsSigned()) }

func (b *Builder) shiftOK(v Value, s Shift) bool {
	n := len(s.By)
	if n == 1 {
		return b.err == nil
	}
	if n == 0 || s.Axis < 0 || s.Axis >= v.typ.Rank() || v.typ.Dims[s.Axis] != n {
		b.failf("%d shifts along axis %d of %s", n, s.Axis, v.typ)
	}
	return b.err == nil
}

func (b *Builder) codesOK(q Requantize) bool {
	room := q.Out.Bits() - boolInt(q.Signed != q.Out.IsSigned())
	switch {
	case q.Width < 1 || !q.Out.IsInt() || q.Width > room || q.Signed && !q.Out.IsSigned():
		b.failf("requantize: %s cannot hold codes of %d bits (signed %v)", q.Out, q.Width, q.Signed)
	case q.Round >= numRounds || q.Over < 0 || !q.limited():
		b.failf("requantize: unknown rounding %d or overflow %d", q.Round, q.Over)
	}
	return b.err == nil
}

// scaler prints shifts of one tensor in a 32 or 64 bit word.
type scaler struct {
	b     *Builder
	word  DType
	dims  []int
	shift Shift
}

// constant is f of each shift, as a scalar or repeated along the axis.
func (s scaler) constant(f func(n int) int64) Value {
	values := make([]int64, len(s.shift.By))
	for i, n := range s.shift.By {
		values[i] = f(n)
	}
	if len(slices.Compact(slices.Clone(values))) == 1 {
		return s.b.Int(s.word, values[0])
	}
	return s.b.Along(s.b.Const(FromInt64s(s.word, []int{len(values)}, values)), s.dims, s.shift.Axis)
}

// right rounds v / 2^n for the positive shifts n and leaves the rest alone.
//
// With v = q*2^n + r, 0 <= r < 2^n, the rounded value is q + ((r + add) >> n), where add depends on the mode: the
// usual (v + add) >> n, without its overflow. Shifts near the word width first gather their low bits into one sticky
// bit.
func (s scaler) right(v Value, round uint8) Value {
	b := s.b
	if round >= numRounds {
		return b.failf("unknown rounding %d", round)
	}
	if slices.Max(s.shift.By) <= 0 {
		return v
	}
	last := s.word.Bits() - 1
	top := last - 2 // r + add stays inside the word up to here, and a sticky bit stays below the half
	sign := b.ShiftRightArith(v, b.Int(s.word, int64(last)))
	if slices.Max(s.shift.By) > top {
		gather := func(n int) int64 { return int64(min(max(0, n-top), last)) }
		low := b.And(v, s.constant(func(n int) int64 { return 1<<gather(n) - 1 }))
		sticky := b.Convert(b.Compare(NE, low, b.Int(s.word, 0)), s.word)
		v = b.Or(b.ShiftRightArith(v, s.constant(gather)), sticky)
	}
	by := s.constant(func(n int) int64 { return int64(clampInt(n, top)) })
	mask := s.constant(func(n int) int64 { return 1<<clampInt(n, top) - 1 })
	q := b.ShiftRightArith(v, by)
	if round == RoundFloor {
		return q
	}
	r := b.And(v, mask)
	return b.Add(q, b.ShiftRightArith(b.Add(r, s.bump(round, q, sign, mask, top)), by))
}

// bump is what a mode adds to the remainder: q is the floor, sign all ones for negative v.
func (s scaler) bump(round uint8, q, sign, mask Value, top int) Value {
	b := s.b
	half := func(less int64) Value {
		return s.constant(func(n int) int64 {
			if n <= 0 {
				return 0
			}
			return 1<<(clampInt(n, top)-1) - less
		})
	}
	one := s.constant(func(n int) int64 { return int64(min(max(n, 0), 1)) })
	switch round {
	case RoundHalfEven:
		return b.Add(half(1), b.And(q, one))
	case RoundHalfAway:
		return b.Sub(half(0), b.And(sign, one))
	case RoundHalfUp:
		return half(0)
	case RoundHalfDown:
		return half(1)
	case RoundHalfZero:
		return b.Add(half(1), b.And(sign, one))
	case RoundZero:
		return b.And(sign, mask)
	case RoundOutward:
		return b.And(b.Not(sign), mask)
	}
	return mask // RoundCeil
}

// enter shifts left where the shift is negative and applies the overflow rule. Saturation compares before it shifts,
// so that no bit is lost on the way.
func (s scaler) enter(v Value, q Requantize) Value {
	b := s.b
	last := s.word.Bits() - 1
	left := func(n int) int { return max(0, -n) }
	shifted := v
	if slices.Min(s.shift.By) < 0 {
		shifted = b.ShiftLeft(v, s.constant(func(n int) int64 { return int64(min(left(n), last)) }))
	}
	if q.Over == OverWrap {
		if -slices.Min(s.shift.By) > last {
			shifted = b.And(shifted, s.constant(func(n int) int64 { return int64(boolInt(left(n) > last)) - 1 }))
		}
		return s.wrap(shifted, q)
	}
	lo, hi := q.limits()
	above := s.constant(func(n int) int64 { return hi >> min(left(n), 63) })
	below := s.constant(func(n int) int64 {
		k := min(left(n), 63)
		if lo == -hi-1 && k < q.Width { // a power of two, perhaps the least number of the word
			return lo >> k
		}
		return -(-lo >> k)
	})
	out := b.Select(b.Compare(LT, v, below), b.Int(s.word, lo), shifted)
	return b.Select(b.Compare(GT, v, above), b.Int(s.word, hi), out)
}

// wrap keeps the low bits of v.
func (s scaler) wrap(v Value, q Requantize) Value {
	b := s.b
	spare := s.word.Bits() - q.Width
	if !q.Signed {
		return b.And(v, b.Int(s.word, int64(uint64(1)<<q.Width-1)))
	}
	if spare == 0 {
		return v
	}
	by := b.Int(s.word, int64(spare))
	return b.ShiftRightArith(b.ShiftLeft(v, by), by)
}

// clampInt limits a shift to 0..top.
func clampInt(n, top int) int { return min(max(n, 0), top) }

// DivRound is the exact quotient v/n rounded once by a Round code; v and n are integers of one type with n > 0 (a
// scalar n is repeated), and |v| stays below the type's largest value.
func (b *Builder) DivRound(v, n Value, round uint8) Value {
	v, n, ok := b.match("divide", v, n)
	if !ok {
		return Value{}
	}
	d := v.typ.DType
	if !d.IsSigned() || round >= numRounds {
		return b.failf("divide: %s, rounding %d", v.typ, round)
	}
	last := b.Int(d, int64(d.Bits()-1))
	q := b.Div(v, n)
	r := b.Sub(v, b.Mul(q, n))
	below := b.ShiftRightArith(r, last) // all ones where truncation went up
	q, r = b.Add(q, below), b.Add(r, b.And(n, below))
	rest := b.Sub(n, r) // comparing r with n-r instead of 2r with n cannot overflow
	negative := b.Compare(LT, v, b.Int(d, 0))
	inexact := b.Compare(NE, r, b.Int(d, 0))
	nearest := func(tie Value) Value {
		return b.Or(b.Compare(GT, r, rest), b.And(b.Compare(EQ, r, rest), tie))
	}
	var up Value
	switch round {
	case RoundHalfEven:
		up = nearest(b.Compare(NE, b.And(q, b.Int(d, 1)), b.Int(d, 0)))
	case RoundHalfAway:
		up = nearest(b.Not(negative))
	case RoundHalfUp:
		up = b.Compare(GE, r, rest)
	case RoundHalfDown:
		up = b.Compare(GT, r, rest)
	case RoundHalfZero:
		up = nearest(negative)
	case RoundFloor:
		return q
	case RoundCeil:
		up = inexact
	case RoundZero:
		up = b.And(inexact, negative)
	case RoundOutward:
		up = b.And(inexact, b.Not(negative))
	}
	return b.Add(q, b.Convert(up, d))
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
