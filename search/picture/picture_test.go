// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lathe/search"
)

var space = []search.Named{{Name: "w", Dist: search.NewInt(1, 8, 1, false)},
	{Name: "f", Dist: search.NewWords("a", "b")}}

// history has 64 trials: w decides the first objective, the other is its opposite; f decides nothing.
func history(objectives int) *search.History {
	h := search.NewHistory("s", []search.Direction{search.Maximize, search.Minimize}[:objectives])
	for n := range 64 {
		w := float64((n*5)%8 + 1)
		t := &search.Trial{ID: int64(n), Number: n, State: search.Complete, Values: []float64{w, w * w}[:objectives],
			Params: []search.Param{{Name: "w", Dist: space[0].Dist, Value: w},
				{Name: "f", Dist: space[1].Dist, Value: float64(n / 8 % 2)}}}
		if n == 63 { // w is 4
			t.Set(search.ConstraintAttr([]float64{0.5}))
			t.Values = []float64{9, 0}[:objectives]
		}
		h.Put(t)
	}
	return h
}

// TestPictures: the best so far never gets worse, a trial that breaks a limit is no best, and the front is where
// nothing beats a trial.
func TestPictures(t *testing.T) {
	one := Of(history(1), []string{"accuracy"}, space)
	if len(one) != 3 || one[0].Name != "progress" || one[1].Name != "importance" || one[2].Name != "parallel" {
		t.Fatalf("%d pictures", len(one))
	}
	if top := one[2].Table[len(one[2].Table)-1]; len(one[2].Table) != 64 || top[3] != "8" ||
		strings.Count(string(one[2].SVG), "<polyline") != 63 {
		t.Errorf("%d lines, the one in front %q", len(one[2].Table), top)
	}
	last := one[0].Table[len(one[0].Table)-1]
	if len(one[0].Table) != 64 || last[2] != "8" {
		t.Errorf("%d rows, the last %q", len(one[0].Table), last)
	}
	for i, row := range one[0].Table[2:] {
		if row[2] < one[0].Table[i+1][2] {
			t.Errorf("row %d: %q gets worse", i, row)
		}
	}
	two := Of(history(2), []string{"accuracy", "lut"}, space)
	if len(two) != 4 || two[1].Name != "front-accuracy-lut" {
		t.Fatalf("%d pictures", len(two))
	}
	words := map[string]int{}
	for _, row := range two[1].Table[1:] {
		words[row[3]]++
	}
	if fmt.Sprint(words) != "map[breaks a limit:1 front:63]" {
		t.Errorf("%v", words)
	}
	if end := two[0].Table[len(two[0].Table)-1]; end[1] != "1" {
		t.Errorf("volume ends at %q", end)
	}
	for _, p := range slices.Concat(one, two) {
		if !bytes.HasPrefix(p.SVG, []byte("<svg")) || strings.Contains(string(p.SVG), "NaN") {
			t.Errorf("%s: %.200s", p.Name, p.SVG)
		}
	}
}

// TestImportance: what decides comes first, and all add up to 1.
func TestImportance(t *testing.T) {
	list := Importance(history(1), space)
	if len(list) != 2 || list[0].Name != "w" || list[0].Share < 0.9 || list[0].Share+list[1].Share-1 > 1e-12 {
		t.Errorf("%+v", list)
	}
	few := search.NewHistory("s", []search.Direction{search.Minimize})
	if Importance(few, space) != nil || len(Of(few, []string{"x"}, nil)) != 1 {
		t.Error("a study without trials")
	}
}

// TestCompare: means and bands are those of studies computed by hand; a curve begins where all its studies have a
// value, and ends with the shortest.
func TestCompare(t *testing.T) {
	run := func(values ...float64) *search.History {
		h := search.NewHistory("s", []search.Direction{search.Minimize})
		for n, v := range values {
			t := &search.Trial{ID: int64(n), Number: n, State: search.Complete, Values: []float64{v}}
			if v < 0 {
				t.State, t.Values = search.Pruned, nil
			}
			h.Put(t)
		}
		return h
	}
	p := Compare("bits", "bits", []Curve{{"a", []*search.History{run(-1, 5, 7, 2), run(9, 3, 4, 1, 0.5)}},
		{"b", []*search.History{run(6)}}, {"none", nil}})
	want := "trials,a,a worst,a best,b,b worst,b best,none,none worst,none best\n1,,,,6,6,6,,,\n2,4,5,3,,,,,,\n" +
		"3,4,5,3,,,,,,\n4,1.5,2,1,,,,,,\n"
	if got := rows(p.Table); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if n := strings.Count(string(p.SVG), "fill-opacity"); n != 1 { // one trial is no band
		t.Errorf("%d bands", n)
	}
}

func rows(table [][]string) (text string) {
	for _, r := range table {
		text += strings.Join(r, ",") + "\n"
	}
	return text
}
