// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"lathe/ir/hlo"
	"lathe/rtl"
)

// Fixed is fixed(W,F), ufixed(W,F), and with F = 0 int(W) and uint(W): an integer q of W bits with value q*2^-F.
// W is 1..64 signed, 1..63 unsigned, so that every code is an int64; F is any sign and may exceed W.
type Fixed struct {
	W, F   int
	Signed bool
	Round  Round
	Over   Over
}

// String is the canonical text: int and uint where F = 0, options that are not the default last.
func (f Fixed) String() string {
	name := "fixed"
	if f.F == 0 {
		name = "int"
	}
	if !f.Signed {
		name = "u" + name
	}
	s := name + "(" + strconv.Itoa(f.W)
	if f.F != 0 {
		s += "," + strconv.Itoa(f.F)
	}
	return s + optionText(f.Round, f.Over) + ")"
}

// optionText prints the options round and over, defaults omitted.
func optionText(r Round, o Over) string {
	s := ""
	if r != RoundEven && r != RoundMASE {
		s += ",round=" + r.String()
	}
	if o != Sat {
		s += ",over=" + o.String()
	}
	if r == RoundMASE {
		s += ",dialect=mase"
	}
	return s
}

// Width is W.
func (f Fixed) Width() int { return f.W }

// CodeSet is f with rounding to even and saturation.
func (f Fixed) CodeSet() Format { return Fixed{W: f.W, F: f.F, Signed: f.Signed} }

// Lattice is exponent -F, W bits.
func (f Fixed) Lattice() (exp int, bits int, ok bool) { return -f.F, f.W, f.W <= 63 }

// Limits are Min and Max times 2^-F.
func (f Fixed) Limits() (lo, hi Exact) { return FromInt(f.Min(), -f.F), FromInt(f.Max(), -f.F) }

// Min is the smallest code that Encode returns: with over=sym one more than the most negative one.
func (f Fixed) Min() int64 {
	lo, _, limited := f.Over.Limits()
	switch {
	case limited:
		return lo
	case !f.Signed:
		return 0
	case f.Over == Sym:
		return -f.Max()
	}
	return -1 << (f.W - 1)
}

// Max is the largest code that Encode returns: for unsigned formats with over=sym 2^W-2.
func (f Fixed) Max() int64 {
	_, hi, limited := f.Over.Limits()
	switch {
	case limited:
		return hi
	case f.Signed:
		return 1<<(f.W-1) - 1
	case f.Over == Sym:
		return 1<<f.W - 2
	}
	return 1<<f.W - 1
}

// low is v cut to the low W bits, sign-extended where signed.
func (f Fixed) low(v int64) int64 {
	if f.Signed {
		return v << (64 - f.W) >> (64 - f.W)
	}
	return int64(uint64(v) << (64 - f.W) >> (64 - f.W))
}

// over applies the overflow rule to a rounded integer.
func (f Fixed) over(v int64) int64 {
	if f.Over == Wrap {
		return f.low(v)
	}
	return min(max(v, f.Min()), f.Max())
}

// Decode is code*2^-F; bits above W are ignored.
func (f Fixed) Decode(code int64) Exact { return FromInt(f.low(code), -f.F) }

// Floats writes the values of codes, rounded half-even to 53 bits. It writes nothing, and says false, where they may
// lie beyond the normal numbers of float64.
func (f Fixed) Floats(codes []int64, out []float64) bool {
	const normal = 900 // the values of codes of 64 bits are, too
	if f.F < -normal || f.F > normal {
		return false
	}
	step := math.Ldexp(1, -f.F)
	for i, c := range codes {
		out[i] = float64(f.low(c)) * step
	}
	return true
}

// Encode rounds v*2^F to an integer and applies the overflow rule; NaN gives 0, infinities the extreme codes.
func (f Fixed) Encode(v Exact) int64 {
	if s, exp, ok := v.Small(); ok {
		return f.Requant(s, exp)
	}
	switch {
	case v.IsNaN():
		return 0
	case v.IsInf():
		return f.extreme(v.neg)
	}
	b, exp := v.Int()
	return f.RequantBig(b, exp)
}

// EncodeStochastic is Encode with stochastic rounding by the given random word, whatever f.Round says.
func (f Fixed) EncodeStochastic(v Exact, word uint32) int64 {
	b, exp := v.Int()
	n := -f.F - exp
	if !v.IsFinite() || n <= 0 {
		return f.Encode(v)
	}
	return f.RequantBig(stochasticBig(b, n, word), -f.F)
}

