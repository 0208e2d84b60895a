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
	var cases []T
	for _, at := range Drawn(n, len(all)) {
		cases = append(cases, all[at])
	}
	return cases
}

// Drawn are the numbers of the cases that Few takes of so many, for tests in which the number of a case says more of
// it.
func Drawn(n, all int) []int {
	r := rand.New(rand.NewPCG(7, uint64(all)))
	if Long || n >= all {
		n = all
	}
	drawn := r.Perm(all)[:n]
	slices.Sort(drawn)
	return drawn
}
