// SPDX-License-Identifier: Apache-2.0

package diag

import "strings"

// Nearest returns the candidate closest to name by edit distance, case folded, or "" when none is near
// (more than a third of the letters differ, at least two, or all of them).
func Nearest(name string, candidates []string) string {
	limit := min(max(2, len(name)/3), len(name)-1)
	best, bestDist := "", limit+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < bestDist {
			best, bestDist = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diag, row[j] = row[j], min(diag+cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
