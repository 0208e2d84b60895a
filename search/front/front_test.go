// SPDX-License-Identifier: Apache-2.0

package front

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// points draws some, on a grid so that some are equal.
func points(r *rand.Rand, n, d int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		for range d {
			out[i] = append(out[i], float64(r.IntN(6)))
		}
	}
	return out
}

// TestVolume counts unit cubes that some point dominates.
func TestVolume(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		d := 1 + r.IntN(4)
		list := points(r, 1+r.IntN(8), d)
		reference := slices.Repeat([]float64{6}, d)
		want := 0.0
		for cube := range int(math.Pow(6, float64(d))) {
			at := make([]float64, d)
			for i, rest := 0, cube; i < d; i, rest = i+1, rest/6 {
				at[i] = float64(rest % 6)
			}
			if slices.ContainsFunc(list, func(p []float64) bool { return slices.Equal(p, at) || Dominates(p, at) }) {
				want++
			}
		}
		if got := Volume(list, reference); got != want {
			t.Fatalf("%v: volume %v, want %v", list, got, want)
		}
	}
}

// TestRanks peels fronts off by the definition.
func TestRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		list := points(r, 1+r.IntN(12), 2)
		ranks := Ranks(list)
		for i := range list {
			want := 0
			for k := range list {
				if Dominates(list[k], list[i]) {
					want = max(want, ranks[k]+1)
				}
			}
			if ranks[i] != want {
				t.Fatalf("%v: ranks %v", list, ranks)
			}
		}
	}
}

// TestSubset: each point that is chosen adds at least as much volume as any other one would have.
func TestSubset(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		d := 2 + r.IntN(2)
		var list [][]float64
		for _, p := range points(r, 12, d) {
			same := func(q []float64) bool { return Dominates(q, p) || Dominates(p, q) || slices.Equal(p, q) }
			if !slices.ContainsFunc(list, same) {
				list = append(list, p)
			}
		}
		reference := Reference(list)
		count := 1 + r.IntN(len(list))
		chosen := Subset(list, count, reference)
		if len(chosen) != count || len(slices.Compact(slices.Sorted(slices.Values(chosen)))) != count {
			t.Fatalf("%d of %v: %v", count, list, chosen)
		}
		if twice := Subset(append(list, list[0], list[0]), len(list)+1, reference); !slices.Contains(twice, len(list)) {
			t.Fatalf("of equal points, the first that is left comes last: %v", twice)
		}
		var have [][]float64
		for k, i := range chosen {
			if count == len(list) {
				break // all, in no order
			}
			for j := range list {
				if !slices.Contains(chosen[:k], j) && volume(have, list[j], reference) > volume(have, list[i], reference)+1e-9 {
					t.Fatalf("%v: %d before %d in %v", list, i, j, chosen)
				}
			}
			have = append(have, list[i])
		}
	}
}

func volume(have [][]float64, p, reference []float64) float64 {
	return Volume(append(slices.Clone(have), p), reference)
}
