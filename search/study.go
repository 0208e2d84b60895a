// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"lathe/internal/diag"
	"lathe/search/front"
)

// Keys of attributes of a study.
const (
	// NamesKey has the names of the objectives, where Optuna's dashboard looks for them; it is of the system.
	NamesKey = "study:metric_names"
	// SpaceKey has the parameters, see Space; SamplerKey, PrunerKey and SeedKey have what draws them; they are the user's.
	SpaceKey, SamplerKey, SeedKey = "lathe:space", "lathe:sampler", "lathe:seed"
	// fixedKey is where a trial that waits has parameters that somebody wants tried; it is of the system.
	fixedKey = "fixed_params"
)

// Study is one worker's view of a study.
type Study struct {
	Info    *StudyInfo
	Storage Storage
	Space   Space
	Sampler Sampler
	Pruner  Pruner // nil: trials go on to their end
	// Seed is that of the study: trial n draws from a seed that is made of it and n, so that studies which go on after a
	// break, and several workers, draw as one does.
	Seed uint64
	// Now is the time that trials carry; nil: none.
	Now func() time.Time
	// Fresh draws again where a trial has the same parameters already, since what is measured is the same each time: at
	// first from other seeds, then with more and more of the parameters moved to other values.
	Fresh bool
	// Most bounds the number of trials; 0: not.
	Most int
	// Lease is for how long a trial belongs to this worker before it must renew its lease, and Worker the name in it;
	// 0: trials have none. Gone, if not nil, says that a worker is known to be gone, so that nobody need wait for it.
	Lease  time.Duration
	Worker string
	Gone   func(worker string) bool

	history *History
	open    []int // numbers of trials that were not finished
	known   map[uint64]int
	held    map[int]Lease // of this worker's trials
	seen    map[int]sighting
}

// History is what is known of the study, up to now.
func (s *Study) History(ctx context.Context) (*History, error) {
	if s.history == nil {
		s.history = NewHistory(s.Info.Name, s.Info.Directions)
		for k, v := range s.Info.System {
			s.history.System[k] = v
		}
	}
	from := s.history.Len()
	trials, err := s.Storage.Trials(ctx, s.Info.ID, from, s.open)
	if err != nil {
		return nil, err
	}
	s.open = s.open[:0]
	for _, t := range trials {
		s.history.Put(t)
		if !t.State.Finished() {
			s.open = append(s.open, t.Number)
		}
		s.note(t)
		s.sight(t)
	}
	return s.history, nil
}

// note keeps in mind which parameters a trial has.
func (s *Study) note(t *Trial) {
	if s.known == nil {
		s.known = map[uint64]int{}
	}
	if _, have := s.known[digest(t.Params)]; !have && t.State != Waiting {
		s.known[digest(t.Params)] = t.Number
	}
}

// digest is a number for a set of parameters, in whatever order.
func digest(params []Param) uint64 {
	var sum uint64
	for _, p := range params {
		f := fnv.New64a()
		fmt.Fprint(f, p.Name, "=", p.Dist.JSON(p.Value))
		sum += scramble(f.Sum64()) // sums of FNV alone collide: it hardly mixes the last byte
	}
	return sum
}

// Same is the first trial with the same parameters as another one, if it comes before; false where there is none.
func (s *Study) Same(t *Trial) (number int, ok bool) {
	number, ok = s.known[digest(t.Params)]
	return number, ok && number < t.Number
}

// Mix is a number of 32 bits made of the seed of a study and the number of a trial (SplitMix64, Steele et al. 2014).
func Mix(seed uint64, number int) uint32 {
	return uint32(scramble(seed+(uint64(number)+1)*0x9e3779b97f4a7c15) >> 32)
}

// scramble is the last step of SplitMix64.
func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (s *Study) now() time.Time {
	if s.Now == nil {
		return time.Time{}
	}
	return s.Now().UTC()
}

