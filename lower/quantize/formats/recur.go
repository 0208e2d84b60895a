// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/recur"
	"lathe/ir/op/sequence"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
)

func gate(r *plan.Rule) *plan.Choice { return r.Gate }

func cell(r *plan.Rule) *plan.Choice { return r.Cell }

// stateConst encodes argument i of n, which has a state: the weights or the bias that its sums have beside rows of
// argument 0. All weights have one format, so that no sum is wider than its products.
func (q *quantizer) stateConst(n *ir.Node, i int) {
	name, c := "weight", q.plan.Quantize.Weight
	explicit := q.rule(n, weight)
	if i > 1 {
		name, c, explicit = "bias", q.plan.Quantize.Bias, q.rule(n, bias)
	}
	if recur.Begins(n, i) {
		name, c, explicit = "first state", openFormat(betweenW, "for a state before the first row"), nil
	}
	if explicit != nil {
		c = *explicit
	}
	switch _, blocks := c.Blocks(); {
	case blocks:
		c = q.constChoice(n, c, explicit != nil, betweenW)
	case !format.IsFixed(c.Pattern.Format):
		c = openFormat(c.Pattern.Format.Width(), c.From+"; "+n.Op.Name+" takes fixed constants")
	case q.staysExact() && !c.Given:
		c = openFormat(layerBits, "for a layer that the model leaves open")
	}
	t, err := n.Args[i].Value()
	if err != nil {
		q.fail(n, diag.ConstantNotFinite, "%v", err)
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
	switch {
	case sequence.ReadsTable(n.Op):
		q.table(n)
	case recur.Recurs(n.Op):
		if !recur.ShowsCells(n) { // else it is decided
			q.within(n, n.Type.Format.Width())
		}
	}
}

// cellRows decides the formats of n if its rows show a state beside results, and says whether they do: those have the
// format of the state, whatever choice c is, which the results that the next row reads have.
func (q *quantizer) cellRows(n *ir.Node, c plan.Choice) bool {
	if !recur.Recurs(n.Op) || !recur.ShowsCells(n) {
		return false
	}
	width, fixed := betweenW, format.IsFixed(c.Pattern.Format)
	if fixed {
		width = c.Pattern.Format.Width()
	}
	a := q.within(n, width)
	if _, open := c.Pattern.Open(); fixed && !open {
		a.Hidden = c.Pattern.Format.String()
	}
	f, err := format.Parse(a.Cell)
	if err != nil {
		q.fail(n, diag.OpRefusesFormats, "%v", err)
		return true
	}
	n.Type.Format, n.Type.Scales = f, nil
	q.decided.Slots = append(q.decided.Slots, Slot{n.Name, n.Op.Name, "hidden", a.Hidden, c.From})
	q.explain(n, "data_out", n.Type, "the state of "+n.Op.Name+", which its rows show")
	return true
}

// within decides the formats within n, which has a state, whose results have so many bits.
func (q *quantizer) within(n *ir.Node, width int) *recur.Attrs {
	a := recur.Defaults(n, width)
	for _, s := range []struct {
		slot   string
		choice *plan.Choice
		above  int
		text   *string
	}{{"gate", q.rule(n, gate), recur.GateBits, &a.Gate}, {"cell", q.rule(n, cell), recur.CellBits(n), &a.Cell}} {
		from := "the default of " + n.Op.Name
		if *s.text == "" {
			continue
		}
		if s.choice != nil {
			f := s.choice.Pattern.Format
			if open, ok := s.choice.Pattern.Open(); ok {
				f = s.choice.Pattern.With(open.W - 1 - s.above)
			}
			*s.text, from = f.String(), s.choice.From
		}
		q.decided.Slots = append(q.decided.Slots, Slot{n.Name, n.Op.Name, s.slot, *s.text, from})
	}
	n.Attrs = a
	return a
}
