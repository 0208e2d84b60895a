// SPDX-License-Identifier: Apache-2.0

// Package front compares points of several objectives, less being better in each: who beats whom, how much of the space
// they leave behind, and which few of them leave most.
package front

import (
	"cmp"
	"math"
	"slices"
)

// Dominates says that a is nowhere worse than b and somewhere better.
func Dominates(a, b []float64) bool {
	better := false
	for i := range a {
		if a[i] > b[i] {
			return false
		}
		better = better || a[i] < b[i]
	}
	return better
}

// Ranks are the fronts that points stand on: 0 for those that nothing dominates, 1 for those that nothing dominates
// once these are gone, and so on. Equal points have one rank.
func Ranks(points [][]float64) []int {
	ranks := make([]int, len(points))
	for i := range ranks {
		ranks[i] = -1
	}
	for rank, left := 0, len(points); left > 0; rank++ {
		var here []int
		for i := range points {
			if ranks[i] >= 0 {
				continue
			}
			beaten := false
			for k := 0; k < len(points) && !beaten; k++ {
				beaten = ranks[k] < 0 && Dominates(points[k], points[i])
			}
			if !beaten {
				here = append(here, i)
			}
		}
		for _, i := range here {
			ranks[i] = rank
		}
		left -= len(here)
	}
	return ranks
}

// Reference is a point that is worse than all: a tenth beyond the worst of each objective, in either sign.
func Reference(points [][]float64) []float64 {
	out := slices.Clone(points[0])
	for _, p := range points {
		for i, v := range p {
			out[i] = max(out[i], v)
		}
	}
	for i, w := range out {
		if out[i] = max(1.1*w, 0.9*w); out[i] == 0 {
			out[i] = 1e-12
		}
	}
	return out
}

// Volume is the hypervolume between points and a reference that is worse than all of them.
func Volume(points [][]float64, reference []float64) float64 {
	first := len(reference) - 1
	sorted := slices.Clone(points)
	slices.SortFunc(sorted, slices.Compare)
	if first == 0 {
		if len(sorted) == 0 {
			return 0
		}
		return reference[0] - sorted[0][0]
	}
	if first == 1 {
		total, top := 0.0, reference[1]
		for _, p := range sorted {
			if p[1] < top {
				total += (reference[0] - p[0]) * (top - p[1])
				top = p[1]
			}
		}
		return total
	}
	total := 0.0
	for i, p := range sorted { // what each leaves that those behind it do not (While et al., 2012)
		total += Exclusive(p, sorted[i+1:], reference)
	}
	return total
}

// box is the volume between a point and the reference.
func box(p, reference []float64) float64 {
	v := 1.0
	for i := range p {
		v *= reference[i] - p[i]
	}
	return v
}

// Exclusive is the part of the hypervolume that a point has and others do not.
func Exclusive(p []float64, others [][]float64, reference []float64) float64 {
	if len(others) == 0 {
		return box(p, reference)
	}
	limited := make([][]float64, 0, len(others))
	for _, q := range others {
		worse := make([]float64, len(p))
		for i := range p {
			worse[i] = max(p[i], q[i])
		}
		limited = append(limited, worse)
	}
	return box(p, reference) - Volume(best(limited), reference)
}

// best are the points that nothing dominates, each once.
func best(points [][]float64) [][]float64 {
	slices.SortFunc(points, slices.Compare)
	points = slices.CompactFunc(points, slices.Equal)
	var out [][]float64
	for i, p := range points {
		if !slices.ContainsFunc(points[:i], func(q []float64) bool { return Dominates(q, p) }) {
			out = append(out, p)
		}
	}
	return out
}

// Subset are the places of count points of one front that leave much volume behind: the one that adds most, count
// times. Of equal points all but the first come last.
func Subset(points [][]float64, count int, reference []float64) []int {
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	if count >= len(points) {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(points[a], points[b]) })
	unique := slices.CompactFunc(slices.Clone(order), func(a, b int) bool { return slices.Equal(points[a], points[b]) })
	if len(unique) < count {
		out := slices.Clone(unique)
		for i := range points {
			if len(out) < count && !slices.Contains(unique, i) {
				out = append(out, i)
			}
		}
		return out
	}
	var chosen [][]float64
	var out []int
	adds := make([]float64, len(unique))
	for len(out) < count {
		most := -1
		for k, i := range unique {
			if slices.Contains(out, i) {
				continue
			}
			if len(points[i]) == 2 || len(out) == 0 {
				adds[k] = corner(points[i], chosen, reference)
			} else {
				adds[k] = min(adds[k], Exclusive(points[i], chosen, reference))
			}
			if most < 0 || adds[k] > adds[most] {
				most = k
			}
		}
		out = append(out, unique[most])
		chosen = append(chosen, points[unique[most]])
	}
	return out
}

// corner is Exclusive of two objectives among points of one front: the rectangle up to the neighbours on both sides.
func corner(p []float64, chosen [][]float64, reference []float64) float64 {
	limit := slices.Clone(reference)
	for _, q := range chosen {
		if cmp.Compare(q[0], p[0]) > 0 {
			limit[0] = math.Min(limit[0], q[0])
		} else {
			limit[1] = math.Min(limit[1], q[1])
		}
	}
	return box(p, limit)
}