func (f Fixed) extreme(neg bool) int64 {
	if neg {
		return f.Min()
	}
	return f.Max()
}

// Requant is the code of the value v*2^exp: rounded, then overflow applied. Any v and exp are legal.
func (f Fixed) Requant(v int64, exp int) int64 {
	n := -f.F - exp
	if n > 0 || v == 0 {
		return f.over(RS(v, n, f.Round))
	}
	if n > -64 && v<<-n>>-n == v {
		return f.over(v << -n)
	}
	if f.Over != Wrap {
		return f.extreme(v < 0)
	}
	if n <= -64 {
		return 0
	}
	return f.low(v << -n)
}

// RequantBig is Requant for integers of any size.
func (f Fixed) RequantBig(v *big.Int, exp int) int64 {
	n := -f.F - exp
	if n > 0 {
		v, n = RSBig(v, n, f.Round), 0
	}
	switch {
	case v.Sign() == 0:
		return 0
	case f.Over == Wrap && n <= -64:
		return 0
	case f.Over == Wrap:
		return f.low(lowWord(v) << -n)
	case v.BitLen()-n > 64:
		return f.extreme(v.Sign() < 0)
	}
	v = new(big.Int).Lsh(v, uint(-n))
	if !v.IsInt64() {
		return f.extreme(v.Sign() < 0)
	}
	return f.over(v.Int64())
}

// lowWord is v mod 2^64 as two's complement.
func lowWord(v *big.Int) int64 {
	var low uint64
	for i, w := range v.Bits() {
		if i*bits.UintSize >= 64 {
			break
		}
		low |= uint64(w) << (i * bits.UintSize)
	}
	if v.Sign() < 0 {
		low = -low
	}
	return int64(low)
}

// RequantQuo is the code of the exact quotient num*2^exp/den, rounded once; den is not zero. It serves averages.
func (f Fixed) RequantQuo(num, den int64, exp int) int64 {
	return f.Encode(FromInt(num, exp).Quo(FromInt(den, 0)))
}

func (f Fixed) asFixed() (Fixed, bool) { return f, true }

func (f Fixed) integers() (Integers, bool) {
	v := Integers{Codes: f, Step: FromInt(1, -f.F)}
	v.Codes.F = 0
	return v, f.W <= 63
}

func (f Fixed) signedCodes() bool { return f.Signed }

func (f Fixed) rounding() Round { return f.Round }

func (f Fixed) stochastic(v Exact, word uint32) int64 { return f.EncodeStochastic(v, word) }

// DecodeHLO is the one rounding into out.
func (f Fixed) DecodeHLO(b *hlo.Builder, x hlo.Value, out Fixed) hlo.Value {
	return requantHLO(b, x, -f.F, f.W, out)
}

// EncodeHLO is the one rounding from in.
func (f Fixed) EncodeHLO(b *hlo.Builder, x hlo.Value, in Fixed) hlo.Value {
	return in.DecodeHLO(b, x, f)
}

// DecodeRTL is op_cast.
func (f Fixed) DecodeRTL(out Fixed, s Stream) *rtl.Unit {
	return rtl.NewUnit("op_cast", "LANES", s.Lanes, "IN_W", f.W, "IN_SIGNED", rtl.Flag(f.Signed), "SHIFT", f.F-out.F,
		"OUT_W", out.W, "OUT_SIGNED", rtl.Flag(out.Signed), "ROUND", int(out.Round), "OVER", int(out.Over), "BEATS", s.Beats)
}

// EncodeRTL is op_cast.
func (f Fixed) EncodeRTL(in Fixed, s Stream) *rtl.Unit { return in.DecodeRTL(f, s) }

// KernelType is fixed_code.
func (f Fixed) KernelType() string {
	return fmt.Sprintf("fixed_code<%d, %d, %d, %s, %s>", f.W, f.F, rtl.Flag(f.Signed), f.Round.kernel(), f.Over.kernel())
}

func (f Fixed) withRules(change func(*Round, *Over)) Format {
	over := f.Over
	if change(&f.Round, &f.Over); f.W == 1 { // symmetric saturation would leave one code
		f.Over = over
	}
	return f
}
