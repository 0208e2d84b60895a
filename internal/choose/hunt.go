// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/workers"
)

// spreading is how many solutions of the knapsack are measured at first, rounds how often costs are predicted anew, and
// hunting how many choices each round measures after that.
const spreading, rounds, hunting = 14, 3, 18

// hunt measures choices of formats, those first that promise most.
type hunt struct {
	meter   *Meter
	auto    *Auto
	formats int // how many there are
	// picks are the choices of each layer, and items what it loses and costs with them; costs are shares of the part with
	// that one change to the choice base.
	picks    [][]pick
	items    [][]Option
	base     []int
	shares   map[string]float64 // of the part, by choice
	seen     map[string]bool    // choices that were measured
	tried    [][]int            // the same in order, as are the mixed candidates
	progress driver.Progress
}

// options are the choices of each layer, with what it adds to the output error: infinite where it is refused, or where
// the error is not known. What weights and values in two formats add is the sum of both.
func (h *hunt) options(ctx context.Context, formats []string) error {
	both, err := h.lost(ctx, formats, Parts{true, true})
	if err != nil {
		return err
	}
	var weights, values [][]float64
	if h.auto.Separate {
		if weights, err = h.lost(ctx, formats, Parts{true, false}); err != nil {
			return err
		}
		if values, err = h.lost(ctx, formats, Parts{false, true}); err != nil {
			return err
		}
	}
	for i := range h.meter.Layers {
		var picks []pick
		var items []Option
		for k, f := range formats {
			if h.meter.Layers[i].Weights == 0 {
				picks, items = append(picks, pick{"", f}), append(items, Option{Loss: both[i][k]})
				continue
			}
			for d, g := range formats {
				if d == k {
					picks, items = append(picks, pick{f, f}), append(items, Option{Loss: both[i][k]})
				} else if h.auto.Separate {
					picks, items = append(picks, pick{f, g}), append(items, Option{Loss: weights[i][k] + values[i][d]})
				}
			}
		}
		h.picks, h.items = append(h.picks, picks), append(h.items, items)
	}
	return nil
}

// lost is what some parts of each layer add to the output error in each format.
func (h *hunt) lost(ctx context.Context, formats []string, parts Parts) ([][]float64, error) {
	s, err := h.meter.Sensitivity(ctx, formats, parts, false, h.progress)
	if err != nil {
		return nil, err
	}
	items := make([][]float64, len(s.layers))
	for i := range s.Rows {
		loss := math.Inf(1)
		if r := &s.Rows[i]; r.Noise != nil {
			loss = max(0, *r.Noise)
		}
		items[i/len(formats)] = append(items[i/len(formats)], loss)
	}
	return items, nil
}

// chosen are the formats of a choice.
func (h *hunt) chosen(choice []int) []pick {
	out := make([]pick, len(choice))
	for i, k := range choice {
		out[i] = h.picks[i][k]
	}
	return out
}

// near are the options of a layer one step from another one: the next formats of its weights, of its values, or both.
func (h *hunt) near(i, k int) (out []int) {
	rows := len(h.picks[i]) / h.formats // by formats of weights
	row, column := k/h.formats, k%h.formats
	for _, step := range [][2]int{{-1, -1}, {1, 1}, {0, -1}, {0, 1}, {-1, 0}, {1, 0}} {
		r, c := row+step[0], column+step[1]
		if rows == 1 {
			r = 0
		}
		if to := r*h.formats + c; r >= 0 && r < rows && c >= 0 && c < h.formats && to != k {
			out = append(out, to)
		}
	}
	return out
}

// run hunts among choices of one format a layer, and then, where weights and values may have different ones, from the
// best of those on among all.
func (h *hunt) run(ctx context.Context) error {
	h.base = make([]int, len(h.items))
	all := h.items
	h.items = nil
	for i, options := range all {
		one := slices.Clone(options)
		for k, p := range h.picks[i] {
			if p.weight != "" && p.weight != p.data {
				one[k].Loss = math.Inf(1)
			}
		}
		h.items = append(h.items, one)
		middle := h.formats / 2
		if len(options) > h.formats {
			middle += h.formats * middle
		}
		h.base[i] = taken(one, middle)
	}
	if err := h.search(ctx); err != nil || !h.auto.Separate {
		return err
	}
	h.items = all
	if best := h.best(); best != nil {
		h.base = best
	}
	return h.search(ctx)
}

// taken is the option next to k that the layer takes: beside one that it does not, others have no cost. k where it
// takes none.
func taken(options []Option, k int) int {
	for d := range options {
		for _, at := range []int{k - d, k + d} {
			if at >= 0 && at < len(options) && !math.IsInf(options[at].Loss, 1) {
				return at
			}
		}
	}
	return k
}

