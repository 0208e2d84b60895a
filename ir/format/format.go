// SPDX-License-Identifier: Apache-2.0

// Package format describes number formats: finite sets of codes, each with one exact value. Encoding is one rounding
// from an exact value to the set. Ops and passes see only the interfaces of this file; a new format is one file and
// one line in all.go.
//
// All formats are comparable Go values: a == b means the same code set and the same way of entering it.
package format

// Format is a set of codes with exact values. Implementations are comparable and never panic.
type Format interface {
	// String is the canonical text; Parse(String()) == the format itself.
	String() string
	// Width is the number of bits of one element code, 1..64.
	Width() int
	// Decode gives the exact value of a code: sign-extended for signed integers, raw bits otherwise. Bits above
	// Width are ignored. Formats whose scale travels beside the codes decode at scale 1 (and zero point of the text).
	Decode(code int64) Exact
	// Encode rounds v once to the set, then applies the overflow rule. round=stochastic takes R = 0 here, that is
	// floor; Fixed.EncodeStochastic and Affine.EncodeStochastic take the random word.
	Encode(v Exact) int64
	// Lattice says that every finite value is k*2^exp with an integer k of `bits` bits (two's complement if a value
	// is negative, else unsigned), bits <= 63. Block formats, fp32 and formats with "[axis]" scales have none.
	Lattice() (exp int, bits int, ok bool)
	// Limits gives the smallest and the largest finite value that Encode returns, at scale 1 as in Decode.
	Limits() (lo, hi Exact)
	// CodeSet is the same set of codes with the default way of entering it: two formats with equal CodeSet are one
	// type, and need no cast between them.
	CodeSet() Format
}

// Block is a format whose elements share one scale field per block along one axis: value = Decode(code) * scale.
type Block interface {
	Format
	// BlockSize is the number of consecutive elements that share a scale; a shorter tail is a block of its own.
	BlockSize() int
	// BlockRows is the number of rows, indices of the axis before the last, of which blocks have BlockSize elements each:
	// more than 1 for tiles.
	BlockRows() int
	// Axis is the axis that is cut into blocks, -1 for the last one.
	Axis() int
	// ScaleWidth is the number of bits of the scale field.
	ScaleWidth() int
	// ScaleValue is the exact value of a scale field, possibly NaN.
	ScaleValue(scale int64) Exact
	// ScaleExp is e of a scale 2^e. From field to field it grows by one, or falls by one (see Falls). A field that means
	// NaN counts as a number here: encoders make it of no finite block, and hardware does not look for it.
	ScaleExp(scale int64) int
	// ScaleLimits are the least and the greatest e of the scales that encoding chooses for finite values.
	ScaleLimits() (lo, hi int)
	// ScaleField is the field of scale 2^exp; ok is false beyond ScaleLimits.
	ScaleField(exp int) (scale int64, ok bool)
	// Element is the scalar format of the elements at scale 1. It has a lattice.
	Element() Format
	// ElementInt is a code in steps of the lattice of Element. Codes of infinity and NaN count as the numbers that they
	// would be in a format without: encoders make none.
	ElementInt(code int64) int64
	// ElementExp is ScaleExp(scale) plus the exponent of the lattice of Element: the step of a block.
	ElementExp(scale int64) int
	// EncodeBlock encodes one block x (1..BlockSize values) into codes (same length) and returns the scale field. A block
	// of zeros has field 0.
	EncodeBlock(x []Exact, codes []int64) (scale int64)
	// EncodeInts is EncodeBlock for the values v[i]*2^exp.
	EncodeInts(v []int64, exp int, codes []int64) (scale int64)
	// DecodeBlock decodes one block: out[i] = Decode(codes[i]) * ScaleValue(scale), NaN throughout if the scale is.
	DecodeBlock(codes []int64, scale int64, out []Exact)
}

// Keeps reports that encoding in format to leaves all that format from makes of values as it is: they have the same
// codes with the same values, and to does not refuse or change any that from makes.
func Keeps(from, to Format) bool {
	if !SameType(from, to) || hasInfinity(from) && !hasInfinity(to) {
		return false
	}
	lo, hi := from.Limits()
	least, most := to.Limits()
	return least.Cmp(lo) <= 0 && most.Cmp(hi) >= 0
}

// hasInfinity says that values beyond the greatest become infinity.
func hasInfinity(f Format) bool {
	x, ok := f.(Float)
	return ok && x.Kind == FloatIEEE && x.Over == BeyondCode
}

// SameType reports that a and b have the same codes with the same values. They may differ in how values become codes,
// and in which codes values become: see Keeps.
func SameType(a, b Format) bool { return a.CodeSet() == b.CodeSet() }

// IsFloat reports that f is a format of graphs that are not quantized, whose values are float32 numbers: FP32 itself,
// or a float of 16 bits to which they are rounded.
func IsFloat(f Format) bool {
	_, half := f.(Half)
	return half || f == FP32
}
