// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/pointwise"
	"lathe/lower/own"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
)

// unsigned is choice c without a sign, for a result that is never negative or is read by nothing but what cuts off all
// that is: rounding and saturating into such a format then does what a relu does, and leaves one more bit.
func (q *quantizer) unsigned(n *ir.Node, c plan.Choice) plan.Choice {
	f, open := c.Pattern.Open()
	if !open || !f.Signed || f.Over == format.Wrap || !q.plan.Quantize.Unsigned {
		return c
	}
	matters, cut := q.matters(n)
	switch own, known := q.always[n]; {
	case known && own.Min >= 0:
		c.From += ", never negative"
	case cut && matters.Min >= 0:
		c.From += ", nothing negative matters"
		q.wanting[n.Name] = calib.Range{Max: math.Inf(1)}
	default:
		return c
	}
	f.Signed = false
	c.Pattern.Format = f
	return c
}

// matters are the bounds beyond which values of n make no difference to any reader, not even through operations that
// keep formats; false where some reader wants all.
func (q *quantizer) matters(n *ir.Node) (calib.Range, bool) {
	if q.g.IsOutput(n) || len(q.users[n]) == 0 {
		return calib.Range{}, false
	}
	all := calib.Range{Min: math.Inf(1), Max: math.Inf(-1)}
	for _, u := range q.users[n] {
		r, known := q.always[u]
		if !pointwise.Cuts(u.Op) {
			known = false
			if u.Op.Traits.KeepsCodes {
				r, known = q.matters(u)
			}
		}
		if !known {
			return r, false
		}
		all = calib.Range{Min: min(all.Min, r.Min), Max: max(all.Max, r.Max)}
	}
	return all, true
}

// absorbed takes n out of the graph where rounding into the format of its argument cuts off the same, or does with a
// limit. It says whether it did.
func (q *quantizer) absorbed(n *ir.Node) bool {
	if !pointwise.Cuts(n.Op) {
		return false
	}
	limit, ok := cutsOff(n)
	a := n.Args[0]
	if !ok || limit != format.Sat && !q.limits(a, limit) {
		return false
	}
	last := &q.decided.Slots[len(q.decided.Slots)-1]
	last.From = "the format of " + a.Name + ", which cuts off the same"
	if limit != format.Sat {
		a.Type.Format = format.WithRules(a.Type.Format, func(_ *format.Round, o *format.Over) { *o = limit })
		q.limited(a)
	}
	if matters, cut := q.matters(a); cut {
		q.wanting[a.Name] = matters
	}
	q.g.Replace(n, a)
	q.values[a], a.Stats = q.values[n], n.Stats
	readers := slices.Clone(q.users[n])
	for _, u := range q.users[a] {
		if u != n {
			readers = append(readers, u)
		}
	}
	q.users[a], q.users[n] = readers, nil
	return true
}

// limits says that a computes and rounds a result which nobody but one node reads, so that limits may cut it, or do: a
// rule may say so. What only moves codes rounds none; sums over blocks and codes of channels have bounds of their own.
func (q *quantizer) limits(a *ir.Node, limit format.Over) bool {
	codes, integers := format.IntegersOf(a.Type.Format)
	if own.Channels(a) || slices.ContainsFunc(a.Args, func(x *ir.Node) bool { return x.Type.InBlocks() }) {
		return false
	}
	over := codes.Codes.Over
	return integers && (over < format.Wrap || over == limit) && !a.IsInput() && !a.IsConst() && !a.Op.Traits.KeepsCodes &&
		!a.Op.Traits.Joins && !a.Op.Traits.Wire && a.Op.Traits.Positions == nil && len(q.users[a]) == 1 && !q.g.IsOutput(a)
}

// limited writes the new format of a into its line of the report.
func (q *quantizer) limited(a *ir.Node) {
	for i := range q.decided.Slots {
		if s := &q.decided.Slots[i]; s.Node == a.Name && s.Slot == "data_out" {
			s.Format = a.Type.Format.String()
		}
	}
}

// cutsOff says that n, whose result has the format of its argument, is an overflow rule that the format could have: Sat
// where it changes no code, or limits.
func cutsOff(n *ir.Node) (over format.Over, ok bool) {
	a := n.Args[0]
	if n.Type.InBlocks() || !n.Type.SameFormat(a.Type) || n.Type.Format.Width() > 32 || !n.Op.Traits.Table {
		return 0, false
	}
	codes := format.Raw(n.Type.Format)
	least, most := codes.Min(), codes.Max()
	ends, err := mapped(n, least, most)
	if err != nil {
		return 0, false
	}
	lo, hi := ends[0], ends[1]
	near := []int64{lo - 1, lo, lo + 1, hi - 1, hi, hi + 1}
	for i := range near {
		near[i] = min(max(near[i], least), most)
	}
	cut, err := mapped(n, near...)
	if err != nil {
		return 0, false
	}
	for i, c := range near {
		if cut[i] != min(max(c, lo), hi) {
			return 0, false
		}
	}
	switch {
	case lo == least && hi == most:
		return format.Sat, true
	case hi < 1 || hi > format.MaxLimit:
		return 0, false
	case lo == 0:
		return format.From0(hi), true
	case lo == -hi:
		return format.Around0(hi), hi < most
	}
	return 0, false
}

// mapped are the results of n for these codes of its argument.
func mapped(n *ir.Node, codes ...int64) ([]int64, error) {
	a := n.Args[0]
	x := &ir.Tensor{Type: a.Type.WithShape([]int{len(codes)}), Codes: codes}
	one := *n
	one.Type = n.Type.WithShape(x.Type.Shape)
	one.Args = []*ir.Node{{Name: a.Name, Op: a.Op, Attrs: a.Attrs, Type: x.Type}}
	y, err := column.Apply(&one, x)
	if err != nil {
		return nil, err
	}
	return y.Codes, nil
}
