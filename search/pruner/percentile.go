// SPDX-License-Identifier: Apache-2.0

// Package pruner ends trials that promise little, each pruner in one file. With the same trials they end those that
// Optuna's pruners end: recorded studies hold them to it.
package pruner

import (
	"math"
	"slices"

	"lathe/search"
)

// Percentile ends a trial whose best value so far is worse than that of so many percent of the complete trials at the
// same step.
type Percentile struct {
	// Percent of the trials that are kept.
	Percent float64
	// Startup is how many trials complete before any ends, Warmup the first step at which one may, Interval how many steps
	// apart it is looked at, Least how many trials must have a value at the step.
	Startup, Warmup, Interval, Least int
	name                             string
}

// NewMedian keeps the better half.
func NewMedian() *Percentile {
	return &Percentile{Percent: 50, Startup: 5, Interval: 1, Least: 1, name: "median"}
}

// NewPercentile keeps so many percent.
func NewPercentile(percent float64) *Percentile {
	return &Percentile{Percent: percent, Startup: 5, Interval: 1, Least: 1, name: "percentile"}
}

// Name is "median" or "percentile".
func (p *Percentile) Name() string { return p.name }

// Prune says whether the trial ends.
func (p *Percentile) Prune(h *search.History, number int) (bool, []search.Attr) {
	steps := h.Steps(number)
	done := h.Count(search.Complete)
	if len(steps) == 0 || done == 0 || done < p.Startup || !due(steps, p.Warmup, p.Interval) {
		return false, nil
	}
	best := bestOf(h, steps)
	if math.IsNaN(best) {
		return true, nil
	}
	step := steps[len(steps)-1].Step
	var values []float64
	count := 0
	for n := range h.Len() {
		if h.State(n) != search.Complete {
			continue
		}
		if v, ok := at(h.Steps(n), step); ok {
			count++
			if !math.IsNaN(v) {
				values = append(values, v)
			}
		}
	}
	if count < p.Least || len(values) == 0 {
		return false, nil
	}
	percent := p.Percent
	if h.Directions[0] == search.Maximize {
		percent = 100 - percent
	}
	return h.Better(quantile(values, percent/100), best), nil
}

// due says that a trial is looked at: it has come to the step, and this is its first report in the interval.
func due(steps []search.Step, warmup, interval int) bool {
	last := steps[len(steps)-1].Step
	if last < warmup {
		return false
	}
	before := -1
	if len(steps) > 1 {
		before = steps[len(steps)-2].Step
	}
	return before < (last-warmup)/interval*interval+warmup
}

// bestOf is the best value that was reported; NaN where there is none.
func bestOf(h *search.History, steps []search.Step) float64 {
	best := math.NaN()
	for _, s := range steps {
		if !math.IsNaN(s.Value) && (math.IsNaN(best) || h.Better(s.Value, best)) {
			best = s.Value
		}
	}
	return best
}

// at is the value of a step.
func at(steps []search.Step, step int) (float64, bool) {
	i, found := slices.BinarySearchFunc(steps, step, func(s search.Step, step int) int { return s.Step - step })
	if !found {
		return 0, false
	}
	return steps[i].Value, true
}

// quantile lies between the two values next to it, in proportion.
func quantile(values []float64, q float64) float64 {
	slices.Sort(values)
	place := q * float64(len(values)-1)
	i := int(math.Floor(place))
	if i+1 >= len(values) {
		return values[len(values)-1]
	}
	t := place - float64(i)
	if t >= 0.5 { // from the nearer side, as numpy does
		return values[i+1] - (values[i+1]-values[i])*(1-t)
	}
	return values[i] + (values[i+1]-values[i])*t
}
