// SPDX-License-Identifier: Apache-2.0

package pruner

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"lathe/search"
	"lathe/search/searchtest"
)

// made is the pruner of a recorded run.
func made(name string, kwargs map[string]any) search.Pruner {
	number := func(key string, def int) int { return int(searchtest.Number(kwargs, key, float64(def))) }
	switch name {
	case "median", "percentile":
		p := NewPercentile(searchtest.Number(kwargs, "percentile", 50))
		p.Startup, p.Warmup = number("n_startup_trials", 5), number("n_warmup_steps", 0)
		p.Interval, p.Least = number("interval_steps", 1), number("n_min_trials", 1)
		return p
	case "sha":
		return &Halving{Resource: number("min_resource", 0), Factor: number("reduction_factor", 4),
			Rate: number("min_early_stopping_rate", 0), Bootstrap: number("bootstrap_count", 0)}
	case "hyperband":
		return &Hyperband{Resource: number("min_resource", 1), Most: number("max_resource", 0),
			Factor: number("reduction_factor", 3)}
	case "patient":
		return &Patient{Patience: number("patience", 0), Delta: searchtest.Number(kwargs, "min_delta", 0)}
	case "threshold":
		p := NewThreshold(searchtest.Number(kwargs, "lower", math.Inf(-1)), searchtest.Number(kwargs, "upper", math.Inf(1)))
		p.Warmup = number("n_warmup_steps", 0)
		return p
	}
	return nil
}

// TestTraces: every pruner ends the trials that Optuna ended, at the same step.
func TestTraces(t *testing.T) {
	files, err := searchtest.Read(cmp.Or(os.Getenv("LATHE_OPTUNA_TRACES"),
		filepath.Join("..", "searchtest", "testdata")))
	if err != nil {
		t.Fatal(err)
	}
	decisions := map[string]int{}
	for _, f := range files {
		for i := range f.Pruners {
			c := &f.Pruners[i]
			for _, run := range c.Runs {
				name := fmt.Sprintf("%s/%d-%s-%s-%v", f.Optuna, i, run.Pruner, run.Direction, run.Kwargs)
				t.Run(name, func(t *testing.T) {
					direction := search.Minimize
					if run.Direction == "maximize" {
						direction = search.Maximize
					}
					p := made(run.Pruner, run.Kwargs)
					if p == nil {
						t.Fatalf("there is no pruner %s", run.Pruner)
					}
					h := search.NewHistory(run.StudyName, []search.Direction{direction})
					for n, curve := range c.Curves {
						decisions[run.Pruner]++
						if end := follow(h, p, n, curve); end != run.PrunedAt[n] {
							t.Fatalf("trial %d ends at %d, want %d", n, end, run.PrunedAt[n])
						}
					}
				})
			}
		}
	}
	t.Log(decisions)
	if os.Getenv("LATHE_OPTUNA_TRACES") == "" && len(decisions) < 6 {
		t.Errorf("only %d kinds of pruners", len(decisions))
	}
}

// follow reports the values of a trial until it ends, and says at which step: -1 for its end.
func follow(h *search.History, p search.Pruner, number int, curve []*float64) int {
	t := &search.Trial{ID: int64(number), Number: number}
	end := -1
	for step, y := range curve {
		v := math.NaN()
		if y != nil {
			v = *y
		}
		t.Report(search.Step{Step: step, Value: v})
		h.Put(t)
		prune, attrs := p.Prune(h, number)
		for _, a := range attrs {
			t.Set(a)
		}
		h.Put(t)
		if prune {
			end = step
			break
		}
	}
	last := curve[len(curve)-1]
	switch {
	case end >= 0:
		t.State = search.Pruned
	case last == nil:
		t.State = search.Fail
	default:
		t.State, t.Values = search.Complete, []float64{*last}
	}
	h.Put(t)
	return end
}
