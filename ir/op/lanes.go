// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/ir"
	"lathe/ir/op/block"
	"lathe/ir/op/lane"
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
			legal := block.Lanes(x.Type)
			return &ir.Lanes{In: ir.Count{Legal: legal, Size: legal[len(legal)-1], Things: "elements of every block"}}, nil
		}
	}
	if _, byChannel := n.ChannelAxis(); byChannel {
		return &ir.Lanes{In: lane.Counts(lane.CommonChannels(n), "channels"), Mem: n.Op.Traits.Weighted}, nil
	}
	return &ir.Lanes{In: lane.Counts(n.Type.Elems(), "elements")}, nil
}
