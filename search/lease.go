// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"lathe/internal/diag"
)

// A trial belongs to the worker whose lease stands in its attributes. Whoever has it writes on condition that it still
// stands there, so that each trial is told once, by its last worker, whatever dies or sleeps on the way. A lease ends
// when nobody has renewed it for as long as it says, by the clock of the one who waits: no clocks of two machines are
// compared. Then another worker may take the trial over, with its parameters.

// LeaseKey is the attribute of a trial, of the system, that has its Lease.
const LeaseKey = "lathe:lease"

// FailureKey is the attribute of a trial, of the user, that says why it failed.
const FailureKey = "lathe:failure"

// mostWorkers is how many workers may lose a trial before it fails: what it does may kill them.
const mostWorkers = 3

// Lease says who works on a trial.
type Lease struct {
	Worker string `json:"worker"`
	// Epoch counts the workers that have had the trial, and Beat how often the lease was renewed.
	Epoch int `json:"epoch"`
	Beat  int `json:"beat"`
	// Lost counts the workers before that did not give the trial back.
	Lost int `json:"lost,omitempty"`
	// Seconds is how long it stands without being renewed; 0: for ever.
	Seconds float64 `json:"seconds"`
	// Given says that the worker has given the trial back.
	Given bool `json:"given,omitempty"`
}

func (l Lease) attr() Attr { return Attr{System: true, Key: LeaseKey, Value: Encode(l)} }

// sighting is what a lease of somebody else was, and since when.
type sighting struct {
	lease string
	since time.Time
}

// begin is the first lease of a trial; none where the study has no leases.
func (s *Study) begin() []Attr {
	if s.Lease <= 0 {
		return nil
	}
	return []Attr{Lease{Worker: s.Worker, Epoch: 1, Seconds: s.Lease.Seconds()}.attr()}
}

// holds keeps in mind that a trial belongs to this worker, if it has a lease.
func (s *Study) holds(t *Trial) {
	var l Lease
	if raw := t.System[LeaseKey]; s.Lease > 0 && raw != nil && json.Unmarshal(raw, &l) == nil {
		if s.held == nil {
			s.held = map[int]Lease{}
		}
		s.held[t.Number] = l
	}
}

// sight notes the leases of others, and since when they have stood.
func (s *Study) sight(t *Trial) {
	raw := string(t.System[LeaseKey])
	l, mine := s.held[t.Number]
	if mine && raw != string(Encode(l)) {
		var now Lease
		if mine = json.Unmarshal([]byte(raw), &now) == nil && now.Worker == l.Worker && now.Epoch == l.Epoch; mine {
			s.held[t.Number] = now // the answer to a renewal got lost
		} else {
			delete(s.held, t.Number)
		}
	}
	var other Lease
	if mine || t.State != Running || s.Now == nil || json.Unmarshal([]byte(raw), &other) != nil || other.Seconds <= 0 {
		delete(s.seen, t.Number) // it is never over
		return
	}
	if s.seen == nil {
		s.seen = map[int]sighting{}
	}
	if s.seen[t.Number].lease != raw {
		s.seen[t.Number] = sighting{raw, s.Now()}
	}
}

// Elsewhere counts the trials that others work on, as far as their leases tell.
func (s *Study) Elsewhere() int { return len(s.seen) }

// Lost takes over a trial that another worker has lost, as far as History knows; nil where there is none.
func (s *Study) Lost(ctx context.Context) (*Trial, error) {
	for _, number := range slices.Sorted(maps.Keys(s.seen)) {
		if t, err := s.takeOver(ctx, number); t != nil || err != nil {
			return t, err
		}
	}
	return nil, nil
}

