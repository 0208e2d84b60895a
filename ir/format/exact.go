// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Exact is one exact value: a signed zero, (-1)^neg * mag * 2^exp, an infinity or NaN. The zero Exact is +0.
//
// Finite values are kept with an odd significand, in mag where 64 bits suffice and in wide otherwise (wide is never
// changed once set), so that values of up to 64 bits never allocate.
type Exact struct {
	wide *big.Int // positive and odd, longer than 64 bits; nil otherwise
	mag  uint64   // 0 or odd
	exp  int
	kind kind
	neg  bool
}

type kind uint8

const (
	finite kind = iota
	infinite
	notANumber
)

// NaN is the value that is no number.
func NaN() Exact { return Exact{kind: notANumber} }

// Inf is plus or minus infinity.
func Inf(neg bool) Exact { return Exact{kind: infinite, neg: neg} }

// pack makes (-1)^neg * mag * 2^exp.
func pack(neg bool, mag uint64, exp int) Exact {
	if mag == 0 {
		return Exact{neg: neg}
	}
	n := bits.TrailingZeros64(mag)
	return Exact{neg: neg, mag: mag >> n, exp: exp + n}
}

// packBig makes (-1)^neg * mag * 2^exp; it keeps no reference to mag.
func packBig(neg bool, mag *big.Int, exp int) Exact {
	if mag.IsUint64() {
		return pack(neg, mag.Uint64(), exp)
	}
	n := mag.TrailingZeroBits()
	odd := new(big.Int).Rsh(mag, n)
	if odd.IsUint64() {
		return Exact{neg: neg, mag: odd.Uint64(), exp: exp + int(n)}
	}
	return Exact{neg: neg, wide: odd, exp: exp + int(n)}
}

// FromFloat64 is the exact value of f, signed zero, infinities and NaN included.
func FromFloat64(f float64) Exact {
	b := math.Float64bits(f)
	neg, e, m := b>>63 != 0, int(b>>52&0x7ff), b&(1<<52-1)
	switch {
	case e == 0x7ff && m != 0:
		return NaN()
	case e == 0x7ff:
		return Inf(neg)
	case e == 0:
		return pack(neg, m, -1074)
	}
	return pack(neg, m|1<<52, e-1075)
}

// FromFloat32 is the exact value of f.
func FromFloat32(f float32) Exact { return FromFloat64(float64(f)) }

// FromInt is v * 2^exp.
func FromInt(v int64, exp int) Exact {
	if v < 0 {
		return pack(true, -uint64(v), exp)
	}
	return pack(false, uint64(v), exp)
}

// FromBig is v * 2^exp; v is not kept.
func FromBig(v *big.Int, exp int) Exact {
	if v.Sign() < 0 {
		return packBig(true, new(big.Int).Neg(v), exp)
	}
	return packBig(false, v, exp)
}

// ratBits is the precision of FromRat: far above the bits of any code plus any scale.
const ratBits = 256

// FromRat is r where r is dyadic and has up to 256 bits; otherwise r cut to 256 significant bits with the last one
// set (rounding to odd), which lies on the same side of every rounding boundary of every format as r itself: an
// Encode of it is the Encode of r (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
func FromRat(r *big.Rat) Exact {
	if r.Sign() == 0 {
		return Exact{}
	}
	num, den := new(big.Int).Abs(r.Num()), r.Denom()
	sh := ratBits + 1 - (num.BitLen() - den.BitLen())
	var rem big.Int
	if sh >= 0 {
		num.Lsh(num, uint(sh))
	} else {
		den = new(big.Int).Lsh(den, uint(-sh))
	}
	num.QuoRem(num, den, &rem)
	if rem.Sign() != 0 {
		num.SetBit(num, 0, 1)
	}
	return packBig(r.Sign() < 0, num, -sh)
}

// IsNaN reports that x is no number.
func (x Exact) IsNaN() bool { return x.kind == notANumber }

// IsInf reports that x is an infinity.
func (x Exact) IsInf() bool { return x.kind == infinite }

// IsFinite reports that x is neither NaN nor infinite.
func (x Exact) IsFinite() bool { return x.kind == finite }

// IsZero reports that x is +0 or -0.
func (x Exact) IsZero() bool { return x.kind == finite && x.mag == 0 && x.wide == nil }

// Signbit reports that x is negative or -0.
func (x Exact) Signbit() bool { return x.neg }

// Sign is -1, 0 or 1; 0 for NaN.
func (x Exact) Sign() int {
	switch {
	case x.IsNaN() || x.IsZero():
		return 0
	case x.neg:
		return -1
	}
	return 1
}

// Neg is -x.
func (x Exact) Neg() Exact {
	if !x.IsNaN() {
		x.neg = !x.neg
	}
	return x
}

// Abs is |x|.
func (x Exact) Abs() Exact {
	x.neg = false
	return x
}

