// SPDX-License-Identifier: Apache-2.0

package mt

import (
	"math"
	"testing"
)

// TestWords compares with the reference output of the authors of MT19937 for the seed 5489: the 10000th word, as the
// C++ standard states it too.
func TestWords(t *testing.T) {
	g := New(5489)
	var last uint32
	for range 10000 {
		last = g.Uint32()
	}
	if last != 4123659995 {
		t.Errorf("word 10000 is %d", last)
	}
}

// TestRandomState compares with what numpy.random.RandomState(42) gives: rand() and, of a new one, permutation(10).
func TestRandomState(t *testing.T) {
	g := New(42)
	for i, want := range []float64{0.3745401188473625, 0.9507143064099162, 0.7319939418114051} {
		if got := g.Float64(); got != want {
			t.Errorf("double %d is %v, want %v", i, got, want)
		}
	}
	order := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	New(42).Shuffle(10, func(i, j int) { order[i], order[j] = order[j], order[i] })
	for i, want := range []int{8, 1, 5, 0, 7, 2, 9, 4, 3, 6} {
		if order[i] != want {
			t.Fatalf("order %v", order)
		}
	}
}

// TestChoice draws nothing for one choice, and each place by its weight.
func TestChoice(t *testing.T) {
	g := New(1)
	if g.Choice(1) != 0 || *g != *New(1) {
		t.Error("a choice of one draws")
	}
	counts := make([]int, 3)
	for _, k := range g.Weighted([]float64{1, 0, 3}, 4000) {
		counts[k]++
	}
	if counts[1] != 0 || math.Abs(float64(counts[0])-1000) > 150 {
		t.Errorf("counts %v", counts)
	}
}

// TestNormal: the inverse undoes the distribution function everywhere, and masses add up.
func TestNormal(t *testing.T) {
	for x := -38.0; x < 8; x += 0.37 {
		if got := inversePhi(LogPhi(x)); math.Abs(got-x) > 1e-7*math.Abs(x)+1e-9 {
			t.Errorf("x %v comes back as %v", x, got)
		}
	}
	for _, c := range []struct{ x, want float64 }{ // to 15 digits: log of erfc(-x/sqrt 2)/2
		{0, -0.693147180559945}, {-1, -1.841021645009264}, {-10, -53.2312851505125}, {-40, -804.608442013754}} {
		if got := LogPhi(c.x); math.Abs(got-c.want) > 1e-13*math.Abs(c.want) {
			t.Errorf("log Phi(%v) is %.16g, want %.16g", c.x, got, c.want)
		}
	}
	for _, c := range [][3]float64{{-3, -1, 2}, {0.5, 1, 4}, {-9, -8, -7}, {-1, 0.1, 9}} {
		parts := math.Exp(LogMass(c[0], c[1])) + math.Exp(LogMass(c[1], c[2]))
		if whole := math.Exp(LogMass(c[0], c[2])); math.Abs(parts-whole) > 1e-13*whole {
			t.Errorf("%v: %v and %v", c, parts, whole)
		}
	}
}

// TestTruncated: quantiles rise from one bound to the other, wherever the bounds lie.
func TestTruncated(t *testing.T) {
	for _, c := range [][4]float64{{0, 1, -2, 3}, {5, 0.1, 0, 1}, {-5, 0.1, 0, 1}, {0.3, 100, 0, 1}} {
		last := c[2] - 1e-12
		for u := 0.0005; u < 1; u += 0.001 {
			x := Truncated(u, c[0], c[1], c[2], c[3])
			if x < last-1e-12 || x > c[3]+1e-9 {
				t.Fatalf("%v: quantile %v is %v after %v", c, u, x, last)
			}
			last = x
		}
	}
}
