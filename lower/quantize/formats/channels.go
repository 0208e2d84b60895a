// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/pointwise"
	"lathe/lower/plan"
)

// given is what a rule asks for of the channels of a node.
type given struct {
	*plan.Channels
	of *ir.Node
}

// giveChannels puts a node behind each result whose channels a rule gives formats of their own. Nodes that the rules
// cover and that have other channels are errors L0407.
func (q *quantizer) giveChannels(g *ir.Graph) {
	for _, n := range slices.Clone(g.Nodes) {
		c := q.plan.ChannelsOf(n)
		if c == nil {
			continue
		}
		last := len(n.Type.Shape) - 1
		if last < 0 || n.Type.Shape[last] != len(c.List) {
			e := q.fail(n, diag.OpRefusesFormats, "%d formats of channels do not fit the last axis of %s", len(c.List),
				ir.ShapeString(n.Type.Shape)).WithNote("set by %s", c.From)
			if last >= 0 {
				e.WithHint("list %d, in a rule for this node alone if that one covers others too, and in front of it",
					n.Type.Shape[last])
			}
			continue
		}
		t := &ir.Node{Name: g.FreshName(n.Name + ".channels"), Op: pointwise.QuantEach, Args: []*ir.Node{n}, Pos: n.Pos,
			Type: n.Type, Stats: n.Stats, Attrs: &pointwise.QuantEachAttrs{Axis: last, Format: c.Each.All.String(),
				Bits: c.Each.Bits, Drop: c.Each.Drop}}
		g.InsertAfter(n, t)
		g.Replace(n, t)
		q.values[t], q.given[t] = q.values[n], &given{c, n}
	}
}

// forChannels says that all that reads n is such a node, or an operation that rounding may follow instead of precede.
func (q *quantizer) forChannels(n *ir.Node) bool {
	if q.g.IsOutput(n) || len(q.users[n]) == 0 {
		return false
	}
	for _, u := range q.users[n] {
		if t := &u.Op.Traits; q.given[u] == nil && !((pointwise.Cuts(u.Op) || t.KeepsCodes) && q.forChannels(u)) {
			return false
		}
	}
	return true
}

// covers says that r is about n. What rounds the channels of a node is only covered by rules that are not about that
// node: they have done their work in front.
func (q *quantizer) covers(r *plan.Rule, n *ir.Node) bool {
	c := q.given[n]
	return r.Covers(n) && (c == nil || !r.Covers(c.of))
}

// beforeChannels is the choice for a result that only nodes of channels read: every bit where a format has them, else
// some bits below the finest step of the channels, and their rounding: the floor of a floor is the floor.
func (q *quantizer) beforeChannels(n *ir.Node) (plan.Choice, bool) {
	if !q.forChannels(n) {
		return plan.Choice{}, false
	}
	if f, ok := exactResult(n); ok && q.takes(n, f) {
		return plan.Choice{Pattern: format.PatternOf(f),
			From: "every bit of the result, whose channels are rounded behind it"}, true
	}
	f, ok := q.belowChannels(n)
	u := q.users[n][0]
	for q.given[u] == nil {
		u = q.users[u][0]
	}
	f.Round = q.given[u].Each.All.Round
	return plan.Choice{Pattern: format.PatternOf(f), From: "finer than the channels that it is rounded to"},
		ok && q.takes(n, f)
}

// noteTwice returns c, the choice for the result of n, and tells where it is that of a rule, which rounds what only
// nodes of channels read.
func (q *quantizer) noteTwice(n *ir.Node, c plan.Choice) plan.Choice {
	if best, ok := q.beforeChannels(n); ok && c.Given && !c.Pattern.Fits(best.Pattern.Format) {
		q.report.Note("%s is rounded twice: to data_out by %s, then channel by channel; without data_out it is once",
			n.Name, c.From)
	}
	return c
}
