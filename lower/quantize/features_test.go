// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/lower/lowertest"
)

// spanning is a network that reads features of such sizes, and samples of them.
func spanning(t *testing.T, seed uint64, sizes []float64) (*ir.Graph, Calibration) {
	b := lowertest.New(t, seed)
	r := rand.New(rand.NewPCG(seed, 13))
	w := make([]float32, 8*len(sizes))
	for k := range w {
		w[k] = float32((r.Float64() - 0.5) / sizes[k%len(sizes)])
	}
	y := b.Add(sum.Linear, "first", nil, b.Input("x", 1, len(sizes)), b.Const([]int{8, len(sizes)}, w...))
	g := b.Done(b.Linear("last", b.Add(pointwise.Relu, "relu", nil, y), 3, true))
	in := samples(g, -1, 1, 60)
	for _, s := range in.Samples["x"] {
		for i := range s.Floats {
			s.Floats[i] *= float32(sizes[i])
		}
	}
	return g, in
}

var multiplied = regexp.MustCompile(`feature (\d+) by 2\^(\d+)`)

// TestLostFeatures: features from 1e-4 to 1e5 share one format, and the small ones are named, with powers of two that
// make a good model of it; features of one size, some of which never change, are passed over.
func TestLostFeatures(t *testing.T) {
	for seed := range uint64(10) {
		sizes := make([]float64, 6)
		for i := range sizes {
			sizes[i] = math.Pow(10, -4+9*float64((i+int(seed))%len(sizes))/float64(len(sizes)-1))
		}
		g, in := spanning(t, seed, sizes)
		_, report := mustQuantize(t, g, "[quantize]\nequalize = false\n", in)
		text := strings.Join(report.Warnings, "\n")
		found := multiplied.FindAllStringSubmatch(text, -1)
		if len(found) < 2 || !strings.Contains(text, `input "x": `) {
			t.Fatalf("seed %d: %q", seed, text)
		}
		for _, m := range found {
			at, _ := strconv.Atoi(m[1])
			exp, _ := strconv.Atoi(m[2])
			sizes[at] = math.Ldexp(sizes[at], exp)
		}
		before := report.Outputs[0].SQNR
		g, in = spanning(t, seed, sizes)
		if _, report = mustQuantize(t, g, "", in); report.Outputs[0].SQNR < 25 || len(report.Warnings) > 0 {
			t.Errorf("seed %d: %.1f dB, then %.1f: %q", seed, before, report.Outputs[0].SQNR, report.Warnings)
		}
	}
	g, in := spanning(t, 1, []float64{1, 0.1, 1})
	for _, s := range in.Samples["x"] {
		s.Floats[2] = 1e-9
	}
	if _, report := mustQuantize(t, g, "", in); len(report.Warnings) > 0 {
		t.Errorf("%q", report.Warnings)
	}
}

// TestMasksAreKept: zeros and ones, and whole numbers beside larger ones, are codes, of which rounding loses nothing.
func TestMasksAreKept(t *testing.T) {
	for _, most := range []float32{1, 100} {
		g, in := spanning(t, 1, []float64{1, 1, 1})
		r := rand.New(rand.NewPCG(2, 2))
		for _, s := range in.Samples["x"] {
			s.Floats[0], s.Floats[1] = float32(r.IntN(2)), float32(r.IntN(2))
			s.Floats[2] = most * float32(r.IntN(2))
		}
		_, report := mustQuantize(t, g, "[[input]]\nname = \"x\"\nformat = \"ufixed(7,0)\"\n", in)
		for _, w := range report.Warnings {
			if strings.Contains(w, "features") {
				t.Errorf("most %g: %s", most, w)
			}
		}
	}
}

// TestNoEmptyAdvice: a feature that is small but for one sample needs a wider format; a factor would push that sample
// out of it.
func TestNoEmptyAdvice(t *testing.T) {
	g, in := spanning(t, 1, []float64{1, 1, 1})
	for k, s := range in.Samples["x"] {
		if s.Floats[1] = 0.1 + 0.01*float32(k%3); k == 0 {
			s.Floats[1] = 0.9
		}
	}
	_, report := mustQuantize(t, g, "[quantize]\ndata = \"fixed(3)\"\n", in)
	text := strings.Join(report.Warnings, "\n")
	if !strings.Contains(text, "1 of 3 features are lost") || !strings.Contains(text, "; a wider format keeps them") {
		t.Errorf("%q", text)
	}
}