// Shift is x * 2^n.
func (x Exact) Shift(n int) Exact {
	if x.IsFinite() && !x.IsZero() {
		x.exp += n
	}
	return x
}

// bitLen is the number of bits of the significand.
func (x Exact) bitLen() int {
	if x.wide != nil {
		return x.wide.BitLen()
	}
	return bits.Len64(x.mag)
}

// Log2 is floor(log2 |x|) of a finite x other than zero, taken from the leading one; 0 for any other x.
func (x Exact) Log2() int {
	if !x.IsFinite() || x.IsZero() {
		return 0
	}
	return x.exp + x.bitLen() - 1
}

// Int gives x = v * 2^exp with v a new integer; v = 0 for zero, NaN and infinities.
func (x Exact) Int() (v *big.Int, exp int) {
	v = new(big.Int)
	if x.wide != nil {
		v.Set(x.wide)
	} else {
		v.SetUint64(x.mag)
	}
	if x.neg {
		v.Neg(v)
	}
	return v, x.exp
}

// Small gives x = v * 2^exp where x is finite and |v| < 2^63.
func (x Exact) Small() (v int64, exp int, ok bool) {
	if x.kind != finite || x.wide != nil || x.mag>>63 != 0 {
		return 0, 0, false
	}
	if x.neg {
		return -int64(x.mag), x.exp, true
	}
	return int64(x.mag), x.exp, true
}

// Rat is the value of x; nil for NaN and infinities.
func (x Exact) Rat() *big.Rat {
	if !x.IsFinite() {
		return nil
	}
	v, e := x.Int()
	if e >= 0 {
		return new(big.Rat).SetInt(v.Lsh(v, uint(e)))
	}
	return new(big.Rat).SetFrac(v, new(big.Int).Lsh(big.NewInt(1), uint(-e)))
}

// Float64 is x rounded to float64, half to even, subnormals included; beyond the range it is an infinity.
func (x Exact) Float64() float64 {
	if x.kind == finite && x.wide == nil && x.mag>>53 == 0 && x.exp >= -1022 && x.exp <= 900 && x.mag != 0 {
		f := float64(x.mag) * math.Float64frombits(uint64(x.exp+1023)<<52) // no rounding: the power of two is normal
		if x.neg {
			return -f
		}
		return f
	}
	return x.round(53, -1074, 1024)
}

// Float32 is x rounded once to float32, half to even; beyond the range it is an infinity.
func (x Exact) Float32() float32 { return float32(x.round(24, -149, 128)) }

// round is x rounded half-even to prec bits at exponents not below minExp; infinite from 2^top on.
func (x Exact) round(prec, minExp, top int) float64 {
	sign := 1.0
	if x.neg {
		sign = -1
	}
	switch {
	case x.IsNaN():
		return math.NaN()
	case x.IsInf():
		return math.Inf(int(sign))
	case x.IsZero():
		return math.Copysign(0, sign)
	}
	x = x.RoundTo(max(x.Log2()-prec+1, minExp), RoundEven)
	switch {
	case x.IsZero():
		return math.Copysign(0, sign)
	case x.Log2() >= top:
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(float64(x.mag), x.exp)
}

// RoundTo is x rounded to a multiple of 2^exp. A zero result keeps the sign of x.
func (x Exact) RoundTo(exp int, r Round) Exact {
	n := exp - x.exp
	if n <= 0 || !x.IsFinite() || x.IsZero() {
		return x
	}
	var y Exact
	if v, _, ok := x.Small(); ok {
		y = FromInt(RS(v, n, r), exp)
	} else {
		v, _ := x.Int()
		y = FromBig(RSBig(v, n, r), exp)
	}
	y.neg = x.neg
	return y
}

// String is the value in the form -13*2^-4, for messages and tests.
func (x Exact) String() string {
	switch {
	case x.IsNaN():
		return "NaN"
	case x.IsInf() && x.neg:
		return "-Inf"
	case x.IsInf():
		return "Inf"
	case x.IsZero() && x.neg:
		return "-0"
	}
	v, e := x.Int()
	if e == 0 || v.Sign() == 0 {
		return v.String()
	}
	return fmt.Sprintf("%v*2^%d", v, e)
}

// Int64 is x / 2^exp; ok is false where that is not an integer of 64 bits.
func (x Exact) Int64(exp int) (v int64, ok bool) {
	v, e, ok := x.Small()
	if !ok {
		b, be := x.Int()
		if !x.IsFinite() || be < exp || b.BitLen()+be-exp > 64 {
			return 0, false
		}
		b.Lsh(b, uint(be-exp))
		return b.Int64(), b.IsInt64()
	}
	if n := e - exp; v != 0 {
		if n < 0 || n > 63 || v<<n>>n != v {
			return 0, false
		}
		v <<= n
	}
	return v, true
}
