// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/recur"
	"lathe/lower/calib"
)

func gate(r *Rule) *Choice { return r.Gate }
func cell(r *Rule) *Choice { return r.Cell }

// stateConst encodes argument i of n, which has a state: the weights or the bias that its sums have beside rows of
// argument 0. All weights have one format, so that no sum is wider than its products.
func (q *quantizer) stateConst(n *ir.Node, i int) {
	name, c := "weight", q.plan.Quantize.Weight
	explicit := q.rule(n, weight)
	if i > 1 {
		name, c, explicit = "bias", q.plan.Quantize.Bias, q.rule(n, bias)
	}
	if explicit != nil {
		c = *explicit
	}
	switch _, blocks := c.blocks(); {
	case blocks:
		c = q.constChoice(n, c, explicit != nil, betweenW)
	case !format.IsFixed(c.Pattern.Format):
		c = openFormat(c.Pattern.Format.Width(), c.From+"; "+n.Op.Name+" takes fixed constants")
	case q.staysExact() && !c.Given:
		c = openFormat(layerBits, "for a layer that the model leaves open")
	}
	t, err := n.Args[i].Value()
	if err != nil {
		q.fail(n, "L0408", "%v", err)
		return
	}
	if !q.finite(n, n.Args[i], t.Floats) {
		return
	}
	typ := ir.Type{Shape: t.Type.Shape, Format: q.complete(c, calib.Of(t.Floats))}
	q.explain(n, name, typ, c.From)
	q.encode(n, i, typ, t.Floats, c)
}

// derived decides what follows from the result format of n: that of a table, those within a layer with a state.
func (q *quantizer) derived(n *ir.Node) {
	switch t := &n.Op.Traits; {
	case t.Table0:
		q.table(n)
	case t.Recurs:
		q.within(n)
	}
}

// within decides the formats within n, which has a state, behind that of its result.
func (q *quantizer) within(n *ir.Node) {
	a := recur.Defaults(n, n.Type.Format.Width())
	for _, s := range []struct {
		slot   string
		choice *Choice
		whole  int
		text   *string
	}{{"gate", q.rule(n, gate), recur.GateBits, &a.Gate}, {"cell", q.rule(n, cell), recur.CellBits(n), &a.Cell}} {
		from := "the default of " + n.Op.Name
		if *s.text == "" {
			continue
		}
		if s.choice != nil {
			f := s.choice.Pattern.Format
			if open, ok := s.choice.Pattern.Open(); ok {
				f = s.choice.Pattern.With(open.W - 1 - s.whole)
			}
			*s.text, from = f.String(), s.choice.From
		}
		q.report.Slots = append(q.report.Slots, Slot{n.Name, n.Op.Name, s.slot, *s.text, from})
	}
	n.Attrs = a
}
