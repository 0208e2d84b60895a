// SPDX-License-Identifier: Apache-2.0

package pruner

import (
	"fmt"
	"math"
	"slices"

	"lathe/search"
)

// Halving is asynchronous successive halving (Li et al., 2020): at steps that grow by a factor, the rungs, one in so
// many trials goes on.
type Halving struct {
	// Resource is the step of the first rung; 0: a hundredth of the last step of complete trials, at least 1.
	Resource int
	// Factor is by how much fewer go on, and between how many steps rungs lie: 4.
	Factor int
	// Rate leaves out the first rungs, Bootstrap lets no trial go on before so many stand on a rung.
	Rate, Bootstrap int

	among func(number int) bool // the trials that compete; nil: all
}

// NewHalving has the usual options.
func NewHalving() *Halving { return &Halving{Factor: 4} }

// Name is "halving".
func (p *Halving) Name() string { return "halving" }

// rungKey is the attribute that has a trial's value on a rung.
func rungKey(rung int) string { return fmt.Sprintf("completed_rung_%d", rung) }

// Prune says whether the trial ends; what it was worth on the rungs that it has passed is kept.
func (p *Halving) Prune(h *search.History, number int) (bool, []search.Attr) {
	steps := h.Steps(number)
	if len(steps) == 0 {
		return false, nil
	}
	if p.Resource == 0 {
		last, known := lastStep(h, p.among)
		if !known {
			return false, nil
		}
		p.Resource = max(last/100, 1)
	}
	var v float64
	rung := 0
	for h.Attribute(number, rungKey(rung), &v) {
		rung++
	}
	last := steps[len(steps)-1]
	var attrs []search.Attr
	for ; ; rung++ {
		if float64(last.Step) < float64(p.Resource)*math.Pow(float64(p.Factor), float64(p.Rate+rung)) {
			return false, attrs
		}
		if math.IsNaN(last.Value) {
			return true, attrs
		}
		rivals := p.rivals(h, number, rung)
		attrs = append(attrs, search.Attr{System: true, Key: rungKey(rung), Value: []byte(search.Number(last.Value))})
		rivals = append(rivals, last.Value)
		if len(rivals) <= p.Bootstrap || !p.promoted(h, last.Value, rivals) {
			return true, attrs
		}
	}
}

// rivals are the values of other trials on a rung.
func (p *Halving) rivals(h *search.History, number, rung int) (out []float64) {
	for n := range h.Len() {
		var v float64
		if n != number && (p.among == nil || p.among(n)) && h.Attribute(n, rungKey(rung), &v) {
			out = append(out, v)
		}
	}
	return out
}

// promoted says that a value is among the best of its rung: of a few, the best.
func (p *Halving) promoted(h *search.History, value float64, rivals []float64) bool {
	slices.Sort(rivals)
	if h.Directions[0] == search.Maximize {
		slices.Reverse(rivals)
	}
	return !h.Better(rivals[max(0, len(rivals)/p.Factor-1)], value)
}

// lastStep is the last one of complete trials; false where none has any.
func lastStep(h *search.History, among func(int) bool) (last int, known bool) {
	for n := range h.Len() {
		if steps := h.Steps(n); h.State(n) == search.Complete && len(steps) > 0 && (among == nil || among(n)) {
			last, known = max(last, steps[len(steps)-1].Step), true
		}
	}
	return last, known
}
