// SPDX-License-Identifier: Apache-2.0

package cudatest

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"lathe/cuda"
)

// FirstDifference names the first word of width bytes in which two buffers differ, both values, and how many differ;
// "" where none does.
func FirstDifference(got, want []byte, width int) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
	}
	first, count := -1, 0
	for i := 0; i < len(got); i += width {
		end := min(i+width, len(got))
		if string(got[i:end]) != string(want[i:end]) {
			if count == 0 {
				first = i
			}
			count++
		}
	}
	if count == 0 {
		return ""
	}
	end := min(first+width, len(got))
	return fmt.Sprintf("word %d is %#x, want %#x; %d of %d words differ", first/width,
		word(got[first:end]), word(want[first:end]), count, (len(got)+width-1)/width)
}

// word reads up to eight bytes, the lowest first.
func word(b []byte) uint64 {
	var v [8]byte
	copy(v[:], b)
	return binary.LittleEndian.Uint64(v[:])
}

// Equal demands equal bytes; width is the size of an element, for the message.
func Equal(t testing.TB, what string, got, want []byte, width int) {
	t.Helper()
	if d := FirstDifference(got, want, width); d != "" {
		t.Errorf("%s: %s", what, d)
		stop(t)
	}
}

// Near demands |got-want| <= tol(i) for every element, infinities and NaN in the same places, and logs the largest
// error as a share of what is allowed.
func Near(t testing.TB, what string, got, want []float64, tol func(i int) float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d elements, want %d", what, len(got), len(want))
		return
	}
	bad, first, worst := 0, 0, 0.0
	for i, g := range got {
		w := want[i]
		allowed := tol(i)
		off := math.Abs(g - w)
		same := g == w || math.IsNaN(g) && math.IsNaN(w)
		if !same && (!(off <= allowed) || math.IsInf(off, 0)) {
			if bad == 0 {
				first = i
			}
			bad++
		} else if !same && allowed > 0 {
			worst = max(worst, off/allowed)
		}
	}
	if bad > 0 {
		t.Errorf("%s: element %d is %v, want %v within %v; %d of %d are outside", what, first, got[first], want[first],
			tol(first), bad, len(got))
		stop(t)
		return
	}
	t.Logf("%s: largest error %.3f of the tolerance", what, worst)
}

// BF16 reads words of bfloat16.
func BF16(b []byte) []float64 {
	out := make([]float64, len(b)/2)
	for i := range out {
		out[i] = cuda.BF16At(b, int64(i))
	}
	return out
}

// F32 reads words of fp32.
func F32(b []byte) []float64 {
	out := make([]float64, len(b)/4)
	for i := range out {
		out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return out
}

// F32Bytes writes words of fp32, rounded to nearest even.
func F32Bytes(v []float64) []byte {
	var out []byte
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(x)))
	}
	return out
}

// BF16Bytes writes words of bfloat16, rounded to nearest even; a NaN is 0x7FFF, as cvt.rn.bf16.f32 gives it.
func BF16Bytes(v []float64) []byte {
	var out []byte
	for _, x := range v {
		out = binary.LittleEndian.AppendUint16(out, cuda.BF16Word(x))
	}
	return out
}

// F16Value is a word of binary16 (IEEE 754-2019, section 3.4).
func F16Value(w uint16) float64 {
	e, f := int(w>>10&31), float64(w&1023)
	v := math.Ldexp(f, -24)
	switch {
	case e == 31 && f != 0:
		return math.NaN()
	case e == 31:
		v = math.Inf(1)
	case e > 0:
		v = math.Ldexp(1024+f, e-25)
	}
	return math.Copysign(v, 0.5-float64(w>>15))
}

// F16Word is the binary16 nearest to x, ties to even.
func F16Word(x float64) uint16 {
	sign, a := uint16(math.Float64bits(x)>>63<<15), math.Abs(x)
	if math.IsNaN(x) {
		return 0x7FFF
	}
	if a >= 65520 {
		return sign | 0x7C00
	}
	_, e := math.Frexp(max(a, 0x1p-24))
	e = max(e, -13) // the last place of a subnormal is 2^-24
	return sign + uint16(e+13)<<10 + uint16(math.RoundToEven(math.Ldexp(a, 11-e)))
}
