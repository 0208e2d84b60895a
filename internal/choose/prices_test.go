// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrices: where layers unroll, a price on digits takes hardware off, in a sweep and in plans of auto, which say so;
// other plans try none by themselves.
func TestPrices(t *testing.T) {
	unroll := filepath.Join(t.TempDir(), "plan.toml")
	if err := os.WriteFile(unroll, []byte("[fold]\nmode = \"unroll\"\n[unroll]\neffort = 4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	meter := example(t, "jets-mlp", unroll, 150)
	if got := Prices(meter.Plan); len(got) != 3 || Prices(example(t, "jets-mlp", "", 150).Plan) != nil {
		t.Errorf("prices %v", got)
	}
	meter.Prices = []float64{3e-4}
	s, err := meter.Sweep(t.Context(), []string{"fixed(5)"}, Parts{true, true}, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, priced := s.Points[0], s.Points[1]
	if priced.name() != "fixed(5) digits 0.0003" || priced.Cost.LUT >= plain.Cost.LUT {
		t.Errorf("%s: %+v, %s: %+v", plain.name(), plain.Cost, priced.name(), priced.Cost)
	}
	sqnr := *priced.SQNR - 0.1
	a := &Auto{Goal: Goal{SQNR: &sqnr}}
	plan, err := meter.Plan.Uniform("test", "fixed(5)", true, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := meter.candidate(t.Context(), a, Candidate{Name: "fixed(5)", Uniform: true}, plan); err != nil {
		t.Fatal(err)
	}
	if err := meter.digits(t.Context(), a, nil); err != nil {
		t.Fatal(err)
	}
	a.name()
	a.judge()
	if len(a.Candidates) != 2 || a.Best != 1 || a.Candidates[1].Name != "fixed(5) digits 0.0003" ||
		!strings.Contains(a.Candidates[1].Text, "digit_price = 0.0003") {
		t.Errorf("best %d of %d: %s", a.Best, len(a.Candidates), a.Candidates[len(a.Candidates)-1].Text)
	}
}
