// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/pointwise"
)

// Channels are the formats that a rule gives the channels of a result, which lie along its last axis.
type Channels struct {
	// List is the formats as the plan has them.
	List []string
	// Each is their codes within one format.
	Each format.Each
	// From is the place of the rule in the plan.
	From string
}

// noCodes stands for the format of a channel that is always 0.
const noCodes = "none"

// channels reads a list of formats, one for each channel; nil where the key is not given.
func (p *planParser) channels(path string, list []string, what string) *Channels {
	if list == nil {
		return nil
	}
	c := &Channels{List: list, From: p.at.pos(path) + " " + what}
	formats := make([]format.Fixed, len(list)) // of no width: always 0
	var all *format.Fixed
	for i, text := range list {
		if text == noCodes {
			continue
		}
		choice := p.choice(path, &text, what)
		if choice == nil {
			return nil
		}
		f, fixed := format.AsFixed(choice.Pattern.Format)
		if _, open := choice.Pattern.Open(); !fixed || open || choice.Pattern.Incomplete() {
			p.fail(path, "%q for channel %d: channels have fixed formats with fraction bits", text, i).Hint =
				fmt.Sprintf(`such as "fixed(6,4)", "ufixed(5,3)", or %q for a channel that is always 0`, noCodes)
			return nil
		}
		if all == nil {
			all = &format.Fixed{F: f.F, Signed: f.Signed, Round: f.Round, Over: f.Over}
		}
		if f.Signed != all.Signed || f.Round != all.Round || f.Over != all.Over {
			p.fail(path, "%q for channel %d: all channels have a sign or none has, and they round and overflow alike", text, i)
			return nil
		}
		formats[i], all.F = f, max(all.F, f.F)
	}
	if all == nil {
		p.fail(path, "no channel has codes").Hint = fmt.Sprintf("give those formats that are not %q", noCodes)
		return nil
	}
	for _, f := range formats {
		drop := 0
		if f.W > 0 {
			drop = all.F - f.F
		}
		all.W = max(all.W, f.W+drop)
		c.Each.Bits, c.Each.Drop = append(c.Each.Bits, f.W), append(c.Each.Drop, drop)
	}
	c.Each.All = *all
	if _, err := format.Parse(all.String()); err != nil {
		p.fail(path, "%s holds all channels: %v", all, err).Hint = "bring their steps closer together"
		return nil
	}
	if err := c.Each.Check(); err != nil {
		p.fail(path, "%v", err).Hint = `say "over=sat" in each, as in "fixed(6,4,over=sat)"`
		return nil
	}
	return c
}

// channelsOf is what the first rule says that covers n and has channels; nil without one.
func (p *Plan) channelsOf(n *ir.Node) *Channels {
	for _, r := range p.Quantize.Rules {
		if r.Channels != nil && r.Covers(n) && !n.IsConst() {
			return r.Channels
		}
	}
	return nil
}

// given is what a rule asks for of the channels of a node.
type given struct {
	*Channels
	of *ir.Node
}

// giveChannels puts a node behind each result whose channels a rule gives formats of their own. Nodes that the rules
// cover and that have other channels are errors L0407.
func (q *quantizer) giveChannels(g *ir.Graph) {
	for _, n := range slices.Clone(g.Nodes) {
		c := q.plan.channelsOf(n)
		if c == nil {
			continue
		}
		last := len(n.Type.Shape) - 1
		if last < 0 || n.Type.Shape[last] != len(c.List) {
			e := q.fail(n, "L0407", "%d formats of channels do not fit the last axis of %s", len(c.List),
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
		if t := &u.Op.Traits; q.given[u] == nil && !((t.Cuts || t.KeepsCodes) && q.forChannels(u)) {
			return false
		}
	}
	return true
}

// covers says that r is about n. What rounds the channels of a node is only covered by rules that are not about that
// node: they have done their work in front.
func (q *quantizer) covers(r *Rule, n *ir.Node) bool {
	c := q.given[n]
	return r.Covers(n) && (c == nil || !r.Covers(c.of))
}

// beforeChannels is the choice for a result that only nodes of channels read: every bit where a format has them, else
// some bits below the finest step of the channels, and their rounding: the floor of a floor is the floor.
func (q *quantizer) beforeChannels(n *ir.Node) (Choice, bool) {
	if !q.forChannels(n) {
		return Choice{}, false
	}
	if f, ok := exactResult(n); ok && q.takes(n, f) {
		return Choice{Pattern: format.PatternOf(f),
			From: "every bit of the result, whose channels are rounded behind it"}, true
	}
	f, ok := q.belowChannels(n)
	u := q.users[n][0]
	for q.given[u] == nil {
		u = q.users[u][0]
	}
	f.Round = q.given[u].Each.All.Round
	return Choice{Pattern: format.PatternOf(f), From: "finer than the channels that it is rounded to"},
		ok && q.takes(n, f)
}

// noteTwice returns c, the choice for the result of n, and tells where it is that of a rule, which rounds what only
// nodes of channels read.
func (q *quantizer) noteTwice(n *ir.Node, c Choice) Choice {
	if best, ok := q.beforeChannels(n); ok && c.Given && !c.Pattern.Fits(best.Pattern.Format) {
		q.report.note("%s is rounded twice: to data_out by %s, then channel by channel; without data_out it is once",
			n.Name, c.From)
	}
	return c
}
