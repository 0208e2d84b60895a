// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"lathe/emit/plot"
	"lathe/emit/report"
	"lathe/internal/diag"
	"lathe/internal/driver"
)

// Sweep is the whole model in one format after the other.
type Sweep struct {
	On
	Float  *float64 `json:"accuracy_float,omitempty"`
	Parts  Parts    `json:"parts"`
	Points []Swept  `json:"points"`
}

// Swept is the model in one format.
type Swept struct {
	Format string `json:"format"`
	// Price is that of a digit, where weights are rounded by digits.
	Price *float64 `json:"digit_price,omitempty"`
	Point
	// Front says that no other point is better in one respect and as good in all others: quality, LUT, DSP, block RAM,
	// or without costs the bits of the model.
	Front bool `json:"front"`
}

// Sweep measures the model in each format: weights, data or both, where rules of the plan say nothing else. cost asks
// for hardware. Error L0421 where all are refused.
func (t *Meter) Sweep(ctx context.Context, formats []string, parts Parts, cost bool, p driver.Progress) (*Sweep,
	error) {
	s := &Sweep{On: t.On, Float: t.Accuracy, Parts: parts}
	for i, f := range formats {
		tell(p, "formats", i, len(formats))
		plan, err := t.Plan.Uniform("--formats", f, parts.Weight, parts.Data)
		if err != nil {
			return nil, err
		}
		point, _, err := t.Measure(ctx, plan, cost)
		if err != nil {
			return nil, err
		}
		s.Points = append(s.Points, Swept{Format: f, Point: *point})
		if point.Refused != "" {
			continue
		}
		for _, price := range t.Prices {
			if point, _, err = t.Measure(ctx, byDigits(plan, price), cost); err != nil {
				return nil, err
			}
			s.Points = append(s.Points, Swept{Format: f, Price: &price, Point: *point})
		}
	}
	var points []*Point
	for i := range s.Points {
		points = append(points, &s.Points[i].Point)
	}
	if !slices.ContainsFunc(points, func(p *Point) bool { return p.Refused == "" }) {
		return nil, diag.New(diag.NoUsableFormat, t.subject.Model, "none of these formats can be used: %s", points[0].Refused)
	}
	for i, on := range fitting(points, func(i int) bool { return t.Share(points[i]) <= 1 }) {
		s.Points[i].Front = on
	}
	return s, nil
}

// name is the format, and the price of digits.
func (p *Swept) name() string { return p.Format + priceText(p.Price) }

// fitting is the front of the points that fit the part.
func fitting(points []*Point, fits func(i int) bool) []bool {
	out := make([]bool, len(points))
	var those []*Point
	var at []int
	for i, p := range points {
		if fits(i) {
			those, at = append(those, p), append(at, i)
		}
	}
	for k, on := range front(those) {
		out[at[k]] = on
	}
	return out
}

// front says of each point whether it is one of the best: no other is as good in all respects and better in one. Of
// equal points all are.
func front(points []*Point) []bool {
	out := make([]bool, len(points))
	for i, p := range points {
		out[i] = p.Refused == "" && !slices.ContainsFunc(points, func(q *Point) bool { return q.beats(p) })
	}
	return out
}

// beats says that p is as good as q in all respects and better in one.
func (p *Point) beats(q *Point) bool {
	if p.Refused != "" {
		return false
	}
	a, b := p.respects(), q.respects()
	better := false
	for i := range a {
		if a[i] > b[i] || len(a) != len(b) {
			return false
		}
		better = better || a[i] < b[i]
	}
	return better
}

// respects are what a point is judged by, less being better.
func (p *Point) respects() []float64 {
	out := []float64{-p.quality()}
	if c := p.Cost; c != nil {
		return append(out, float64(c.LUT), float64(c.DSP), c.BRAM)
	}
	return append(out, float64(p.ModelBits))
}

// quality is the accuracy, or what takes its place, or without labels the SQNR; more is better.
func (p *Point) quality() float64 {
	switch {
	case p.Score != nil && p.metric.Least:
		return -*p.Score
	case p.Score != nil:
		return *p.Score
	case p.Accuracy != nil:
		return *p.Accuracy
	case p.SQNR != nil:
		return *p.SQNR
	}
	return 0
}

