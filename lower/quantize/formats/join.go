// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/dot"
	"lathe/ir/op/move"
	"lathe/lower/own"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
)

// wantOutputs gives the format of a graph output to the node that computes it, where it has no other reader and no rule
// of its own: one rounding instead of two.
func (q *quantizer) wantOutputs() {
	for _, o := range q.g.Out {
		n := q.computes(o.Node, 0)
		if n == nil {
			continue
		}
		if p := q.plan.Output(o.Name); p != nil && p.Format != nil {
			q.wanted[n] = p.Format
		}
	}
}

// wantJoined gives the format of what joins several values (concat) to the nodes that compute them, where those have no
// other reader and no rule of their own: then nothing is rounded twice.
func (q *quantizer) wantJoined() {
	for _, n := range q.g.Nodes {
		if !n.Op.Traits.Joins || len(n.Args) < 2 || q.rule(n, dataIn) != nil || q.leftOpen(n) {
			continue
		}
		c := q.joinedChoice(n, q.resultChoice(n, q.rule(n, dataOut)))
		if _, blocks := c.Blocks(); blocks {
			continue
		}
		for _, a := range n.Args {
			if a.IsConst() || q.g.IsOutput(a) {
				continue
			}
			if from := q.computes(a, 1); from != nil && q.wanted[from] == nil {
				q.wanted[from] = &c
			}
		}
	}
}

// joinedChoice completes the choice of a result by its values.
func (q *quantizer) joinedChoice(n *ir.Node, c plan.Choice) plan.Choice {
	c.Calibrated = c.Calibrated || c.Pattern.Incomplete()
	c.Pattern = format.PatternOf(q.complete(c, q.values[n]))
	c.From += ", for all that " + n.Name + " joins"
	return c
}

// joined decides an operation whose arguments and result have one format: that of the arguments where they agree and
// nothing else is asked for, else one that holds the result. Blocks are joined as fixed values and encoded behind.
func (q *quantizer) joined(n *ir.Node, explicit *plan.Choice) {
	choice := q.resultChoice(n, explicit)
	want := choice
	_, blocks := choice.Blocks()
	if blocks {
		want, explicit = openFormat(betweenW, n.Op.Name+" joins fixed values"), nil
	}
	var first *ir.Node
	agree := true
	for _, a := range n.Args {
		switch {
		case a.IsConst():
		case first == nil:
			first = a
		default:
			agree = agree && a.Type.SameFormat(first.Type)
		}
	}
	agree = agree && first != nil && q.holdsPad(n, first.Type.Format)
	if agree && (explicit == nil || explicit.Pattern.Fits(first.Type.Format)) {
		n.Type.Format, n.Type.Scales = first.Type.Format, nil
		q.explain(n, "data_out", n.Type, "the format of "+first.Name+", which "+n.Op.Name+" keeps")
	} else {
		c := q.joinedChoice(n, want)
		q.result(n, c)
		if blocks {
			q.loose++
		} else {
			q.pin(n, "data_out", c)
		}
		for i, a := range n.Args {
			if !a.IsConst() {
				n.Args[i] = q.cast(a, c, n, q.values[a])
			}
		}
	}
	for i, a := range n.Args {
		if a.IsConst() {
			q.joinedConst(n, i)
		}
	}
	q.roundPad(n)
	if blocks {
		q.encodeBehind(n, choice)
	}
}

// holdsPad says that the constant which n pads with, if n is a pad, lies within the range of f.
func (q *quantizer) holdsPad(n *ir.Node, f format.Format) bool {
	value, pads := move.PadsWith(n)
	if !pads || q.staysExact() {
		return true
	}
	lo, hi := f.Limits()
	v := format.FromFloat32(value)
	return lo.Cmp(v) <= 0 && v.Cmp(hi) <= 0
}

