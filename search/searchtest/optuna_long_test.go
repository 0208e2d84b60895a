// SPDX-License-Identifier: Apache-2.0

//go:build long

package searchtest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/search"
	"lathe/search/sampler"
	"lathe/search/storage/journal"
	"lathe/search/storage/memory"
	"lathe/search/storage/rdb"
)

// script works on a study with Optuna: storage, number of trials, whether one is to wait. It prints what it sees.
const script = `
import json, sys, warnings, optuna
warnings.simplefilter("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)
where, count, wait = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "wait"
storage = where if "://" in where else optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(where))
study = optuna.load_study(study_name="s", storage=storage)
dists = study.trials[0].distributions
for k in range(count):
    t = study.ask(dists)
    t.set_constraint("even", 1.0 if t.number % 2 else -1.0)
    study.tell(t, [t.params["w"] / 16, -t.params["x"]])
if wait: study.enqueue_trial({"w": 12, "c": None})
trials = study.trials
print(json.dumps({"numbers": [t.number for t in trials], "states": [t.state.name for t in trials],
    "params": [t.params for t in trials], "best": sorted(t.number for t in study.best_trials),
    "names": study.metric_names, "user": study.user_attrs.get("lathe:seed")}))
`

// seen is what the script prints.
type seen struct {
	Numbers []int
	States  []string
	Params  []map[string]any
	Best    []int
	Names   []string
	User    int
}

// TestOptuna takes turns with Optuna at one study, in a journal and in a database, and then works on it at the same
// time.
func TestOptuna(t *testing.T) {
	python := tools.NeedPeers(t)
	for _, kind := range []string{"journal", "sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			open, where := empty(t, kind)
			turns(t, open, func(args ...string) *exec.Cmd {
				return exec.Command(python, append([]string{"-c", script, where}, args...)...)
			})
		})
	}
}

// empty is a storage of a kind with nothing in it yet, and how Python's programs name it: with the driver that
// scripts/peers.txt has.
func empty(t testing.TB, kind string) (open func() (search.Storage, error), where string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run."+kind)
	switch kind {
	case "journal":
		return func() (search.Storage, error) { return journal.Open(path, "lathe", true) }, path
	case "sqlite":
		return func() (search.Storage, error) { return rdb.Open(context.Background(), path, true) }, "sqlite:///" + path
	case "postgres":
		url := tools.NeedPostgres(t).URL
		return func() (search.Storage, error) { return rdb.Connect(context.Background(), url) },
			strings.Replace(url, "postgresql:", "postgresql+psycopg2:", 1)
	}
	return func() (search.Storage, error) { return memory.New(), nil }, "memory"
}

var ways = []search.Direction{search.Minimize, search.Maximize}

func turns(t *testing.T, open func() (search.Storage, error), optuna func(args ...string) *exec.Cmd) {
	storage, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer storage.Close()
	id, err := storage.CreateStudy(t.Context(), "s", ways)
	if err == nil {
		err = storage.SetStudy(t.Context(), id, search.Attr{Key: search.SeedKey, Value: search.Encode(7)},
			search.Attr{System: true, Key: search.NamesKey, Value: search.Encode([]string{"size", "loss"})})
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &search.Study{Info: &search.StudyInfo{ID: id, Name: "s", Directions: ways}, Storage: storage, Seed: 7,
		Space: search.Space{{Name: "w", Dist: search.NewInt(4, 16, 4, false)},
			{Name: "x", Dist: search.NewFloat(1e-3, 1, 0, true)}, {Name: "c", Dist: search.NewChoice(`"a"`, "null", "2.5")}},
		Sampler: sampler.NewTPE(0, sampler.TPEOptions{})}
	add(t, s, 12)
	agree(t, s, look(t, optuna("5", "wait")), 18)
	add(t, s, 1) // the one that waits
	got := look(t, optuna("0", "no"))
	agree(t, s, got, 18)
	if p := got.Params[17]; p["w"] != 12.0 || p["c"] != nil || got.States[17] != "COMPLETE" || got.User != 7 ||
		!slices.Equal(got.Names, []string{"size", "loss"}) {
		t.Errorf("the trial that waited: %v, %s; %v %v", p, got.States[17], got.User, got.Names)
	}
	together := optuna("15", "no")
	together.Stderr = os.Stderr
	if err := together.Start(); err != nil {
		t.Fatal(err)
	}
	add(t, s, 15)
	if err := together.Wait(); err != nil {
		t.Fatal(err)
	}
	agree(t, s, look(t, optuna("0", "no")), 48)
}

// add runs trials.
func add(t *testing.T, s *search.Study, count int) {
	t.Helper()
	for range count {
		trial, err := s.Ask(t.Context())
		if err == nil {
			w, x := trial.Param("w").Value, trial.Param("x").Value
			limit := 1.0
			if trial.Number%2 == 0 {
				limit = -1
			}
			err = s.Tell(t.Context(), trial.Number, search.Complete, []float64{w / 16, -x},
				search.ConstraintAttr([]float64{limit}))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func look(t *testing.T, c *exec.Cmd) (out seen) {
	t.Helper()
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// agree demands that both see the same trials, numbered without a gap, and the same front.
func agree(t *testing.T, s *search.Study, theirs seen, count int) {
	t.Helper()
	trials, err := s.Storage.Trials(t.Context(), s.Info.ID, 0, nil)
	if err != nil || len(trials) != count || len(theirs.Numbers) != count {
		t.Fatalf("%d trials here and %d there, want %d; %v", len(trials), len(theirs.Numbers), count, err)
	}
	for i, trial := range trials {
		if trial.Number != i || theirs.Numbers[i] != i || trial.State.String() != theirs.States[i] {
			t.Errorf("trial %d: %d is %s here, %d is %s there", i, trial.Number, trial.State,
				theirs.Numbers[i], theirs.States[i])
		}
		for _, p := range trial.Params {
			want, err := json.Marshal(theirs.Params[i][p.Name])
			if err != nil {
				t.Fatal(err)
			}
			if v, ok := p.Dist.Value(string(want)); !ok || v != p.Value {
				t.Errorf("trial %d: %s is %s here, %s there", i, p.Name, p.Dist.JSON(p.Value), want)
			}
		}
	}
	best, err := s.Best(t.Context())
	slices.Sort(best)
	if err != nil || !slices.Equal(best, theirs.Best) {
		t.Errorf("front %v here, %v there; %v", best, theirs.Best, err)
	}
}
