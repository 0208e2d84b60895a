// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"lathe/ir"
	"lathe/ir/op"
)

// blocks decides the lanes of n where blocks are in play, and says whether they are: beats do not cross the borders of
// blocks.
func (l *laner) blocks(n *ir.Node, a asked) bool {
	t, found := n.Type, isBlocks(n)
	for _, x := range n.Args {
		if !found && isBlocks(x) && !x.IsConst() {
			t, found = x.Type, true
		}
	}
	switch {
	case sumsBlocks(n):
		l.blockSum(n, a)
		return true
	case !found || n.Op.Traits.Wire:
		return false
	}
	legal := op.BlockLanes(t)
	given := defaultIn
	if n.Op == op.Input {
		given = l.wanted(n)
	} else {
		given = arriving(n)
	}
	most := legal[len(legal)-1]
	l.same(n, a, largest(legal, given), most, "elements of every block")
	return true
}

// blockSum decides a linear or convolution over blocks: inputs a beat, and rows, the outputs computed at once. How many
// of those leave a beat follows from both.
func (l *laner) blockSum(n *ir.Node, a asked) {
	lengths, err := op.SumLengths(n)
	if err != nil {
		l.fail(n, "", "%s", message(err))
		return
	}
	legal := op.Divisors(op.CommonLength(lengths))
	outs := n.Args[1].Type.Shape[0]
	in, rows := largest(legal, defaultIn), largest(op.Divisors(outs), defaultOut)
	if a.style == ir.StyleUnroll {
		in, rows = legal[len(legal)-1], outs
	}
	if a.in > 0 {
		in = l.divides(n, "in_lanes", a.in, legal, legal[len(legal)-1], "elements of every block", a.inFrom)
	}
	if a.out > 0 {
		rows = l.divides(n, "out_lanes", a.out, op.Divisors(outs), outs, "outputs", a.outFrom)
	}
	n.HW.InLanes, n.HW.StreamIn, n.HW.Rows, n.HW.OutLanes = in, in, rows, op.Drain(rows, in, lengths)
	n.HW.Style, n.HW.Mem = ir.StyleFold, a.mem
}
