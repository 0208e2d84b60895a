// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/ir"
	"lathe/ir/op/block"
	"lathe/ir/op/lane"
)

// LanesOf are the foldings of n: those of its operation's column; else beats stay within blocks and within channels.
// Errors are those of weights that cannot be summed.
//
// In a decoder, and where frames change in length, no beat has elements of two tokens.
func LanesOf(n *ir.Node) (*ir.Lanes, error) {
	l, err := lanesOf(n)
	if err != nil || !n.HW.Decode && n.HW.Tokens == 0 || l.Product() || l.Follows() {
		return l, err
	}
	ends := [2]int{ofToken(n.Type, n.HW.RowIn), ofToken(n.Type, n.HW.RowOut)}
	for _, a := range n.Args {
		if !a.IsConst() {
			ends[0] = ofToken(a.Type, n.HW.RowIn)
			break
		}
	}
	var legal []int
	for _, lanes := range l.In.Legal {
		if in, out := l.Tied(lanes); ends[0]%max(in, 1) == 0 && ends[1]%max(out, 1) == 0 {
			legal = append(legal, lanes)
		}
	}
	if len(legal) > 0 { // else what reads n is refused
		l.In.Legal = legal
	}
	return l, nil
}

// ofToken is the elements of a token as its beats carry it: in rows of that length, 0 for rows as they are.
func ofToken(t ir.Type, row int) int {
	if row == 0 {
		return t.OfToken()
	}
	return t.OfToken() / t.Row() * row
}

func lanesOf(n *ir.Node) (*ir.Lanes, error) {
	if n.Op.Lanes != nil {
		return n.Op.Lanes(n)
	}
	if n.Op.Traits.Wire {
		return &ir.Lanes{}, nil
	}
	for _, x := range append([]*ir.Node{n}, n.Args...) {
		if x.Type.InBlocks() && !x.IsConst() {
			legal := block.Lanes(x.Type)
			return &ir.Lanes{In: ir.Count{Legal: legal, Size: legal[len(legal)-1], Things: "elements of every block"}}, nil
		}
	}
	if _, byChannel := n.ChannelAxis(); byChannel {
		return &ir.Lanes{In: lane.Counts(lane.CommonChannels(n), "channels"), Mem: n.Op.Traits.Weighted}, nil
	}
	return &ir.Lanes{In: lane.Counts(n.Type.Elems(), "elements")}, nil
}
