// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math/bits"
	"strconv"
)

// MXInt is mxint(W,k): blocks of k two's complement integers q of W bits that share one byte X. The value of an
// element is q*2^-(W-2)*2^(X-127); X = 255 makes the whole block NaN (OCP Microscaling Formats v1.0, section 5.3 and
// 6.3). Encode never makes the most negative code, which decodes all the same.
type MXInt struct {
	W, K  int
	Round Round // of the elements
	// Along is the block axis plus one; 0 means the last axis.
	Along int
}

// scaleBias is the bias of the shared E8M0 byte, scaleNaN the byte that makes a block NaN.
const (
	scaleBias = 127
	scaleNaN  = 255
)

// String is the canonical text; mxint8 is mxint(8,32).
func (m MXInt) String() string {
	s := "mxint(" + strconv.Itoa(m.W) + "," + strconv.Itoa(m.K) + optionText(m.Round, Sat)
	if m.Along > 0 {
		s += ",axis=" + strconv.Itoa(m.Along-1)
	}
	if s == "mxint(8,32" {
		return "mxint8"
	}
	return s + ")"
}

// Width is W.
func (m MXInt) Width() int { return m.W }

// BlockSize is k.
func (m MXInt) BlockSize() int { return m.K }

// Axis is the block axis, -1 for the last.
func (m MXInt) Axis() int { return m.Along - 1 }

// ScaleWidth is 8.
func (m MXInt) ScaleWidth() int { return 8 }

// Element is fixed(W,W-2), symmetric.
func (m MXInt) Element() Format { return m.element() }

func (m MXInt) element() Fixed {
	return Fixed{W: m.W, F: m.W - 2, Signed: true, Round: m.Round, Over: Sym}
}

// CodeSet is m with elements rounded to even.
func (m MXInt) CodeSet() Format {
	m.Round = RoundEven
	return m
}

// Lattice has none: every block has its own step.
func (m MXInt) Lattice() (exp int, bits int, ok bool) { return 0, 0, false }

// Limits are those of the elements at scale 1.
func (m MXInt) Limits() (lo, hi Exact) { return m.element().Limits() }

// Decode is the value of an element at scale 1.
func (m MXInt) Decode(code int64) Exact { return m.element().Decode(code) }

// Encode is the code of an element at scale 1.
func (m MXInt) Encode(v Exact) int64 { return m.element().Encode(v) }

// ScaleValue is 2^(X-127), NaN for X = 255.
func (m MXInt) ScaleValue(scale int64) Exact {
	if scale&0xff == scaleNaN {
		return NaN()
	}
	return FromInt(1, int(scale&0xff)-scaleBias)
}

// EncodeBlock takes X = clamp(floor(log2 max|x|), -127, 127) + 127 and rounds each x*2^(127-X). A block of zeros has
// X = 0; a block with NaN or an infinity X = 255 and codes 0.
func (m MXInt) EncodeBlock(x []Exact, codes []int64) (scale int64) {
	clear(codes)
	top, some := 0, false
	for _, v := range x {
		if !v.IsFinite() {
			return scaleNaN
		}
		if !v.IsZero() && (!some || v.Log2() > top) {
			top, some = v.Log2(), true
		}
	}
	if !some {
		return 0
	}
	e, elem := min(max(top, -scaleBias), scaleBias), m.element()
	for i, v := range x {
		codes[i] = elem.Encode(v.Shift(-e))
	}
	return int64(e + scaleBias)
}

// DecodeBlock gives q*2^-(W-2)*2^(X-127) for every element; NaN for X = 255.
func (m MXInt) DecodeBlock(codes []int64, scale int64, out []Exact) {
	s, elem := m.ScaleValue(scale), m.element()
	for i, c := range codes {
		out[i] = elem.Decode(c).Mul(s)
	}
}

// EncodeInts is EncodeBlock for the values v[i]*2^exp, in integers only: with L the bits of the largest magnitude,
// e = clamp(L-1+exp, -127, 127) and codes clamp(RS(v[i], e-(W-2)-exp)).
func (m MXInt) EncodeInts(v []int64, exp int, codes []int64) (scale int64) {
	var all uint64
	for _, x := range v {
		all |= uint64(max(x, -x)) // the magnitude of the least int64 is its own bit pattern
	}
	if all == 0 {
		clear(codes)
		return 0
	}
	e, elem := min(max(bits.Len64(all)-1+exp, -scaleBias), scaleBias), m.element()
	for i, x := range v {
		codes[i] = elem.Requant(x, exp-e)
	}
	return int64(e + scaleBias)
}

// ElementExp is the exponent of the integer codes of a block with scale field X: a value is code*2^ElementExp. The
// field 255, which is NaN, counts as 2^128 here: encoders never make it and hardware does not look for it.
func (m MXInt) ElementExp(scale int64) int { return int(scale) - scaleBias - (m.W - 2) }
