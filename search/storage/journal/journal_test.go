// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"lathe/internal/diag"
	"lathe/search"
	"lathe/search/sampler"
	"lathe/search/searchtest"
	"lathe/search/storage/memory"
)

func open(t *testing.T, path string) *Storage {
	t.Helper()
	s, err := Open(path, "w", true)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestConform: a journal does what the memory does, also when it is read anew.
func TestConform(t *testing.T) {
	for seed := range uint64(3) {
		path := filepath.Join(t.TempDir(), "run.log")
		again := func() search.Storage { return open(t, path) }
		searchtest.Conform(t, again(), memory.New(), again, 400, seed)
	}
}

var one = search.Space{{Name: "w", Dist: search.NewInt(4, 16, 2, false)}, {Name: "f", Dist: search.NewWords("a", "b")}}

// study makes a study with some trials, and returns it.
func study(t *testing.T, path string, trials int) *search.Study {
	t.Helper()
	ctx := context.Background()
	s := open(t, path)
	id, err := s.CreateStudy(ctx, "s", []search.Direction{search.Minimize})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	st := &search.Study{Info: &search.StudyInfo{ID: id, Name: "s", Directions: []search.Direction{search.Minimize}},
		Storage: s, Space: one, Sampler: sampler.NewRandom(0), Seed: 3, Now: func() time.Time { return begin }}
	for range trials {
		run(t, st)
	}
	return st
}

func run(t *testing.T, s *search.Study) {
	t.Helper()
	trial, err := s.Ask(context.Background())
	if err == nil {
		err = s.Tell(context.Background(), trial.Number, search.Complete, []float64{trial.Params[0].Value})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSame: the same seed and clock give the same bytes, with a break in the middle too.
func TestSame(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	study(t, a, 12)
	s := study(t, b, 5)
	broken := &search.Study{Info: s.Info, Storage: open(t, b), Space: one, Sampler: sampler.NewRandom(9),
		Seed: 3, Now: s.Now}
	for range 7 {
		run(t, broken)
	}
	x, errA := os.ReadFile(a)
	y, errB := os.ReadFile(b)
	if errA != nil || errB != nil || !bytes.Equal(x, y) {
		t.Errorf("%v %v, %d and %d bytes", errA, errB, len(x), len(y))
	}
}

// TestTorn cuts the file at every byte of its last three records: the journal is read up to the last whole line, and
// the next record follows it.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "whole")
	study(t, path, 4)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	last := bytes.Join(lines[:len(lines)-4], nil) // the last piece is empty
	for cut := len(last); cut < len(data); cut++ {
		torn := filepath.Join(dir, "torn")
		if err := os.WriteFile(torn, data[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		s := open(t, torn)
		if _, err := s.CreateTrial(t.Context(), 0, nil); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		got, err := os.ReadFile(torn)
		if err != nil {
			t.Fatal(err)
		}
		kept := bytes.LastIndexByte(data[:cut], '\n') + 1
		if !bytes.Equal(got[:kept], data[:kept]) || bytes.Count(got[kept:], []byte("\n")) != 1 ||
			!bytes.HasPrefix(got[kept:], []byte(`{"op_code":4,`)) || got[len(got)-1] != '\n' {
			t.Fatalf("cut at %d: %q", cut, got[kept:])
		}
	}
}

// TestRepair: half a line at the end goes; of a line that another record was glued to, that record stays.
func TestRepair(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.log")
	study(t, path, 3)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	glued := bytes.Join(append([][]byte{lines[0], lines[1][:20]}, lines[2:]...), nil)
	if err := os.WriteFile(path, append(glued, "\n{\"op_co"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, "w", false); diag.CodeOf(err) != diag.StudyStorage {
		t.Errorf("a glued line: %v", err)
	}
	notes, err := Repair(t.Context(), path)
	if err != nil || len(notes) != 2 {
		t.Fatalf("%q, %v", notes, err)
	}
	want := bytes.Join(append([][]byte{lines[0]}, lines[2:]...), nil)
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, append(want, '\n')) {
		t.Errorf("%v\n%s\n%s", err, got, want)
	}
	if notes, err := Repair(t.Context(), path); err != nil || notes != nil {
		t.Errorf("again: %q, %v", notes, err)
	}
}

// TestTogether: several writers, each with the file open by itself, number their trials without a gap.
func TestTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.log")
	first := study(t, path, 0)
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	for k := range 4 {
		wg.Go(func() {
			s, err := Open(path, fmt.Sprint(k), false)
			st := &search.Study{Info: first.Info, Storage: s, Space: one, Sampler: sampler.NewRandom(0)}
			for range 10 {
				var trial *search.Trial
				if err == nil {
					trial, err = st.Ask(context.Background())
				}
				if err == nil {
					err = st.Tell(context.Background(), trial.Number, search.Complete, []float64{1})
				}
			}
			errs <- err
		})
	}
	wg.Wait()
	for range 4 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	trials, err := open(t, path).Trials(context.Background(), 0, 0, nil)
	if err != nil || len(trials) != 40 {
		t.Fatalf("%d trials, %v", len(trials), err)
	}
	for i, trial := range trials {
		if trial.Number != i || trial.State != search.Complete {
			t.Errorf("trial %d: %+v", i, trial)
		}
	}
}

// TestWords reads what Python writes and JSON does not have.
func TestWords(t *testing.T) {
	line := `{"op_code":7,"worker_id":"NaN \" Infinity","trial_id":0,"step":3,"intermediate_value":-Infinity}`
	r, err := parse([]byte(line))
	if err != nil || r.StepValue > -1e308 || r.Step != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := parse([]byte(`{"op_code":11,"worker_id":"x"}`)); err == nil {
		t.Error("a record of a newer version is read")
	}
}

// BenchmarkTrial is the time of a trial; BenchmarkLoad that of 10,000 trials of 24 parameters that are read.
func BenchmarkTrial(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), "run.log"), "w", true)
	if err != nil {
		b.Fatal(err)
	}
	searchtest.Overhead(b, s, sampler.NewRandom(0))
}

func BenchmarkLoad(b *testing.B) {
	w := &writer{worker: "w"}
	w.line(createStudy, "study_name", `"s"`, "directions", "[1]")
	d := search.NewWords("a", "b", "c", "d")
	complete := search.Complete
	for n := range 10000 {
		t := &search.Trial{}
		for i := range 24 {
			t.Params = append(t.Params, search.Param{Name: fmt.Sprintf("l%02d.w", i), Dist: d, Value: float64((n + i) % 4)})
		}
		w.trial(0, t)
		w.change(int64(n), search.Change{State: &complete, Values: []float64{float64(n)}})
	}
	path := filepath.Join(b.TempDir(), "run.log")
	if err := os.WriteFile(path, w.out.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Open(path, "w", false)
		if err != nil {
			b.Fatal(err)
		}
		study := &search.Study{Info: &search.StudyInfo{Name: "s", Directions: []search.Direction{search.Minimize}},
			Storage: s}
		h, err := study.History(b.Context())
		if err != nil || h.Count(search.Complete) != 10000 {
			b.Fatal(err)
		}
	}
}
