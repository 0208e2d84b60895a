// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lathe/emit/plot"
	"lathe/emit/report"
)

// Table is the candidates as rows of text, the heads first: on the front only, or all.
func (a *Auto) Table(all bool) [][]string {
	var rows [][]string
	for i := range a.Candidates {
		c := &a.Candidates[i]
		if c.Refused != "" || !all && !c.Front && i != a.Best {
			continue
		}
		if rows == nil {
			tail := []string{"share of part", "goal", "front", "formats"}
			rows = append(rows, slices.Concat([]string{"plan"}, c.heads(), a.heldHeads(), tail))
		}
		mark := func(yes bool, word string) string {
			if yes {
				return word
			}
			return ""
		}
		goal := mark(c.Met, "met")
		if i == a.Best {
			goal = "best"
		}
		if !c.fits() {
			goal = "too large"
		}
		tail := []string{c.shareText(), goal, mark(c.Front, "*"), strings.Join(c.Formats, " ")}
		rows = append(rows, slices.Concat([]string{c.Name}, c.cells(), a.heldCells(c), tail))
	}
	return rows
}

// heldHeads are the heads of heldCells: none where no samples were kept back.
func (a *Auto) heldHeads() []string {
	switch {
	case a.HeldOut == 0:
		return nil
	case a.Goal.Accuracy != nil || a.Goal.Score != nil:
		return []string{"held out"}
	}
	return []string{"held out dB"}
}

// heldCells say what a candidate keeps of the samples that the search did not see.
func (a *Auto) heldCells(c *Candidate) []string {
	switch {
	case a.HeldOut == 0:
		return nil
	case c.Held == nil:
		return []string{""}
	case a.Goal.Score != nil:
		return []string{figure(*c.Held.Score)}
	case a.Goal.Accuracy != nil:
		return []string{fmt.Sprintf("%.4f", c.Held.quality())}
	}
	return []string{fmt.Sprintf("%.1f", c.Held.quality())}
}

// shareText is the largest share of the part, with whose it is.
func (c *Candidate) shareText() string {
	if c.Cost == nil {
		return ""
	}
	return fmt.Sprintf("%.3f %% %s", 100*c.Share, c.ShareOf)
}

// Verdict says what the best plan is and takes, and what the smallest uniform one takes that meets the goal too.
func (a *Auto) Verdict() string {
	best := &a.Candidates[a.Best]
	text := fmt.Sprintf("best: %s, the least hardware that keeps %s%s", best.Name, a.Goal, best.hardware(a.Part))
	at := a.least(func(c *Candidate) bool { return c.Uniform })
	if at < 0 {
		return text + "\nno uniform plan keeps it"
	}
	if best.Uniform {
		return text
	}
	uniform := &a.Candidates[at]
	return text + fmt.Sprintf("\n%s for all is the smallest uniform plan that keeps it%s", uniform.Name,
		uniform.hardware(a.Part))
}

// hardware are LUTs and DSPs in words, and the largest share of the part; "" where they are not known.
func (c *Candidate) hardware(part string) string {
	if c.Cost == nil {
		return ""
	}
	text := fmt.Sprintf(": %d LUT, %d DSP, %.1f %% of the %ss of %s", c.Cost.LUT, c.Cost.DSP, 100*c.Share, c.ShareOf, part)
	if !c.fits() {
		text += ", so it does not fit"
	}
	return text
}

// TooLarge is the smallest candidate that meets the goal and does not fit the part, in words; "" where there is none.
func (a *Auto) TooLarge() string {
	at := a.least(func(c *Candidate) bool { return !c.fits() })
	if at < 0 {
		return ""
	}
	return a.Candidates[at].Name + a.Candidates[at].hardware(a.Part)
}

// Plots are quality against the share of the part, LUTs, DSPs and block RAMs, of the mixed and of the uniform plans,
// with the goal as a line. The view is that of the first.
func (a *Auto) Plots(view plot.View) [][]byte {
	y, at := "accuracy, %", func(p *Point) float64 { return 100 * p.quality() }
	switch {
	case a.Goal.Score != nil:
		y, at = a.Metric, func(p *Point) float64 { return scored(p.Score) }
	case a.Goal.Accuracy == nil:
		y, at = "output SQNR, dB", func(p *Point) float64 { return value(p.SQNR) }
	}
	var out [][]byte
	for _, axis := range []struct {
		name string
		of   func(*Candidate) float64
	}{
		{"share of " + a.Part + ", %", func(c *Candidate) float64 { return 100 * c.Share }},
		{"LUT", func(c *Candidate) float64 { return float64(c.Cost.LUT) }},
		{"DSP", func(c *Candidate) float64 { return float64(c.Cost.DSP) }},
		{"block RAM", func(c *Candidate) float64 { return c.Cost.BRAM }},
	} {
		c := plot.Chart{Title: y + " against " + axis.name, X: "predicted " + axis.name, Y: y, View: view,
			Series: []plot.Series{{Name: "mixed", Loose: true}, {Name: "uniform", Loose: true}, {Name: "goal"}}}
		view = plot.View{}
		low, high := math.Inf(1), math.Inf(-1)
		for i := range a.Candidates {
			p := &a.Candidates[i]
			if p.Refused != "" || p.Cost == nil {
				continue
			}
			x, k := axis.of(p), 0
			if p.Uniform {
				k = 1
			}
			low, high = min(low, x), max(high, x)
			c.Series[k].Points = append(c.Series[k].Points, plot.Point{X: x, Y: at(&p.Point), Label: a.label(p)})
		}
		goal, name := at(&Point{Accuracy: a.Goal.Accuracy, Score: a.Goal.Score, SQNR: a.Goal.SQNR}), a.Goal.String()
		c.Series[2].Points = []plot.Point{{X: low, Y: goal, Label: name}, {X: high, Y: goal, Label: name}}
		out = append(out, c.SVG())
	}
	return out
}

