// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"math/rand/v2"
	"slices"
)

// Sample is how many cases of a sweep a run takes: all of them in a long one, else the first few.
func Sample(few, all int) int {
	if Long {
		return all
	}
	return few
}

// Few are the cases of a sweep that a run takes, in their order: all of them in a long one, else n, drawn by a fixed
// seed.
func Few[T any](n int, all []T) []T {
	if Long || n >= len(all) {
		return all
	}
	drawn := rand.New(rand.NewPCG(7, uint64(len(all)))).Perm(len(all))[:n]
	slices.Sort(drawn)
	cases := make([]T, n)
	for i, at := range drawn {
		cases[i] = all[at]
	}
	return cases
}
