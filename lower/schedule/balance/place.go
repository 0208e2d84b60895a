// SPDX-License-Identifier: Apache-2.0

package balance

import (
	"slices"

	"lathe/rtl"
)

// Store is what a layer takes with its weights in each memory that they can lie in.
type Store []rtl.Cost

// Place moves stores, which lie in at, to other memories until all that a design takes is within the bounds, as far as
// that goes: always the one next that brings it closest for the least share of the bounds, and in the end back what
// need not have moved. It returns where each store lies then, and what the design takes. Of the bounds, 0 is none.
func Place(stores []Store, at []int, all, bounds rtl.Cost) ([]int, rtl.Cost) {
	at = slices.Clone(at)
	first := slices.Clone(at)
	for {
		before, best, which, to := excess(all, bounds), 0.0, -1, 0
		for i, s := range stores {
			for k, c := range s {
				if k == at[i] {
					continue
				}
				next := exchanged(all, s[at[i]], c)
				if v := (before - excess(next, bounds)) / taken(s[at[i]], c, bounds); v > best {
					best, which, to = v, i, k
				}
			}
		}
		if which < 0 {
			break
		}
		all, at[which] = exchanged(all, stores[which][at[which]], stores[which][to]), to
	}
	for i, s := range stores {
		if next := exchanged(all, s[at[i]], s[first[i]]); excess(next, bounds) <= excess(all, bounds) {
			all, at[i] = next, first[i]
		}
	}
	return at, all
}

// excess is how far a cost is beyond the bounds, in shares of them; 0 within.
func excess(c, bounds rtl.Cost) (sum float64) {
	for _, r := range bounded(c, bounds) {
		if r[1] > 0 {
			sum += float64(max(r[0]-r[1], 0)) / float64(r[1])
		}
	}
	return sum
}

// taken is the share of the bounds that a takes more of than b, and a little for moving at all.
func taken(from, to, bounds rtl.Cost) float64 {
	sum, had := 1e-6, bounded(from, bounds)
	for i, r := range bounded(to, bounds) {
		if r[1] > 0 {
			sum += float64(max(r[0]-had[i][0], 0)) / float64(r[1])
		}
	}
	return sum
}

// bounded lists each kind of cells with its bound.
func bounded(c, bounds rtl.Cost) [5][2]int {
	return [5][2]int{{c.LUT, bounds.LUT}, {c.FF, bounds.FF}, {c.DSP, bounds.DSP}, {c.BRAM, bounds.BRAM},
		{c.URAM, bounds.URAM}}
}

// exchanged is all with one part instead of another.
func exchanged(all, old, part rtl.Cost) rtl.Cost { return all.Add(old.Times(-1)).Add(part) }
