// SPDX-License-Identifier: Apache-2.0

package rdb

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/search"
	"lathe/search/sampler"
)

// workerKey is the variable that makes a worker of the test program: its value is kind, address and number of trials.
const workerKey = "LATHE_TEST_WORKER"

func TestMain(m *testing.M) {
	if text := os.Getenv(workerKey); text != "" {
		if err := work(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work does trials until there are enough, and tries again where the database is gone.
func work(text string) error {
	part := strings.SplitN(text, " ", 3)
	var most int
	if _, err := fmt.Sscan(part[1], &most); err != nil {
		return err
	}
	ctx := context.Background()
	var s *search.Study
	begin := func() error {
		storage, err := openAny(ctx, part[0], part[2])
		if err != nil {
			return err
		}
		info, err := search.Find(ctx, storage, "", "faults")
		s = &search.Study{Info: info, Storage: storage,
			Space: search.Space{{Name: "w", Dist: search.NewInt(0, 99, 1, false)}}, Sampler: sampler.NewRandom(0),
			Most: most, Lease: 400 * time.Millisecond, Worker: fmt.Sprint(os.Getpid()),
			Now: time.Now}
		return err
	}
	again := func(do func() error) error {
		for {
			if err := do(); diag.CodeOf(err) != diag.StudyStorage {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	if err := again(begin); err != nil {
		return err
	}
	for {
		var t *search.Trial
		if err := again(func() (err error) { t, err = s.Ask(ctx); return err }); err != nil {
			return err
		}
		if t == nil {
			if s.Elsewhere() == 0 {
				return nil
			}
			time.Sleep(50 * time.Millisecond)
			continue
		}
		time.Sleep(time.Duration(t.Number%20) * time.Millisecond)
		value := []float64{t.Params[0].Value}
		err := again(func() error { return s.Tell(ctx, t.Number, search.Complete, value) })
		if code := diag.CodeOf(err); err != nil && code != diag.LeaseLost && code != diag.TrialClosed {
			return err
		}
	}
}

func openAny(ctx context.Context, kind, where string) (*Storage, error) {
	if kind == "sqlite" {
		return Open(ctx, where, true)
	}
	return Connect(ctx, where)
}

// TestFaults: workers are killed at any time, the server stops in between, and in the end each trial is told once, by
// the worker that had it last, with the value of its parameters; none is missing.
func TestFaults(t *testing.T) {
	most, workers := tools.Sample(100, 2000), tools.Sample(3, 16)
	t.Run("sqlite", func(t *testing.T) {
		faults(t, "sqlite", t.TempDir()+"/run.db", most, workers, func() {})
	})
	t.Run("postgres", func(t *testing.T) {
		p := tools.NeedPostgres(t)
		stops := 0
		faults(t, "postgres", p.URL, most, workers, func() {
			if stops++; stops%12 == 4 && stops < 60 {
				p.Stop()
				p.Start(t)
			}
		})
	})
}

// faults runs workers on a study and kills one at a time; disturb is called in between.
func faults(t *testing.T, kind, where string, most, workers int, disturb func()) {
	t.Helper()
	s, err := openAny(t.Context(), kind, where)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id, err := s.CreateStudy(t.Context(), "faults", []search.Direction{search.Maximize})
	if err != nil {
		t.Fatal(err)
	}
	start := func() (*exec.Cmd, chan error) {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", workerKey, kind, most, where))
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		end := make(chan error, 1)
		go func() { end <- c.Wait() }()
		return c, end
	}
	commands, ends := make([]*exec.Cmd, workers), make([]chan error, workers)
	for i := range workers {
		commands[i], ends[i] = start()
	}
	kills, r := 0, rand.New(rand.NewPCG(1, 2))
	for done := false; !done; {
		time.Sleep(200 * time.Millisecond)
		disturb()
		k := r.IntN(workers)
		select {
		case err := <-ends[k]: // there are enough trials, or there is a fault
			if err != nil {
				t.Errorf("a worker: %v", err)
			}
			done, ends[k] = true, nil
		default:
			if err := commands[k].Process.Kill(); err == nil {
				kills++
			}
			<-ends[k]
			commands[k], ends[k] = start()
		}
	}
	for _, end := range ends {
		if end != nil {
			if err := <-end; err != nil {
				t.Errorf("a worker: %v", err)
			}
		}
	}
	audit(t, s, id, most)
	t.Logf("%d trials, %d workers killed", most, kills)
}

// audit looks at what is left of a study.
func audit(t *testing.T, s search.Storage, id search.StudyID, most int) {
	t.Helper()
	trials, err := s.Trials(t.Context(), id, 0, nil)
	if err != nil || len(trials) != most {
		t.Fatalf("%d trials, %v", len(trials), err)
	}
	for i, trial := range trials {
		var l search.Lease
		if err := json.Unmarshal(trial.System[search.LeaseKey], &l); err != nil {
			t.Fatal(err)
		}
		lost := trial.State == search.Fail && l.Lost >= 3
		told := trial.State == search.Complete && len(trial.Values) == 1 && trial.Values[0] == trial.Params[0].Value
		if trial.Number != i || !lost && !told {
			t.Errorf("trial %d: %+v", i, trial)
		}
	}
}
