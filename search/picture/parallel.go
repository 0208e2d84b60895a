// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"lathe/emit/plot"
	"lathe/search"
)

// mostAxes bounds the parameters that stand beside each other, mostStrands the trials.
const mostAxes, mostStrands = 11, 600

// parallel is the most important parameters and the first objective beside each other, a line for each trial that
// breaks no limit; false where there is nothing to see.
func parallel(h *search.History, names []string, parameters []search.Named) (Picture, bool) {
	var trials []int
	for _, n := range complete(h) {
		if !h.Infeasible(n) {
			trials = append(trials, n)
		}
	}
	if len(trials) < 2 || len(parameters) == 0 {
		return Picture{}, false
	}
	share := map[string]float64{}
	for _, i := range Importance(h, parameters) {
		share[i.Name] = i.Share
	}
	shown := slices.Clone(parameters)
	slices.SortStableFunc(shown, func(a, b search.Named) int { return cmp.Compare(share[b.Name], share[a.Name]) })
	shown = shown[:min(len(shown), mostAxes)]
	slices.SortStableFunc(trials, func(a, b int) int { // the better lie over the others
		return -cmp.Compare(h.Losses(a)[0], h.Losses(b)[0])
	})
	p := Picture{Name: "parallel", Table: [][]string{{"trial"}},
		Text: "Each line is a trial, the darker the better it is in " + names[0] + ". The parameters that decide most come " +
			"first."}
	c := plot.Parallel{Title: "Trials by their parameters"}
	same := ending(shown)
	for _, q := range shown {
		a := plot.Upright{Name: strings.TrimSuffix(q.Name, same), Low: q.Dist.Low, High: q.Dist.High}
		if q.Dist.Kind == search.Categorical {
			for v := range q.Dist.Choices {
				a.Words = append(a.Words, q.Dist.Text(float64(v)))
			}
		}
		c.Axes, p.Table[0] = append(c.Axes, a), append(p.Table[0], q.Name)
	}
	last := plot.Upright{Name: names[0], Low: math.Inf(1), High: math.Inf(-1)}
	for _, n := range trials {
		last.Low, last.High = min(last.Low, h.Values(n)[0]), max(last.High, h.Values(n)[0])
	}
	c.Axes, p.Table[0] = append(c.Axes, last), append(p.Table[0], names[0])
	for k, n := range trials {
		s := plot.Strand{Shade: float64(k+1) / float64(len(trials)), Label: label(h, names, n)}
		row := []string{fmt.Sprint(n)}
		for _, q := range shown {
			v, ok := h.Column(q.Name).Value(n)
			if !ok {
				s.Values, row = append(s.Values, math.NaN()), append(row, "")
				continue
			}
			s.Values, row = append(s.Values, v), append(row, q.Dist.Text(v))
		}
		s.Values, row = append(s.Values, h.Values(n)[0]), append(row, number(h.Values(n)[0]))
		if len(trials)-k <= mostStrands {
			c.Strands = append(c.Strands, s)
		}
		p.Table = append(p.Table, row)
	}
	p.SVG = c.SVG()
	return p, true
}

// ending is what all names end with from a dot on; "" for a single one.
func ending(parameters []search.Named) string {
	if len(parameters) < 2 {
		return ""
	}
	end := parameters[0].Name
	for {
		at := strings.Index(end, ".")
		if at < 0 {
			return ""
		}
		end = end[at:]
		if !slices.ContainsFunc(parameters, func(p search.Named) bool { return !strings.HasSuffix(p.Name, end) }) {
			return end
		}
		end = end[1:]
	}
}

// Bits are those of the formats of trials, by the names of slots.
type Bits struct {
	Trial int
	Bits  map[string]float64
}

// mostColumns bounds the trials of a heat map.
const mostColumns = 24

// Formats is a heat map of the bits that the best trials have in each slot; false where no trial says.
func Formats(trials []Bits) (Picture, bool) {
	var rows []string
	for _, t := range trials {
		for name := range t.Bits {
			if !slices.Contains(rows, name) {
				rows = append(rows, name)
			}
		}
	}
	if len(rows) == 0 {
		return Picture{}, false
	}
	slices.Sort(rows)
	trials = trials[:min(len(trials), mostColumns)]
	p := Picture{Name: "bits", Table: [][]string{{"slot"}},
		Text: "Bits of an element, by layer and slot, of the best trials."}
	h := plot.Heat{Title: "Bits by layer", Rows: rows}
	for _, t := range trials {
		h.Columns = append(h.Columns, fmt.Sprintf("trial %d", t.Trial))
	}
	p.Table[0] = append(p.Table[0], h.Columns...)
	for _, name := range rows {
		row, cells := []string{name}, []float64(nil)
		for _, t := range trials {
			v, ok := t.Bits[name]
			if !ok {
				row, cells = append(row, ""), append(cells, math.NaN())
				continue
			}
			row, cells = append(row, number(v)), append(cells, v)
		}
		p.Table, h.Cells = append(p.Table, row), append(h.Cells, cells)
	}
	p.SVG = h.SVG()
	return p, true
}
