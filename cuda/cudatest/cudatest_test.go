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

// TestF16Word compares with a search among all words, at every word and around every middle.
func TestF16Word(t *testing.T) {
	for w := range 0x7C00 {
		a, b := F16Value(uint16(w)), F16Value(uint16(w+1))
		if w == 0x7BFF {
			b = 65536
		}
		middle := (a + b) / 2
		for _, x := range []float64{a, middle, math.Nextafter(middle, 0), math.Nextafter(middle, b), -a, -middle} {
			if got, want := F16Word(x), nearestF16(x); got != want {
				t.Fatalf("%v: %#x, want %#x", x, got, want)
			}
		}
	}
	if F16Word(math.NaN()) != 0x7FFF || F16Word(math.Inf(-1)) != 0xFC00 || F16Word(math.Copysign(0, -1)) != 0x8000 {
		t.Error("NaN, -Inf or -0")
	}
}

// nearestF16 is the binary16 nearest to x, by counting: the code whose value is nearest, ties to even codes.
func nearestF16(x float64) uint16 {
	sign := uint16(0)
	if math.Signbit(x) {
		sign, x = 0x8000, -x
	}
	switch {
	case x != x:
		return 0x7FFF
	case x >= 65520:
		return sign | 0x7C00
	}
	lo, hi := uint16(0), uint16(0x7BFF)
	for lo < hi { // the largest code not above x
		mid := lo + (hi-lo+1)/2
		if F16Value(mid) <= x {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	step := F16Value(lo+1) - F16Value(lo)
	if lo == 0x7BFF {
		step = 32
	}
	if d := x - F16Value(lo); d > step/2 || d == step/2 && lo&1 == 1 {
		lo++
	}
	return sign | lo
}

func TestCorners(t *testing.T) {
	q, x := AllCodes()
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

// TestNear demands that infinities and NaN are met exactly, whatever is allowed beside them.
func TestNear(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		got, want, tol float64
		ok             bool
	}{
		{1.5, 1, 0.5, true}, {1.5, 1, 0.25, false}, {inf, inf, inf, true}, {nan, nan, nan, true}, {3, inf, inf, false},
		{-inf, inf, inf, false}, {inf, 3, inf, false}, {nan, 3, inf, false}, {3, nan, nan, false},
	} {
		r := &recorder{TB: t}
		Near(r, "x", []float64{c.got}, []float64{c.want}, func(int) float64 { return c.tol })
		if (r.errors == 0) != c.ok {
			t.Errorf("%v for %v within %v: %d errors", c.got, c.want, c.tol, r.errors)
		}
	}
}

// recorder counts the errors of a check.
type recorder struct {
	testing.TB
	errors int
}

func (r *recorder) Errorf(string, ...any) { r.errors++ }
func (r *recorder) Failed() bool          { return false }
