// SPDX-License-Identifier: Apache-2.0

// Package picture draws studies: how good the best trial was after each, the front of two objectives, and which values
// of each parameter the good trials have. Each picture comes with its numbers as a table.
package picture

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"lathe/emit/plot"
	"lathe/emit/report"
	"lathe/search"
	"lathe/search/front"
)

// Picture is a chart and what it shows: Table begins with its heads.
type Picture struct {
	// Name is one for files: "progress", "front-accuracy-lut".
	Name  string
	SVG   []byte
	Table [][]string
	// Text says what there is to see.
	Text string
}

// Of are the pictures of a study, whose objectives have names.
func Of(h *search.History, names []string, parameters []search.Named) []Picture {
	out := []Picture{progress(h, names)}
	for j := 1; j < len(names); j++ {
		out = append(out, frontOf(h, names, 0, j))
	}
	if p, ok := bars(h, names[0], parameters); ok {
		out = append(out, p)
	}
	if p, ok := parallel(h, names, parameters); ok {
		out = append(out, p)
	}
	return out
}

// complete are the trials that have values.
func complete(h *search.History) (out []int) {
	for n := range h.Len() {
		if h.State(n) == search.Complete {
			out = append(out, n)
		}
	}
	return out
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }

// OverTime is progress by the time at which trials ended, in minutes from the first of them; false where no trial says.
func OverTime(h *search.History, names []string, ends map[int]float64) (Picture, bool) {
	trials := slices.DeleteFunc(complete(h), func(n int) bool { _, ok := ends[n]; return !ok })
	if len(trials) < 2 {
		return Picture{}, false
	}
	slices.SortStableFunc(trials, func(a, b int) int { return cmp.Compare(ends[a], ends[b]) })
	p := progressOf(h, names, trials, "minutes", func(n int) float64 { return ends[n] })
	p.Name = "progress-time"
	return p, true
}

// progress is the best value so far by trials, or of several objectives the volume behind the front so far, as a share
// of that behind the last front.
func progress(h *search.History, names []string) Picture {
	return progressOf(h, names, complete(h), "trial", func(n int) float64 { return float64(n) })
}

// progressOf is progress by the trials in their order, each at a place of an axis.
func progressOf(h *search.History, names []string, trials []int, axis string, at func(n int) float64) Picture {
	if len(names) > 1 {
		return volume(h, trials, axis, at)
	}
	p := Picture{Name: "progress", Table: [][]string{{axis, names[0], "best so far"}},
		Text: "What each trial was worth, and the best so far. Trials that break a limit are left out."}
	c := plot.Chart{Title: "Best so far: " + names[0], X: axis, Y: names[0],
		Series: []plot.Series{{Name: "best so far"}, {Name: "trial", Loose: true}}}
	best := math.NaN()
	for _, n := range trials {
		v := h.Values(n)[0]
		if h.Infeasible(n) {
			continue
		}
		if math.IsNaN(best) || h.Better(v, best) {
			best = v
		}
		c.Series[0].Points = append(c.Series[0].Points, plot.Point{X: at(n), Y: best})
		c.Series[1].Points = append(c.Series[1].Points, plot.Point{X: at(n), Y: v, Label: label(h, names, n)})
		p.Table = append(p.Table, []string{number(at(n)), number(v), number(best)})
	}
	p.SVG = c.SVG()
	return p
}

// volume is the hypervolume by trials. The reference is the worst of all that break no limit.
func volume(h *search.History, all []int, axis string, at func(n int) float64) Picture {
	p := Picture{Name: "progress", Table: [][]string{{axis, "hypervolume"}},
		Text: "The volume that the front so far leaves behind, up to the worst of each objective, as a share of what the " +
			"last front does."}
	var trials []int
	var points [][]float64
	for _, n := range all {
		if !h.Infeasible(n) {
			trials, points = append(trials, n), append(points, h.Losses(n))
		}
	}
	c := plot.Chart{Title: "Hypervolume so far", X: axis, Y: "share of the last",
		Series: []plot.Series{{Name: "study"}}}
	if len(points) > 0 {
		reference := slices.Clone(points[0])
		for _, q := range points {
			for i := range q {
				reference[i] = max(reference[i], q[i])
			}
		}
		var best [][]float64
		shares := make([]float64, len(points))
		for i, q := range points {
			if !slices.ContainsFunc(best, func(b []float64) bool { return front.Dominates(b, q) || slices.Equal(b, q) }) {
				best = slices.DeleteFunc(best, func(b []float64) bool { return front.Dominates(q, b) })
				best = append(best, q)
			}
			shares[i] = front.Volume(best, reference)
		}
		last := max(shares[len(shares)-1], 1e-300)
		for i, n := range trials {
			c.Series[0].Points = append(c.Series[0].Points, plot.Point{X: at(n), Y: shares[i] / last})
			p.Table = append(p.Table, []string{number(at(n)), number(shares[i] / last)})
		}
	}
	p.SVG = c.SVG()
	return p
}

