// SPDX-License-Identifier: Apache-2.0

package format

import "math"

// EncodeFloats is Encode of every x. The usual roundings and overflows of up to 32 bits take no exact arithmetic: a
// float32 times a power of two is exact in float64, and so are its rounding and the comparison with the limits.
func (f Fixed) EncodeFloats(codes []int64, x []float32) {
	if f.W > 32 || f.Round != RoundEven || f.Over != Sat || f.F > 512 || f.F < -512 {
		for i, v := range x {
			codes[i] = f.Encode(FromFloat32(v))
		}
		return
	}
	scale, least, most := math.Ldexp(1, f.F), float64(f.Min()), float64(f.Max())
	for i, v := range x {
		y := math.RoundToEven(float64(v) * scale)
		switch {
		case y != y:
			codes[i] = f.Encode(FromFloat32(v))
		case y < least:
			codes[i] = f.Min()
		case y > most:
			codes[i] = f.Max()
		default:
			codes[i] = int64(y)
		}
	}
}
