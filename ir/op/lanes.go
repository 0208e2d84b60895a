// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
)

// LanesOf are the foldings of n: those of its operation's column; else beats stay within blocks and within channels.
// Errors are those of weights that cannot be summed.
func LanesOf(n *ir.Node) (*ir.Lanes, error) {
	if n.Op.Lanes != nil {
		return n.Op.Lanes(n)
	}
	if n.Op.Traits.Wire {
		return &ir.Lanes{}, nil
	}
	for _, x := range append([]*ir.Node{n}, n.Args...) {
		if x.Type.InBlocks() && !x.IsConst() {
			legal := BlockLanes(x.Type)
			return &ir.Lanes{In: ir.Count{Legal: legal, Size: legal[len(legal)-1], Things: "elements of every block"}}, nil
		}
	}
	if _, byChannel := n.ChannelAxis(); byChannel {
		return &ir.Lanes{In: counted(CommonChannels(n), "channels"), Mem: n.Op.Traits.Weighted}, nil
	}
	return &ir.Lanes{In: counted(n.Type.Elems(), "elements")}, nil
}

// CommonChannels is the greatest number that divides the channels, the last axis, of every stream into n.
func CommonChannels(n *ir.Node) int {
	channels := 0
	for _, a := range n.Args {
		if !a.IsConst() {
			channels = GCD(lastOf(a.Type.Shape), channels)
		}
	}
	return channels
}

func lastOf(shape []int) int {
	if len(shape) == 0 {
		return 1
	}
	return shape[len(shape)-1]
}

// counted is a count that divides size things.
func counted(size int, things string) ir.Count {
	return ir.Count{Legal: Divisors(size), Size: size, Things: things}
}

// follows is the column of units that have the lanes that arrive.
func follows(*ir.Node) (*ir.Lanes, error) { return &ir.Lanes{}, nil }

// windowLanes are the foldings of sums over blocks: inputs a beat, and rows, the outputs computed at once.
func windowLanes(n *ir.Node) (*ir.Lanes, error) {
	w, err := planWindow(n)
	if err != nil {
		return nil, err
	}
	in := counted(CommonLength(w.lengths), "elements of every block")
	drain := func(in, rows int) int { return Drain(rows, in, w.lengths) }
	return &ir.Lanes{In: in, Out: counted(w.out, "outputs"), Drain: drain, Styles: []ir.Style{ir.StyleFold},
		Mem: true}, nil
}

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
