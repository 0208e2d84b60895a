// SPDX-License-Identifier: Apache-2.0

// Package num names the device codecs of number formats: C++ types in this folder's files, which decode a code to an
// exact value and encode a value with one rounding, bit for bit as ir/format does.
package num

import (
	"lathe/cuda/word"
	"lathe/ir/format"
)

// Codec is a format as the kernel library knows it.
type Codec struct {
	// Type is the C++ type, a value for a template parameter that takes a codec.
	Type string
	// Bytes is the size of a code in memory: the smallest integer of 8, 16, 32 or 64 bits that holds it, sign-extended
	// where the codes are two's complement, little-endian.
	Bytes int
	// Block says that the format has a scale field per block beside its codes.
	Block bool
}

// Of returns the codec of a format, and whether there is one. For a block format it is the codec of the elements,
// which takes the scale field beside the code.
func Of(f format.Format) (Codec, bool) {
	k, ok := f.(format.KernelCodec)
	if !ok || f.Width() > 32 && format.Coded(f) { // codecs of floats take their codes in 32 bits
		return Codec{}, false
	}
	kind := k.KernelType()
	if kind == "" {
		return Codec{}, false
	}
	_, block := f.(format.Block)
	return Codec{Type: kind, Bytes: word.For(f.Width(), false).Bytes(), Block: block}, true
}

// The floats of kernels that are no formats of a graph: bfloat16 and binary16, which overflows to infinity or, named
// so, saturates at 65504.
var (
	BF16    = Codec{Type: "bf16_code", Bytes: 2}
	FP16    = Codec{Type: "fp16_code", Bytes: 2}
	FP16Sat = Codec{Type: "fp16_sat_code", Bytes: 2}
	FP32    = Codec{Type: "fp32_code", Bytes: 4}
)
