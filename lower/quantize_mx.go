// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"math"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op"
	"lathe/lower/calib"
)

// Values in blocks meet operations that compute on fixed formats only; casts between the two stand around those. The
// widths of these formats cost accuracy below that of 8-bit blocks, and few gates.
const (
	betweenW = 16 // of fixed values between blocks
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

// unblock puts casts to a fixed format before the arguments of n that are in blocks, if n cannot take them. It returns
// the block format of the first, for results that keep the format of their argument.
func (q *quantizer) unblock(n *ir.Node) *format.MXInt {
	var was *format.MXInt
	if n.Op == op.Cast || op.TakesBlocks(n) {
		return nil
	}
	width := betweenW
	if t := n.Op.Traits; t.Elementwise && !t.Cuts && !t.KeepsCodes && len(n.Args) == 1 && n.Op != op.LeakyRelu {
		width = tableW
	}
	for i, a := range n.Args {
		if m, ok := a.Type.Format.(format.MXInt); ok && !a.IsConst() {
			n.Args[i] = q.cast(a, between(width, n.Op.Name+" computes on fixed values"), n, q.values[a])
			if was == nil {
				was = &m
			}
		}
	}
	return was
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
		if !q.window(n) {
			return true
		}
	case !blocks:
		return false
	case n.Op.Traits.BlockCodes && n.Args[0].Type.Format == format.Format(m):
		n.Type.Format = m
		q.explain(n, "data_out", n.Type, c.From)
		return true
	case n.Op.Traits.BlockCodes && q.open[n.Args[0]]:
		n.Type.Format = n.Args[0].Type.Format
		q.explain(n, "data_out", n.Type, "the accumulator of "+n.Args[0].Name)
	default:
		n.Type.Format = q.resolve(between(betweenW, ""), q.values[n])
		q.explain(n, "data_out", n.Type, n.Op.Name+" computes on fixed values")
	}
	if q.encodesLater(n, c) {
		q.open[n] = true
		return true
	}
	q.castBehind(n, c)
	return true
}

// encodesLater says that the one reader of n is a relu that comes before the encoding: blocks are then scaled by what
// relu leaves.
func (q *quantizer) encodesLater(n *ir.Node, c Choice) bool {
	users := q.users[n]
	if _, blocks := inBlocks(c); !blocks || len(users) != 1 || q.g.IsOutput(n) || q.rule(n, dataOut) != nil {
		return false
	}
	u := users[0]
	m, again := inBlocks(q.resultChoice(u, q.rule(u, dataOut)))
	first, _ := inBlocks(c)
	return u.Op.Traits.BlockCodes && q.rule(u, dataIn) == nil && again && m == first
}

// window gives n its accumulator, chosen from the scales of its weights, what is known of those of its data, and the
// values that calibration has seen.
func (q *quantizer) window(n *ir.Node) bool {
	limit := 127
	if v := q.values[n]; v != nil {
		limit = topBit(v) + windowMargin
	}
	acc, err := op.ChooseWindow(n, q.plan.Quantize.Acc, limit)
	if err != nil {
		q.fail(n, "L0450", "%s", message(err))
		return false
	}
	n.Type.Format = acc
	w, err := op.WindowOf(n)
	if err != nil {
		q.fail(n, "L0450", "%s", message(err))
		return false
	}
	q.explain(n, "acc", n.Type, "the window of its block sums: "+w.String())
	return true
}

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

// blockConst encodes a constant in blocks along its last axis.
func (q *quantizer) blockConst(n *ir.Node, i int, m format.MXInt, t *ir.Tensor, c Choice, slot string) {
	if why := op.MXProblem(m); why != "" {
		q.fail(n, "L0406", "format %s cannot be that of %s %q: %s", m, slot, n.Args[i].Name, why).WithNote("set by %s", c.From)
		return
	}
	v := ir.EncodeFloats(ir.Type{Shape: t.Type.Shape, Format: m}, t.Floats)
	typ := v.Type
	q.explain(n, slot, typ, c.From)
	typ.Scales = ir.ScaleValues(v.BlockScales)
	q.setConst(n, i, typ, ir.CodeBlob(v.Codes))
}

// constChoice is c, or where c asks for blocks by default and n has no use for them a fixed format of the same width.
func (q *quantizer) constChoice(n *ir.Node, c Choice, explicit bool) Choice {
	m, blocks := inBlocks(c)
	if !blocks || explicit || n.Op.Traits.Weighted && op.TakesBlocks(n) {
		return c
	}
	return between(max(m.W, 8), c.From+"; "+n.Op.Name+" takes fixed weights")
}
