// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"encoding/json"
	"time"

	"lathe/internal/diag"
)

// Spooled is the outcome of a trial whose storage was gone when it ended: a line of a file until the storage is back.
type Spooled struct {
	Study string `json:"study"`
	Trial int    `json:"trial"`
	// Lease is that of the worker which tried the trial; null where it had none.
	Lease  json.RawMessage `json:"lease,omitempty"`
	State  State           `json:"state"`
	Values []float64       `json:"values,omitempty"`
	Attrs  []Attr          `json:"attributes,omitempty"`
	At     time.Time       `json:"at"`
}

// Spool is the outcome of a trial of this worker, as Tell takes it.
func (s *Study) Spool(number int, state State, values []float64, attrs ...Attr) *Spooled {
	out := &Spooled{Study: s.Info.Name, Trial: number, State: state, Values: values, Attrs: attrs, At: s.now()}
	if l, ok := s.held[number]; ok {
		out.Lease = Encode(l)
	}
	return out
}

// TellSpooled tells an outcome that was kept, unless somebody else has the trial by now, or has told it; then late is
// true.
func (s *Study) TellSpooled(ctx context.Context, o *Spooled) (late bool, err error) {
	c := Change{State: &o.State, Values: o.Values, Attrs: o.Attrs, At: o.At}
	if o.Lease != nil {
		c.If = &Attr{System: true, Key: LeaseKey, Value: o.Lease}
	}
	err = s.Storage.UpdateTrial(ctx, s.Info.ID, o.Trial, c)
	if code := diag.CodeOf(err); code == diag.LeaseLost || code == diag.TrialClosed {
		return true, nil
	}
	return false, err
}
