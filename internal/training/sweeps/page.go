// SPDX-License-Identifier: Apache-2.0

package sweeps

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"

	"lathe/emit/plot"
	"lathe/emit/report"
)

// Sweep is what all runs came to.
type Sweep struct {
	Kind  string `json:"kind"`
	Model string `json:"model"`
	Data  string `json:"data"`
	Eval  string `json:"eval"`
	Seeds int    `json:"seeds"`
	Fresh int    `json:"fresh,omitempty"`
	// Float is the accuracy of the float model before training, over the seeds where each has a model of its own.
	Float  Spread  `json:"accuracy_float"`
	Points []Point `json:"points"`

	kind Kind
}

// Point is a setting, over all seeds.
type Point struct {
	Series string  `json:"series,omitempty"`
	Label  string  `json:"label"`
	X      float64 `json:"x"`
	// Before is nil where nothing was measured before training.
	Before *Spread `json:"before,omitempty"`
	After  Spread  `json:"after"`
	// Trained is the number of parameters that were trained.
	Trained int `json:"trained"`
	// LUT and DSP are means; nil without hardware.
	LUT *float64 `json:"lut,omitempty"`
	DSP *float64 `json:"dsp,omitempty"`
	// Front says that no other point is as accurate with fewer LUTs, or more accurate with as many.
	Front bool  `json:"front"`
	Runs  []Run `json:"runs"`
}

// Spread is an accuracy over all seeds: its mean, the standard deviation of one run (0 of one seed), least and most.
type Spread struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
	Least     float64 `json:"least"`
	Most      float64 `json:"most"`
}

func spread(values []float64) Spread {
	s := Spread{Mean: mean(values), Least: slices.Min(values), Most: slices.Max(values)}
	for _, v := range values {
		s.Deviation += (v - s.Mean) * (v - s.Mean)
	}
	s.Deviation = math.Sqrt(s.Deviation / float64(max(len(values)-1, 1)))
	return s
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// sum fills a point in from its runs.
func (p *Point) sum() {
	var before, after, lut, dsp []float64
	for _, r := range p.Runs {
		if after = append(after, r.After); r.Before != nil {
			before = append(before, *r.Before)
		}
		if r.LUT != nil {
			lut, dsp = append(lut, float64(*r.LUT)), append(dsp, float64(*r.DSP))
		}
	}
	p.After, p.Trained = spread(after), p.Runs[0].Trained
	if len(before) > 0 {
		b := spread(before)
		p.Before = &b
	}
	if len(lut) > 0 {
		l, d := mean(lut), mean(dsp)
		p.LUT, p.DSP = &l, &d
	}
}

// float is the accuracy of the float models.
func (s *Sweep) float() {
	var all []float64
	for _, r := range s.Points[0].Runs {
		all = append(all, r.Float)
	}
	s.Float = spread(all)
}

// costed says that all points have hardware.
func (s *Sweep) costed() bool {
	return !slices.ContainsFunc(s.Points, func(p Point) bool { return p.LUT == nil })
}

// mark finds the front.
func (s *Sweep) mark() {
	if !s.costed() {
		return
	}
	for i := range s.Points {
		p := &s.Points[i]
		p.Front = !slices.ContainsFunc(s.Points, func(q Point) bool {
			return q.After.Mean >= p.After.Mean && *q.LUT <= *p.LUT && (q.After.Mean > p.After.Mean || *q.LUT < *p.LUT)
		})
	}
}

// models is the number of float models.
func (s *Sweep) models() int {
	if s.Fresh > 0 {
		return s.Seeds
	}
	return 1
}

func percent(s *Spread, seeds int) string {
	if s == nil {
		return "-"
	}
	if seeds == 1 {
		return fmt.Sprintf("%.2f", 100*s.Mean)
	}
	return fmt.Sprintf("%.2f +- %.2f", 100*s.Mean, 100*s.Deviation)
}

// Table is the points as rows of text, the heads first. Accuracies are in percent, mean and standard deviation.
func (s *Sweep) Table() [][]string {
	head := []string{s.kind.Column}
	if s.kind.Before != "" {
		head = append(head, s.kind.Before+", %")
	}
	head = append(head, s.kind.After+", %")
	lora := s.kind.Name == "lora"
	if lora {
		head = append(head, "parameters")
	}
	if s.costed() {
		head = append(head, "LUT", "DSP", "front")
	}
	rows := [][]string{head}
	for i := range s.Points {
		p := &s.Points[i]
		row := []string{p.Label}
		if s.kind.Before != "" {
			row = append(row, percent(p.Before, s.Seeds))
		}
		row = append(row, percent(&p.After, s.Seeds))
		if lora {
			row = append(row, fmt.Sprint(p.Trained))
		}
		if s.costed() {
			star := ""
			if p.Front {
				star = "*"
			}
			row = append(row, fmt.Sprintf("%.0f", *p.LUT), fmt.Sprintf("%.0f", *p.DSP), star)
		}
		rows = append(rows, row)
	}
	return rows
}

// CSV is the points, accuracies as shares.
func (s *Sweep) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"setting", "before_mean", "before_deviation", "after_mean", "after_deviation", "parameters", "lut",
		"dsp", "front"})
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for i := range s.Points {
		p := &s.Points[i]
		row := []string{p.Label, "", "", number(p.After.Mean), number(p.After.Deviation), fmt.Sprint(p.Trained), "", "",
			fmt.Sprint(p.Front)}
		if p.Before != nil {
			row[1], row[2] = number(p.Before.Mean), number(p.Before.Deviation)
		}
		if p.LUT != nil {
			row[6], row[7] = number(*p.LUT), number(*p.DSP)
		}
		w.Write(row)
	}
	w.Flush() // to memory, which takes all
	return b.Bytes()
}