// roundPad rounds the constant which n pads with, if n is a pad, to a code of the result, as it does constants that are
// joined. A model that decides formats itself has it rounded where its own quantization is what follows.
func (q *quantizer) roundPad(n *ir.Node) {
	value, pads := move.PadsWith(n)
	f := n.Type.Format
	if !pads || format.IsFloat(f) || n.Type.Scales != nil {
		return
	}
	if given, own := q.own.Format(n); q.staysExact() && !(own && format.SameType(given.Format, f)) {
		return
	}
	if err := calib.NeverPadded(n); err != nil {
		q.errs = append(q.errs, err)
		q.faults++
		return
	}
	move.PadWith(n, f.Decode(f.Encode(format.FromFloat32(value))).Float32())
}

// joinedConst encodes constant argument i of n in the format of the result.
func (q *quantizer) joinedConst(n *ir.Node, i int) {
	t, err := n.Args[i].Value()
	if err != nil {
		q.fail(n, diag.ConstantNotFinite, "%v", err)
		return
	}
	if !q.finite(n, n.Args[i], t.Floats) {
		return
	}
	typ := n.Type.WithShape(t.Type.Shape)
	q.encode(n, i, typ, t.Floats, plan.Choice{Pattern: format.PatternOf(typ.Format), From: "the format of " + n.Name})
}

// modelChoice is the format that the model itself gives to the value of n; the plan's data stands above it.
func (q *quantizer) modelChoice(n *ir.Node) (plan.Choice, bool) {
	if q.plan.Quantize.Data.Given && !own.Channels(n) {
		return plan.Choice{}, false
	}
	if f, ok := q.own.Format(n); ok {
		c := plan.Choice{Pattern: format.PatternOf(f.Inside()), From: "the model: " + f.From.Name}
		if n.IsInput() {
			c.Pattern = format.PatternOf(f.Format)
		}
		return c, true
	}
	if f, ok := own.Signs(n); ok {
		return plan.Choice{Pattern: format.PatternOf(f), From: "the model: " + n.Name}, true
	}
	return plan.Choice{}, false
}

// quant decides a quant node of the model: nothing where the value before it has its format, else a cast. Where the
// plan has decided that value in spite of the model, the node still cuts it off: its range may be all that is left of a
// relu. It says whether the node has become a clip, to be decided as such.
func (q *quantizer) quant(n *ir.Node) bool {
	a := n.Args[0]
	f, ok := q.own.Format(n)
	explicit := q.rule(n, dataOut)
	switch {
	case explicit != nil || q.ruled[a]:
		if !inside(a.Type.Format, f.Format) {
			own.Clip(n, f)
			q.ruled[n] = true
			if explicit == nil {
				q.wanted[n] = &plan.Choice{Pattern: format.PatternOf(a.Type.Format), From: "the format of " + a.Name}
			}
			return true
		}
		if explicit != nil {
			a = q.cast(a, *explicit, n, q.values[n])
			q.ruled[a] = true
		}
	case ok:
		a = q.cast(a, plan.Choice{Pattern: format.PatternOf(f.Inside()), From: "the model: " + n.Name}, n, q.values[n])
	}
	q.g.Replace(n, a)
	readers := slices.DeleteFunc(slices.Clone(q.users[n.Args[0]]), func(u *ir.Node) bool { return u == n })
	if a != n.Args[0] {
		q.users[n.Args[0]] = append(readers, a)
		readers = nil
	}
	q.users[a] = append(readers, q.users[n]...)
	q.users[n] = nil
	return false
}

// channels gives a node that computes codes for each channel the format of all of them, whatever the plan says of data:
// what a rule asks for stands behind it.
func (q *quantizer) channels(n *ir.Node, explicit *plan.Choice) {
	if a := n.Args[0]; !format.IsFixed(a.Type.Format) {
		n.Args[0] = q.cast(a, openFormat(layerBits, "what "+n.Op.Name+" takes"), n, q.values[a])
	}
	c, _ := q.modelChoice(n)
	if q.given[n] != nil {
		c.From = q.given[n].From
	}
	q.result(n, c)
	if explicit != nil {
		q.castBehind(n, *explicit)
	}
}

