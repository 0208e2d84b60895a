// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"fmt"
	"math"
	"slices"

	"lathe/emit/plot"
	"lathe/search"
)

// Curve is studies of one objective that differ in their seeds.
type Curve struct {
	Label string
	Runs  []*search.History
}

// Compare is the best value so far by trials, of each curve the mean over its studies, in a band from the worst of them
// to the best. A curve begins where all its studies have a value that breaks no limit, and has as many trials as the
// shortest of them.
func Compare(title, objective string, curves []Curve) Picture {
	p := Picture{Name: "curves", Table: [][]string{{"trials"}},
		Text: "The best value so far after each trial: the mean over seeds, in a band from the worst of them to the best."}
	c := plot.Chart{Title: title, X: "trials", Y: objective}
	var rows [][]string
	for _, curve := range curves {
		p.Table[0] = append(p.Table[0], curve.Label, curve.Label+" worst", curve.Label+" best")
		s := plot.Series{Name: curve.Label}
		mean, low, high := spread(curve.Runs)
		for n := range mean {
			if len(rows) <= n {
				rows = append(rows, []string{fmt.Sprint(n + 1)})
			}
			for len(rows[n]) < len(p.Table[0])-3 {
				rows[n] = append(rows[n], "")
			}
			if math.IsNaN(mean[n]) {
				rows[n] = append(rows[n], "", "", "")
				continue
			}
			rows[n] = append(rows[n], number(mean[n]), number(low[n]), number(high[n]))
			s.Points = append(s.Points, plot.Point{X: float64(n + 1), Y: mean[n],
				Label: fmt.Sprintf("%s, %d trials: %s", curve.Label, n+1, number(mean[n]))})
			s.Band = append(s.Band, [2]float64{low[n], high[n]})
		}
		s.Line = true
		c.Series = append(c.Series, s)
	}
	for i := range rows {
		for len(rows[i]) < len(p.Table[0]) {
			rows[i] = append(rows[i], "")
		}
	}
	p.Table = append(p.Table, rows...)
	p.SVG = c.SVG()
	return p
}

// spread is the best value so far after each trial: mean, worst and best over studies; NaN where one has none yet.
func spread(runs []*search.History) (mean, worst, best []float64) {
	if len(runs) == 0 {
		return nil, nil, nil
	}
	least := slices.MinFunc(runs, func(a, b *search.History) int { return a.Len() - b.Len() }).Len()
	so := make([]float64, len(runs))
	for i := range so {
		so[i] = math.NaN()
	}
	for n := range least {
		var sum float64
		low, high := math.NaN(), math.NaN()
		for i, h := range runs {
			if h.State(n) == search.Complete && !h.Infeasible(n) {
				if v := h.Values(n)[0]; math.IsNaN(so[i]) || h.Better(v, so[i]) {
					so[i] = v
				}
			}
			sum += so[i]
			if i == 0 || h.Better(low, so[i]) {
				low = so[i]
			}
			if i == 0 || h.Better(so[i], high) {
				high = so[i]
			}
		}
		mean, worst, best = append(mean, sum/float64(len(runs))), append(worst, low), append(best, high)
	}
	return mean, worst, best
}
