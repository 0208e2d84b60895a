// SPDX-License-Identifier: Apache-2.0

package hlo

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
