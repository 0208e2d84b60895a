// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// short is the length of names up to which one mistake is as far as a suggestion goes: "Pad" is no misspelt "Add".
const short = 4

// Nearest returns the candidate closest to name by edit distance, case folded, or "" when none is near: more than a
// third of the letters differ, at least two; more than one, where either name is short; or all of them.
func Nearest(name string, candidates []string) string {
	best, bestDist := "", len(name)
	for _, c := range candidates {
		limit := max(2, len(name)/3)
		if min(len(name), len(c)) <= short {
			limit = 1
		}
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d <= limit && d < bestDist {
			best, bestDist = c, d
		}
	}
	return best
}

// distance is the least number of bytes to insert, delete or replace, or of neighbours to swap, that turns a into b
// (optimal string alignment).
func distance(a, b string) int {
	var before []int // the row before the last
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j-1]+cost, row[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// Number prints a number with so many significant digits, and large ones with all digits before the point: 18360, not
// 1.836e+04. With digits -1 it is the shortest text that stands for v.
func Number(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'g', digits, 64)
	switch {
	case !strings.Contains(s, "e+"):
		return s
	case digits < 0:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// NearestFile is the file whose name comes closest to that of path, in the same folder; "" where none is near.
func NearestFile(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var names []string
	for _, entry := range entries[:min(len(entries), 1000)] {
		names = append(names, entry.Name())
	}
	near := Nearest(filepath.Base(path), names)
	if near == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(path), near)
}