// inside says that no value of f lies beyond those of g.
func inside(f, g format.Format) bool {
	if _, block := f.(format.Block); block {
		return false
	}
	lo, hi := f.Limits()
	least, most := g.Limits()
	return lo.Cmp(least) >= 0 && hi.Cmp(most) <= 0
}

// ownConst gives constant argument i of n the codes that it has in the model, unless the plan asks for others.
func (q *quantizer) ownConst(n *ir.Node, i int, name string, given bool) bool {
	c := n.Args[i].Attrs.(*ir.Const)
	if given || c.Own.Format == nil || c.Own.Scales != nil && !n.Op.Traits.Weighted ||
		n.Args[0].Type.InBlocks() || i == 2 && n.Args[1].Type.InBlocks() {
		return false
	}
	typ := c.Own.WithShape(n.Args[i].Type.Shape)
	x := c.Data.Floats64()
	codes := make([]int64, len(x))
	s, _, scaled := format.ScaledAlong(typ.Format)
	for k, v := range x {
		if scaled {
			codes[k] = s.EncodeAt(format.FromFloat64(v), typ.Scales[k/(len(x)/len(typ.Scales))])
		} else {
			codes[k] = typ.Format.Encode(format.FromFloat64(v))
		}
	}
	q.explain(n, name, typ, "the model: "+n.Args[i].Name)
	q.setConst(n, i, typ, ir.CodeBlob(codes))
	return true
}

// window gives n its accumulator, chosen from the scales of its weights, what is known of those of its data, and the
// values that calibration has seen.
func (q *quantizer) window(n *ir.Node) bool {
	limit := 0 // where nothing is known of the result, the greatest scale
	for _, a := range n.Args[:2] {
		if b, blocks := a.Type.BlockFormat(); blocks {
			_, hi := b.ScaleLimits()
			limit = max(limit, hi)
		}
	}
	q.loose++
	if v := q.values[n]; v != nil {
		limit = topBit(v) + windowMargin
	}
	fine := -1 << 10
	if v := q.values[n.Args[0]]; v != nil {
		fine = topBit(v) - inputBits
	}
	acc, err := q.sharedWindow(n, limit, fine)
	n.Type.Format = acc
	var w dot.BlockWindow
	if err == nil {
		w, err = dot.WindowOf(n)
	}
	if err != nil {
		q.fail(n, diag.NoPlannedAccumulator, "%s",
			diag.Message(err)).WithHint("give the weights blocks, or a format of fewer bits with a power " +
			"of two as its scale: binary*0.5; or the data a fixed format, beside which all weights work")
		return false
	}
	q.explain(n, "acc", n.Type, "the window of its block sums: "+w.String())
	return true
}

// sharedWindow is the accumulator of n, and of all layers that share its unit: of as many fraction bits as the finest
// of theirs where that fits.
func (q *quantizer) sharedWindow(n *ir.Node, limit, fine int) (acc format.Fixed, err error) {
	width := q.plan.Quantize.Acc
	choose := func(n *ir.Node) (format.Format, bool) {
		acc, err = dot.ChooseWindow(n, width, limit, fine)
		return acc, err == nil
	}
	if all, ok := q.together(n, math.MaxInt, choose); ok {
		all.F -= max(0, all.W-width)
		all.W = min(all.W, width)
		return all, nil
	}
	return acc, err
}

// inputBits is how far below the greatest value of an input that comes in blocks its bits still count.
const inputBits = 18

// windowMargin is how many bits a window has above the greatest value that calibration has seen.
const windowMargin = 2

// topBit is the least t with every |value| < 2^t.
func topBit(v *calib.Values) int {
	m := max(math.Abs(v.Min), math.Abs(v.Max))
	if m == 0 || math.IsInf(m, 0) || math.IsNaN(m) {
		return 0
	}
	_, e := math.Frexp(m)
	return e
}
