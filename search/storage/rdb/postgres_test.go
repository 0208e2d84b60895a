// SPDX-License-Identifier: Apache-2.0

package rdb

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/search"
	"lathe/search/sampler"
	"lathe/search/searchtest"
	"lathe/search/storage/memory"
)

func connect(t *testing.T, p *tools.Postgres) *Storage {
	t.Helper()
	s, err := Connect(t.Context(), p.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestPostgres: PostgreSQL does what the memory does, numbers the trials of several workers without a gap, and goes on
// after it was gone.
func TestPostgres(t *testing.T) {
	p := tools.NeedPostgres(t)
	t.Run("conform", func(t *testing.T) {
		again := func() search.Storage { return connect(t, p) }
		s := again()
		searchtest.Conform(t, s, memory.New(), again, tools.Sample(300, 3000), 1)
		all, err := connect(t, p).Studies(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range all {
			if err := connect(t, p).DeleteStudy(t.Context(), info.ID); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("together", func(t *testing.T) {
		together(t, func() (*Storage, error) { return Connect(context.Background(), p.URL) })
	})
	t.Run("gone", func(t *testing.T) {
		s := connect(t, p)
		id, err := s.CreateStudy(t.Context(), "gone", []search.Direction{search.Minimize})
		if err != nil {
			t.Fatal(err)
		}
		p.Stop()
		if _, err := s.CreateTrial(t.Context(), id, nil); diag.CodeOf(err) != diag.StudyStorage ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("without a server: %v", err)
		}
		p.Start(t)
		trial, err := s.CreateTrial(t.Context(), id, nil)
		if err != nil || trial.Number != 0 {
			t.Errorf("with the server again: %v, %v", trial, err)
		}
	})
}

// together has several writers, each with a storage of its own, number their trials.
func together(t *testing.T, open func() (*Storage, error)) {
	t.Helper()
	ways := []search.Direction{search.Maximize}
	first, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	id, err := first.CreateStudy(t.Context(), "together", ways)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	for range 4 {
		wg.Go(func() {
			s, err := open()
			st := &search.Study{Info: &search.StudyInfo{ID: id, Name: "s", Directions: ways}, Storage: s,
				Space:   search.Space{{Name: "w", Dist: search.NewInt(4, 16, 2, false)}},
				Sampler: sampler.NewTPE(0, sampler.TPEOptions{}), Most: 40, Lease: time.Minute, Now: time.Now}
			for trial := new(search.Trial); err == nil && trial != nil; {
				if trial, err = st.Ask(context.Background()); err == nil && trial != nil {
					err = st.Tell(context.Background(), trial.Number, search.Complete, []float64{1})
				}
			}
			errs <- err
			_ = s.Close()
		})
	}
	wg.Wait()
	for range 4 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	trials, err := first.Trials(t.Context(), id, 0, nil)
	if err != nil || len(trials) != 40 {
		t.Fatalf("%d trials, %v", len(trials), err)
	}
	for i, trial := range trials {
		if trial.Number != i || trial.State != search.Complete {
			t.Errorf("trial %d: %+v", i, trial)
		}
	}
}

// BenchmarkPostgres is the time of a trial, with a server that need not wait for its disk.
func BenchmarkPostgres(b *testing.B) {
	p := tools.NeedPostgres(b)
	s, err := Connect(b.Context(), p.URL)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	searchtest.Overhead(b, s, sampler.NewRandom(0))
}

// TestPassword: messages do not show it.
func TestPassword(t *testing.T) {
	_, err := Connect(t.Context(), "postgresql://me:secret@127.0.0.1:1/db")
	if diag.CodeOf(err) != diag.StudyStorage || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}
