// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"context"
	"math"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/lower/plan"
)

// Sensitivity is what each layer loses in each format while the rest keeps those of a base plan.
type Sensitivity struct {
	On
	Float *float64 `json:"accuracy_float,omitempty"`
	// Rest says in words what the other layers have; Base is the plan without any change.
	Rest    string   `json:"rest"`
	Base    Point    `json:"base"`
	Formats []string `json:"formats"`
	// Rows are by layer, then by format.
	Rows []Row `json:"rows"`
	// Whole is every layer in one format, for each of Formats; Sum is the error power of its rows added up, relative to
	// that measured for the whole: 1 where layers do not interact.
	Whole []Whole `json:"whole"`
	// Removed is, under a plan of the user's, the share of its output error that goes away when a layer gets RestFormat;
	// by layer.
	Removed []float64 `json:"removed,omitempty"`

	layers []Layer
}

// Row is one layer in one format.
type Row struct {
	Layer
	Format string `json:"format"`
	Point
	// Noise is the power of the output error that the layer adds, relative to the outputs; Share is its part of what all
	// layers add in this format, each by itself.
	Noise *float64 `json:"noise,omitempty"`
	Share *float64 `json:"share,omitempty"`
}

// Whole is every layer in one format.
type Whole struct {
	Format string `json:"format"`
	Point
	Sum *float64 `json:"sum,omitempty"`
}

// Parts says which formats of a layer change: those of weights, of results, or both.
type Parts struct {
	Weight bool `json:"weight"`
	Data   bool `json:"data"`
}

// of is a format as that of weights and of results, "" where they stay as they are.
func (p Parts) of(format string) (weight, data string) {
	if p.Weight {
		weight = format
	}
	if p.Data {
		data = format
	}
	return weight, data
}

// Sensitivity measures each layer alone in each format. byPlan takes the user's plan for the rest, else that is
// RestFormat. Error L0421 where every format is refused for every layer.
func (t *Meter) Sensitivity(ctx context.Context, formats []string, parts Parts, byPlan bool, p driver.Progress) (
	*Sensitivity, error) {
	base, err := t.Plan, error(nil)
	s := &Sensitivity{On: t.On, Float: t.Accuracy, Formats: formats, layers: t.Layers, Rest: "the plan"}
	if !byPlan {
		s.Rest = RestFormat
		if base, err = t.wide(); err != nil {
			return nil, err
		}
	}
	point, _, err := t.Measure(ctx, base, false)
	if err != nil {
		return nil, err
	}
	if point.Refused != "" {
		return nil, diag.New(diag.NoUsableFormat, t.subject.Model, "the plan for the rest is refused: %s", point.Refused)
	}
	s.Base = *point
	for i := range t.Layers {
		for k, f := range formats {
			tell(p, "layers", i*len(formats)+k, len(formats)*len(t.Layers))
			row, err := t.alone(ctx, base, &t.Layers[i], f, parts)
			if err != nil {
				return nil, err
			}
			s.Rows = append(s.Rows, *row)
		}
	}
	if err := s.used(t.subject.Model); err != nil {
		return nil, err
	}
	s.share()
	for k, f := range formats {
		tell(p, "all layers", k, len(formats))
		if err := t.whole(ctx, s, base, k, f, parts); err != nil {
			return nil, err
		}
	}
	if byPlan {
		return s, t.removed(ctx, s, base, p)
	}
	return s, nil
}

func tell(p driver.Progress, step string, done, total int) {
	if p != nil {
		p(step, done, total)
	}
}

// alone measures one layer in one format.
func (t *Meter) alone(ctx context.Context, base *plan.Plan, l *Layer, f string, parts Parts) (*Row, error) {
	row := &Row{Layer: *l, Format: f}
	list := l.Assign(parts.of(f))
	if list == nil {
		row.Refused = "it has no weights"
		return row, nil
	}
	plan, err := base.Assigned("alone", list)
	if err != nil {
		return nil, err
	}
	point, _, err := t.Measure(ctx, plan, false)
	if err == nil {
		row.Point = *point
	}
	return row, err
}

// used refuses formats that no layer takes.
func (s *Sensitivity) used(model string) error {
	refused := ""
	for i := range s.Rows {
		if s.Rows[i].Refused == "" {
			return nil
		}
		refused = s.Rows[i].Refused
	}
	return diag.New(diag.NoUsableFormat, model, "no layer takes any of these formats: %s", refused).
		WithHint("take others: --formats 'fixed(4..8),mxint8'; lathe list formats has all")
}

// share divides the error of each format among its layers.
func (s *Sensitivity) share() {
	for k := range s.Formats {
		sum := 0.0
		for i := k; i < len(s.Rows); i += len(s.Formats) {
			r := &s.Rows[i]
			if r.Refused != "" || r.SQNR == nil {
				continue
			}
			noise := r.noise() - s.Base.noise()
			r.Noise = &noise
			sum += max(0, noise)
		}
		for i := k; i < len(s.Rows) && sum > 0; i += len(s.Formats) {
			if r := &s.Rows[i]; r.Noise != nil {
				part := max(0, *r.Noise) / sum
				r.Share = &part
			}
		}
	}
}

// whole measures all layers in one format.
func (t *Meter) whole(ctx context.Context, s *Sensitivity, base *plan.Plan, k int, f string, parts Parts) error {
	var all []plan.Assignment
	sum := s.Base.noise()
	for i := range t.Layers {
		r := &s.Rows[i*len(s.Formats)+k]
		if r.Refused != "" {
			continue
		}
		all = append(all, t.Layers[i].Assign(parts.of(f))...)
		if r.Noise != nil {
			sum += *r.Noise
		}
	}
	if len(all) == 0 {
		s.Whole = append(s.Whole, Whole{Format: f, Point: Point{Refused: "no layer takes it"}})
		return nil
	}
	plan, err := base.Assigned("all layers", all)
	if err != nil {
		return err
	}
	point, _, err := t.Measure(ctx, plan, false)
	if err != nil {
		return err
	}
	w := Whole{Format: f, Point: *point}
	if noise := w.noise(); w.Refused == "" && noise > 0 && !math.IsNaN(sum) {
		ratio := sum / noise
		w.Sum = &ratio
	}
	s.Whole = append(s.Whole, w)
	return nil
}

// removed measures what of the error of the user's plan goes away with each layer.
func (t *Meter) removed(ctx context.Context, s *Sensitivity, base *plan.Plan, p driver.Progress) error {
	all := s.Base.noise()
	if !(all > 0) {
		return nil
	}
	for i := range t.Layers {
		tell(p, "the plan's error", i, len(t.Layers))
		row, err := t.alone(ctx, base, &t.Layers[i], RestFormat, Parts{true, true})
		if err != nil {
			return err
		}
		part := 0.0
		if row.Refused == "" {
			part = (all - row.noise()) / all
		}
		s.Removed = append(s.Removed, part)
	}
	return nil
}