// Table is the points as rows of text, the heads first.
func (s *Sweep) Table() [][]string {
	known := slices.IndexFunc(s.Points, func(p Swept) bool { return p.Refused == "" })
	rows := [][]string{append(append([]string{"format"}, s.Points[known].heads()...), "front")}
	for i := range s.Points {
		p := &s.Points[i]
		if p.Refused != "" {
			rows = append(rows, refusal([]string{p.name()}, len(rows[0]), p.Refused))
			continue
		}
		on := ""
		if p.Front {
			on = "*"
		}
		rows = append(rows, append(append([]string{p.name()}, p.cells()...), on))
	}
	return rows
}

// bits is what a point is drawn at: the mean width of what the sweep changes.
func (s *Sweep) bits(p *Point) float64 {
	if s.Parts.Weight {
		return p.WeightBits
	}
	return p.DataBits
}

// Plots are quality against bits and, where hardware was asked for, against LUTs; formats of one name are one curve.
// The view is that of the first.
func (s *Sweep) Plots(view plot.View) (out [][]byte) {
	draw := func(title, x string, at func(*Swept) (x, y float64), y string) []byte {
		c := plot.Chart{Title: title, X: x, Y: y}
		if len(out) == 0 {
			c.View = view
		}
		for i := range s.Points {
			p := &s.Points[i]
			if p.Refused != "" {
				continue
			}
			name, _, _ := strings.Cut(p.Format, "(")
			if p.Price != nil {
				name += " digits"
			}
			k := slices.IndexFunc(c.Series, func(s plot.Series) bool { return s.Name == name })
			if k < 0 {
				k, c.Series = len(c.Series), append(c.Series, plot.Series{Name: name})
			}
			u, v := at(p)
			c.Series[k].Points = append(c.Series[k].Points, plot.Point{X: u, Y: v, Label: s.label(p)})
		}
		return c.SVG()
	}
	x := "bits a weight"
	if !s.Parts.Weight {
		x = "bits a value"
	}
	sqnr := func(p *Swept) float64 { return value(p.SQNR) }
	if s.Score != nil {
		out = append(out, draw(s.Metric+" against bits", x, func(p *Swept) (float64, float64) {
			return s.bits(&p.Point), scored(p.Score)
		}, fmt.Sprintf("%s (float: %s)", s.Metric, figure(*s.Score))))
	}
	if s.Float != nil {
		out = append(out, draw("Accuracy against bits", x, func(p *Swept) (float64, float64) {
			return s.bits(&p.Point), 100 * *p.Accuracy
		}, fmt.Sprintf("accuracy, %% (float: %.2f)", 100**s.Float)))
	}
	out = append(out, draw("SQNR against bits", x, func(p *Swept) (float64, float64) {
		return s.bits(&p.Point), sqnr(p)
	}, "output SQNR, dB"))
	if slices.ContainsFunc(s.Points, func(p Swept) bool { return p.Cost != nil }) {
		name, at := "output SQNR, dB", sqnr
		if s.Score != nil {
			name, at = s.Metric, func(p *Swept) float64 { return scored(p.Score) }
		}
		if s.Float != nil {
			name, at = "accuracy, %", func(p *Swept) float64 { return 100 * *p.Accuracy }
		}
		out = append(out, draw("Quality against LUTs", "LUT, predicted", func(p *Swept) (float64, float64) {
			if p.Cost == nil {
				return math.NaN(), at(p)
			}
			return float64(p.Cost.LUT), at(p)
		}, name))
	}
	return out
}

// label says in words what a point is.
func (s *Sweep) label(p *Swept) string {
	heads, cells := p.heads(), p.cells()
	text := p.name()
	for i := range heads {
		text += ", " + heads[i] + " " + cells[i]
	}
	return text
}

// Page is the whole sweep.
func (s *Sweep) Page(version string, facts []string, view plot.View) *report.Measurements {
	text := []string{"The whole model in each format, where rules of the plan say nothing else. Accuracy and SQNR are " +
		"those of the quantized graph in the reference engine; LUT, FF, DSP and block RAM are predicted by the headers of " +
		"the modules, and cycles are those between samples. A star marks points that no other one beats."}
	return &report.Measurements{Title: "Formats of " + s.Model, Version: version, Lead: facts,
		Sections: []report.Section{{Title: "Sweep", Text: text, Plots: s.Plots(view), Table: s.Table()}}}
}
