// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/norm"
	"lathe/lower/calib"
)

// gainSlot is the slot of the gain or the bias of n, and what decides it where no rule does. That is not the plan's
// format of weights, which there are millions of: a norm has one gain for each element of a row. An error of 2^-9 of
// the greatest gain, as 8 bits have, is up to half a step of a result of 8 bits; with 16 bits it is 2^-8 of that, the
// bounds of the error of a norm hold, and the multiplier, which takes 26 bits of z, is no larger.
func (q *quantizer) gainSlot(n *ir.Node, i int) (name string, c Choice, explicit *Choice) {
	c = openFormat(norm.GainBits, "the default for gains and biases of "+n.Op.Name)
	if i == 1 {
		return "weight", c, q.rule(n, weight)
	}
	return "bias", c, q.rule(n, bias)
}

// gainFormat chooses fraction bits with which neither gain nor bias, argument i of n, saturates; those of the one have
// bounds in those of the other.
func (q *quantizer) gainFormat(n *ir.Node, i int, c Choice, x []float32) (format.Format, string) {
	f, open := c.Pattern.Open()
	if !open {
		return c.Pattern.Format, dataProblem(c.Pattern.Format)
	}
	frac := calib.Frac(f, q.constValues(n, i, x), calib.MinMax)
	switch gain, fixed := format.AsFixed(n.Args[1].Type.Format); {
	case i == 2 && fixed: // decided before
		frac = min(frac, gain.F+norm.BiasBeyond)
	case i == 1 && len(n.Args) > 2 && n.Args[2].IsConst():
		if b, err := n.Args[2].Value(); err == nil {
			frac = min(frac, calib.Frac(f, q.constValues(n, 2, b.Floats), calib.MinMax)+norm.GainBeyond)
		}
	}
	return c.Pattern.With(frac), ""
}

// angleW is the width of cosines and sines where no rule says otherwise.
const angleW = 16

// angleFormat chooses fraction bits with which neither cosines nor sines, argument i of n, saturate, and those of 1 at
// most: both have one format.
func (q *quantizer) angleFormat(n *ir.Node, i int, c Choice, x []float32) (format.Format, string) {
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
	return c.Pattern.With(min(calib.Frac(f, calib.Of(all), calib.MinMax), f.W-2)), ""
}
