// SPDX-License-Identifier: Apache-2.0

package pruner

import (
	"math"

	"lathe/search"
)

// Patient ends a trial whose last reports are no better than those before.
type Patient struct {
	// Patience is how many reports may pass without getting better, Delta what counts as none.
	Patience int
	Delta    float64
	// Inner decides where patience is over; nil: the trial ends.
	Inner search.Pruner
}

// Name is "patient".
func (p *Patient) Name() string { return "patient" }

// Prune says whether the trial ends.
func (p *Patient) Prune(h *search.History, number int) (bool, []search.Attr) {
	steps := h.Steps(number)
	cut := len(steps) - p.Patience - 1
	if cut <= 0 {
		return false, nil
	}
	before, since := bestOf(h, steps[:cut]), bestOf(h, steps[cut:])
	if h.Directions[0] == search.Maximize {
		before, since = -before, -since
	}
	if !(before+p.Delta < since) || math.IsNaN(before) {
		return false, nil
	}
	if p.Inner != nil {
		return p.Inner.Prune(h, number)
	}
	return true, nil
}

// Threshold ends a trial whose value leaves its bounds, or is no number.
type Threshold struct {
	Lower, Upper     float64
	Warmup, Interval int
}

// NewThreshold has bounds, either of which may be infinite.
func NewThreshold(lower, upper float64) *Threshold {
	return &Threshold{Lower: lower, Upper: upper, Interval: 1}
}

// Name is "threshold".
func (p *Threshold) Name() string { return "threshold" }

// Prune says whether the trial ends.
func (p *Threshold) Prune(h *search.History, number int) (bool, []search.Attr) {
	steps := h.Steps(number)
	if len(steps) == 0 || !due(steps, p.Warmup, p.Interval) {
		return false, nil
	}
	v := steps[len(steps)-1].Value
	return math.IsNaN(v) || v < p.Lower || v > p.Upper, nil
}
