// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"cmp"
	"math"
	"slices"

	"lathe/search"
	"lathe/search/front"
)

// split are the trials that TPE learns from: the good ones and the others, by number. weights are those of the good
// ones; nil: as usual.
type split struct {
	below, above []int
	weights      []float64
}

// divide puts about a tenth of the trials among the good: first complete ones by their values, then pruned ones by how
// far they came, then those that break limits by how much. Trials that run are among the others, where they count.
func divide(h *search.History, four, liar bool) split {
	var complete, pruned, infeasible, running []int
	limited := four && slices.ContainsFunc(ended(h), func(n int) bool { _, ok := h.Violation(n); return ok })
	violation := func(n int) float64 {
		v, ok := h.Violation(n)
		if !ok && limited {
			return math.Inf(1)
		}
		return v
	}
	for n := range h.Len() {
		switch s := h.State(n); {
		case s == search.Running && liar:
			running = append(running, n)
		case s != search.Complete && s != search.Pruned:
		case violation(n) > 0:
			infeasible = append(infeasible, n)
		case s == search.Complete:
			complete = append(complete, n)
		default:
			pruned = append(pruned, n)
		}
	}
	count := len(complete) + len(pruned) + len(infeasible)
	good := int(math.Ceil(0.1 * float64(count)))
	if len(h.Directions) == 1 {
		good = min(good, 25)
	}
	var out split
	take := func(ordered []int) {
		k := min(max(0, good-len(out.below)), len(ordered))
		out.below, out.above = append(out.below, ordered[:k]...), append(out.above, ordered[k:]...)
	}
	take(byValue(h, complete, good))
	take(byProgress(h, pruned))
	slices.SortStableFunc(infeasible, func(a, b int) int { return cmp.Compare(violation(a), violation(b)) })
	take(infeasible)
	out.above = append(out.above, running...)
	slices.Sort(out.below)
	slices.Sort(out.above)
	if len(h.Directions) > 1 {
		out.weights = weigh(h, out.below, four, violation)
	}
	return out
}

// ended are the trials that are complete or pruned.
func ended(h *search.History) (out []int) {
	for n := range h.Len() {
		if s := h.State(n); s == search.Complete || s == search.Pruned {
			out = append(out, n)
		}
	}
	return out
}

// byValue puts the best trials first: of several objectives, as many as are wanted by fronts, of the last of which
// those that leave most volume.
func byValue(h *search.History, trials []int, wanted int) []int {
	trials = slices.Clone(trials)
	if len(h.Directions) == 1 {
		sign := 1.0
		if h.Directions[0] == search.Maximize {
			sign = -1
		}
		slices.SortStableFunc(trials, func(a, b int) int { return cmp.Compare(sign*h.Values(a)[0], sign*h.Values(b)[0]) })
		return trials
	}
	losses := make([][]float64, len(trials))
	for i, n := range trials {
		losses[i] = h.Losses(n)
	}
	ranks := front.Ranks(losses)
	var first []int
	taken := make([]bool, len(trials))
	for rank := 0; len(first) < min(wanted, len(trials)); rank++ {
		var here []int
		var points [][]float64
		for i := range trials {
			if ranks[i] == rank {
				here, points = append(here, i), append(points, losses[i])
			}
		}
		if left := wanted - len(first); left < len(here) {
			chosen := front.Subset(points, left, front.Reference(points))
			for k, at := range chosen {
				chosen[k] = here[at]
			}
			here = chosen
		}
		for _, i := range here {
			first, taken[i] = append(first, trials[i]), true
		}
	}
	for i, n := range trials {
		if !taken[i] {
			first = append(first, n)
		}
	}
	return first
}

// byProgress puts those first that came farthest, and of those the best.
func byProgress(h *search.History, trials []int) []int {
	type progress struct {
		step  int
		value float64
	}
	of := func(n int) progress {
		steps := h.Steps(n)
		if len(steps) == 0 {
			return progress{1, 0}
		}
		last := steps[len(steps)-1]
		v := last.Value
		if math.IsNaN(v) {
			v = math.Inf(1)
		} else if h.Directions[0] == search.Maximize {
			v = -v
		}
		return progress{-last.Step, v}
	}
	slices.SortStableFunc(trials, func(a, b int) int {
		x, y := of(a), of(b)
		return cmp.Or(cmp.Compare(x.step, y.step), cmp.Compare(x.value, y.value))
	})
	return trials
}

// weigh gives good trials of several objectives their weights: alike, or as 4.x did by the volume that is lost without
// one, and those that break limits next to none.
func weigh(h *search.History, trials []int, four bool, violation func(int) float64) []float64 {
	const none = 1e-12
	out := make([]float64, len(trials))
	var at []int
	var points [][]float64
	for i, n := range trials {
		if out[i] = 1; four && violation(n) > 0 {
			out[i] = none
		} else if h.State(n) == search.Complete {
			at, points = append(at, i), append(points, h.Losses(n))
		}
	}
	if !four || len(at) < 2 {
		return out
	}
	reference := front.Reference(points)
	ranks := front.Ranks(points)
	var best [][]float64
	for i, p := range points {
		if ranks[i] == 0 {
			best = append(best, p)
		}
	}
	all, most, k := front.Volume(best, reference), none, 0
	lost := make([]float64, len(points))
	for i := range points {
		if ranks[i] == 0 {
			lost[i] = all - front.Volume(slices.Delete(slices.Clone(best), k, k+1), reference)
			most = max(most, lost[i])
			k++
		}
	}
	for i := range points {
		out[at[i]] = max(lost[i]/most, none)
	}
	return out
}
