// SPDX-License-Identifier: Apache-2.0

package space

import (
	"context"
	"math"
	"slices"

	"lathe/internal/choose"
	"lathe/search"
)

// Outcome is what became of a trial of a study.
type Outcome struct {
	State  search.State
	Values []float64
	// Attrs are what the study keeps of it: figures of the user, limits of the system.
	Attrs []search.Attr
	// Refused is why there is no more to say of it.
	Refused string
	// Text is the plan, "" where it was refused.
	Text string
	// Trial is what all this was read from, and Meter that of its model; nil where there is no model.
	Trial *choose.Trial
	Meter *choose.Meter
}

// Try measures a configuration. The hardware is predicted first: one that breaks a limit ends there, Pruned. A plan
// that is refused is a trial that failed. report, if not nil, hears of each rung, and may end the trial there.
func (s *Space) Try(ctx context.Context, t *choose.Meter, params []search.Param, report Report) (*Outcome, error) {
	made, err := s.made(ctx, t, params)
	if refused := choose.Refusal(err); refused != "" && ctx.Err() == nil {
		return Failed(refused), nil
	}
	if err != nil {
		return nil, err
	}
	t = made
	p, err := s.Plan(t, params)
	if err != nil {
		return nil, err
	}
	r, ended, err := s.climb(ctx, t, p, report)
	if err != nil {
		return nil, err
	}
	o := &Outcome{State: search.Pruned, Text: r.Text, Trial: r, Meter: t}
	if r.Refused != "" {
		return failed(o, r.Refused), nil
	}
	if formats := s.formats(t, params); len(formats) > 0 {
		o.Attrs = append(o.Attrs, search.Attr{Key: FormatsKey, Value: search.Encode(formats)})
	}
	for _, f := range figures {
		if v, ok := f.of(t, &r.Point); ok && f.name != "ii" {
			o.Attrs = append(o.Attrs, search.Attr{Key: f.name, Value: search.Encode(v)})
		}
	}
	if len(s.limits) > 0 {
		o.Attrs = append(o.Attrs, search.ConstraintAttr(s.violations(t, &r.Point, !r.Measured)))
	}
	switch {
	case !r.Measured:
		o.Refused = "it breaks a limit"
		return o, nil
	case ended:
		o.Refused = "it was worth less than others on this rung"
		return o, nil
	}
	o.State = search.Complete
	for i := range s.Objectives {
		v, ok := s.Objectives[i].of(t, &r.Point)
		if !ok || math.IsNaN(v) {
			return failed(o, "it has no "+s.Objectives[i].name), nil
		}
		o.Values = append(o.Values, v)
	}
	return o, nil
}

// Measured is what a trial is worth where its design costs what was measured.
func (s *Space) Measured(o *Outcome, cost choose.Cost) *search.Measured {
	p := o.Trial.Point
	p.Cost = &cost
	m := &search.Measured{Figures: map[string]float64{}, Violations: s.violations(o.Meter, &p, false)}
	for i := range s.Objectives {
		v, _ := s.Objectives[i].of(o.Meter, &p)
		m.Values = append(m.Values, v)
	}
	for _, f := range figures {
		if v, ok := f.of(o.Meter, &p); ok && f.hardware && f.name != "ii" {
			m.Figures[f.name] = v
		}
	}
	return m
}

// FormatsKey is the attribute of a trial, of the user, that has the formats of a configuration by layer and slot.
const FormatsKey = "lathe:formats"

// formats are those of a configuration.
func (s *Space) formats(t *choose.Meter, params []search.Param) map[string]string {
	values, out := map[string]float64{}, map[string]string{}
	for _, p := range params {
		values[p.Name] = p.Value
	}
	for _, slot := range s.slots {
		if slices.ContainsFunc(t.Layers, func(l choose.Layer) bool { return l.Node == slot.node }) {
			out[slot.node+"."+slot.word] = slot.choice.format(values)
		}
	}
	return out
}

// Failed is the outcome of a trial of which nothing else is known.
func Failed(why string) *Outcome { return failed(&Outcome{}, why) }

// failed is the outcome of a trial that cannot be.
func failed(o *Outcome, why string) *Outcome {
	o.State, o.Values, o.Refused = search.Fail, nil, why
	o.Attrs = append(o.Attrs, search.Attr{Key: search.FailureKey, Value: search.Encode(why)})
	return o
}

// Text is the plan of a configuration, with all formats that calibration chose; outputs are not computed.
func (s *Space) Text(ctx context.Context, t *choose.Meter, params []search.Param) (string, error) {
	p, err := s.Plan(t, params)
	if err != nil {
		return "", err
	}
	r, err := t.Try(ctx, p, func(*choose.Point) bool { return false })
	if err != nil {
		return "", err
	}
	return r.Text, nil
}

// violations are those of the limits, or of the limits of hardware alone.
func (s *Space) violations(t *choose.Meter, p *choose.Point, hardware bool) []float64 {
	out := []float64{}
	for _, l := range s.limits {
		if v, ok := l.violation(t, p); ok && (l.hardware || !hardware) {
			out = append(out, v)
		}
	}
	return out
}

func broken(violations []float64) bool {
	for _, v := range violations {
		if v > 0 {
			return true
		}
	}
	return false
}
