// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"encoding/json"
	"testing"
	"time"

	"lathe/search"
)

// TestSpool: an outcome that was kept in a file is told once the storage is back, by whoever reads the file; one whose
// trial belongs to another worker by then is late, and so is one that is told twice.
func TestSpool(t *testing.T) {
	_, w := crew(t, 2, 2)
	ctx := t.Context()
	spool := func() *search.Spooled {
		t.Helper()
		trial, err := w[0].Ask(ctx)
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(w[0].Spool(trial.Number, search.Complete, []float64{4}, search.Attr{Key: "lut",
			Value: search.Encode(5)}))
		if err != nil {
			t.Fatal(err)
		}
		o := &search.Spooled{}
		if err := json.Unmarshal(line, o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	first, second := spool(), spool()
	for _, wantLate := range []bool{false, true} {
		if late, err := w[1].TellSpooled(ctx, first); err != nil || late != wantLate {
			t.Errorf("late %v, %v", late, err)
		}
	}
	kept, err := w[1].Trial(ctx, 0)
	if err != nil || kept.State != search.Complete || kept.Values[0] != 4 || string(kept.User["lut"]) != "5" {
		t.Errorf("%+v, %v", kept, err)
	}
	if _, err := w[1].History(ctx); err != nil {
		t.Fatal(err)
	}
	w[1].now = w[1].now.Add(2 * time.Minute)
	if taken, err := w[1].Lost(ctx); err != nil || taken == nil || taken.Number != 1 {
		t.Fatalf("%+v, %v", taken, err)
	}
	if late, err := w[0].TellSpooled(ctx, second); err != nil || !late {
		t.Errorf("late %v, %v", late, err)
	}
	if err := w[1].Tell(ctx, 1, search.Complete, []float64{6}); err != nil {
		t.Error(err)
	}
}
