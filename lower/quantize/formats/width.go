// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/recur"
	"lathe/ir/op/sequence"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
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
	if fine := q.readFine(n); f.W < wide && (fine || q.addedFine(n)) {
		if f.W = wide; !fine {
			q.widened[n] = true
		}
		c = wider(c, f, "what reads it")
	}
	return q.read(n, q.tailed(n, q.varying(n, c)))
}

// wider is the open choice c in format f of more bits, for a reason.
func wider(c plan.Choice, f format.Fixed, reason string) plan.Choice {
	c.Pattern = format.Pattern{W: f.W, Format: f}
	c.From += ", wider for " + reason
	return c
}

const (
	// farOff is how many times its spread an output lies from 0, at least, to get more bits; near is how many times need
	// none.
	farOff, near = 8, 4
	mostOutW     = 24
)

// varying is choice c for the result of n, with more bits where n computes an output that, over the samples, lies far
// from 0 for what it varies by, such as a temperature in kelvin: most codes are never used, so that it has as many
// steps as around 0.
func (q *quantizer) varying(n *ir.Node, c plan.Choice) plan.Choice {
	f, open := c.Pattern.Open()
	name, v := q.computed(n)
	if !open || f.Over == format.Wrap || v == nil || v.Spread == 0 || v.Offset < farOff*v.Spread {
		return c
	}
	f.W = min(f.W+int(math.Ceil(math.Log2(v.Offset/(near*v.Spread)))), max(f.W, mostOutW))
	q.report.Note("output %q varies by %s only, %s from 0: it gets %d bits; [[output]] format chooses others", name,
		diag.Number(v.Spread, 3), diag.Number(v.Offset, 3), f.W)
	return wider(c, f, "an output far from 0")
}

// leastKept is what rounding a result into the default format leaves of it, at least, in dB: values of which a few are
// many times as large as the others, such as gelu in trained transformers, get more bits. A layer of trained MiniLM
// then keeps 29 dB; 27 would leave 25, and with 33 images get more bits too.
const leastKept = 31

// tailed is choice c for the result of n, with as many bits as keep leastKept of the values seen. Formats that a plan
// asks for stay as they are, and states within layers go on as they came.
func (q *quantizer) tailed(n *ir.Node, c plan.Choice) plan.Choice {
	f, open := c.Pattern.Open()
	v := q.values[n]
	if behind := q.judge(n); behind != nil {
		v = behind
	}
	if !open || q.plan.Quantize.Data.Given || f.Over == format.Wrap || !q.sampled || v == nil || recur.Recurs(n.Op) {
		return c
	}
	was := f.W
	f = calib.Enough(f, v, q.plan.Quantize.Calibrate, leastKept, FineW)
	if f.W > was {
		q.widened[n] = true
		c = wider(c, f, "few large values")
	}
	return c
}

// readW bounds the bits that a value gets for what its readers make of it: a table doubles with each.
const readW = 12

// read is choice c for the result of n, with as many bits as keep leastKept of what tables and products make of the
// values seen: a reciprocal makes much of the last bit of a small value, and of its own in a product.
func (q *quantizer) read(n *ir.Node, c plan.Choice) plan.Choice {
	f, open := c.Pattern.Open()
	v, m := q.values[n], q.plan.Quantize.Calibrate
	if !open || q.plan.Quantize.Data.Given || f.Over == format.Wrap || !q.sampled || v == nil || recur.Recurs(n.Op) {
		return c
	}
	was := f.W
	q.eachReader(n, nil, func(u, arg *ir.Node, made func([]float32) []float32) {
		if made != nil {
			f = calib.EnoughFor(f, v, m, made, leastKept, readW)
			return
		}
		other, y := u.Args[0], q.values[u]
		if other == arg {
			other = u.Args[1]
		}
		if by := q.values[other]; other != arg && by != nil && y != nil {
			f = calib.EnoughTimes(f, v, by, y, m, leastKept, readW)
		}
	})
	if f.W > was {
		q.widened[n] = true
		c = wider(c, f, "what reads it")
	}
	return c
}

// eachReader visits the tables that read n, also behind others and behind operations that keep formats, with what they
// make of n; and the products of two streams that read n as arg, for which made is nil. made is what n is of a value in
// front.
func (q *quantizer) eachReader(n *ir.Node, made func([]float32) []float32,
	visit func(u, arg *ir.Node, made func([]float32) []float32)) {
	for _, u := range q.users[n] {
		t := &u.Op.Traits
		switch {
		case q.rule(u, dataOut) != nil:
		case t.KeepsCodes || pointwise.Cuts(u.Op):
			q.eachReader(u, made, visit)
		case t.Curve:
			table := curveOf(u)
			if before := made; before != nil {
				table = func(x []float32) []float32 { return curveOf(u)(before(x)) }
			}
			visit(u, n, table)
			q.eachReader(u, table, visit)
		case made == nil && t.Elementwise && t.Commutes && !t.Monotone && len(u.Streams()) == 2:
			visit(u, n, nil)
		}
	}
}