// frontOf is objective i against objective j: the front, the other trials, and those that break a limit.
func frontOf(h *search.History, names []string, i, j int) Picture {
	p := Picture{Name: "front-" + names[i] + "-" + names[j], Table: [][]string{{"trial", names[j], names[i], "place"}},
		Text: fmt.Sprintf("%s against %s. The line joins the trials that no other one beats in these two.", names[i],
			names[j])}
	c := plot.Chart{Title: names[i] + " against " + names[j], X: names[j], Y: names[i],
		Series: []plot.Series{{Name: "front"}, {Name: "beaten", Loose: true}, {Name: "breaks a limit", Loose: true}}}
	two := func(n int) []float64 { l := h.Losses(n); return []float64{l[i], l[j]} }
	trials := complete(h)
	slices.SortStableFunc(trials, func(a, b int) int { return cmp.Compare(h.Values(a)[j], h.Values(b)[j]) })
	for _, n := range trials {
		at, word := 0, "front"
		switch {
		case h.Infeasible(n):
			at, word = 2, "breaks a limit"
		case slices.ContainsFunc(trials, func(m int) bool { return !h.Infeasible(m) && front.Dominates(two(m), two(n)) }):
			at, word = 1, "beaten"
		}
		v := h.Values(n)
		c.Series[at].Points = append(c.Series[at].Points, plot.Point{X: v[j], Y: v[i], Label: label(h, names, n)})
		p.Table = append(p.Table, []string{fmt.Sprint(n), number(v[j]), number(v[i]), word})
	}
	p.SVG = c.SVG()
	return p
}

// label says in words what a trial was worth.
func label(h *search.History, names []string, n int) string {
	text := fmt.Sprintf("trial %d", n)
	for i, v := range h.Values(n) {
		text += fmt.Sprintf(", %s %s", names[i], number(v))
	}
	return text
}

// mostBars bounds the parameters that are shown.
const mostBars = 24

// bars are how important parameters are; false where that is not known.
func bars(h *search.History, first string, parameters []search.Named) (Picture, bool) {
	list := Importance(h, parameters)
	if len(list) == 0 {
		return Picture{}, false
	}
	variance := "fANOVA of " + first
	p := Picture{Name: "importance", Table: [][]string{{"parameter", "PED-ANOVA", variance}},
		Text: "By how much the values of the better tenth of the trials differ from those of all (PED-ANOVA): what the " +
			"search has decided, parameter by parameter. Beside it, which share of the variance of " + first + " each one " +
			"explains by itself (fANOVA), of the parameters that all trials have."}
	b := plot.Bars{Title: "What decides", Y: "importance", Series: []string{"PED-ANOVA", variance}}
	explained, same := Variance(h, parameters), ending(parameters)
	for k, i := range list {
		row, values := []string{i.Name, number(i.Share), ""}, []float64{i.Share}
		if v, ok := explained[i.Name]; ok {
			row[2], values = number(v), append(values, v)
		}
		p.Table = append(p.Table, row)
		if k < mostBars {
			b.Groups = append(b.Groups, plot.Group{Name: strings.TrimSuffix(i.Name, same), Values: values})
		}
	}
	p.SVG = b.SVG()
	return p, true
}

// Page is a study on one page: facts, pictures, and a table of its best trials.
func Page(title, version string, facts []string, pictures []Picture, best [][]string) *report.Measurements {
	m := &report.Measurements{Title: title, Version: version, Lead: facts}
	if len(best) > 1 {
		m.Sections = append(m.Sections, report.Section{Title: "Best trials", Table: best})
	}
	for _, p := range pictures {
		m.Sections = append(m.Sections, report.Section{Title: p.Name, Text: []string{p.Text}, Plots: [][]byte{p.SVG}})
	}
	return m
}
