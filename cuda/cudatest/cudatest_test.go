// SPDX-License-Identifier: Apache-2.0

package cudatest

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestFirstDifference(t *testing.T) {
	a := []byte{1, 0, 2, 0, 3, 0}
	if d := FirstDifference(a, slices.Clone(a), 2); d != "" {
		t.Errorf("equal: %s", d)
	}
	b := []byte{1, 0, 2, 1, 4, 0}
	if d, want := FirstDifference(b, a, 2), "word 1 is 0x102, want 0x2; 2 of 3 words differ"; d != want {
		t.Errorf("%q, want %q", d, want)
	}
	if d := FirstDifference(b[:4], a, 2); d != "4 bytes, want 6" {
		t.Errorf("%q", d)
	}
}

// TestBF16Word compares with a search of the nearest among all words.
func TestBF16Word(t *testing.T) {
	value := func(w uint16) float64 { return BF16([]byte{byte(w), byte(w >> 8)})[0] }
	for _, w := range []uint16{0, 1, 0x7f, 0x80, 0x3f80, 0x3f81, 0x4049, 0x7f7e, 0x7f7f, 0x8001, 0xbf80, 0xff7f} {
		a, b := value(w), value(w+1)
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

func TestCorners(t *testing.T) {
	q, x := AllPairs()
	seen := map[[2]byte]bool{}
	for i := range q {
		seen[[2]byte{q[i], x[i/32]}] = true
	}
	if len(seen) != 65536 || len(x) != 2048 {
		t.Errorf("%d pairs, %d scales", len(seen), len(x))
	}
	q, x = Blocks(1, 4000, 127, 20)
	for _, s := range CornerScales {
		if !slices.Contains(x, s) {
			t.Errorf("no block of scale %d", s)
		}
	}
	for i, s := range x {
		block := q[32*i : 32*i+32]
		if s == 255 && strings.Trim(string(block), "\x00") != "" {
			t.Fatalf("NaN block %d is not of zeros", i)
		}
	}
	_, x = Finite(1, 4000, 127, 20)
	if slices.Max(x) > 147 || slices.Min(x) < 107 {
		t.Errorf("scales from %d to %d", slices.Min(x), slices.Max(x))
	}
}
