// SPDX-License-Identifier: Apache-2.0

package balance

import (
	"math/rand/v2"
	"testing"

	"lathe/rtl"
)

// TestPlace holds what is found to all choices of memories for few stores: bounds that some choice keeps are kept
// nearly always, the sum is that of the choice, and nothing moves that could stay.
func TestPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	kept, missed, moves := 0, 0, 0
	for range 400 {
		stores, all := storage(r)
		bounds := rtl.Cost{LUT: 400 + r.IntN(2000), BRAM: 1 + r.IntN(all.BRAM), URAM: 1 + r.IntN(8)}
		at, sum := Place(stores, make([]int, len(stores)), all, bounds)
		if want := placedAt(stores, at, all); sum != want {
			t.Fatalf("%v takes %+v, said to be %+v", at, want, sum)
		}
		if excess(sum, bounds) > 0 {
			for _, other := range choices(stores) {
				if excess(placedAt(stores, other, all), bounds) == 0 {
					missed++
					break
				}
			}
			continue
		}
		kept++
		for i, k := range at {
			if k == 0 {
				continue
			}
			moves++
			if at[i] = 0; excess(placedAt(stores, at, all), bounds) == 0 {
				t.Errorf("store %d of %v moved to %d and could have stayed", i, at, k)
			}
			at[i] = k
		}
	}
	t.Logf("bounds are kept %d times by %d moves, missed %d times", kept, moves, missed)
	if kept < 100 || moves < 100 || missed > kept/20 {
		t.Error("too few bounds are kept")
	}
}

// storage are the stores of some layers, in block RAM first, and what a design with them takes.
func storage(r *rand.Rand) (stores []Store, all rtl.Cost) {
	all = rtl.Cost{LUT: 100, BRAM: 1}
	for range 2 + r.IntN(4) {
		bits, words := 8+r.IntN(200), 64<<r.IntN(7)
		block := rtl.Cost{BRAM: (bits + 35) / 36 * ((words + 511) / 512)}
		stores = append(stores, Store{block, {LUT: bits * words / 40}, {LUT: 60, URAM: (bits + 71) / 72}})
		all = all.Add(block)
	}
	return stores, all
}

// choices are all that there are.
func choices(stores []Store) [][]int {
	list := [][]int{nil}
	for _, s := range stores {
		var longer [][]int
		for _, c := range list {
			for k := range s {
				longer = append(longer, append(append([]int{}, c...), k))
			}
		}
		list = longer
	}
	return list
}

// placedAt is what a design takes with its stores in other memories, by its definition.
func placedAt(stores []Store, at []int, all rtl.Cost) rtl.Cost {
	for i, s := range stores {
		all.LUT += s[at[i]].LUT - s[0].LUT
		all.BRAM += s[at[i]].BRAM - s[0].BRAM
		all.URAM += s[at[i]].URAM - s[0].URAM
	}
	return all
}