// Ask begins a trial: one that waits, one that another worker has lost, or a new one. It has all parameters of the
// space. It is nil where the study has as many trials as it may have. Error L1108 where one that waits has a value that
// its parameter does not have.
func (s *Study) Ask(ctx context.Context) (*Trial, error) {
	h, err := s.History(ctx)
	if err != nil {
		return nil, err
	}
	for _, number := range slices.Clone(s.open) {
		if h.State(number) != Waiting {
			continue
		}
		t, err := s.claim(ctx, h, number)
		if diag.CodeOf(err) == diag.TrialClosed { // another worker was faster
			continue
		}
		return t, err
	}
	if t, err := s.Lost(ctx); t != nil || err != nil {
		return t, err
	}
	return s.create(ctx, h)
}

// errEnough says that a study has as many trials as it may have.
var errEnough = errors.New("enough trials")

// create makes a trial; nil where there are enough.
func (s *Study) create(ctx context.Context, h *History) (*Trial, error) {
	var d Draft
	enough := false
	t, err := s.Storage.CreateTrial(ctx, s.Info.ID, func(t *Trial) error {
		if enough = s.Most > 0 && t.Number >= s.Most; enough {
			return errEnough
		}
		t.Start = s.now()
		d.Number = t.Number
		params, err := s.draw(h, &d, t.Params, nil)
		t.Params = params
		for _, a := range slices.Concat(d.Trial, s.begin()) {
			t.Set(a)
		}
		return err
	})
	if enough {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return t, s.keep(ctx, t, d.Study)
}

// keep tells the history of a trial, and the storage what the sampler wants kept of the study.
func (s *Study) keep(ctx context.Context, t *Trial, attrs []Attr) error {
	s.history.Put(t)
	s.note(t)
	s.holds(t)
	if !slices.Contains(s.open, t.Number) {
		s.open = append(s.open, t.Number)
	}
	for _, a := range attrs {
		s.history.System[a.Key] = a.Value
	}
	if len(attrs) == 0 {
		return nil
	}
	return s.Storage.SetStudy(ctx, s.Info.ID, attrs...)
}

// Trial is one as it stands in the storage, which never changes. Error L1104 where there is none of that number.
func (s *Study) Trial(ctx context.Context, number int) (*Trial, error) {
	var list []*Trial
	var err error
	if number >= 0 {
		list, err = s.Storage.Trials(ctx, s.Info.ID, math.MaxInt32, []int{number})
	}
	if err == nil && len(list) == 0 {
		if list, err = s.Storage.Trials(ctx, s.Info.ID, 0, nil); err == nil {
			err = NoTrial(s.Info.Name, number, len(list))
		}
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// claim takes a trial that waits.
func (s *Study) claim(ctx context.Context, h *History, number int) (*Trial, error) {
	waits, err := s.Trial(ctx, number)
	if err != nil {
		return nil, err
	}
	t := waits.Clone()
	if t.State != Waiting {
		return nil, diag.New(diag.TrialClosed, "", "trial %d does not wait", number)
	}
	fixed := map[string]json.RawMessage{}
	if raw, ok := t.System[fixedKey]; ok && json.Unmarshal(raw, &fixed) != nil {
		return nil, diag.New(diag.TrialValues, "", "trial %d: %s is no table of parameters", number, fixedKey)
	}
	d := Draft{Number: number}
	params, err := s.draw(h, &d, t.Params, fixed)
	if err != nil {
		return nil, err
	}
	running := Running
	change := Change{State: &running, Params: params, Attrs: slices.Concat(d.Trial, s.begin()), At: s.now()}
	if err := s.Storage.UpdateTrial(ctx, s.Info.ID, number, change); err != nil {
		return nil, err
	}
	if err := t.Apply(change); err != nil {
		return nil, err
	}
	return t, s.keep(ctx, t, d.Study)
}

// Enqueue adds a trial that waits for a worker, with some values as JSON; source says in its attributes who wants it.
func (s *Study) Enqueue(ctx context.Context, values map[string]json.RawMessage, source string) (*Trial, error) {
	return s.Storage.CreateTrial(ctx, s.Info.ID, func(t *Trial) error {
		t.State = Waiting
		t.Set(Attr{System: true, Key: fixedKey, Value: Encode(values)})
		t.Set(Attr{Key: "source", Value: Encode(source)})
		return nil
	})
}

// Report keeps a value on the way of a trial, and says whether the trial is to end now. It needs a study of one
// objective. Error L1111 where the trial had a lease and belongs to another worker.
func (s *Study) Report(ctx context.Context, t *Trial, step int, value float64) (end bool, err error) {
	change := Change{Steps: []Step{{step, value}}}
	if err := t.Apply(change); err != nil {
		return false, err
	}
	h, err := s.History(ctx)
	if err != nil {
		return false, err
	}
	h.Put(t)
	if s.Pruner != nil {
		end, change.Attrs = s.Pruner.Prune(h, t.Number)
	}
	for _, a := range change.Attrs {
		t.Set(a)
	}
	if change.If, err = s.own(t.Number); err != nil {
		return false, err
	}
	return end, s.Storage.UpdateTrial(ctx, s.Info.ID, t.Number, change)
}

// Revise gives a trial other parameters than those that were drawn, and keeps why. Error L1111 as Report.
func (s *Study) Revise(ctx context.Context, t *Trial, params []Param, attrs ...Attr) error {
	own, err := s.own(t.Number)
	if err != nil {
		return err
	}
	change := Change{If: own, Params: params, Attrs: attrs}
	if err := s.Storage.UpdateTrial(ctx, s.Info.ID, t.Number, change); err != nil {
		return err
	}
	err = t.Apply(change)
	s.note(t)
	return err
}

// Tell ends a trial: Complete with a value for each objective, Pruned or Fail without. Error L1108 for values that are
// not numbers, or not as many as there are objectives, L1111 where the trial had a lease and belongs to another worker.
// It may be told again where the storage failed: what is written already stays.
func (s *Study) Tell(ctx context.Context, number int, state State, values []float64, attrs ...Attr) error {
	if state == Complete && len(values) != len(s.Info.Directions) {
		return diag.New(diag.TrialValues, "", "trial %d: %s, but the study has %s", number,
			diag.Amount(len(values), "value"), diag.Amount(len(s.Info.Directions), "objective"))
	}
	for i, v := range values {
		if v != v {
			return diag.New(diag.TrialValues, "", "trial %d: value %d is not a number", number, i)
		}
	}
	l, leased := s.held[number]
	own, err := s.own(number)
	if err != nil {
		return err
	}
	change := Change{If: own, State: &state, Values: values, Attrs: attrs, At: s.now()}
	err = s.Storage.UpdateTrial(ctx, s.Info.ID, number, change)
	if leased && diag.CodeOf(err) == diag.TrialClosed && s.told(ctx, number, l) {
		err = nil
	}
	if code := diag.CodeOf(err); err == nil || code == diag.LeaseLost || code == diag.TrialClosed {
		delete(s.held, number)
	}
	return err
}

// Best are the numbers of the trials that nothing beats, of complete ones that break no limit: the best trial, the
// first of equals, or of several objectives the front. What was measured of trials counts, not what was predicted.
func (s *Study) Best(ctx context.Context) ([]int, error) {
	h, err := s.Corrected(ctx)
	if err != nil {
		return nil, err
	}
	var out []int
	for n := range h.Len() {
		if h.State(n) != Complete || h.Infeasible(n) {
			continue
		}
		if len(h.Directions) == 1 {
			if len(out) == 0 || h.Better(h.Values(n)[0], h.Values(out[0])[0]) {
				out = []int{n}
			}
			continue
		}
		loss := h.Losses(n)
		if slices.ContainsFunc(out, func(m int) bool { return front.Dominates(h.Losses(m), loss) }) {
			continue
		}
		out = slices.DeleteFunc(out, func(m int) bool { return front.Dominates(loss, h.Losses(m)) })
		out = append(out, n)
	}
	return out, nil
}
