// SPDX-License-Identifier: Apache-2.0

package streams

import (
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/dot"
	"lathe/ir/op/sum"
)

// mostExact is the bits of sums that casts of unrolled layers take.
const mostExact = 61

// AbsorbChannels lets unrolled sums round their rows to the codes that channels have behind them.
func AbsorbChannels(g *ir.Graph) error {
	users := g.Users()
	for _, q := range slices.Clone(g.Nodes) {
		if q.Op.Each == nil || q.Op.Traits.Weighted {
			continue
		}
		s := q.Args[0]
		if s.HW.Style != ir.StyleUnroll || s.HW.Unit != "" || len(users[s]) != 1 || g.IsOutput(s) ||
			q.HW.InLanes != s.HW.OutLanes || !exactButSign(s, q) {
			continue
		}
		n, ok := sum.Each(s, q)
		if !ok {
			continue
		}
		if n.Op.Legal(n) == nil {
			*q = *n
		}
	}
	g.DropDead()
	return nil
}

// exactButSign says that the result of sum s has every bit, but may be 0 for negative sums, which q makes 0 too, or end
// where sums reach further, if the codes of q end there at the latest.
func exactButSign(s, q *ir.Node) bool {
	f, ok := dot.ExactResult(s, mostExact)
	have, fixed := format.AsFixed(s.Type.Format)
	codes, err := q.Op.Each(q)
	if !ok || !fixed || err != nil {
		return false
	}
	all, _ := format.AsFixed(f)
	if have.F < all.F || have.Over == format.Wrap {
		return false
	}
	lo, hi := all.Limits()
	least, most := have.Limits()
	low, high := codes.All.Limits()
	return (most.Cmp(hi) >= 0 || most.Cmp(high) >= 0) &&
		(least.Cmp(lo) <= 0 || least.Cmp(low) <= 0 || least.Sign() <= 0 && !codes.All.Signed)
}