// Facts are the lines that tell what was measured.
func (s *Sweep) Facts() []string {
	lines := []string{fmt.Sprintf("trained on %s, accuracy on %s; %d seeds each, mean and standard deviation",
		s.Data, s.Eval, s.Seeds)}
	if s.Seeds == 1 {
		lines[0] = fmt.Sprintf("trained on %s, accuracy on %s; one seed, which orders nothing that is close", s.Data, s.Eval)
	}
	what := "accuracy of the float model"
	if s.Fresh > 0 {
		what = fmt.Sprintf("accuracy of the float models, %d epochs from random parameters for each seed", s.Fresh)
	}
	lines = append(lines, fmt.Sprintf("%s: %s %%", what, percent(&s.Float, s.models())))
	if s.costed() {
		lines = append(lines, "LUT and DSP are predicted")
	}
	differs := func(p Point) bool { return *p.LUT != *s.Points[0].LUT }
	if s.kind.Costs && s.costed() && !slices.ContainsFunc(s.Points, differs) {
		lines = append(lines, "all prices give the same hardware: a price for bits pays where layers are unrolled, "+
			"mode = \"unroll\" in [fold] of the plan, and after enough epochs")
	}
	return lines
}

// Plots are accuracy against what varies, and against LUTs.
func (s *Sweep) Plots() [][]byte {
	x, at := s.kind.X, func(p *Point) float64 { return p.X }
	if s.kind.Name == "lora" {
		x, at = "parameters that are trained", func(p *Point) float64 { return float64(p.Trained) }
	}
	before := moment{s.kind.Before, func(p *Point) *Spread { return p.Before }}
	after := moment{s.kind.After, func(p *Point) *Spread { return &p.After }}
	var out [][]byte
	if !s.kind.Costs || !s.costed() {
		out = append(out, s.draw(x, at, before, after))
	}
	if s.costed() {
		out = append(out, s.draw("LUT, predicted", func(p *Point) float64 { return *p.LUT }, after))
	}
	return out
}

// SVG is all plots below each other.
func (s *Sweep) SVG() []byte { return plot.Stack(s.Plots()...) }

// moment is when an accuracy was measured; "" for never.
type moment struct {
	name string
	of   func(*Point) *Spread
}

// draw draws accuracies against x, a curve for each moment and series.
func (s *Sweep) draw(x string, at func(*Point) float64, moments ...moment) []byte {
	y := fmt.Sprintf("accuracy, %% (float: %.2f)", 100*s.Float.Mean)
	c := plot.Chart{Title: "accuracy against " + x, X: x, Y: y}
	add := func(name string, p plot.Point) {
		i := slices.IndexFunc(c.Series, func(s plot.Series) bool { return s.Name == name })
		if i < 0 {
			i, c.Series = len(c.Series), append(c.Series, plot.Series{Name: name})
		}
		c.Series[i].Points = append(c.Series[i].Points, p)
	}
	several := slices.ContainsFunc(s.Points, func(p Point) bool { return p.Series != s.Points[0].Series })
	for _, when := range moments {
		for i := range s.Points {
			p := &s.Points[i]
			v := when.of(p)
			if when.name == "" || v == nil {
				continue
			}
			name := when.name
			if several && p.Series != "" {
				name = p.Series + ", " + name
			}
			add(name, plot.Point{X: at(p), Y: 100 * v.Mean, Label: fmt.Sprintf("%s: %s %%, %s", p.Label,
				percent(v, s.Seeds), when.name)})
		}
	}
	return c.SVG()
}

// Page is the whole sweep.
func (s *Sweep) Page(version string) *report.Measurements {
	return &report.Measurements{Title: fmt.Sprintf("Training %s: %s", s.Model, s.kind.Name), Version: version,
		Lead: s.Facts(), Sections: []report.Section{{Title: "Sweep", Plots: s.Plots(), Table: s.Table(), Text: []string{
			"Each setting was trained once for each seed. Accuracies are those of the integer model in the reference " +
				"engine, or of the float model where training is in floats."}}}}
}
