// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"fmt"
	"math"
	"strings"

	"lathe/emit/plot"
	"lathe/emit/report"
	"lathe/internal/driver"
)

// Table is the rows as text, the heads first, and below them the whole model in each format.
func (s *Sensitivity) Table() [][]string {
	head := []string{"layer", "op", "weights", "format"}
	rows := [][]string{append(append(head, s.Base.heads()...), "share of error")}
	rows = append(rows, append(append([]string{"(none)", "", "", s.Rest}, s.Base.cells()...), ""))
	for i := range s.Rows {
		r := &s.Rows[i]
		row := []string{r.Node, r.Op, unlessZero(r.Weights), r.Format}
		if r.Refused != "" {
			rows = append(rows, refusal(row, len(rows[0]), r.Refused))
			continue
		}
		rows = append(rows, append(append(row, r.cells()...), percent(r.Share)))
	}
	for i := range s.Whole {
		w := &s.Whole[i]
		row := []string{"(all)", "", "", w.Format}
		if w.Refused != "" {
			rows = append(rows, refusal(row, len(rows[0]), w.Refused))
			continue
		}
		rows = append(rows, append(append(row, w.cells()...), ""))
	}
	return rows
}

// refusal is a row of so many cells, the last of which says why there are no figures.
func refusal(row []string, cells int, why string) []string {
	for len(row) < cells-1 {
		row = append(row, "")
	}
	return append(row, "refused: "+why)
}

// Lost is the error of the user's plan by layer, as rows of text; nil without such a plan.
func (s *Sensitivity) Lost() [][]string {
	if s.Removed == nil {
		return nil
	}
	rows := [][]string{{"layer", "share of the plan's error"}}
	for i := range s.Removed {
		rows = append(rows, []string{s.layers[i].Node, percent(&s.Removed[i])})
	}
	return rows
}

// heads are the columns of a point that are known.
func (p *Point) heads() (out []string) {
	if p.Accuracy != nil {
		out = append(out, "accuracy")
	}
	if p.Score != nil {
		out = append(out, p.metric.Name)
	}
	out = append(out, "SQNR dB", "bits a weight", "bits a value", "model bits")
	if p.Cost != nil {
		out = append(out, "LUT", "FF", "DSP", "BRAM", "cycles")
	}
	return out
}

// cells are a point in the columns of heads.
func (p *Point) cells() (out []string) {
	if p.Accuracy != nil {
		out = append(out, fmt.Sprintf("%.4f", *p.Accuracy))
	}
	if p.Score != nil {
		out = append(out, figure(*p.Score))
	}
	out = append(out, ratio(p.SQNR), fmt.Sprintf("%.2f", p.WeightBits), fmt.Sprintf("%.2f", p.DataBits),
		fmt.Sprint(p.ModelBits))
	if c := p.Cost; c != nil {
		out = append(out, fmt.Sprint(c.LUT), fmt.Sprint(c.FF), fmt.Sprint(c.DSP), fmt.Sprint(c.BRAM),
			fmt.Sprintf("%.0f", c.Interval))
	}
	return out
}

// ratio is in dB; "exact" where there is no error.
func ratio(v *float64) string {
	switch {
	case v == nil:
		return ""
	case *v >= driver.SQNRLimit:
		return "exact"
	}
	return fmt.Sprintf("%.1f", *v)
}

func percent(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100**v)
}

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// CSV is a table for spreadsheets: units stand in the heads, and cells with commas in quotes.
func CSV(table [][]string) []byte {
	var b strings.Builder
	for _, row := range table {
		for i, cell := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			cell = strings.TrimSuffix(cell, " %")
			if strings.ContainsAny(cell, ",\"\n") {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			b.WriteString(cell)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// value is a number of a plot; NaN is not drawn, and no error at all is no place on an axis either.
func value(v *float64) float64 {
	if v == nil || *v >= driver.SQNRLimit {
		return math.NaN()
	}
	return *v
}

// Plots are the SQNR of each layer in each format, its accuracy where that was measured, and the shares of the error.
// The view is that of the first.
func (s *Sensitivity) Plots(view plot.View) [][]byte {
	of := func(title, y string, v func(*Row) float64) []byte {
		b := plot.Bars{Title: title, Y: y, Series: s.Formats, View: view}
		view = plot.View{}
		for i, l := range s.layers {
			g := plot.Group{Name: l.Node}
			for k := range s.Formats {
				g.Values = append(g.Values, v(&s.Rows[i*len(s.Formats)+k]))
			}
			b.Groups = append(b.Groups, g)
		}
		return b.SVG()
	}
	out := [][]byte{of("SQNR by layer", "output SQNR, dB", func(r *Row) float64 { return value(r.SQNR) })}
	if s.Float != nil {
		const lost = "accuracy lost against float, percent points"
		out = append(out, of("Accuracy lost by layer", lost, func(r *Row) float64 {
			if r.Accuracy == nil {
				return math.NaN()
			}
			return 100 * (*s.Float - *r.Accuracy)
		}))
	}
	if s.Score != nil {
		out = append(out, of(s.Metric+" by layer", fmt.Sprintf("%s (float: %s)", s.Metric, figure(*s.Score)),
			func(r *Row) float64 { return scored(r.Score) }))
	}
	return append(out, of("Share of the error by layer", "share of the error in this format, %", func(r *Row) float64 {
		return 100 * value(r.Share)
	}))
}

// Page is the whole measurement.
func (s *Sensitivity) Page(version string, facts []string, view plot.View) *report.Measurements {
	text := []string{fmt.Sprintf("Each layer alone in each format, the rest in %s, which by itself keeps %s dB. Every "+
		"figure is that of the quantized graph in the reference engine, with which hardware agrees bit for bit.", s.Rest,
		ratio(s.Base.SQNR)), "Share of error: of the power of the output error that all layers add in this format, each " +
		"by itself, this one's part."}
	page := &report.Measurements{Title: "Sensitivity of " + s.Model, Version: version, Lead: facts,
		Sections: []report.Section{{Title: "Layers", Text: text, Plots: s.Plots(view), Table: s.Table()}}}
	if lost := s.Lost(); lost != nil {
		page.Sections = append(page.Sections, report.Section{Title: "The error of the plan", Table: lost, Text: []string{
			"What of the power of the output error goes away when this layer alone gets " + RestFormat + "."}})
	}
	return page
}