// takeOver takes a trial whose lease is over. It is nil where that is not so, or where somebody was faster. A trial
// that too many workers have lost fails.
func (s *Study) takeOver(ctx context.Context, number int) (*Trial, error) {
	at, ok := s.seen[number]
	var old Lease
	if !ok || json.Unmarshal([]byte(at.lease), &old) != nil {
		return nil, nil
	}
	over := s.Now().Sub(at.since) >= time.Duration(old.Seconds*float64(time.Second))
	if !over && !old.Given && (s.Gone == nil || !s.Gone(old.Worker)) {
		return nil, nil
	}
	mine := Lease{Worker: s.Worker, Epoch: old.Epoch + 1, Lost: old.Lost, Seconds: s.Lease.Seconds()}
	if !old.Given {
		mine.Lost++
	}
	c := Change{If: &Attr{System: true, Key: LeaseKey, Value: json.RawMessage(at.lease)}, Attrs: []Attr{mine.attr()}}
	lost := mine.Lost >= mostWorkers
	if lost {
		failed := Fail
		c.State, c.At = &failed, s.now()
		c.Attrs = append(c.Attrs, Attr{Key: FailureKey, Value: Encode("the workers that had it were lost")})
	}
	err := s.Storage.UpdateTrial(ctx, s.Info.ID, number, c)
	if code := diag.CodeOf(err); code == diag.LeaseLost || code == diag.TrialClosed {
		return nil, nil
	}
	if err != nil || lost {
		return nil, err
	}
	t, err := s.Trial(ctx, number)
	if err != nil {
		return nil, err
	}
	s.holds(t)
	delete(s.seen, number)
	return t.Clone(), nil
}

// Renew says that the worker still works on a trial. Error L1111 where it belongs to another one by now.
func (s *Study) Renew(ctx context.Context, number int) error {
	if own, err := s.own(number); own == nil {
		return err
	}
	l := s.held[number]
	next := l
	next.Beat++
	return s.move(ctx, number, l, next)
}

// Release gives a trial back, which the next worker that asks may have at once. Error L1111 as Renew.
func (s *Study) Release(ctx context.Context, number int) error {
	l, ok := s.held[number]
	if !ok {
		return nil
	}
	next := l
	next.Given = true
	err := s.move(ctx, number, l, next)
	delete(s.held, number)
	return err
}

// move changes the lease of a trial that belongs to this worker.
func (s *Study) move(ctx context.Context, number int, from, to Lease) error {
	old := from.attr()
	err := s.Storage.UpdateTrial(ctx, s.Info.ID, number, Change{If: &old, Attrs: []Attr{to.attr()}})
	switch {
	case err == nil:
		s.held[number] = to
	case diag.CodeOf(err) == diag.LeaseLost:
		delete(s.held, number)
	}
	return err
}

// own is the condition of what this worker writes of a trial: that it still has the lease; nil where the study has no
// leases. Error L1111 where History has seen that another one has it.
func (s *Study) own(number int) (*Attr, error) {
	if l, ok := s.held[number]; ok {
		a := l.attr()
		return &a, nil
	}
	if s.Lease <= 0 {
		return nil, nil
	}
	return nil, diag.New(diag.LeaseLost, "", "trial %d belongs to another worker by now", number)
}

// Epoch is that of the lease that this worker has of a trial; 0 where it has none.
func (s *Study) Epoch(number int) int { return s.held[number].Epoch }

// Hold demands that a trial belongs to the worker of an epoch, for what follows. Error L1111 where it does not.
func (s *Study) Hold(ctx context.Context, number, epoch int) error {
	t, err := s.Trial(ctx, number)
	if err != nil {
		return err
	}
	var l Lease
	raw := t.System[LeaseKey]
	switch wrong := diag.New(diag.LeaseLost, "", "trial %d does not belong to epoch %d", number, epoch); {
	case raw == nil || json.Unmarshal(raw, &l) != nil || l.Seconds <= 0:
		return wrong.WithHint("it has no lease: tell without an epoch")
	case l.Epoch != epoch:
		return wrong.WithHint("epoch %d has it", l.Epoch)
	}
	s.held = map[int]Lease{number: l}
	return nil
}

// told says that a trial is finished under the lease of this worker: an answer got lost on its way.
func (s *Study) told(ctx context.Context, number int, l Lease) bool {
	t, err := s.Trial(ctx, number)
	if err != nil {
		return false
	}
	var have Lease
	raw := t.System[LeaseKey]
	return t.State.Finished() && raw != nil && json.Unmarshal(raw, &have) == nil && have == l
}
