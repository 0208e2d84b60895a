// SPDX-License-Identifier: Apache-2.0

package lane

import "math"

// layout is a binary floating-point format with an implied leading one.
type layout struct {
	bits, mant int // width of a code, and of its fraction
	bias       int
}

var (
	single = layout{bits: 32, mant: 23, bias: 127}
	half   = layout{bits: 16, mant: 10, bias: 15}
	brain  = layout{bits: 16, mant: 7, bias: 127}
)

// The rounding modes.
const (
	nearest  = iota // ties to even
	toZero          // .rz
	down            // .rm
	up              // .rp
	tiesAway        // .rna
)

// nan is the quiet NaN that an operation yields.
func (l layout) nan() uint64 { return 1<<(l.bits-1) - 1 }

func (l layout) inf() uint64 { return (1<<(l.bits-1-l.mant) - 1) << l.mant }

// value is the number that a code stands for, exactly.
func (l layout) value(code uint64) float64 {
	exp := int(code >> l.mant & (1<<(l.bits-1-l.mant) - 1))
	frac := code & (1<<l.mant - 1)
	v := math.Ldexp(float64(frac|1<<l.mant), exp-l.bias-l.mant)
	switch {
	case exp == 1<<(l.bits-1-l.mant)-1 && frac != 0:
		return math.NaN()
	case exp == 1<<(l.bits-1-l.mant)-1:
		v = math.Inf(1)
	case exp == 0:
		v = math.Ldexp(float64(frac), 1-l.bias-l.mant)
	}
	if code>>(l.bits-1)&1 == 1 {
		return -v
	}
	return v
}

// round is the code nearest to v by mode. Where v itself is the rounded-to-odd form of a number with more bits, the
// result is that of the number.
func (l layout) round(v float64, mode int) uint64 {
	b := math.Float64bits(v)
	sign := b >> 63 << (l.bits - 1)
	exp, frac := int(b>>52&0x7FF), b&(1<<52-1)
	switch {
	case exp == 0x7FF && frac != 0:
		return l.nan()
	case exp == 0x7FF:
		return sign | l.inf()
	case exp == 0 && frac == 0:
		return sign
	case exp == 0: // a subnormal double is less than half of anything here
		return sign | roundUp(0, 1, 2, sign != 0, mode)
	}
	frac |= 1 << 52
	drop := 52 - l.mant
	e := exp - 1023 + l.bias
	if e < 1 { // subnormal result
		drop += 1 - e
		e = 1
		if drop > 62 {
			frac, drop = 1, 62
		}
	}
	kept, rest := frac>>drop, frac&(1<<drop-1)
	kept = roundUp(kept, rest, drop, sign != 0, mode)
	code := uint64(e-1)<<l.mant + kept
	if code >= l.inf() {
		return sign | l.overflow(sign != 0, mode)
	}
	return sign | code
}

// overflow is the magnitude that stands for a number beyond the greatest.
func (l layout) overflow(negative bool, mode int) uint64 {
	if mode == toZero || mode == down && !negative || mode == up && negative {
		return l.inf() - 1
	}
	return l.inf()
}

// roundUp adds one to kept where the dropped bits rest and the mode ask for it.
func roundUp(kept, rest uint64, drop int, negative bool, mode int) uint64 {
	tie := uint64(1) << (drop - 1)
	add := false
	switch mode {
	case nearest:
		add = rest > tie || rest == tie && kept&1 == 1
	case tiesAway:
		add = rest >= tie
	case down:
		add = rest != 0 && negative
	case up:
		add = rest != 0 && !negative
	}
	if add {
		kept++
	}
	return kept
}

// odd is s with the error of the operation that gave it folded into its last bit (round to odd), so that a second
// rounding to a format of less than half the bits is as good as one.
func odd(s, err float64) float64 {
	b := math.Float64bits(s)
	if err == 0 || b&1 == 1 || math.IsInf(s, 0) || math.IsNaN(s) || math.IsNaN(err) {
		return s
	}
	if (err > 0) == (s > 0) {
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}

// sum is a+b rounded to odd.
func sum(a, b float64) float64 {
	s := a + b
	bb := s - a
	return odd(s, (a-(s-bb))+(b-bb))
}

// toFloat32 rounds a double to single precision, as bits.
func toFloat32(v float64, mode int) uint64 {
	if mode != nearest || v != v {
		return single.round(v, mode)
	}
	return uint64(math.Float32bits(float32(v)))
}

// Half is the value of a code of half precision.
func Half(code uint64) float64 { return half.value(code) }

// RoundHalf rounds to half precision, to nearest even.
func RoundHalf(v float64) uint64 { return half.round(v, nearest) }

// RoundSingle rounds to single precision, to nearest even.
func RoundSingle(v float64) uint64 { return toFloat32(v, nearest) }
