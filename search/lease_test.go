// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/search"
	"lathe/search/sampler"
	"lathe/search/storage/memory"
)

// shift is one worker of a study, with a clock of its own.
type shift struct {
	*search.Study
	now  time.Time
	has  *search.Trial
	dead bool
	past *past
}

// past is a storage whose worker may be slow: what it reads next is what it saw some time ago.
type past struct {
	search.Storage
	saw []*search.Trial
}

func (p *past) Trials(ctx context.Context, id search.StudyID, from int, also []int) ([]*search.Trial, error) {
	if p.saw == nil {
		return p.Storage.Trials(ctx, id, from, also)
	}
	var out []*search.Trial
	for _, t := range p.saw {
		if t.Number >= from || slices.Contains(also, t.Number) {
			out = append(out, t)
		}
	}
	p.saw = nil
	return out, nil
}

// crew makes workers of one study that ends at so many trials.
func crew(t *testing.T, workers, most int) (search.Storage, []*shift) {
	t.Helper()
	s := memory.New()
	id, err := s.CreateStudy(t.Context(), "s", []search.Direction{search.Minimize})
	if err != nil {
		t.Fatal(err)
	}
	var all []*shift
	for k := range workers {
		// Clocks have nothing to do with each other.
		w := &shift{now: time.Unix(int64(1000*k), 0), past: &past{Storage: s}}
		w.Study = &search.Study{Info: &search.StudyInfo{ID: id, Name: "s", Directions: []search.Direction{search.Minimize}},
			Storage: w.past, Space: search.Space{{Name: "w", Dist: search.NewInt(0, 99, 1, false)}},
			Sampler: sampler.NewRandom(0), Now: func() time.Time { return w.now },
			Lease: time.Minute, Worker: fmt.Sprint("w", k), Most: most}
		all = append(all, w)
	}
	return s, all
}

