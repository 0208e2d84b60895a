// SPDX-License-Identifier: Apache-2.0

package format

import (
	"lathe/ir/hlo"
	"lathe/rtl"
)

// Codec is a format with circuits of its own: its decoder and its encoder in StableHLO and in hardware. Each goes
// between codes of the format and those of a fixed format, with one rounding, and means what Decode and Encode (for
// blocks EncodeInts) mean. Only casts use them. Formats without (affine) are cast by tables of their meaning.
type Codec interface {
	Format
	// DecodeHLO prints codes x of the format as codes of out, in its carrier. Codes of blocks carry their scale fields.
	DecodeHLO(b *hlo.Builder, x hlo.Value, out Fixed) hlo.Value
	// EncodeHLO prints codes x of in, of up to 48 bits, as codes of the format, in its carrier.
	EncodeHLO(b *hlo.Builder, x hlo.Value, in Fixed) hlo.Value
	// DecodeRTL is the unit between streams of the format and of out.
	DecodeRTL(out Fixed, s Stream) *rtl.Unit
	// EncodeRTL is the unit between streams of in, of up to 48 bits, and of the format.
	EncodeRTL(in Fixed, s Stream) *rtl.Unit
}

// BlockCodec is a block format with circuits, whose elements sums of products take apart.
type BlockCodec interface {
	Block
	Codec
	// ElementsHLO prints codes as their ElementInt, in I64.
	ElementsHLO(b *hlo.Builder, codes hlo.Value) hlo.Value
	// ElementRTL is the bits of the exponent field of an element behind its sign, 0 for sign and magnitude, -1 for two's
	// complement: parameter E of mx_integer.
	ElementRTL() int
}

// Falls says that the scales of b fall with their fields.
func Falls(b Block) bool { return b.ScaleExp(1) < b.ScaleExp(0) }

// RisingField is a scale field of b, or its complement where scales fall: 0 is the least scale.
func RisingField(b Block, scale int64) int64 {
	if Falls(b) {
		scale = ^scale
	}
	return scale & (1<<b.ScaleWidth() - 1)
}

// LeastField is the field of the least scale of b.
func LeastField(b Block) int64 { return RisingField(b, 0) }

// Stream is where a codec stands in hardware.
type Stream struct {
	Lanes, Beats int // elements of a beat; beats of a frame
	Row, Rows    int // elements of the last axis; such rows in a frame
	// ScaleLo and ScaleHi bound the exponents of the scales of blocks that arrive.
	ScaleLo, ScaleHi int
}

// KernelCodec is a format that cuda/num has a codec for.
type KernelCodec interface {
	Format
	// KernelType is the C++ type of the codec, a value for a template parameter that takes one; empty where the options
	// of the format are none of its.
	KernelType() string
}

// Carrier is the StableHLO type in which codes of f travel; values of fp32 travel as they are.
func Carrier(f Format) hlo.DType {
	switch {
	case IsFloat(f):
		return hlo.F32
	case f.Width() <= 31:
		return hlo.I32
	}
	return hlo.I64
}

// requantHLO prints the one rounding of the integers v*2^exp, |v| < 2^bits, into f.
func requantHLO(b *hlo.Builder, v hlo.Value, exp, bits int, f Fixed) hlo.Value {
	return b.Requant(v, hlo.Requantize{
		Bits: bits, Shift: hlo.Places(-f.F - exp), Round: uint8(f.Round), Over: int32(f.Over),
		Width: f.W, Signed: f.Signed, Out: Carrier(f),
	})
}