// label says in words what a candidate is.
func (a *Auto) label(c *Candidate) string {
	text := c.Name
	for i, cell := range c.cells() {
		text += ", " + c.heads()[i] + " " + cell
	}
	return text + ": " + strings.Join(c.Formats, " ")
}

// Page is the whole search.
func (a *Auto) Page(version string, facts []string, view plot.View) *report.Measurements {
	text := []string{fmt.Sprintf("Goal: %s. What each layer loses in each format was measured by itself, and so what it "+
		"costs; a knapsack over budgets proposed the mixed plans, and every row here was measured as a whole: accuracy and "+
		"SQNR by the reference engine, LUT, FF, DSP and block RAM as the headers of the modules predict them for %s.",
		a.Goal, a.Part), "Formats: those of " + strings.Join(a.Layers, ", ") + ". A star marks plans that no other one " +
		"beats in quality, LUT, DSP and block RAM. Best: of what fits, the smallest sum of the shares of LUTs, DSPs " +
		"and block RAMs of the part; the column has the largest share."}
	return &report.Measurements{Title: "A plan for " + a.Model, Version: version, Lead: facts, Sections: []report.Section{
		{Title: "Candidates", Text: text, Plots: a.Plots(view), Table: a.Table(true)}}}
}

// Plans are the plans of the front and the best one, by name of a file.
func (a *Auto) Plans() map[string]string {
	out := map[string]string{}
	for i := range a.Candidates {
		if c := &a.Candidates[i]; c.Front && c.Text != "" {
			out[fileOf(c.Name)] = c.Text
		}
	}
	if a.Best >= 0 {
		out["best.toml"] = a.Candidates[a.Best].Text
	}
	return out
}

// fileOf is the name of a plan's file: of a format, its letters and digits.
func fileOf(name string) string {
	keep := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}
	return strings.Trim(strings.Map(keep, name), "_") + ".toml"
}

// Kept is what the goal asks for, as a candidate keeps it, in words.
func (a *Auto) Kept(c *Candidate) string {
	switch {
	case a.Goal.Score != nil:
		return a.Metric + " " + figure(*c.Score)
	case a.Goal.Accuracy != nil:
		return Goal{Accuracy: c.Accuracy}.String()
	}
	return Goal{SQNR: c.SQNR}.String()
}

// FloatMisses says what the float model itself keeps, where that is less than the goal; "" where it meets it, or where
// the goal is an SQNR.
func (a *Auto) FloatMisses() string {
	of := &Candidate{}
	of.Accuracy, of.Score, of.metric = a.Float, a.Score, a.Goal.metric
	if a.Goal.Score == nil && a.Goal.Accuracy == nil || a.Goal.met(&of.Point) {
		return ""
	}
	return a.Kept(of)
}

// Asking is the flag that asks for no more than a candidate keeps.
func (a *Auto) Asking(c *Candidate) string {
	down := func(v, unit float64) float64 { return math.Floor(v/unit) * unit }
	switch {
	case a.Goal.Score != nil && a.Least:
		return fmt.Sprintf("--keep %.4g", *c.Score*(1+gainsScore))
	case a.Goal.Score != nil:
		return fmt.Sprintf("--keep %.4g", *c.Score-gainsScore*math.Abs(*c.Score))
	case a.Goal.Accuracy != nil:
		return fmt.Sprintf("--accuracy %.4f", down(*c.Accuracy, 1e-4))
	}
	return fmt.Sprintf("--sqnr %.1f", down(*c.SQNR, 0.1))
}

// Nearest is the candidate of the best quality, for goals that none meets; nil where all are refused.
func (a *Auto) Nearest() *Candidate {
	var best *Candidate
	for i := range a.Candidates {
		if c := &a.Candidates[i]; c.Refused == "" && (best == nil || c.quality() > best.quality()) {
			best = c
		}
	}
	return best
}
