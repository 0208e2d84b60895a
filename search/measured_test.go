// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"slices"
	"testing"

	"lathe/search"
)

// TestCorrected: what was measured of a trial takes the place of its values for those who look, and not for samplers.
func TestCorrected(t *testing.T) {
	_, crew := crew(t, 1, 2)
	s, ctx := crew[0].Study, t.Context()
	for i := range 2 {
		trial, err := s.Ask(ctx)
		if err != nil {
			t.Fatal(err)
		}
		other := slices.Clone(trial.Params)
		other[0].Value = other[0].Dist.High
		if err := s.Revise(ctx, trial, other, search.Attr{Key: "why", Value: search.Encode(i)}); err != nil {
			t.Fatal(err)
		}
		if err := s.Tell(ctx, trial.Number, search.Complete, []float64{float64(i + 1)}); err != nil {
			t.Fatal(err)
		}
		kept, err := s.Trial(ctx, trial.Number)
		if err != nil || kept.Params[0].Value != other[0].Value || kept.User["why"] == nil {
			t.Errorf("%v, %+v: the revision is lost", err, kept)
		}
	}
	best := func(want int, why string) {
		t.Helper()
		if best, err := s.Best(ctx); err != nil || !slices.Equal(best, []int{want}) {
			t.Errorf("best is %v, %v: %s", best, err, why)
		}
	}
	best(0, "as told")
	if err := s.SetMeasured(ctx, 0, &search.Measured{Values: []float64{3}}); err != nil {
		t.Fatal(err)
	}
	best(1, "trial 0 costs more")
	if h, err := s.History(ctx); err != nil || h.Values(0)[0] != 1 {
		t.Errorf("samplers see %v, %v", h.Values(0), err)
	}
	if err := s.SetMeasured(ctx, 1, &search.Measured{Values: []float64{2}, Violations: []float64{-1, 0.5}}); err != nil {
		t.Fatal(err)
	}
	best(0, "trial 1 breaks a limit")
}
