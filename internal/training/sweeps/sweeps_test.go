// SPDX-License-Identifier: Apache-2.0

package sweeps

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/driver"
	"lathe/internal/training"
)

func TestSpread(t *testing.T) {
	got := spread([]float64{.5, .75, 1})
	if want := (Spread{Mean: .75, Deviation: .25, Least: .5, Most: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if one := spread([]float64{.5}); one.Deviation != 0 || one.Mean != .5 {
		t.Errorf("of one run: %+v", one)
	}
}

func TestShares(t *testing.T) {
	for text, want := range map[string][3]float64{"0.5": {0, 0, .5}, "2:4": {2, 4, .5}, "1:4": {1, 4, .75}} {
		n, m, zeros, err := readShare(text)
		if got := [3]float64{float64(n), float64(m), zeros}; err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "1", "4:4", "0:4", "2:4x", "x", "-1", "NaN"} {
		if _, _, _, err := readShare(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestFront has a point that is beaten in both respects, and one that is beaten by an equal accuracy for less.
func TestFront(t *testing.T) {
	lut := func(v float64) *float64 { return &v }
	at := func(accuracy float64) Spread { return Spread{Mean: accuracy} }
	s := &Sweep{Points: []Point{{After: at(.9), LUT: lut(10)}, {After: at(.8), LUT: lut(20)},
		{After: at(.9), LUT: lut(11)}, {After: at(.95), LUT: lut(30)}}}
	s.mark()
	var got []bool
	for _, p := range s.Points {
		got = append(got, p.Front)
	}
	if d := cmp.Diff([]bool{true, false, false, true}, got); d != "" {
		t.Error(d)
	}
}

func TestFormatsOfSweeps(t *testing.T) {
	list, err := formats(&Ranges{Formats: []string{"fixed(3)", "mxint(4,16)", "binary"}, Weight: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []setting{{series: "fixed", x: 3}, {series: "mxint", x: 4.5}, {series: "binary", x: 1}} {
		if got := list[i]; got.series != want.series || math.Abs(got.x-want.x) > 1e-12 {
			t.Errorf("%s: %s at %g, want %s at %g", got.label, got.series, got.x, want.series, want.x)
		}
	}
}

// TestDigest: whatever changes a run changes the digest under which it is kept.
func TestDigest(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	o := &Options{Task: training.Task{Data: file("x.csv", "a,b"), Source: driver.Source{Model: file("m.onnx", "m")}}}
	o.Task.Source.Adapter = filepath.Dir(file("adapter/config.json", "{}"))
	seen := map[string]string{}
	look := func(what string) {
		t.Helper()
		d := o.digest()
		if was, known := seen[d]; known {
			t.Errorf("%s: the same digest as %s", what, was)
		}
		seen[d] = what
	}
	look("the beginning")
	file("x.csv", "a,c")
	look("other data")
	file("adapter/config.json", "{ }")
	look("another adapter")
	o.Task.Source.Dims = map[string]int{"n": 2}
	look("a dimension")
	epochs := 3
	o.Task.Source.Settings.Epochs = &epochs
	look("epochs")
	o.Fresh = 1
	look("a float model for each seed")
}
