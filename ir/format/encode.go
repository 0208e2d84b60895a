// SPDX-License-Identifier: Apache-2.0

package format

import "math"

// EncodeFloats is Encode of every x. The usual roundings and overflows of up to 32 bits take no exact arithmetic: a
// number times a power of two is exact in float64, and so are its rounding and the comparison with the limits.
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
	if f.W > 32 || f.Round != RoundEven || f.Over != Sat || f.F > 512 || f.F < -512 {
		return false
	}
	scale, least, most := math.Ldexp(1, f.F), float64(f.Min()), float64(f.Max())
	for i, v := range x {
		y := math.RoundToEven(float64(v) * scale) // what underflows is far below one half, what overflows far beyond
		switch {
		case y != y:
			codes[i] = 0
		case y < least:
			codes[i] = f.Min()
		case y > most:
			codes[i] = f.Max()
		default:
			codes[i] = int64(y)
		}
	}
	return true
}
