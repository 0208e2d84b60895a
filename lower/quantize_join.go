// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op"
	"lathe/lower/calib"
	"lathe/lower/own"
)

// wantOutputs gives the format of a graph output to the node that computes it, where it has no other reader and no rule
// of its own: one rounding instead of two.
func (q *quantizer) wantOutputs() {
	for _, o := range q.g.Out {
		n := q.computes(o.Node, 0)
		if n == nil {
			continue
		}
		q.bare[n] = true
		if p := q.plan.output(o.Name); p != nil && p.Format != nil {
			q.wanted[n] = p.Format
		}
	}
}

// wantJoined gives the format of what joins several values (concat) to the nodes that compute them, where those have no
// other reader and no rule of their own: then nothing is rounded twice.
func (q *quantizer) wantJoined() {
	for _, n := range q.g.Nodes {
		if !n.Op.Traits.Joins || len(n.Args) < 2 || q.rule(n, dataIn) != nil {
			continue
		}
		c := q.joinedChoice(n, q.resultChoice(n, q.rule(n, dataOut)))
		if _, blocks := inBlocks(c); blocks {
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
func (q *quantizer) joinedChoice(n *ir.Node, c Choice) Choice {
	c.Pattern = format.PatternOf(q.resolve(c, q.values[n]))
	c.From += ", for all that " + n.Name + " joins"
	return c
}

// joined decides an operation whose arguments and result have one format: that of the arguments where they agree and
// nothing else is asked for, else one that holds the result. Blocks are joined as fixed values and encoded behind.
func (q *quantizer) joined(n *ir.Node, explicit *Choice) {
	choice := q.resultChoice(n, explicit)
	want := choice
	_, blocks := inBlocks(choice)
	if blocks {
		want, explicit = between(betweenW, n.Op.Name+" joins fixed values"), nil
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
	if agree && first != nil && (explicit == nil || fits(*explicit, first.Type.Format)) {
		n.Type.Format, n.Type.Scales = first.Type.Format, nil
		q.explain(n, "data_out", n.Type, "the format of "+first.Name+", which "+n.Op.Name+" keeps")
	} else {
		c := q.joinedChoice(n, want)
		q.result(n, c)
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
	if blocks {
		q.encodeBehind(n, choice)
	}
}

// joinedConst encodes constant argument i of n in the format of the result.
func (q *quantizer) joinedConst(n *ir.Node, i int) {
	t, err := n.Args[i].Value()
	if err != nil {
		q.fail(n, "L0408", "%v", err)
		return
	}
	if !q.finite(n, n.Args[i], t.Floats) {
		return
	}
	typ := n.Type.WithShape(t.Type.Shape)
	q.encode(n, i, typ, t.Floats, Choice{Pattern: format.PatternOf(typ.Format), From: "the format of " + n.Name})
}

// modelChoice is the format that the model itself gives to the value of n; the plan's data stands above it. What a
// quantized model leaves open at an output keeps every bit of its sum, where those are few.
func (q *quantizer) modelChoice(n *ir.Node) (Choice, bool) {
	if q.plan.Quantize.Data.Given {
		return Choice{}, false
	}
	if f, ok := q.own.Format(n); ok {
		c := Choice{Pattern: format.PatternOf(f.Inside()), From: "the model: " + f.From.Name}
		if n.Op == op.Input {
			c.Pattern = format.PatternOf(f.Format)
		}
		return c, true
	}
	if n.Op == op.Quant { // of signs: those that encode have a format in the model
		if f, err := op.QuantFormat(n); err == nil {
			return Choice{Pattern: format.PatternOf(f), From: "the model: " + n.Name}, true
		}
	}
	if q.own.Quantized && (q.bare[n] || q.onlyQuantized(n)) {
		if f, ok := own.Exact(n, exactBits); ok {
			return Choice{Pattern: format.PatternOf(f), From: "every bit of the sum, which the model leaves open"}, true
		}
	}
	return Choice{}, false
}

// exactBits bounds the width of values that keep all bits of a sum.
const exactBits = 32

// onlyQuantized says that all readers of n round it, each to codes of its own: it must not be rounded before.
func (q *quantizer) onlyQuantized(n *ir.Node) bool {
	all := len(q.users[n]) > 0 && !q.g.IsOutput(n)
	for _, u := range q.users[n] {
		all = all && u.Op == op.Quant
	}
	return all
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
				q.wanted[n] = &Choice{Pattern: format.PatternOf(a.Type.Format), From: "the format of " + a.Name}
			}
			return true
		}
		if explicit != nil {
			a = q.cast(a, *explicit, n, q.values[n])
			q.ruled[a] = true
		}
	case ok:
		a = q.cast(a, Choice{Pattern: format.PatternOf(f.Inside()), From: "the model: " + n.Name}, n, q.values[n])
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
		isBlocks(n.Args[0]) || i == 2 && isBlocks(n.Args[1]) {
		return false
	}
	typ := c.Own.WithShape(n.Args[i].Type.Shape)
	x := c.Data.Floats64()
	codes := make([]int64, len(x))
	for k, v := range x {
		if a, ok := typ.Format.(format.Affine); ok && a.Axis >= 0 {
			codes[k] = a.EncodeScaled(format.FromFloat64(v), typ.Scales[k/(len(x)/len(typ.Scales))], a.Zero)
		} else {
			codes[k] = typ.Format.Encode(format.FromFloat64(v))
		}
	}
	q.explain(n, name, typ, "the model: "+n.Args[i].Name)
	q.setConst(n, i, typ, ir.CodeBlob(codes))
	return true
}

// Values in blocks meet operations that compute on fixed formats only; casts between the two stand around those. The
// widths of these formats cost accuracy below that of 8-bit blocks, and few gates.
const (
	betweenW = 16 // of fixed values between blocks
	openW    = 24 // of what a relu reads of a window accumulator; windows behind it stay exact
	tableW   = 12 // of the argument of a function that hardware may look up
)

// inBlocks returns the block format that choice c asks for.
func inBlocks(c Choice) (format.MXInt, bool) {
	m, ok := c.Pattern.Format.(format.MXInt)
	return m, ok
}

func isBlocks(n *ir.Node) bool { _, ok := n.Type.Format.(format.MXInt); return ok }

// between is the choice of a fixed format for a value that Lathe takes out of blocks; its fraction bits are open.
func between(width int, why string) Choice {
	return Choice{Pattern: format.Pattern{W: width, Format: format.Fixed{W: width, Signed: true}}, From: why}
}

// unblock puts casts to a fixed format before the arguments of n that are in blocks, or would be, if n cannot take
// them. It returns the block format of the first, for results that keep the format of their argument.
func (q *quantizer) unblock(n *ir.Node) *format.MXInt {
	var was *format.MXInt
	if n.Op == op.Cast || op.TakesBlocks(n) && (!n.Op.Traits.BlockCodes || q.staysBlocks(n)) {
		return nil
	}
	width := betweenW
	if t := n.Op.Traits; t.Elementwise && !t.Cuts && !t.KeepsCodes && len(n.Args) == 1 && n.Op != op.LeakyRelu {
		width = tableW
	}
	if n.Op.Traits.BlockCodes {
		width = openW
	}
	c := between(width, n.Op.Name+" computes on fixed values")
	if n.Op.Traits.Joins {
		c = q.joinedChoice(n, c)
	}
	for i, a := range n.Args {
		m, ok := a.Type.Format.(format.MXInt)
		if open, later := q.open[a]; later {
			m, ok = open, true
		}
		if !ok || a.IsConst() {
			continue
		}
		if was == nil {
			was = &m
		}
		if isBlocks(a) || a.Type.Format.Width() > width {
			n.Args[i] = q.cast(a, c, n, q.values[a])
		}
	}
	return was
}

// staysBlocks says that the plan wants the result of n in the block format of its argument.
func (q *quantizer) staysBlocks(n *ir.Node) bool {
	m, blocks := inBlocks(q.resultChoice(n, q.rule(n, dataOut)))
	return blocks && n.Args[0].Type.Format == format.Format(m)
}

// sumsBlocks says that n sums products over blocks, so that its result is a window accumulator.
func sumsBlocks(n *ir.Node) bool {
	return n.Op.Traits.Weighted && len(n.Args) > 1 && op.TakesBlocks(n) && (isBlocks(n.Args[0]) || isBlocks(n.Args[1]))
}

// blockResult decides the result of n where blocks are in play, and says whether they are: the unit of n makes fixed
// values, which a cast behind it encodes, in the format of choice c.
func (q *quantizer) blockResult(n *ir.Node, c Choice) bool {
	m, blocks := inBlocks(c)
	n.Type.Scales = nil
	switch {
	case sumsBlocks(n):
		if a := n.Args[0]; !op.SumsTogether(n) {
			n.Args[0] = q.cast(a, between(betweenW, "weights in blocks take fixed values"), n, q.values[a])
		}
		if !q.window(n) {
			return true
		}
	case !blocks:
		return false
	case n.Op.Traits.BlockCodes && n.Args[0].Type.Format == format.Format(m):
		n.Type.Format = m
		q.explain(n, "data_out", n.Type, c.From)
		return true
	case n.Op.Traits.BlockCodes && !isBlocks(n.Args[0]):
		n.Type.Format = n.Args[0].Type.Format
		q.explain(n, "data_out", n.Type, "the format of "+n.Args[0].Name)
	default:
		n.Type.Format = q.resolve(between(betweenW, ""), q.values[n])
		q.explain(n, "data_out", n.Type, n.Op.Name+" computes on fixed values")
	}
	q.encodeBehind(n, c)
	return true
}

// encodeBehind casts the result of n to the format of choice c, now or where it is read as blocks.
func (q *quantizer) encodeBehind(n *ir.Node, c Choice) {
	if m, blocks := inBlocks(c); blocks && q.encodesLater(n, m) {
		q.open[n] = m
		return
	}
	q.castBehind(n, c)
}

// encodesLater says that nobody reads n as blocks of m: the one reader is a relu, whose result is encoded in place of
// its argument, so that blocks are scaled by what relu leaves; or all readers compute on fixed values.
func (q *quantizer) encodesLater(n *ir.Node, m format.MXInt) bool {
	if q.g.IsOutput(n) || q.rule(n, dataOut) != nil || len(q.users[n]) == 0 {
		return false
	}
	was := n.Type
	defer func() { n.Type = was }()
	n.Type.Format = m
	for _, u := range q.users[n] {
		if q.rule(u, dataIn) != nil {
			return false
		}
		again, _ := inBlocks(q.resultChoice(u, q.rule(u, dataOut)))
		if op.TakesBlocks(u) && !(u.Op.Traits.BlockCodes && len(q.users[n]) == 1 && again == m) {
			return false
		}
	}
	return true
}

// window gives n its accumulator, chosen from the scales of its weights, what is known of those of its data, and the
// values that calibration has seen.
func (q *quantizer) window(n *ir.Node) bool {
	limit := 127
	if v := q.values[n]; v != nil {
		limit = topBit(v) + windowMargin
	}
	fine := -1 << 10
	if v := q.values[n.Args[0]]; v != nil {
		fine = topBit(v) - inputBits
	}
	acc, err := op.ChooseWindow(n, q.plan.Quantize.Acc, limit, fine)
	n.Type.Format = acc
	var w op.BlockWindow
	if err == nil {
		w, err = op.WindowOf(n)
	}
	if err != nil {
		q.fail(n, "L0450", "%s", message(err))
		return false
	}
	q.explain(n, "acc", n.Type, "the window of its block sums: "+w.String())
	return true
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
