// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"cmp"
	"math"
	"slices"
)

// Option is one choice for one item: what it costs and what it loses.
type Option struct{ Cost, Loss float64 }

// buckets is into how many equal steps the range of costs is cut: a solution is exact for costs rounded up to them.
const buckets = 4096

// Knapsack finds, for every budget, the choice of one option an item that loses least in sum and costs no more: the
// multiple-choice knapsack problem by dynamic programming over budgets (Kellerer, Pferschy, Pisinger: Knapsack
// Problems, 2004, chapter 11). The choices come with growing budgets and shrinking losses, each only once; choice[i] is
// the option of item i. Options of infinite loss are never taken; nil where an item has no other.
func Knapsack(items [][]Option) [][]int {
	costs, ok := bucketed(items)
	if !ok {
		return nil
	}
	best := make([]float64, buckets+1) // least loss within a budget, of the items so far
	taken := make([][]int16, len(items))
	for i, options := range items {
		next := make([]float64, buckets+1)
		taken[i] = make([]int16, buckets+1)
		for b := range next {
			next[b], taken[i][b] = math.Inf(1), -1
			for k, o := range options {
				c := costs[i][k]
				if c > b || math.IsInf(o.Loss, 1) {
					continue
				}
				if loss := best[b-c] + o.Loss; loss < next[b] {
					next[b], taken[i][b] = loss, int16(k)
				}
			}
		}
		best = next
	}
	var out [][]int
	least := math.Inf(1)
	for b, loss := range best {
		if loss >= least {
			continue
		}
		least = loss
		choice := make([]int, len(items))
		left := b
		for i := len(items) - 1; i >= 0; i-- {
			choice[i] = int(taken[i][left])
			left -= costs[i][choice[i]]
		}
		out = append(out, choice)
	}
	return out
}

// bucketed are the costs above the cheapest option of each item, in buckets, rounded up so that the dearest choice of
// all fits into the largest budget; ok is false where an item has no option.
func bucketed(items [][]Option) (costs [][]int, ok bool) {
	spread := 0.0
	low := make([]float64, len(items))
	for i, options := range items {
		usable := slices.DeleteFunc(slices.Clone(options), func(o Option) bool { return math.IsInf(o.Loss, 1) })
		if len(usable) == 0 {
			return nil, false
		}
		low[i] = slices.MinFunc(usable, func(a, b Option) int { return cmp.Compare(a.Cost, b.Cost) }).Cost
		spread += slices.MaxFunc(usable, func(a, b Option) int { return cmp.Compare(a.Cost, b.Cost) }).Cost - low[i]
	}
	step := spread / float64(buckets-len(items)) // each item may lose a bucket to rounding
	for i, options := range items {
		list := make([]int, len(options))
		for k, o := range options {
			if spread > 0 && !math.IsInf(o.Loss, 1) {
				list[k] = int(math.Ceil((o.Cost-low[i])/step - 1e-9))
			}
		}
		costs = append(costs, list)
	}
	return costs, true
}
