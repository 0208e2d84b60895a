// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/block"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/dot"
	"lathe/ir/op/leaf"
	"lathe/ir/op/norm"
	"lathe/ir/op/recur"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
)

// Values in blocks meet operations that compute on fixed formats only; casts between the two stand around those. The
// widths of these formats cost accuracy below that of 8-bit blocks, and few gates.
const (
	betweenW = 16 // of fixed values between blocks
	openW    = 24 // of what a relu reads of a window accumulator; windows behind it stay exact
)

// openFormat is the choice of a fixed format for a value that Lathe takes out of blocks; its fraction bits are open.
func openFormat(width int, why string) plan.Choice {
	return plan.Choice{Pattern: format.Pattern{W: width, Format: format.Fixed{W: width, Signed: true}}, From: why}
}

// between is the choice of a fixed format for a value on its way from a to choice c, where no cast goes there at once:
// the exact one of a where that is fixed, else one of open fraction bits.
func (q *quantizer) between(a *ir.Node, c plan.Choice, v *calib.Values) (via plan.Choice, ok bool) {
	from, to := a.Type.Format, c.Pattern.Format
	_, blocks := c.Blocks()
	width := 0
	switch {
	case blocks && !block.Encodes(from) || a.Type.InBlocks() && !block.Encodes(q.resolve(c, v)):
		width = betweenW
	case format.Coded(to) && format.IsFixed(from) && !block.Encodes(from):
		width = block.WindowW
	case len(a.Type.Shape) == 0 && untabled(a.Type, to): // the cast is a table, and there is no axis for a scale
		return openFormat(curve.LookedUp, "on its way to "+to.String()), true
	default:
		return plan.Choice{}, false
	}
	via = openFormat(width, OnTheWay+from.String()+" and "+to.String())
	if format.Coded(from) {
		via.Pattern = format.PatternOf(exactly(from))
	}
	return via, true
}

// untabled says that a cast of values of type t to format f, one of which has a real scale, would be too large a table.
func untabled(t ir.Type, f format.Format) bool {
	_, scaled := f.(format.Scaled)
	_, integers := format.IntegersOf(t.Format)
	return (scaled && !format.IsFixed(f) || format.IsFixed(f) && !format.IsFixed(t.Format)) && integers &&
		t.Format.Width() > curve.LookedUp
}

// mixed says that n computes element by element on values of many bits, and that real scales are in play: units bring
// all to one step that is not fine enough for both.
func mixed(n *ir.Node, result format.Pattern) bool {
	if _, open := result.Open(); open || !n.Op.Traits.Elementwise || n.Op.Traits.Casts {
		return false
	}
	wide, real := false, !format.IsFixed(result.Format)
	for _, a := range n.Args {
		_, integers := format.IntegersOf(a.Type.Format)
		wide = wide || !a.IsConst() && integers && a.Type.Format.Width() > arith.TableBits
		real = real || !format.IsFixed(a.Type.Format)
	}
	return wide && real
}

// rescale makes the cast t, in place, a scale by 1, whose one rounding takes a real scale without a table.
func (q *quantizer) rescale(t *ir.Node) {
	axis := len(t.Type.Shape) - 1
	ones := make([]int64, t.Type.Shape[axis])
	for i := range ones {
		ones[i] = 1
	}
	args := []*ir.Node{t.Args[0]}
	for _, c := range []struct {
		name  string
		codes []int64
	}{{".one", ones}, {".zero", make([]int64, len(ones))}} {
		k := &ir.Node{Name: q.g.FreshName(t.Name + c.name), Op: leaf.Const, Pos: t.Pos,
			Type:  ir.Type{Shape: []int{len(ones)}, Format: format.Fixed{W: 2, Signed: true}},
			Attrs: ir.Computed(ir.CodeBlob(c.codes))}
		q.g.InsertBefore(t, k)
		args = append(args, k)
	}
	t.Op, t.Attrs, t.Args = sum.Scale, &column.ScaleAttrs{Axis: axis}, args
}

// exactly is the fixed format that holds every value of the scalar format f, which has a common step.
func exactly(f format.Format) format.Format {
	fx, _ := format.ExactFixed(f)
	return fx
}

