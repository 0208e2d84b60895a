// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/driver"
	"lathe/lower/plan"
)

// TestMend: each remedy gives what its flag gives, those that help come in order, and what there is no time for is
// named. The best one, taken, is the plan that was measured; where a width was asked for it stays.
func TestMend(t *testing.T) {
	ctx := context.Background()
	path := func(file string) string { return filepath.Join("..", "..", "examples", "jets-mlp", file) }
	bits := 4
	s := driver.Source{Model: path("model.onnx"), Calibrate: path("calib.npz"), Settings: plan.Settings{Bits: &bits}}
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Subject(ctx, g, driver.Data{Inputs: path("calib.npz"), Most: 100})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Mend(ctx, s, m, []string{"4", "2", "0"}, false, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	var flags []string
	last := math.Inf(1)
	for _, h := range r.Helping {
		flags = append(flags, h.Flag)
		if *h.Point.SQNR > last || *h.Point.SQNR < *r.Now.SQNR+gains {
			t.Errorf("%s gives %.1f dB after %.1f, without it %.1f", h.Flag, *h.Point.SQNR, last, *r.Now.SQNR)
		}
		last = *h.Point.SQNR
	}
	for _, want := range []string{"--bits 12", "--round-weights gptq", "--wide 4,2"} {
		if !slices.Contains(flags, want) {
			t.Errorf("%s is missing: %q", want, r.Lines())
		}
	}
	by := r.Apply(&s.Settings)
	if !strings.HasPrefix(by, "--round-weights gptq: ") || !strings.HasSuffix(by, "; no hardware") ||
		s.Settings.RoundWeights == nil || *s.Settings.Bits != 4 {
		t.Errorf("taken: %q", by)
	}
	p, err := s.ReadPlan()
	if err != nil {
		t.Fatal(err)
	}
	point, _, err := Measure(ctx, m, m.Known, p, true)
	if at := slices.Index(flags, "--round-weights gptq"); err != nil || *point.SQNR != *r.Helping[at].Point.SQNR {
		t.Errorf("%v: %.3f dB, measured %.3f", err, *point.SQNR, *r.Helping[at].Point.SQNR)
	}
	r, err = Mend(ctx, s, m, []string{"4", "2"}, false, func() bool { return false })
	if err != nil || len(r.Helping) == 0 || r.Helping[0].Flag != "--bits 12" ||
		slices.Contains(r.Untried, "--wide 4,2") || r.Untried[0] != "--round-weights gptq" {
		t.Errorf("%v: without time %q", err, r.Lines())
	}
	s.Settings = plan.Settings{Bits: &bits}
	r, err = Mend(ctx, s, m, []string{"4", "2"}, true, func() bool { return false })
	if err != nil || !strings.HasPrefix(r.Apply(&s.Settings), "--round-weights gptq: ") {
		t.Errorf("%v: what is taken without time: %q", err, r.Lines())
	}
}
