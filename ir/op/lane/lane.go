// SPDX-License-Identifier: Apache-2.0

// Package lane says which numbers of lanes are legal.
package lane

import (
	"fmt"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
)

// CommonChannels is the greatest number that divides the channels, the last axis, of every stream into n.
func CommonChannels(n *ir.Node) int {
	channels := 0
	for _, a := range n.Args {
		if !a.IsConst() {
			channels = GCD(a.Type.Row(), channels)
		}
	}
	return channels
}

// Follows is the column of units that have the lanes that arrive.
func Follows(*ir.Node) (*ir.Lanes, error) { return &ir.Lanes{}, nil }

// Divisors lists the divisors of n > 0, ascending.
func Divisors(n int) []int {
	var low, high []int
	for i := 1; i*i <= n; i++ {
		if n%i != 0 {
			continue
		}
		low = append(low, i)
		if i*i != n {
			high = append(high, n/i)
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}

// GCD is the greatest common divisor of a and b, neither of which is negative.
func GCD(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Check reports lanes that are none of the legal numbers (ascending), all of which divide size things, and names
// the nearest: an error L0412 at the node, nil where the lanes are legal. key is the word for them, such as in_lanes.
func Check(n *ir.Node, key string, lanes int, legal []int, size int, things string) *diag.Error {
	if slices.Contains(legal, lanes) {
		return nil
	}
	e := n.Errorf(diag.LanesDivide, "%s %d does not divide %d %s", key, lanes, size, things)
	if near := Nearest(legal, lanes); near != "" {
		e.Hint = "use " + near
	}
	return e
}

// Nearest are the legal numbers of lanes, which ascend, on either side of lanes, in words; "" where there are none.
func Nearest(legal []int, lanes int) string {
	at, _ := slices.BinarySearch(legal, lanes)
	var near []string
	for _, d := range legal[max(at-1, 0):min(at+1, len(legal))] {
		near = append(near, fmt.Sprint(d))
	}
	return strings.Join(near, " or ")
}

// CheckDivisor is Check where every divisor is legal.
func CheckDivisor(n *ir.Node, key string, lanes, size int, things string) *diag.Error {
	return Check(n, key, lanes, Divisors(size), size, things)
}

// Rows is a count that divides a row of things as beats carry it, which is longer than its elements where it is padded.
func Rows(size, padded int, things string) ir.Count { return Counts(max(size, padded), things) }

// Counts is a count that divides size things.
func Counts(size int, things string) ir.Count {
	return ir.Count{Legal: Divisors(size), Size: size, Things: things}
}