// decode puts casts to a fixed format before the arguments of n whose codes are no integers, if n cannot take them: the
// exact one of a scalar format, one of open fraction bits for what is in blocks, or would be. It returns the format of
// the first, for results that keep the format of their argument.
func (q *quantizer) decode(n *ir.Node) (was format.Format) {
	if n.Op.Traits.Casts {
		return nil
	}
	if !column.TakesCodes(n) {
		for i, a := range n.Args {
			if a.IsConst() || !format.Coded(a.Type.Format) {
				continue
			}
			if was == nil {
				was = a.Type.Format
			}
			a = q.withoutInf(n, a)
			from := a.Type.Format
			via := plan.Choice{Pattern: format.PatternOf(exactly(from)), From: "the values of " + from.String()}
			if i == 0 && n.Op.Traits.Reads16 && exactly(a.Type.Format).Width() > FineW {
				via = openFormat(FineW, n.Op.Name+" reads that many bits")
			}
			n.Args[i] = q.cast(a, via, n, q.values[a])
		}
	}
	if b := q.unblock(n); was == nil && b != nil {
		was = b
	}
	return was
}

// withoutInf casts argument a of the sum n to the format whose codes are all numbers, which its unit can multiply as
// they are; an infinity becomes the greatest.
func (q *quantizer) withoutInf(n, a *ir.Node) *ir.Node {
	f, ok := format.AllFinite(a.Type.Format)
	if !ok || !n.Op.Traits.Weighted {
		return a
	}
	return q.cast(a, plan.Choice{Pattern: format.PatternOf(f), From: "codes of " + a.Type.Format.String()}, n, q.values[a])
}

// withoutZeros casts what products of two values and norms read to integers without a zero point, which their units
// multiply.
func (q *quantizer) withoutZeros(n *ir.Node) {
	if n.Op.Traits.Meets == 0 && !norm.HasGains(n.Op) {
		return
	}
	for i, a := range n.Args {
		if f, ok := format.WithoutZero(a.Type.Format); ok && !a.IsConst() {
			n.Args[i] = q.cast(a, plan.Choice{Pattern: format.PatternOf(f),
				From: "codes of " + a.Name + " without their zero point"}, n, q.values[a])
		}
	}
}

// codedResult decides the result of n in the format of choice c, whose codes are no integers, or would be a table of
// very many entries, or have a real scale that a norm or a log-softmax does not make, and says whether it has: the unit
// of n makes fixed values, exact where so many bits do, which a cast behind it encodes.
func (q *quantizer) codedResult(n *ir.Node, c plan.Choice) bool {
	coded := format.Coded(c.Pattern.Format) && !column.TakesCodes(n)
	fixed := n.Op.Traits.Reads16 && !format.IsFixed(c.Pattern.Format)
	products, exact := sequence.ExactProducts(n)
	if n.IsInput() || !coded && !mixed(n, c.Pattern) && !fixed && !exact {
		return false
	}
	n.Type.Scales = nil
	if c.Calibrated {
		coded := Slot{n.Name, n.Op.Name, "data_out", c.Pattern.String(), c.From}
		q.decided.Slots, q.decided.Chosen = append(q.decided.Slots, coded), append(q.decided.Chosen, coded)
	}
	every := func(n *ir.Node) (format.Format, bool) { return dot.ExactResult(n, block.WindowW) }
	if exact {
		n.Type.Format = products
		q.explain(n, "data_out", n.Type, "every bit of the sums of products")
	} else if f, ok := q.together(n, block.WindowW, every); ok {
		n.Type.Format = f
		q.explain(n, "data_out", n.Type, "every bit of the result, before it is encoded")
	} else if q.staysExact() && !fixed {
		via := q.openChoice(n)
		n.Type.Format = via.Pattern.Format
		q.explain(n, "data_out", n.Type, via.From)
	} else {
		width := openW
		if recur.Recurs(n.Op) {
			width = betweenW
		}
		n.Type.Format = q.resolve(fixedResult(n, width), q.values[n])
		q.explain(n, "data_out", n.Type, n.Op.Name+" computes on fixed values")
	}
	q.castBehind(n, c)
	return true
}

// fixedResult is the choice of a fixed format for the result of n before it is encoded.
func fixedResult(n *ir.Node, width int) plan.Choice {
	c := openFormat(width, "")
	if n.Op.Traits.Fraction {
		c.Pattern = format.PatternOf(format.Fixed{W: FineW, F: FineW})
	}
	return c
}

// encodes says that a is argument 1 of n alone, and n makes blocks of it by itself.
func encodes(n, a *ir.Node) bool { return n.MeetsAcross() && n.Args[1] == a && n.Args[0] != a }

