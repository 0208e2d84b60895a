// SPDX-License-Identifier: Apache-2.0

//go:build long

package searchtest

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"lathe/internal/tools"
	"lathe/search"
	"lathe/search/sampler"
)

// pace is a program that prints the milliseconds of a trial of Optuna: kept where, drawn how, over parameters of a
// kind, the last ones of so many trials.
const pace = `
import json, sys, time, warnings, optuna
warnings.simplefilter("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)
where, how, kind, count, parameters, last = sys.argv[1], sys.argv[2], sys.argv[3], *map(int, sys.argv[4:7])
storage = None if where == "memory" else where if "://" in where else \
    optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(where))
sampler = optuna.samplers.RandomSampler(0) if how == "random" else optuna.samplers.TPESampler(seed=0)
study = optuna.create_study(storage=storage, sampler=sampler)
D = optuna.distributions
dist = {"categorical": D.CategoricalDistribution(["a", "b", "c", "d"]), "int": D.IntDistribution(0, 100),
    "float": D.FloatDistribution(0, 1)}[kind]
dists = {f"l{i:03}.w": dist for i in range(parameters)}
for k in range(count):
    if k == count - last: start = time.perf_counter()
    t = study.ask(dists)
    study.tell(t, float(k % 17))
print(json.dumps(1000 * (time.perf_counter() - start) / last))
`

// course is what a comparison runs.
type course struct {
	storage, sampler, kind   string
	trials, parameters, last int
}

// BenchmarkOptuna is the time of a trial beside that of Optuna on the same machine, one after the other: of storages
// with 24 parameters drawn at random, and of TPE after 1,000 trials.
func BenchmarkOptuna(b *testing.B) {
	python := tools.NeedPeers(b)
	for _, c := range []course{{"journal", "random", "categorical", 200, 24, 100},
		{"sqlite", "random", "categorical", 200, 24, 100}, {"postgres", "random", "categorical", 200, 24, 100},
		{"memory", "tpe", "categorical", 1000, 24, 50}, {"memory", "tpe", "int", 1000, 24, 50},
		{"memory", "tpe", "float", 1000, 100, 20}} {
		b.Run(fmt.Sprintf("%s/%s/%d-%s", c.storage, c.sampler, c.parameters, c.kind), func(b *testing.B) {
			for b.Loop() {
				ours, theirs := c.ours(b), c.optuna(b, python)
				b.ReportMetric(ours, "ms/trial")
				b.ReportMetric(theirs, "optuna-ms/trial")
				b.ReportMetric(theirs/ours, "times")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// ours is the milliseconds of one of the last trials.
func (c *course) ours(b *testing.B) float64 {
	open, _ := empty(b, c.storage)
	s, err := open()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ways := []search.Direction{search.Minimize}
	id, err := s.CreateStudy(b.Context(), "s", ways)
	if err != nil {
		b.Fatal(err)
	}
	study := &search.Study{Info: &search.StudyInfo{ID: id, Name: "s", Directions: ways}, Storage: s,
		Sampler: sampler.NewRandom(0)}
	if c.sampler == "tpe" {
		study.Sampler = sampler.NewTPE(0, sampler.TPEOptions{})
	}
	dist := map[string]*search.Distribution{"categorical": search.NewWords("a", "b", "c", "d"),
		"int": search.NewInt(0, 100, 1, false), "float": search.NewFloat(0, 1, 0, false)}[c.kind]
	for i := range c.parameters {
		study.Space = append(study.Space, search.Parameter{Name: fmt.Sprintf("l%03d.w", i), Dist: dist})
	}
	var start time.Time
	for k := range c.trials {
		if k == c.trials-c.last {
			start = time.Now()
		}
		t, err := study.Ask(b.Context())
		if err == nil {
			err = study.Tell(b.Context(), t.Number, search.Complete, []float64{float64(k % 17)})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return 1000 * time.Since(start).Seconds() / float64(c.last)
}

// optuna is the same of Optuna.
func (c *course) optuna(b *testing.B, python string) (ms float64) {
	_, url := empty(b, c.storage)
	out, err := exec.Command(python, "-c", pace, url, c.sampler, c.kind, fmt.Sprint(c.trials), fmt.Sprint(c.parameters),
		fmt.Sprint(c.last)).Output()
	if err != nil {
		b.Fatal(err)
	}
	if err := json.Unmarshal(out, &ms); err != nil {
		b.Fatal(err)
	}
	return ms
}
