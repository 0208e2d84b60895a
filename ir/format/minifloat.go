// SPDX-License-Identifier: Apache-2.0

package format

import (
	"iter"
	"math/bits"
)

// Minifloat is what a multiplier must know of codes {sign, field, fraction} with a hidden bit: their bits, those of the
// field, and whether the code of all ones, sign apart, is NaN. Values count steps of the least code. A Field of -1 are
// signs: codes of one bit, 1 for +1 and 0 for -1.
type Minifloat struct {
	Bits, Field int
	NaN         bool
}

// Signs are the codes of +1 and -1.
var Signs = Minifloat{Bits: 1, Field: -1}

// MinifloatOf says how codes of f are multiplied as they are; ok is false for all formats but floats without
// infinities, powers of two, and signs.
func MinifloatOf(f Format) (m Minifloat, ok bool) {
	if g, is := f.(interface{ minifloat() (Minifloat, bool) }); is {
		return g.minifloat()
	}
	return Minifloat{}, false
}

func (f Float) minifloat() (Minifloat, bool) {
	return Minifloat{Bits: f.Width(), Field: f.E, NaN: f.Kind == FloatFN}, f.Kind != FloatIEEE
}

// AllFinite is the format of up to 8 bits like f, but that its codes of infinities and NaN are numbers too: casts to it
// keep all other codes, and multipliers take it (MinifloatOf). False where f has no such codes.
func AllFinite(f Format) (Format, bool) {
	g, is := f.(Float)
	if !is || g.Kind != FloatIEEE || g.Width() > tableBits {
		return nil, false
	}
	return Float{E: g.E, M: g.M, Offset: g.Offset}, true
}

func (l Log) minifloat() (Minifloat, bool) { return l.powers().minifloat() }

func (f Listed) minifloat() (Minifloat, bool) {
	b, binary := f.Set.(Binary)
	_, power := Log2(b.Scale)
	return Signs, binary && power && b.Scale > 0
}

// ShortestMinifloat is the float of the fewest bits that has all of the integers.
func ShortestMinifloat(ints iter.Seq[int64]) Minifloat {
	fraction, most := 0, 1 // bits behind the first one that is set; bits of the longest
	for v := range ints {
		if u := uint64(max(v, -v)); u != 0 {
			fraction = max(fraction, bits.Len64(u)-bits.TrailingZeros64(u)-1)
			most = max(most, bits.Len64(u))
		}
	}
	field := bits.Len(uint(max(most-fraction, 1)))
	return Minifloat{Bits: 1 + field + fraction, Field: field}
}

// Code is the code of the integer v, which must have one. Codes of positive integers ascend with these: the
// significand, and a step of the field for each place behind it.
func (m Minifloat) Code(v int64) int64 {
	if m == Signs {
		return (v + 1) / 2
	}
	fraction := m.Bits - 1 - m.Field
	u := max(v, -v)
	up := max(bits.Len64(uint64(u))-fraction-1, 0)
	code := u>>up + int64(up)<<fraction
	if v < 0 {
		code |= 1 << (m.Bits - 1)
	}
	return code
}
