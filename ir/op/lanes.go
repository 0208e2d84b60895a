// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
)

// Divisors lists the divisors of n > 0, ascending.
func Divisors(n int) []int {
	var d []int
	for i := 1; i <= n; i++ {
		if n%i == 0 {
			d = append(d, i)
		}
	}
	return d
}

// GCD is the greatest common divisor of a and b, neither of which is negative.
func GCD(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// ConvLanes lists the parallel inputs that op_conv can have along kernel and channels, ascending: divisors of the
// channels of a group, or whole pixels, as many as divide the kernel (see the header of op_window).
func ConvLanes(g *Geometry, groups int) []int {
	legal := Divisors(g.C / groups)
	if groups == 1 {
		for _, pixels := range Divisors(g.KH * g.KW)[1:] {
			legal = append(legal, g.C*pixels)
		}
	}
	return legal
}

// DepthwiseLanes lists the parallel products that a depthwise convolution can have, ascending: divisors of the
// channels, one element of their windows each; or all channels, as many elements as divide the kernel.
func DepthwiseLanes(g *Geometry) []int {
	legal := Divisors(g.C)
	for _, taps := range Divisors(g.KH * g.KW)[1:] {
		legal = append(legal, g.C*taps)
	}
	return legal
}

// CheckLanes reports lanes that are none of the legal numbers (ascending), all of which divide size things, and names
// the nearest: an error L0412 at the node, nil where the lanes are legal. key is the word for them, such as in_lanes.
func CheckLanes(n *ir.Node, key string, lanes int, legal []int, size int, things string) *diag.Error {
	at, found := slices.BinarySearch(legal, lanes)
	if found {
		return nil
	}
	var near []string
	for _, d := range legal[max(at-1, 0):min(at+1, len(legal))] {
		near = append(near, fmt.Sprint(d))
	}
	e := n.Errorf("L0412", "%s %d does not divide %d %s", key, lanes, size, things)
	if len(near) > 0 {
		e.Hint = "use " + strings.Join(near, " or ")
	}
	return e
}

// checkLanes is CheckLanes where every divisor is legal.
func checkLanes(n *ir.Node, key string, lanes, size int, things string) *diag.Error {
	return CheckLanes(n, key, lanes, Divisors(size), size, things)
}
