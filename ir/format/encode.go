// SPDX-License-Identifier: Apache-2.0

package format

import "math"

// Integer is x as an integer by mode r; the modes that are none of numbers by themselves count as even. It is exact:
// what lies behind the point of a float64 is one, too.
func (r Round) Integer(x float64) float64 {
	switch r {
	case RoundFloor:
		return math.Floor(x)
	case RoundCeil:
		return math.Ceil(x)
	case RoundZero:
		return math.Trunc(x)
	case RoundOutward:
		return math.Copysign(math.Ceil(math.Abs(x)), x)
	}
	q := math.RoundToEven(x)
	rest := math.Abs(x - q)
	if rest != 0.5 {
		return q
	}
	away := false
	switch r {
	case RoundAway:
		away = true
	case RoundUp:
		away = x > 0
	case RoundDown:
		away = x < 0
	case RoundHalfZero:
	default:
		return q
	}
	if away {
		return math.Trunc(x) + math.Copysign(1, x)
	}
	return math.Trunc(x)
}

// EncodeFloats is Encode of every x. Formats of up to 62 bits take no exact arithmetic: a number times a power of two
// is exact in float64, and so are its rounding and the comparison with the limits.
func (f Fixed) EncodeFloats(codes []int64, x []float32) {
	if !encodeFloats(f, codes, x) {
		for i, v := range x {
			codes[i] = f.Encode(FromFloat32(v))
		}
	}
}

// EncodeFloat64s is EncodeFloats of float64; it says false, and does nothing, where that takes exact arithmetic.
func (f Fixed) EncodeFloat64s(codes []int64, x []float64) bool { return encodeFloats(f, codes, x) }

func encodeFloats[T float32 | float64](f Fixed, codes []int64, x []T) bool {
	const widest, most = 62, 512
	if f.W > widest || f.Round > RoundOutward || f.F > most || f.F < -most {
		return false
	}
	scale, lo, hi := math.Ldexp(1, f.F), f.Min(), f.Max()
	low, high := float64(lo), float64(hi)
	if f.Round == RoundEven && f.Over != Wrap {
		for i, v := range x {
			y := math.RoundToEven(float64(v) * scale) // what underflows is far below one half, what overflows far beyond
			switch {
			case y != y:
				codes[i] = 0
			case y <= low:
				codes[i] = lo
			case y >= high:
				codes[i] = hi
			default:
				codes[i] = int64(y)
			}
		}
		return true
	}
	for i, v := range x {
		codes[i] = f.rounded(float64(v), scale, low, high)
	}
	return true
}

// rounded is Encode of v, which times scale is in steps, for the limits low and high as numbers.
func (f Fixed) rounded(v, scale, low, high float64) int64 {
	y := v * scale
	if y == 0 && v != 0 {
		y = math.Copysign(math.SmallestNonzeroFloat64, v) // which some modes round up
	}
	if y = f.Round.Integer(y); f.Over == Wrap {
		if math.Abs(y) < 1<<62 {
			return f.low(int64(y))
		}
		return f.Encode(FromFloat64(v))
	}
	switch {
	case y != y:
		return 0
	case y <= low:
		return f.Min()
	case y >= high:
		return f.Max()
	}
	return int64(y)
}

// EncodeFloat64s is Encode of every x. A quotient in float64 lies on the same side of what divides two codes as the
// exact one, or upon it: only then that takes exact arithmetic. It says false, and does nothing, where there are other
// reasons.
func (a Affine) EncodeFloat64s(codes []int64, x []float64) bool {
	const widest, far = 40, 1 << 50 // of zero points, and a quotient that no code has
	least := float32(0x1p-100)
	if a.Axis >= 0 || a.Zero > 1<<widest || a.Zero < -1<<widest || a.Over == Wrap ||
		a.Round > RoundOutward || !(a.Scale >= least && a.Scale <= 1/least) {
		return false
	}
	scale, f := float64(a.Scale), a.Integers()
	lo, hi := f.Min(), f.Max()
	for i, v := range x {
		y := v / scale
		if single := float32(v); a.Div == DivF32 {
			if float64(single) != v {
				codes[i] = a.Encode(FromFloat64(v))
				continue
			}
			y = float64(single / a.Scale)
		} else if !(math.Abs(y) >= far) { // NaN counts as close
			at := 0.0
			if a.Round <= RoundHalfZero {
				at = 0.5
			}
			if rest := math.Abs(y - math.Trunc(y)); rest == at || rest != rest {
				codes[i] = a.Encode(FromFloat64(v))
				continue
			}
		}
		switch q := a.Round.Integer(y); {
		case q != q:
			codes[i] = a.Encode(NaN())
		case q >= far:
			codes[i] = hi
		case q <= -far:
			codes[i] = lo
		default:
			codes[i] = min(max(int64(q)+a.Zero, lo), hi)
		}
	}
	return true
}
