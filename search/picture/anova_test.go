// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"math"
	"strings"
	"testing"

	"lathe/search"
)

// TestVariance: of a sum, each term explains its own variance, numbers and words alike; what depends on nothing
// explains nothing, and what only a product explains is nobody's alone.
func TestVariance(t *testing.T) {
	dims := []search.Named{{Name: "a", Dist: search.NewInt(0, 4, 1, false)},
		{Name: "b", Dist: search.NewWords("x", "y", "z")},
		{Name: "c", Dist: search.NewFloat(0, 1, 0, false)}, {Name: "some", Dist: search.NewInt(0, 1, 1, false)}}
	values := []float64{5, -1, 0} // of b, not in the order of its choices
	h := search.NewHistory("s", []search.Direction{search.Minimize})
	for n := range 300 {
		a, b, c := float64(n%5), float64(n/5%3), math.Mod(float64(n)*0.618, 1)
		trial := &search.Trial{Number: n, State: search.Complete, Values: []float64{3*a + values[int(b)]},
			Params: []search.Param{{Name: "a", Dist: dims[0].Dist, Value: a}, {Name: "b", Dist: dims[1].Dist, Value: b},
				{Name: "c", Dist: dims[2].Dist, Value: c}}}
		if n == 7 {
			trial.Params = append(trial.Params, search.Param{Name: "some", Dist: dims[3].Dist})
		}
		h.Put(trial)
	}
	// The variances are 9*2 and 62/9.
	got := Variance(h, dims)
	want := 18 / (18 + 62.0/9)
	if len(got) != 3 || math.Abs(got["a"]-want) > 0.03 || math.Abs(got["b"]-(1-want)) > 0.03 || got["c"] > 0.01 {
		t.Errorf("%v, and a is to have %.3f", got, want)
	}
	if again := Variance(h, dims); again["a"] != got["a"] {
		t.Error("it differs from time to time")
	}
	if Variance(search.NewHistory("s", nil), dims) != nil {
		t.Error("a study without trials")
	}
}

// TestOverTime puts trials in the order in which they ended; trials that do not say are left out.
func TestOverTime(t *testing.T) {
	h := history(1)
	p, ok := OverTime(h, []string{"accuracy"}, map[int]float64{5: 1.5, 3: 2, 4: 0.5}) // of 2, 8 and 5
	if want := "minutes,accuracy,best so far\n0.5,5,5\n1.5,2,5\n2,8,8\n"; !ok || rows(p.Table) != want {
		t.Errorf("%s", rows(p.Table))
	}
	if _, ok := OverTime(h, []string{"accuracy"}, nil); ok {
		t.Error("a picture of nothing")
	}
}

// TestFormats: rows are slots, columns trials; a slot that a trial does not have stays empty.
func TestFormats(t *testing.T) {
	p, ok := Formats([]Bits{{3, map[string]float64{"b.weight": 4, "a.weight": 8}}, {9, map[string]float64{"a.weight": 2}}})
	if want := "slot,trial 3,trial 9\na.weight,8,2\nb.weight,4,\n"; !ok || rows(p.Table) != want ||
		strings.Count(string(p.SVG), "<rect") != 4 {
		t.Errorf("%s%s", rows(p.Table), p.SVG)
	}
	if _, ok := Formats([]Bits{{1, nil}}); ok {
		t.Error("a picture of nothing")
	}
}
