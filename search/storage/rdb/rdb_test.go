// SPDX-License-Identifier: Apache-2.0

package rdb

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/search"
	"lathe/search/sampler"
	"lathe/search/searchtest"
	"lathe/search/storage/memory"
)

func open(t *testing.T, path string) *Storage {
	t.Helper()
	s, err := Open(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestConform: a database does what the memory does, also when it is opened anew.
func TestConform(t *testing.T) {
	for seed := range uint64(3) {
		path := filepath.Join(t.TempDir(), "a b?.db")
		again := func() search.Storage { return open(t, path) }
		searchtest.Conform(t, again(), memory.New(), again, 300, seed)
	}
}

// TestTogether: several writers, each with the file open by itself, number their trials without a gap.
func TestTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.db")
	together(t, func() (*Storage, error) { return Open(context.Background(), path, true) })
}

// TestForeign refuses what is no database, and tables of another version, and leaves both as they are.
func TestForeign(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.db")
	text := "this is a text, and long enough for a page of a database: " + string(make([]byte, 4096))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, true); diag.CodeOf(err) != diag.StudyStorage {
		t.Errorf("a text: %v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != text {
		t.Errorf("the text has changed: %v", err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	s := open(t, other)
	err := s.write(t.Context(), func(tx *tx) error {
		_, err := tx.Exec(`UPDATE version_info SET schema_version = 13`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), other, true); diag.CodeOf(err) != diag.StudySchema {
		t.Errorf("a newer version: %v", err)
	}
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "none.db"), false); diag.CodeOf(err) != diag.StudyStorage {
		t.Errorf("no file: %v", err)
	}
}

// BenchmarkTrial is the time of a trial.
func BenchmarkTrial(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "run.db"), true)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	searchtest.Overhead(b, s, sampler.NewRandom(0))
}

// TestCopy: whatever happened to studies, copies have it all, from a database to the memory and back; another change is
// seen.
func TestCopy(t *testing.T) {
	from := open(t, filepath.Join(t.TempDir(), "a.db"))
	searchtest.Conform(t, from, memory.New(), nil, 300, 5)
	all, err := from.Studies(t.Context())
	if err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	middle, back := memory.New(), open(t, filepath.Join(t.TempDir(), "b.db"))
	copied := 0
	for _, info := range all {
		n, err := search.Copy(t.Context(), from, info, middle, info.Name)
		if err != nil {
			t.Fatal(err)
		}
		copied += n
		there, err := search.Find(t.Context(), middle, "", info.Name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := search.Copy(t.Context(), middle, there, back, info.Name); err != nil {
			t.Fatal(err)
		}
		again, err := search.Find(t.Context(), back, "", info.Name)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := searchtest.Dump(t, from, info.ID), searchtest.Dump(t, back, again.ID); a != b {
			t.Errorf("%s\ncopied\n%s", a, b)
		}
		first, _ := from.Trials(t.Context(), info.ID, 0, nil)
		second, _ := back.Trials(t.Context(), again.ID, 0, nil)
		if what := search.Differ(info, again, first, second); what != "" {
			t.Errorf("study %s: %s", info.Name, what)
		}
		if len(second) > 0 {
			second[len(second)-1].SetParam(search.Param{Name: "more", Dist: search.NewInt(1, 2, 1, false), Value: 1})
			if what := search.Differ(info, again, first, second); !strings.Contains(what, "only the second has more") {
				t.Errorf("another parameter: %q", what)
			}
		}
		if _, err := search.Copy(t.Context(), from, info, middle, info.Name); diag.CodeOf(err) != diag.StudyExists {
			t.Errorf("a second copy of the name: %v", err)
		}
	}
	if copied < 20 {
		t.Errorf("%d trials", copied)
	}
}
