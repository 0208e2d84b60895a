// SPDX-License-Identifier: Apache-2.0

package format

import "math"

// Float32 is the IEEE 754 binary32 format: the type of all values of a graph that is not quantized.
type Float32 struct{}

// FP32 is the float format of graphs that are not quantized.
var FP32 Format = Float32{}

// String is "fp32".
func (Float32) String() string { return "fp32" }

// Width is 32.
func (Float32) Width() int { return 32 }

// Decode is the value of the bit pattern.
func (Float32) Decode(code int64) Exact { return FromFloat32(math.Float32frombits(uint32(code))) }

// Encode rounds half to even, overflows to an infinity, and gives 7fc00000 for NaN.
func (Float32) Encode(v Exact) int64 {
	if v.IsNaN() {
		return 0x7fc00000
	}
	return int64(math.Float32bits(v.Float32()))
}

// EncodeFloat64s is Encode of every x.
func (f Float32) EncodeFloat64s(codes []int64, x []float64) bool {
	for i, v := range x {
		if codes[i] = int64(math.Float32bits(float32(v))); v != v {
			codes[i] = f.Encode(NaN())
		}
	}
	return true
}

// Floats writes the values of codes.
func (Float32) Floats(codes []int64, out []float64) bool {
	for i, c := range codes {
		out[i] = float64(math.Float32frombits(uint32(c)))
	}
	return true
}

// Lattice has none: the span of exponents is 278 bits.
func (Float32) Lattice() (exp int, bits int, ok bool) { return 0, 0, false }

// Limits are plus and minus the largest finite float32.
func (Float32) Limits() (lo, hi Exact) {
	hi = FromFloat32(math.MaxFloat32)
	return hi.Neg(), hi
}

// CodeSet is fp32 itself.
func (f Float32) CodeSet() Format { return f }

// KernelType is fp32_code.
func (Float32) KernelType() string { return "fp32_code" }