// search predicts costs around the base, and measures solutions of the knapsack over the whole range. Then it hunts
// below the best so far (next). Since costs depend on neighbours, it does so again with costs around the best.
func (h *hunt) search(ctx context.Context) error {
	for round := range rounds {
		if err := h.costs(ctx); err != nil {
			return err
		}
		choices := Knapsack(h.items)
		if choices == nil {
			return diag.New(diag.NoUsableFormat, h.meter.subject.Model,
				"a layer takes none of these formats, or its loss is not known")
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
	changed := func(i, k int) []int {
		choice := slices.Clone(h.base)
		choice[i] = k
		return choice
	}
	open := map[string][]int{} // choices whose share of the part is not known
	for i, options := range h.items {
		for k := range options {
			choice := changed(i, k)
			if _, known := h.shares[fmt.Sprint(choice)]; !known && !math.IsInf(options[k].Loss, 1) {
				open[fmt.Sprint(choice)] = choice
			}
		}
	}
	if err := h.predictAll(ctx, open); err != nil {
		return err
	}
	for i, options := range h.items {
		for k := range options {
			if math.IsInf(options[k].Loss, 1) {
				continue
			}
			share := h.shares[fmt.Sprint(changed(i, k))]
			if options[k].Cost = share; math.IsInf(share, 1) {
				options[k].Loss = share
			}
		}
	}
	return nil
}

// predictAll predicts the shares of the part that choices take, several at once.
func (h *hunt) predictAll(ctx context.Context, choices map[string][]int) error {
	keys := slices.Sorted(maps.Keys(choices))
	shares, errs := make([]float64, len(keys)), make([]error, len(keys))
	var mu sync.Mutex
	done := 0
	workers.Ranges(len(keys), 1, func(from, to int) {
		for i := from; i < to; i++ {
			shares[i], errs[i] = h.meter.predicted(ctx, h.chosen(choices[keys[i]]))
			mu.Lock()
			done++
			tell(h.progress, "costs", done, len(keys))
			mu.Unlock()
		}
	})
	for i, key := range keys {
		h.shares[key] = shares[i]
	}
	return errors.Join(errs...)
}

// best is the cheapest mixed choice that meets the goal; nil where none does.
func (h *hunt) best() []int {
	var best []int
	cheapest := math.Inf(1)
	mixed := h.auto.mixed()
	for i, c := range mixed {
		if c.Met && c.takes < cheapest {
			best, cheapest = h.tried[i], c.takes
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
	picks := h.chosen(choice)
	plan, err := h.meter.assigned(picks)
	if err != nil {
		return err
	}
	var c Candidate
	for _, p := range picks {
		c.Formats = append(c.Formats, p.String())
	}
	return h.meter.candidate(ctx, h.auto, c, plan)
}

// next is the choice to measure next; nil where nothing promises to be cheaper than the best. By turns it is that of
// the least predicted loss half way between the best and the dearest cheaper one that fails, the cheapest whose
// predicted loss is no more than that of some choice that met the goal, and that of the least predicted loss a quarter,
// a half or three quarters of the way down to the cheapest of all: accuracy does not only follow the loss.
func (h *hunt) next(choices [][]int, turn int) []int {
	cheapest, failing, allowed, floor := math.Inf(1), 0.0, 0.0, math.Inf(1)
	mixed := h.auto.mixed()
	for i := range h.auto.Candidates {
		if c := &h.auto.Candidates[i]; c.Met {
			cheapest = min(cheapest, c.takes)
		}
	}
	for i, c := range mixed {
		if c.Refused == "" {
			floor = min(floor, c.takes)
		}
		if _, loss := h.predict(h.tried[i]); c.Met {
			allowed = max(allowed, loss)
		} else if c.Refused == "" && c.takes < cheapest {
			failing = max(failing, c.takes)
		}
	}
	least := func(_, loss float64) float64 { return loss }
	switch turn % 3 {
	case 1:
		if best := h.pick(choices, cheapest, allowed, func(cost, _ float64) float64 { return cost }); best != nil {
			return best
		}
	case 2:
		down := float64(1+turn/3%3) / 4
		if best := h.pick(choices, cheapest-down*(cheapest-floor), math.Inf(1), least); best != nil {
			return best
		}
	}
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
			for _, k := range h.near(i, choice[i]) {
				step[i] = k
				consider(step)
			}
			step[i] = choice[i]
		}
	}
	return best
}

// predict adds up what the layers of a choice cost and lose, each by itself.
func (h *hunt) predict(choice []int) (cost, loss float64) {
	cost = h.items[0][h.base[0]].Cost
	for i, k := range choice {
		o := h.items[i][k]
		cost, loss = cost+o.Cost-h.items[i][h.base[i]].Cost, loss+o.Loss
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
