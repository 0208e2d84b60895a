// SPDX-License-Identifier: Apache-2.0

//go:build long

package searchtest

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"testing"

	"lathe/internal/tools"
	"lathe/search"
	"lathe/search/sampler"
	"lathe/search/storage/memory"
)

// cmaScript prints the logarithms of the best values that Optuna's CMA-ES finds, by function and seed.
const cmaScript = `
import json, math, warnings, optuna
warnings.simplefilter("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)
def sphere(x): return sum((a - .7) ** 2 for a in x)
def valley(x): return sum(30 ** (i / 4) * sum(a - .7 for a in x[:i + 1]) ** 2 for i in range(5))
def rosenbrock(x): return sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(4))
def best(f, seed):
    s = optuna.create_study(sampler=optuna.samplers.CmaEsSampler(seed=seed))
    s.optimize(lambda t: f([t.suggest_float(f"x{i}", -5, 5) for i in range(5)]), n_trials=250)
    return math.log10(s.best_value)
print(json.dumps({f.__name__: [best(f, s) for s in range(12)] for f in (sphere, valley, rosenbrock)}))
`

// cmaProblems are the functions of the script.
var cmaProblems = map[string]func(x []float64) float64{
	"sphere": func(x []float64) (v float64) {
		for _, a := range x {
			v += (a - 0.7) * (a - 0.7)
		}
		return v
	},
	"valley": func(x []float64) (v float64) {
		s := 0.0
		for i, a := range x {
			s += a - 0.7
			v += math.Pow(30, float64(i)/4) * s * s
		}
		return v
	},
	"rosenbrock": func(x []float64) (v float64) {
		for i := range len(x) - 1 {
			a := x[i+1] - x[i]*x[i]
			v += 100*a*a + (1-x[i])*(1-x[i])
		}
		return v
	},
}

// TestCMA: CMA-ES finds values as good as Optuna's, on average over seeds, within what chance explains.
func TestCMA(t *testing.T) {
	out, err := exec.Command(tools.NeedPeers(t), "-c", cmaScript).Output()
	if err != nil {
		t.Fatal(err)
	}
	var theirs map[string][]float64
	if err := json.Unmarshal(out, &theirs); err != nil {
		t.Fatal(err)
	}
	for name, f := range cmaProblems {
		var ours []float64
		for seed := range theirs[name] {
			ours = append(ours, math.Log10(cmaBest(t, f, uint64(seed))))
		}
		a, sa := mean(ours)
		b, sb := mean(theirs[name])
		t.Logf("%s: logarithm of the best of 250 trials %.2f (standard error %.2f), Optuna's %.2f (%.2f)", name, a, sa, b, sb)
		if !(a-b < 3*math.Hypot(sa, sb)) {
			t.Errorf("%s: %.2f is worse than Optuna's %.2f", name, a, b)
		}
	}
}

func cmaBest(t *testing.T, f func([]float64) float64, seed uint64) float64 {
	t.Helper()
	ways := []search.Direction{search.Minimize}
	m := memory.New()
	id, err := m.CreateStudy(t.Context(), "s", ways)
	if err != nil {
		t.Fatal(err)
	}
	s := &search.Study{Info: &search.StudyInfo{ID: id, Name: "s", Directions: ways}, Storage: m, Seed: seed}
	for i := range 5 {
		s.Space = append(s.Space, search.Parameter{Name: fmt.Sprint("x", i), Dist: search.NewFloat(-5, 5, 0, false)})
	}
	s.Sampler = sampler.NewCMAES(0, s.Space)
	best := math.Inf(1)
	for range 250 {
		trial, err := s.Ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var x []float64
		for _, p := range trial.Params {
			x = append(x, p.Value)
		}
		best = min(best, f(x))
		if err := s.Tell(t.Context(), trial.Number, search.Complete, []float64{f(x)}); err != nil {
			t.Fatal(err)
		}
	}
	return best
}

// mean is the mean of values, and its standard error.
func mean(v []float64) (m, e float64) {
	for _, x := range v {
		m += x / float64(len(v))
	}
	for _, x := range v {
		e += (x - m) * (x - m) / float64(len(v)-1)
	}
	return m, math.Sqrt(e / float64(len(v)))
}
