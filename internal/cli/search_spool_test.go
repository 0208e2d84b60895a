// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"lathe/internal/choose/space"
	"lathe/internal/diag"
	"lathe/search"
	"lathe/search/sampler"
	"lathe/search/storage/memory"
)

// broken is a storage that takes no change while it is gone.
type broken struct {
	search.Storage
	gone bool
}

func (b *broken) UpdateTrial(ctx context.Context, id search.StudyID, number int, c search.Change) error {
	if b.gone {
		return diag.New(diag.StudyStorage, "db", "the connection broke")
	}
	return b.Storage.UpdateTrial(ctx, id, number, c)
}

// TestSpool: a worker that is interrupted while its database is gone keeps its result in a file, which its next run
// tells and removes; results of other studies stay, and what a killed writer has left is no result.
func TestSpool(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx := t.Context()
	s := &broken{Storage: memory.New()}
	id, err := s.CreateStudy(ctx, "s", []search.Direction{search.Minimize})
	if err != nil {
		t.Fatal(err)
	}
	study := &search.Study{Storage: s, Sampler: sampler.NewRandom(0), Lease: time.Minute, Worker: "w", Now: time.Now,
		Info:  &search.StudyInfo{ID: id, Name: "s", Directions: []search.Direction{search.Minimize}},
		Space: search.Space{{Name: "w", Dist: search.NewInt(1, 9, 1, false)}}}
	var notes []string
	q := &queue{searchStudy: &searchStudy{Study: study, remote: true}, open: map[int]context.CancelFunc{},
		note: func(text string) { notes = append(notes, text) }}
	trial, err := q.Ask(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s.gone = true
	stop := errors.New("interrupted")
	late, cancel := context.WithTimeoutCause(ctx, 10*time.Millisecond, stop)
	defer cancel()
	err = q.finish(late, trial, &space.Outcome{State: search.Complete, Values: []float64{4}}, nil, false)
	if !errors.Is(err, stop) || len(notes) != 2 || !strings.Contains(notes[1], "the result of trial 0 is in "+spoolFile) {
		t.Fatalf("%v, %q", err, notes)
	}
	file, err := os.ReadFile(spoolFile)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(file), `"study":"s"`, `"study":"other"`, 1)
	if err := os.WriteFile(spoolFile, []byte(string(file)+other+`{"study":"s","tri`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.gone = false
	var out bytes.Buffer
	a := &App{Out: &out, Err: &out}
	for _, want := range []string{"1 result told, 0 given to other workers meanwhile", ""} {
		if err := a.unspool(ctx, study); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v, %q", err, out.String())
		}
		if left, err := os.ReadFile(spoolFile); err != nil || string(left) != other {
			t.Errorf("%v, left %q", err, left)
		}
	}
	if kept, err := q.Trial(ctx, 0); err != nil || kept.State != search.Complete || kept.Values[0] != 4 {
		t.Errorf("%+v, %v", kept, err)
	}
}
