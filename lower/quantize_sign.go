// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/lower/calib"
)

// unsigned is choice c without a sign, for a result that is never negative or is read by nothing but what cuts off all
// that is: rounding and saturating into such a format then does what a relu does, and leaves one more bit.
func (q *quantizer) unsigned(n *ir.Node, c Choice) Choice {
	f, open := c.Pattern.Open()
	if !open || !f.Signed || f.Over == format.Wrap || q.always == nil {
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
		if !u.Op.Traits.Cuts {
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

// absorbed takes n out of the graph where it changes no code of its argument, since rounding that into its format cuts
// off the same already. It says whether it did.
func (q *quantizer) absorbed(n *ir.Node) bool {
	if !n.Op.Traits.Cuts || q.always == nil || !changesNothing(n) {
		return false
	}
	a := n.Args[0]
	last := &q.report.Slots[len(q.report.Slots)-1]
	last.From = "the format of " + a.Name + ", which cuts off the same"
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

// widestTable bounds the bits of the codes that changesNothing goes through.
const widestTable = 16

// changesNothing says that n, whose result follows from each code of its argument, is the same code for all of them.
func changesNothing(n *ir.Node) bool {
	a := n.Args[0]
	if n.Type.InBlocks() || !n.Type.SameFormat(a.Type) || n.Type.Format.Width() > widestTable || !n.Op.Traits.Table {
		return false
	}
	codes := format.Raw(n.Type.Format)
	least := codes.Min()
	x := &ir.Tensor{Type: a.Type.WithShape([]int{int(codes.Max() - least + 1)})}
	for i := range x.Type.Elems() {
		x.Codes = append(x.Codes, least+int64(i))
	}
	one := *n
	one.Type = n.Type.WithShape(x.Type.Shape)
	one.Args = []*ir.Node{{Name: a.Name, Op: a.Op, Attrs: a.Attrs, Type: x.Type}}
	y, err := column.Apply(&one, x)
	for i := range x.Codes {
		if err != nil || y.Codes[i] != x.Codes[i] {
			return false
		}
	}
	return true
}