// unblock puts casts to a fixed format before the arguments of n that are in blocks, or would be, if n cannot take
// them. It returns the block format of the first, for results that keep the format of their argument.
func (q *quantizer) unblock(n *ir.Node) (was format.Block) {
	t := &n.Op.Traits
	if a := n.Args; t.Meets > 0 && a[0].Type.InBlocks() && encodes(n, a[1]) &&
		(a[1].Type.InBlocks() || a[1].Type.Format.Width() > betweenW) {
		a[1] = q.cast(a[1], openFormat(betweenW, n.Op.Name+" makes blocks of fixed values"), n, q.values[a[1]])
	}
	if column.TakesBlocks(n) && (!t.BlockCodes || q.staysBlocks(n)) && (t.Meets == 0 || dot.PairTogether(n)) {
		return nil
	}
	width := betweenW
	if t.Curve {
		width = curve.LookedUp
	}
	if t.BlockCodes {
		width = openW
	}
	c := openFormat(width, n.Op.Name+" computes on fixed values")
	if t.Joins {
		c = q.joinedChoice(n, c)
		q.loose++
	}
	for i, a := range n.Args {
		b, ok := a.Type.BlockFormat()
		if open, later := q.open[a]; later {
			b, ok = open, true
		}
		if !ok || a.IsConst() {
			continue
		}
		if was == nil {
			was = b
		}
		if a.Type.InBlocks() || a.Type.Format.Width() > width {
			n.Args[i] = q.cast(a, c, n, q.values[a])
		}
	}
	return was
}

// staysBlocks says that the plan wants the result of n in the block format of its argument.
func (q *quantizer) staysBlocks(n *ir.Node) bool {
	b, blocks := q.resultChoice(n, q.rule(n, dataOut)).Blocks()
	return blocks && n.Args[0].Type.Format == format.Format(b)
}

// blockResult decides the result of n where blocks are in play, and says whether they are: the unit of n makes fixed
// values, which a cast behind it encodes, in the format of choice c.
func (q *quantizer) blockResult(n *ir.Node, c plan.Choice) bool {
	b, blocks := c.Blocks()
	n.Type.Scales = nil
	switch {
	case dot.NamesWindow(n):
		if a := n.Args[0]; n.Op.Traits.Weighted && !dot.SumsTogether(n) {
			n.Args[0] = q.cast(a, openFormat(betweenW, "weights in blocks take fixed values"), n, q.values[a])
		}
		if !q.window(n) {
			return true
		}
	case !blocks:
		return false
	case n.Op.Traits.BlockCodes && n.Args[0].Type.Format == format.Format(b):
		n.Type.Format = b
		q.explain(n, "data_out", n.Type, c.From)
		return true
	case n.Op.Traits.BlockCodes && !n.Args[0].Type.InBlocks():
		n.Type.Format = n.Args[0].Type.Format
		q.explain(n, "data_out", n.Type, "the format of "+n.Args[0].Name)
	default:
		n.Type.Format = q.resolve(fixedResult(n, betweenW), q.values[n])
		q.explain(n, "data_out", n.Type, n.Op.Name+" computes on fixed values")
	}
	q.encodeBehind(n, c)
	return true
}

// encodeBehind casts the result of n to the format of choice c, now or where it is read as blocks.
func (q *quantizer) encodeBehind(n *ir.Node, c plan.Choice) {
	if b, blocks := c.Blocks(); blocks && q.encodesLater(n, b) {
		q.open[n] = b
		return
	}
	q.castBehind(n, c)
}

// encodesLater says that nobody reads n as blocks of b: the one reader is a relu, whose result is encoded in place of
// its argument, so that blocks are scaled by what relu leaves; or all readers compute on fixed values, by a rule or
// since they take nothing else.
func (q *quantizer) encodesLater(n *ir.Node, b format.Block) bool {
	if q.g.IsOutput(n) || q.rule(n, dataOut) != nil || len(q.users[n]) == 0 {
		return false
	}
	was := n.Type
	defer func() { n.Type = was }()
	n.Type.Format = b
	for _, u := range q.users[n] {
		if c := q.rule(u, dataIn); c != nil || u.MeetsAcross() {
			if c != nil && !encodes(u, n) {
				if _, blocks := c.Blocks(); blocks {
					return false
				}
			}
			continue
		}
		again, _ := q.resultChoice(u, q.rule(u, dataOut)).Blocks()
		if column.TakesBlocks(u) && !(u.Op.Traits.BlockCodes && len(q.users[n]) == 1 && again == b) {
			return false
		}
	}
	return true
}

// OnTheWay begins what decides a cast in front of another one, which no rule has to ask for.
const OnTheWay = "between "
