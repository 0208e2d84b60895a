// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"context"
	"fmt"
	"math"
	"testing"

	"lathe/search"
)

// TestCMAES: what it is for it finds far better than random draws: valleys that do not lie along an axis; it draws the
// same once more, also where the study goes on in another process, and knows choices and several objectives.
func TestCMAES(t *testing.T) {
	var space search.Space
	for i := range 5 {
		space = append(space, search.Parameter{Name: fmt.Sprint("x", i), Dist: search.NewFloat(-5, 5, 0, false)})
	}
	valley := func(trial *search.Trial) (v float64) { // an ellipsoid, turned
		for i := range 5 {
			s := 0.0
			for j := range i + 1 {
				s += trial.Params[j].Value - 0.7
			}
			v += math.Pow(30, float64(i)/4) * s * s
		}
		return v
	}
	best, values := map[string]float64{}, map[string]float64{}
	for _, name := range []string{"random", "cmaes", "again"} {
		s := study(t, map[string]string{"again": "cmaes"}[name]+map[string]string{"random": "random", "cmaes": "cmaes"}[name],
			space, 1)
		best[name] = math.Inf(1)
		for n := range 400 {
			if name == "again" && n == 200 {
				s.Sampler = NewCMAES(9, space)
			}
			trial, err := s.Ask(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			values[name] = valley(trial)
			best[name] = min(best[name], values[name])
			if err := s.Tell(context.Background(), trial.Number, search.Complete, []float64{values[name]}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if best["cmaes"] > 0.05 || best["random"] < 1 {
		t.Errorf("best values: %v", best)
	}
	if values["again"] != values["cmaes"] {
		t.Errorf("another process draws %g, and one draws %g", values["again"], values["cmaes"])
	}
	for objectives := 1; objectives <= 2; objectives++ {
		s := study(t, "cmaes", append(layers(2, true), layers(2, false)...)[1:3], objectives)
		for range 30 {
			trial, err := s.Ask(context.Background())
			if err != nil || len(trial.Params) != 2 {
				t.Fatalf("%v, %+v", err, trial)
			}
			err = s.Tell(context.Background(), trial.Number, search.Complete, []float64{loss(trial), 1}[:objectives])
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
