// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"cmp"
	"math"
	"slices"

	"lathe/search"
	"lathe/search/front"
)

// Important is a parameter with its share of what decides.
type Important struct {
	Name  string
	Share float64 // of all, which add up to 1
}

// cells is into how many parts the range of a number is cut.
const cells = 10

// Importance says how much the values of a parameter differ between the better tenth of the complete trials and all of
// them: the Pearson divergence of the two, as PED-ANOVA has it (Watanabe, Bansal, Hutter, 2023), here of frequencies
// with one more trial that is spread evenly. The most important come first; nil for fewer than 20 trials.
func Importance(h *search.History, parameters []search.Named) []Important {
	trials := complete(h)
	if len(trials) < 20 {
		return nil
	}
	top := better(h, trials, (len(trials)+9)/10)
	var out []Important
	sum := 0.0
	for _, p := range parameters {
		v := divergence(h.Column(p.Name), p.Dist, trials, top)
		out = append(out, Important{p.Name, v})
		sum += v
	}
	if sum == 0 {
		return nil
	}
	for i := range out {
		out[i].Share /= sum
	}
	slices.SortStableFunc(out, func(a, b Important) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

// better are the first so many trials by value, or by fronts.
func better(h *search.History, trials []int, count int) []int {
	trials = slices.Clone(trials)
	losses := make([][]float64, len(trials))
	for i, n := range trials {
		losses[i] = h.Losses(n)
	}
	rank := map[int]int{}
	for i, r := range front.Ranks(losses) {
		rank[trials[i]] = r
		if h.Infeasible(trials[i]) {
			rank[trials[i]] += len(trials)
		}
	}
	slices.SortStableFunc(trials, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	return trials[:count]
}

// divergence compares the frequencies of a parameter's values in some trials with those in all.
func divergence(c *search.Column, d *search.Distribution, all, top []int) float64 {
	size := int(math.Min(d.Count(), cells))
	if d.Kind == search.Categorical {
		size = len(d.Choices)
	}
	count := func(trials []int) []float64 {
		out := make([]float64, size)
		n := 1.0
		for i := range out {
			out[i] = 1 / float64(size)
		}
		for _, t := range trials {
			if v, ok := c.Value(t); ok {
				n++
				out[cell(d, v, size)]++
			}
		}
		for i := range out {
			out[i] /= n
		}
		return out
	}
	p, q := count(all), count(top)
	sum := 0.0
	for i := range p {
		r := q[i]/p[i] - 1
		sum += p[i] * r * r
	}
	return sum
}

// cell is the part of a range that a value lies in.
func cell(d *search.Distribution, v float64, size int) int {
	if d.Kind == search.Categorical {
		return int(v)
	}
	low, high := d.Bounds()
	return max(0, min(size-1, int(float64(size)*(d.Within(v)-low)/(high-low))))
}