// TestLease: a trial whose worker sleeps is taken over, with its parameters, and is told once, by its last worker; one
// that is given back at once; one that three workers have lost fails.
func TestLease(t *testing.T) {
	ctx := t.Context()
	_, w := crew(t, 3, 4)
	ask := asking(t, w)
	first := ask(0)
	if n := ask(1); n.Number != 1 {
		t.Fatalf("trial %d, while the first one is worked on", n.Number)
	}
	w[1].now = w[1].now.Add(59 * time.Second)
	if err := w[0].Renew(ctx, 0); err != nil {
		t.Fatal(err)
	}
	w[1].now = w[1].now.Add(59 * time.Second)
	if n := ask(1); n.Number != 2 || w[1].Elsewhere() != 1 {
		t.Fatalf("trial %d, though the lease was renewed; %d elsewhere", n.Number, w[1].Elsewhere())
	}
	w[1].now = w[1].now.Add(time.Minute)
	again := ask(1)
	if again.Number != 0 || again.Params[0].Value != first.Params[0].Value || w[1].Elsewhere() != 0 {
		t.Fatalf("taken over: %+v", again)
	}
	if err := w[0].Renew(ctx, 0); diag.CodeOf(err) != diag.LeaseLost {
		t.Errorf("renewed by the one that slept: %v", err)
	}
	if err := w[0].Hold(ctx, 0, 1); diag.CodeOf(err) != diag.LeaseLost {
		t.Errorf("held by the old epoch: %v", err)
	}
	if err := w[1].Tell(ctx, 0, search.Complete, []float64{1}); err != nil {
		t.Fatal(err)
	}
	if err := w[1].Release(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if n := ask(2); n.Number != 1 {
		t.Errorf("trial %d, where one was given back", n.Number)
	}
	w[1].Gone = func(name string) bool { return name == "w2" }
	if n := ask(1); n.Number != 1 {
		t.Errorf("trial %d, where its worker is gone", n.Number)
	}
	w[2].now = w[2].now.Add(time.Hour)
	if n := ask(2); n.Number != 2 {
		t.Errorf("trial %d, before the new lease of the second was seen for long", n.Number)
	}
	w[2].now = w[2].now.Add(time.Hour)
	if n := ask(2); n.Number != 1 {
		t.Errorf("trial %d, where two workers have lost the second, and one gave it back", n.Number)
	}
	if n := ask(1); n.Number != 2 {
		t.Errorf("trial %d, where the second has failed, and the worker of the third is gone", n.Number)
	}
	h, err := w[2].History(ctx)
	if err != nil || h.State(1) != search.Fail {
		t.Errorf("a trial that three workers have lost: %v, %v", h.State(1), err)
	}
	if last, none := ask(0), ask(0); last.Number != 3 || none != nil {
		t.Errorf("trials %+v and %+v, where there may be four", last, none)
	}
}

// TestLostMeanwhile: a worker that has read of the loss of its trial, perhaps for another one, can neither renew its
// lease nor tell; nor can it tell of a trial that failed since three workers have lost it.
func TestLostMeanwhile(t *testing.T) {
	ctx := t.Context()
	_, w := crew(t, 4, 4)
	ask := asking(t, w)
	first := ask(0)
	for k := 1; k < 4; k++ {
		if _, err := w[k].History(ctx); err != nil {
			t.Fatal(err)
		}
		w[k].now = w[k].now.Add(time.Hour)
		if got, err := w[k].Lost(ctx); err != nil || (got == nil) != (k == 3) {
			t.Fatalf("%d: %+v, %v", k, got, err)
		}
		if k == 1 {
			if _, err := w[0].History(ctx); err != nil {
				t.Fatal(err)
			}
			if err := w[0].Renew(ctx, 0); diag.CodeOf(err) != diag.LeaseLost {
				t.Errorf("renewed: %v", err)
			}
			if _, err := w[0].Report(ctx, first, 1, 2); diag.CodeOf(err) != diag.LeaseLost {
				t.Errorf("reported: %v", err)
			}
			if err := w[0].Tell(ctx, 0, search.Complete, []float64{1}); diag.CodeOf(err) != diag.LeaseLost {
				t.Errorf("told: %v", err)
			}
		}
	}
	if err := w[2].Tell(ctx, 0, search.Complete, []float64{1}); err == nil {
		t.Error("told, though the trial has failed")
	}
}

// TestForEver: a trial that is taken without a lease, after it was given back, belongs to who has it.
func TestForEver(t *testing.T) {
	_, w := crew(t, 2, 2)
	ask := asking(t, w)
	ask(0)
	if err := w[0].Release(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	w[1].Lease = 0
	if got := ask(1); got.Number != 0 {
		t.Fatalf("trial %d", got.Number)
	}
	if got := ask(0); got.Number != 1 || w[0].Elsewhere() != 0 {
		t.Errorf("trial %d, %d elsewhere", got.Number, w[0].Elsewhere())
	}
}

// asking has one of the workers ask.
func asking(t *testing.T, w []*shift) func(k int) *search.Trial {
	return func(k int) *search.Trial {
		t.Helper()
		trial, err := w[k].Ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return trial
	}
}

// TestToldTwice: a worker whose answer got lost may tell again, and another value does not count.
func TestToldTwice(t *testing.T) {
	s, w := crew(t, 1, 1)
	if _, err := w[0].Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	w[0].Storage = lossy{s}
	if err := w[0].Tell(t.Context(), 0, search.Complete, []float64{1}); diag.CodeOf(err) != diag.StudyStorage {
		t.Fatal(err)
	}
	w[0].Storage = s
	if err := w[0].Tell(t.Context(), 0, search.Complete, []float64{2}); err != nil {
		t.Fatal(err)
	}
	trials, err := s.Trials(t.Context(), w[0].Info.ID, 0, nil)
	if err != nil || trials[0].Values[0] != 1 {
		t.Errorf("%v, %v", trials[0].Values, err)
	}
}

// lossy does what it is told, and says that it has failed.
type lossy struct{ search.Storage }

func (l lossy) UpdateTrial(ctx context.Context, id search.StudyID, number int, c search.Change) error {
	if err := l.Storage.UpdateTrial(ctx, id, number, c); err != nil {
		return err
	}
	return diag.New(diag.StudyStorage, "", "the connection broke")
}

// TestProtocol goes through all orders, as far as they lead to other states, of what three workers may do with two
// trials, to a depth: each asks, renews, tells, dies, sleeps for longer than a lease, or reads what it acts on later.
// Each trial has one result, of the worker that had it last, and as long as a worker lives all trials end.
func TestProtocol(t *testing.T) {
	const workers, trials = 3, 2
	depth := tools.Sample(6, 9)
	seen := map[string]int{} // states, and how many steps there were left
	var walk func(path []int)
	walk = func(path []int) {
		s, w := crew(t, workers, trials)
		told := map[int]int{}
		ok := true
		for _, step := range path {
			ok = w[step/steps].do(t, step%steps, told)
		}
		if !ok { // the last step was none
			return
		}
		key := state(t, w, told)
		if left, ok := seen[key]; ok && left >= depth-len(path) {
			return
		}
		seen[key] = depth - len(path)
		finish(t, path, s, w, told, trials)
		if len(path) < depth {
			for step := range workers * steps {
				if len(path) == 0 && step/steps > 0 { // workers are alike
					break
				}
				walk(append(path[:len(path):len(path)], step))
			}
		}
	}
	walk(nil)
	if len(seen) < 1000 {
		t.Errorf("only %d states", len(seen))
	}
	t.Logf("%d states", len(seen))
}

// state is all that matters of workers and trials.
func state(t *testing.T, w []*shift, told map[int]int) string {
	t.Helper()
	text := fmt.Sprint(told)
	show := func(list []*search.Trial) {
		for _, one := range list {
			text += fmt.Sprint(one.Number, one.State, string(one.System[search.LeaseKey]))
		}
	}
	for _, one := range w {
		text += fmt.Sprint(one.dead, one.has != nil, one.Inside(time.Minute))
		if one.has != nil {
			text += fmt.Sprint(one.has.Number)
		}
		show(one.past.saw)
		text += "|"
	}
	all, err := w[0].past.Storage.Trials(t.Context(), w[0].Info.ID, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	show(all)
	return text
}

// steps is how many kinds of them there are.
const steps = 6

// do is one step of a worker; it says whether it could do it.
func (w *shift) do(t *testing.T, step int, told map[int]int) bool {
	ctx := t.Context()
	if w.dead {
		return false
	}
	switch step {
	case 0:
		if w.has != nil {
			return false
		}
		trial, err := w.Ask(ctx)
		if err != nil {
			t.Fatal(err)
		}
		w.has = trial
		return trial != nil
	case 1, 2:
		if w.has == nil {
			return false
		}
		var err error
		if step == 1 {
			err = w.Renew(ctx, w.has.Number)
		} else if err = w.Tell(ctx, w.has.Number, search.Complete, []float64{float64(w.now.Unix())}); err == nil {
			told[w.has.Number]++
			w.last(t)
		}
		if step == 2 || err != nil {
			w.has = nil
		}
		if code := diag.CodeOf(err); err != nil && code != diag.LeaseLost && code != diag.TrialClosed {
			t.Fatal(err)
		}
	case 3:
		w.dead = true
	case 4:
		w.now = w.now.Add(2 * time.Minute)
	case 5:
		if w.past.saw != nil {
			return false
		}
		saw, err := w.past.Storage.Trials(ctx, w.Info.ID, 0, nil)
		if err != nil || len(saw) == 0 {
			return false
		}
		w.past.saw = saw
	}
	return true
}

// last demands that the worker had the trial which it has told.
func (w *shift) last(t *testing.T) {
	t.Helper()
	all, err := w.past.Storage.Trials(t.Context(), w.Info.ID, w.has.Number, nil)
	if err != nil {
		t.Fatal(err)
	}
	var l search.Lease
	if err := json.Unmarshal(all[0].System[search.LeaseKey], &l); err != nil || l.Worker != w.Worker {
		t.Fatalf("%s tells trial %d, which %s has", w.Worker, w.has.Number, l.Worker)
	}
}

// finish lets the first worker that lives end the study, and looks at what came out.
func finish(t *testing.T, path []int, s search.Storage, w []*shift, told map[int]int, trials int) {
	t.Helper()
	var last *shift
	for _, one := range w {
		if !one.dead {
			last = one
		}
	}
	if last == nil {
		return
	}
	for range 40 {
		last.now = last.now.Add(2 * time.Minute)
		if last.has == nil {
			last.do(t, 0, told)
		}
		last.do(t, 2, told)
	}
	all, err := s.Trials(t.Context(), last.Info.ID, 0, nil)
	if err != nil || len(all) != trials {
		t.Fatalf("%v: %d trials, %v", path, len(all), err)
	}
	for i, trial := range all {
		var l search.Lease
		if err := json.Unmarshal(trial.System[search.LeaseKey], &l); err != nil {
			t.Fatal(err)
		}
		lost := trial.State == search.Fail && l.Lost >= 3
		if trial.Number != i || !lost && (trial.State != search.Complete || told[i] != 1) || lost && told[i] != 0 {
			t.Fatalf("%v: trial %d is %s, told %d times, lease %+v", path, i, trial.State, told[i], l)
		}
	}
}
