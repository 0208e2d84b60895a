// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"math"
	"testing"
)

// TestBF16Word compares with a search of the nearest among all words.
func TestBF16Word(t *testing.T) {
	for _, w := range []uint16{0, 1, 0x7f, 0x80, 0x3f80, 0x3f81, 0x4049, 0x7f7e, 0x7f7f, 0x8001, 0xbf80, 0xff7f} {
		a, b := BF16(w), BF16At([]byte{0, 0, byte(w + 1), byte((w + 1) >> 8)}, 1)
		if math.IsInf(b, 0) {
			b = math.Copysign(math.Ldexp(1, 128), a)
		}
		even := w + w&1
		tiny := (b - a) * 1e-12
		middle := (a + b) / 2
		for x, want := range map[float64]uint16{a: w, middle - tiny: w, middle: even, middle + tiny: w + 1} {
			if got := BF16Word(x); got != want && !(x == 0 && got == 0) {
				t.Errorf("%v between %#x and the next: %#x, want %#x", x, w, got, want)
			}
		}
	}
	if BF16Word(math.NaN()) != 0x7FFF || BF16Word(math.Inf(-1)) != 0xFF80 || BF16Word(math.Copysign(0, -1)) != 0x8000 {
		t.Error("NaN, -Inf or -0")
	}
}
