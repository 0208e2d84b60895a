// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// measuredKey is the attribute of a study that has what the design of a trial took: trials that are finished do not
// change any more.
func measuredKey(number int) string { return fmt.Sprintf("lathe:measured:%d", number) }

// Measured is what became of the design of a trial, in place of what was predicted.
type Measured struct {
	// Values are one for each objective, and Violations as Trial.Constraints.
	Values     []float64 `json:"values"`
	Violations []float64 `json:"violations,omitempty"`
	// Figures are those that differ from the trial's, by name.
	Figures map[string]float64 `json:"figures"`
	// Samples were simulated, and so many codes of their outputs were wrong.
	Samples    int `json:"samples"`
	Mismatches int `json:"mismatches"`
}

// Measured is what was measured of a trial; false where nothing was.
func (s *Study) Measured(number int) (m Measured, ok bool) {
	raw, ok := s.Info.User[measuredKey(number)]
	return m, ok && json.Unmarshal(raw, &m) == nil && len(m.Values) == len(s.Info.Directions)
}

// SetMeasured keeps what was measured of a trial.
func (s *Study) SetMeasured(ctx context.Context, number int, m *Measured) error {
	a := Attr{Key: measuredKey(number), Value: Encode(m)}
	if err := s.Storage.SetStudy(ctx, s.Info.ID, a); err != nil {
		return err
	}
	if s.Info.User == nil {
		s.Info.User = Attributes{}
	}
	s.Info.User[a.Key] = a.Value
	return nil
}

// Corrected is the history for those who look at it: with what was measured of trials in place of their values.
// Samplers do not see that, since other workers may not know it.
func (s *Study) Corrected(ctx context.Context) (*History, error) {
	h, err := s.History(ctx)
	if err != nil {
		return nil, err
	}
	out := *h
	out.records = slices.Clone(h.records)
	for n := range out.records {
		m, ok := s.Measured(n)
		if !ok || out.records[n].state != Complete {
			continue
		}
		out.records[n].values = m.Values
		if m.Violations != nil {
			out.records[n].violation = violation(m.Violations)
		}
	}
	return &out, nil
}