// curveOf computes what table u makes of numbers; nothing where it does not take them.
func curveOf(u *ir.Node) func([]float32) []float32 {
	return func(values []float32) []float32 {
		x := &ir.Node{Name: "x", Op: leaf.Input, Type: ir.Float(len(values))}
		y, err := ir.NewNode(u.Op, u.Name, u.Pos, u.Attrs, x)
		if err != nil || len(values) == 0 {
			return nil
		}
		run, err := u.Op.Eval(y)
		if err != nil {
			return nil
		}
		out, err := run([]*ir.Tensor{{Type: x.Type, Floats: values}})
		if err != nil {
			return nil
		}
		return out.Floats
	}
}

// noteWidened says how many values got more bits than the default, and how not.
func (q *quantizer) noteWidened() {
	if n, w := len(q.widened), q.plan.Quantize.Data.Pattern.W; n > 0 {
		q.report.Note("%s of more than %d bits, up to %d: %d bits lose what few large values, or the sums of a residual "+
			"stream, leave of the others, or what tables and products make of small ones; data = \"fixed(%d)\" in "+
			"[quantize] gives all %d", diag.Amount(n, "value"), w, FineW, w, w, w)
	}
}

// constKept is as leastKept, of constants that are added: they cost no multiplier.
const constKept = 40

// operandFormat is the format of a constant operand of n with values v by choice c, which it returns with as many bits
// as keep constKept.
func (q *quantizer) operandFormat(n *ir.Node, c plan.Choice, v *calib.Values) (format.Format, plan.Choice) {
	f, open := c.Pattern.Open()
	if open && !q.plan.Quantize.Weight.Given && !c.Given && f.Over != format.Wrap && n.Op.Traits.Elementwise {
		if more := calib.Enough(f, v, plan.MSE, constKept, FineW); more.W > f.W {
			c = wider(c, more, "few large values")
		}
	}
	return q.complete(c, v), c
}

// computed is the name of the output that n computes, and its values; nil where n computes none, or the plan chooses
// the format of the output.
func (q *quantizer) computed(n *ir.Node) (name string, v *calib.Values) {
	for _, o := range q.g.Out {
		if p := q.plan.Output(o.Name); (p == nil || p.Format == nil) && q.computes(o.Node, 0) == n {
			return o.Name, q.values[o.Node]
		}
	}
	return "", nil
}

// readFine says that an operation reads n for which fineW bits count, maybe through operations that keep formats.
func (q *quantizer) readFine(n *ir.Node) bool {
	return q.readBy(n, func(t *ir.Traits) bool { return t.Reads16 })
}

// addedFine says that n is added to what norms read: the sum of a residual stream is as fine as what comes to it.
// Tables are as wide as their data, and a plan that asks for a width of data has it.
func (q *quantizer) addedFine(n *ir.Node) bool {
	if q.plan.Quantize.Data.Given || sequence.ReadsTable(n.Op) {
		return false
	}
	for _, u := range q.users[n] {
		t := &u.Op.Traits
		adds := t.Elementwise && !t.Weighted && len(u.Streams()) == 2 || t.Elementwise && hasConst(u)
		if adds && q.rule(u, dataOut) == nil && (q.readFine(u) || q.addedFine(u)) ||
			t.KeepsCodes && q.rule(u, dataOut) == nil && q.addedFine(u) {
			return true
		}
	}
	return false
}

// hasConst says that a constant is an operand of n.
func hasConst(n *ir.Node) bool { return slices.ContainsFunc(n.Args, (*ir.Node).IsConst) }

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

// narrowFine casts what n, a norm or a softmax, reads to the bits that it takes: norms take off a zero point. A mask of
// -1e4 among scores may make their steps too large for a softmax.
func (q *quantizer) narrowFine(n *ir.Node) {
	t, a := &n.Op.Traits, n.Args
	if !t.Reads16 || q.rule(n, dataIn) != nil || a[0].IsConst() {
		return
	}
	v, integers := format.IntegersOf(a[0].Type.Format)
	real := recur.Recurs(n.Op) && !format.IsFixed(a[0].Type.Format)
	coarse := integers && !norm.HasGains(n.Op) && !recur.Recurs(n.Op) && v.Step.Float32() > norm.MostStep
	if integers && (coarse || v.Codes.W > FineW || norm.HasGains(n.Op) && v.Bits() > FineW || real) {
		a[0] = q.cast(a[0], openFormat(FineW, "what "+n.Op.Name+" takes"), n, q.values[a[0]])
	}
}
