// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"context"
	"fmt"
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/internal/driver"
)

// spreading is how many solutions of the knapsack are measured at first, rounds how often costs are predicted anew, and
// hunting how many choices each round measures after that.
const spreading, rounds, hunting = 14, 3, 12

// hunt measures choices of formats, those first that promise most.
type hunt struct {
	study   *Study
	auto    *Auto
	formats []string
	// items are the layers with what each loses and costs in each format; costs are shares of the part with that one
	// change to the choice base.
	items    [][]option
	base     []int
	shares   map[string]float64 // of the part, by choice
	seen     map[string]bool    // choices that were measured
	tried    [][]int            // the same in order, as are the mixed candidates
	progress driver.Progress
}

// run predicts costs around the middle one of the formats, and measures solutions of the knapsack over the whole range.
// Then it hunts below the best so far (next). Since costs depend on neighbours, it does so again with costs around the
// best.
func (h *hunt) run(ctx context.Context) error {
	h.base = make([]int, len(h.items))
	for i := range h.base {
		h.base[i] = len(h.formats) / 2
	}
	for round := range rounds {
		if err := h.costs(ctx); err != nil {
			return err
		}
		choices := knapsack(h.items)
		if choices == nil {
			return diag.New("L0421", h.study.source.Model, "a layer takes none of these formats, or its loss is not known")
		}
		for k := 0; k < spreading && round == 0; k++ {
			if err := h.measure(ctx, choices[k*(len(choices)-1)/(spreading-1)]); err != nil {
				return err
			}
		}
		if err := h.steps(ctx, choices); err != nil {
			return err
		}
		best := h.best()
		if best == nil || slices.Equal(best, h.base) {
			return nil
		}
		h.base = best
	}
	return nil
}

// costs predicts what the design takes with each option in place of that of the base.
func (h *hunt) costs(ctx context.Context) error {
	for i, options := range h.items {
		for k := range options {
			tell(h.progress, "costs", i*len(options)+k, len(options)*len(h.items))
			if math.IsInf(options[k].loss, 1) {
				continue
			}
			one := slices.Clone(h.base)
			one[i] = k
			share, known := h.shares[fmt.Sprint(one)] // the base itself, and what a round before knew
			if !known {
				var err error
				if share, err = h.study.predicted(ctx, h.formats, one); err != nil {
					return err
				}
				h.shares[fmt.Sprint(one)] = share
			}
			if options[k].cost = share; math.IsInf(share, 1) {
				options[k].loss = share
			}
		}
	}
	return nil
}

// best is the cheapest mixed choice that meets the goal; nil where none does.
func (h *hunt) best() []int {
	var best []int
	cheapest := math.Inf(1)
	mixed := h.auto.mixed()
	for i, c := range mixed {
		if c.Met && c.Share < cheapest {
			best, cheapest = h.tried[i], c.Share
		}
	}
	return best
}

// steps measures what promises most, one choice after the other.
func (h *hunt) steps(ctx context.Context, choices [][]int) error {
	for turn := range hunting {
		next := h.next(choices, turn)
		if next == nil {
			return nil
		}
		if err := h.measure(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

// measure measures a choice as a whole, once.
func (h *hunt) measure(ctx context.Context, choice []int) error {
	key := fmt.Sprint(choice)
	if h.seen[key] {
		return nil
	}
	tell(h.progress, "candidates", len(h.tried), spreading+rounds*hunting)
	h.seen[key], h.tried = true, append(h.tried, choice)
	plan, err := h.study.assigned(h.formats, choice)
	if err != nil {
		return err
	}
	var c Candidate
	for _, k := range choice {
		c.Formats = append(c.Formats, h.formats[k])
	}
	return h.study.candidate(ctx, h.auto, c, plan)
}

// next is the choice to measure next; nil where nothing promises to be cheaper than the best. By turns it is that of
// the least predicted loss half way between the best and the dearest cheaper one that fails, and the cheapest whose
// predicted loss is no more than that of some choice that met the goal.
func (h *hunt) next(choices [][]int, turn int) []int {
	cheapest, failing, allowed := math.Inf(1), 0.0, 0.0
	mixed := h.auto.mixed()
	for i := range h.auto.Candidates {
		if c := &h.auto.Candidates[i]; c.Met {
			cheapest = min(cheapest, c.Share)
		}
	}
	for i, c := range mixed {
		if _, loss := h.predict(h.tried[i]); c.Met {
			allowed = max(allowed, loss)
		} else if c.Refused == "" && c.Share < cheapest {
			failing = max(failing, c.Share)
		}
	}
	if turn%2 == 1 {
		if best := h.pick(choices, cheapest, allowed, func(cost, _ float64) float64 { return cost }); best != nil {
			return best
		}
	}
	least := func(_, loss float64) float64 { return loss }
	if best := h.pick(choices, (cheapest+failing)/2, math.Inf(1), least); best != nil {
		return best
	}
	return h.pick(choices, cheapest, math.Inf(1), least)
}

// pick is, of all solutions and of all choices one step from a measured one, that of the least rank which is predicted
// to be cheaper than a limit and to lose no more than allowed; nil where there is none.
func (h *hunt) pick(choices [][]int, limit, allowed float64, rank func(cost, loss float64) float64) []int {
	var best []int
	least := math.Inf(1)
	consider := func(choice []int) {
		cost, loss := h.predict(choice)
		r := rank(cost, loss)
		if r < least && cost < limit && loss <= allowed && !math.IsInf(loss, 1) && !h.seen[fmt.Sprint(choice)] {
			best, least = slices.Clone(choice), r
		}
	}
	for _, choice := range choices {
		consider(choice)
	}
	for _, choice := range h.tried {
		step := slices.Clone(choice)
		for i := range step {
			for _, k := range []int{choice[i] - 1, choice[i] + 1} {
				if k >= 0 && k < len(h.formats) {
					step[i] = k
					consider(step)
				}
			}
			step[i] = choice[i]
		}
	}
	return best
}

// predict adds up what the layers of a choice cost and lose, each by itself.
func (h *hunt) predict(choice []int) (cost, loss float64) {
	cost = h.items[0][h.base[0]].cost
	for i, k := range choice {
		o := h.items[i][k]
		cost, loss = cost+o.cost-h.items[i][h.base[i]].cost, loss+o.loss
	}
	return cost, loss
}

// mixed are the candidates that are not uniform, in the order in which they were measured.
func (a *Auto) mixed() []*Candidate {
	var out []*Candidate
	for i := range a.Candidates {
		if c := &a.Candidates[i]; !c.Uniform {
			out = append(out, c)
		}
	}
	return out
}
