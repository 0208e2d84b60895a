// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/norm"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
)

// gainSlot is the slot of the gain or the bias of n, and what decides it where no rule does. That is not the plan's
// format of weights, which there are millions of: a norm has one gain for each element of a row. An error of 2^-9 of
// the greatest gain, as 8 bits have, is up to half a step of a result of 8 bits; with 16 bits it is 2^-8 of that, the
// bounds of the error of a norm hold, and the multiplier, which takes 26 bits of z, is no larger.
func (q *quantizer) gainSlot(n *ir.Node, i int) (name string, c plan.Choice, explicit *plan.Choice) {
	c = openFormat(norm.GainBits, "the default for gains and biases of "+n.Op.Name)
	if i == 1 {
		return "weight", c, q.rule(n, weight)
	}
	return "bias", c, q.rule(n, bias)
}

// gainFormat chooses fraction bits with which neither gain nor bias, argument i of n, saturates; those of the one have
// bounds in those of the other.
func (q *quantizer) gainFormat(n *ir.Node, i int, c plan.Choice, x []float32) (format.Format, string) {
	f, open := c.Pattern.Open()
	if !open {
		return c.Pattern.Format, dataProblem(c.Pattern.Format)
	}
	frac := calib.Frac(f, q.constValues(n, i, x), plan.MinMax)
	switch gain, fixed := format.AsFixed(n.Args[1].Type.Format); {
	case i == 2 && fixed: // decided before
		frac = min(frac, gain.F+norm.BiasBeyond)
	case i == 1 && len(n.Args) > 2 && n.Args[2].IsConst():
		if b, err := n.Args[2].Value(); err == nil {
			frac = min(frac, calib.Frac(f, q.constValues(n, 2, b.Floats), plan.MinMax)+norm.GainBeyond)
		}
	}
	return c.Pattern.With(frac), ""
}

// angleW is the width of cosines and sines where no rule says otherwise.
const angleW = 16

// angleFormat chooses fraction bits with which neither cosines nor sines, argument i of n, saturate, and those of 1 at
// most: both have one format.
func (q *quantizer) angleFormat(n *ir.Node, i int, c plan.Choice, x []float32) (format.Format, string) {
	f, open := c.Pattern.Open()
	if !open {
		return c.Pattern.Format, dataProblem(c.Pattern.Format)
	}
	if i > 1 {
		return n.Args[1].Type.Format, "" // decided before, for both
	}
	all := slices.Clone(x)
	if sin, err := n.Args[2].Value(); err == nil {
		all = append(all, sin.Floats...)
	}
	return c.Pattern.With(min(calib.Frac(f, calib.Of(all), plan.MinMax), f.W-2)), ""
}

const (
	// enoughBits is how many bits an input of features of different sizes may have: with factors of 8 bits, of which some
	// are finer by as much, products have 62, which all engines compute.
	enoughBits = 27
	// fewBits more than all data have make no difference.
	fewBits = 1
)

// scaledInput is the format of an input whose features are scaled first, each by its own factor, where the plan chooses
// none: a step of the input, scaled by the largest factor, is no larger than one of the result. Features of different
// sizes share one format in front of the scale, and in that of all data the small ones would be lost.
func (q *quantizer) scaledInput(n *ir.Node, c plan.Choice) plan.Choice {
	f, open := c.Pattern.Open()
	if !open || f.Over == format.Wrap || q.values[n] == nil {
		return c
	}
	least := calib.Frac(f, q.values[n], plan.MinMax)
	most := least
	for _, u := range q.users[n] {
		if t := &u.Op.Traits; !t.PerChannel || !t.Weighted || u.Args[0] != n || q.values[u] == nil || !u.Args[1].IsConst() {
			continue
		}
		factors, err := u.Args[1].Value()
		if err != nil {
			continue
		}
		largest := 0.0
		for _, v := range factors.Floats {
			largest = max(largest, math.Abs(float64(v)))
		}
		if largest > 0 {
			step := calib.Frac(f, q.values[u], q.plan.Quantize.Calibrate)
			most = max(most, step+int(math.Ceil(math.Log2(largest))))
		}
	}
	if most-least <= fewBits {
		return c
	}
	f.W = min(f.W+most-least, max(f.W, enoughBits))
	f.F = calib.Frac(f, q.values[n], plan.MinMax)
	q.report.Note("input %q has features of different sizes, which are scaled first: it gets %s; [[input]] format "+
		"chooses another one", n.Name, f)
	c.Pattern, c.From = format.PatternOf(f), "the sizes of the features, which are scaled first"
	return c
}

// finer is how many bits finer than the coarsest channel of the weights of n another one may be: more where n scales
// features of different sizes, which come with more bits.
func (q *quantizer) finer(n *ir.Node) int {
	x := n.Args[0].Type.Format
	if f, open := q.plan.Quantize.Data.Pattern.Open(); open && n.Op.Traits.PerChannel && n.Args[0].IsInput() {
		return spread + max(0, x.Width()-f.W)
	}
	return spread
}
