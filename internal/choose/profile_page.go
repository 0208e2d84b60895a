// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"fmt"
	"math"
	"path/filepath"

	"lathe/emit/plot"
	"lathe/emit/report"
	"lathe/internal/diag"
	"lathe/ir"
)

// Reach is the largest magnitude of a spread.
func (s *Spread) Reach() float64 { return max(-s.Min, s.Max, 0) }

// ChannelBits is how many bits the channel of the largest reach has more before the point than that of the smallest,
// channels of zeros left out: what one format for all of them costs the smallest.
func (t *Tensor) ChannelBits() float64 {
	least, most := math.Inf(1), 0.0
	for i := range t.Channels {
		if r := t.Channels[i].Reach(); r > 0 {
			least, most = min(least, r), max(most, r)
		}
	}
	if most == 0 {
		return 0
	}
	return math.Log2(most / least)
}

// Table is the profile as rows of text, the heads first; with channels a row for each of them too.
func (p *Profile) Table(channels bool) [][]string {
	rows := [][]string{{"node", "op", "shape", "min", "max", "mean", "std", "0.1 %", "99.9 %", "zeros", "outliers",
		"outlier bits", "channel bits"}}
	for i := range p.Tensors {
		t := &p.Tensors[i]
		apart := ""
		if len(t.Channels) > 0 {
			apart = fmt.Sprintf("%.1f", t.ChannelBits())
		}
		rows = append(rows, append(append([]string{t.Name, t.Op, ir.ShapeString(t.Shape)}, t.cells()...), apart))
		for c := range t.Channels {
			if channels {
				row := append([]string{fmt.Sprintf("  %s[%d]", t.Name, c), "", ""}, t.Channels[c].cells()...)
				rows = append(rows, append(row, ""))
			}
		}
	}
	return rows
}

// cells are the figures of a row.
func (s *Spread) cells() []string {
	var out []string
	for _, v := range []float64{s.Min, s.Max, s.Mean, s.Std, s.Percentiles[0], s.Percentiles[len(Percents)-1]} {
		out = append(out, diag.Number(v, 4))
	}
	share := func(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }
	return append(out, share(float64(s.Zeros)/float64(max(1, s.Count))), share(s.Outliers),
		fmt.Sprintf("%.1f", s.OutlierBits))
}

// Page is the profile with plots of each tensor.
func (p *Profile) Page(version string) *report.Measurements {
	s := &report.Measurements{Title: "Values of " + filepath.Base(p.Model), Version: version,
		Lead: []string{fmt.Sprintf("%d samples", p.Samples), fmt.Sprintf("%d tensors", len(p.Tensors))}}
	s.Sections = append(s.Sections, report.Section{Title: "Tensors", Table: p.Table(false), Text: []string{
		"Values of the float model; constants are weights as they are. Percentiles and outliers (further than 6 standard " +
			"deviations from the mean) are those of a fixed selection of about 65,536 values. Outlier bits: how much finer a " +
			"format could be if the largest 0.1 % of magnitudes saturated (`calibrate = \"percentile\"` or `\"mse\"`). " +
			"Channel bits: how much finer the format of the quietest channel could be than that of the loudest."}})
	for i := range p.Tensors {
		s.Sections = append(s.Sections, p.Tensors[i].section())
	}
	return s
}

// section is the histogram of a tensor, and the ranges of its channels.
func (t *Tensor) section() report.Section {
	out := report.Section{Title: t.Name, Text: []string{fmt.Sprintf("%s %s, %d values from %s to %s. %s", t.Op,
		ir.ShapeString(t.Shape), t.Count, diag.Number(t.Min, 4), diag.Number(t.Max, 4), t.Source)}}
	bars := plot.Bars{Title: "Histogram of " + t.Name, Y: "values"}
	for i, n := range t.Histogram {
		from := t.Min + (t.Max-t.Min)*float64(i)/bins
		bars.Groups = append(bars.Groups, plot.Group{Name: diag.Number(from, 3), Values: []float64{float64(n)}})
	}
	out.Plots = append(out.Plots, bars.SVG())
	if len(t.Channels) > 0 {
		spans := plot.Spans{Title: "Channels of " + t.Name, X: "channel", Y: "range (bar: 1 % to 99 %)"}
		for i := range t.Channels {
			c := &t.Channels[i]
			spans.Spans = append(spans.Spans, plot.Span{Low: c.Min, From: c.Percentiles[1], To: c.Percentiles[5],
				High: c.Max})
		}
		out.Plots = append(out.Plots, spans.SVG())
	}
	return out
}
