// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/recur"
	"lathe/lower/plan"
)

// FineW is the width of values that norms and softmax read, where no rule says otherwise: what is summed up along the
// residual stream of a transformer, and scores, of which a step is a factor of the weights.
const FineW = 16

// fitted is choice c, of open fraction bits, as the result of n and its readers need it: fractions are given all bits
// behind the point, and what norms and softmax read at least fineW.
func (q *quantizer) fitted(n *ir.Node, c plan.Choice) plan.Choice {
	f, open := c.Pattern.Open()
	if !open {
		return c
	}
	if n.Op.Traits.Fraction { // with a rounding of their own
		w := min(f.W, FineW)
		c.Pattern = format.PatternOf(format.Fixed{W: w, F: w})
		c.From += ", fractions of 1"
		return c
	}
	wide := FineW
	if !f.Signed {
		wide-- // what norms read has room for a sign
	}
	if f.W < wide && q.readFine(n) {
		f.W = wide
		c.Pattern = format.Pattern{W: wide, Format: f}
		c.From += ", wider for what reads it"
	}
	return c
}

// readFine says that an operation reads n for which fineW bits count, maybe through operations that keep formats.
func (q *quantizer) readFine(n *ir.Node) bool {
	return q.readBy(n, func(t *ir.Traits) bool { return t.Reads16 })
}

// weighed says that n are scores, of which an operation makes fractions of 1.
func (q *quantizer) weighed(n *ir.Node) bool {
	return q.readBy(n, func(t *ir.Traits) bool { return t.Reads16 && t.Fraction })
}

// readBy says that an operation with traits of some kind has n as argument 0, maybe through operations that keep
// formats, or that n makes superfluous.
func (q *quantizer) readBy(n *ir.Node, is func(*ir.Traits) bool) bool {
	matters, cut := q.matters(n)
	for _, u := range q.users[n] {
		t := &u.Op.Traits
		relu := pointwise.Cuts(u.Op) && cut && matters.Min >= 0 // which n then is itself
		passes := t.KeepsCodes || t.Forks || relu || n.Op.Traits.RoundsOnce && t.Elementwise && len(u.Streams()) == 1
		if is(t) && u.Args[0] == n || passes && q.rule(u, dataOut) == nil && q.readBy(u, is) {
			return true
		}
	}
	return false
}

// narrowFine casts what n, a norm or a softmax, reads to the bits that it takes: a norm takes off a zero point.
func (q *quantizer) narrowFine(n *ir.Node) {
	t, a := &n.Op.Traits, n.Args
	if !t.Reads16 || q.rule(n, dataIn) != nil || a[0].IsConst() {
		return
	}
	v, integers := format.IntegersOf(a[0].Type.Format)
	real := recur.Recurs(n.Op) && !format.IsFixed(a[0].Type.Format)
	if integers && (v.Codes.W > FineW || norm.HasGains(n.Op) && v.Bits() > FineW || real) {
		a[0] = q.cast(a[0], openFormat(FineW, "what "+n.Op.Name+" takes"), n, q.values[a[0]])
	}
}
