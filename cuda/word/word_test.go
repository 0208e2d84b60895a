// SPDX-License-Identifier: Apache-2.0

package word_test

import (
	"math"
	"slices"
	"testing"

	"lathe/cuda/word"
)

// TestFor: the smallest integer that holds all codes of a width.
func TestFor(t *testing.T) {
	for bits := 1; bits <= 64; bits++ {
		for _, signed := range []bool{false, true} {
			w := word.For(bits, signed)
			if 8*w.Bytes() < bits || w.Bytes() > 1 && 4*w.Bytes() >= bits {
				t.Errorf("%d bits lie in %s", bits, w)
			}
			if w.IsSigned() != (signed || bits > 32) || w.IsFloat() {
				t.Errorf("%d bits, signed %v: %s", bits, signed, w)
			}
		}
	}
}

// TestRead: what was written comes back, negative numbers from signed types only.
func TestRead(t *testing.T) {
	for w, values := range map[word.Type][]int64{
		word.I8: {-128, -1, 0, 127}, word.U8: {0, 255}, word.I16: {math.MinInt16, -2, 5}, word.U16: {0, 65535},
		word.I32: {math.MinInt32, -3}, word.U32: {math.MaxUint32}, word.I64: {math.MinInt64, -4, math.MaxInt64},
		word.BF16: {0xFF80}, word.F32: {0xBF800000},
	} {
		b := w.Append(nil, values...)
		if len(b) != w.Bytes()*len(values) {
			t.Fatalf("%s: %d bytes for %d values", w, len(b), len(values))
		}
		var got []int64
		for ; len(b) > 0; b = b[w.Bytes():] {
			got = append(got, w.Read(b))
		}
		if !slices.Equal(got, values) {
			t.Errorf("%s: %v, want %v", w, got, values)
		}
	}
	if b := word.I16.Append([]byte{7}, 0x1234); !slices.Equal(b, []byte{7, 0x34, 0x12}) {
		t.Errorf("%v", b)
	}
}
