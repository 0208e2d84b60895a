// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"math"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/lower/calib"
)

const (
	// enoughBits is how many bits an input of features of different sizes may have.
	enoughBits = 32
	// fewBits more than all data have make no difference.
	fewBits = 1
)

// scaledInput is the format of an input whose features are scaled first, each by its own factor, where the plan chooses
// none: a step of the input, scaled by the largest factor, is no larger than one of the result. Features of different
// sizes share one format in front of the scale, and in that of all data the small ones would be lost.
func (q *quantizer) scaledInput(n *ir.Node, c Choice) Choice {
	f, open := c.Pattern.Open()
	if !open || f.Over == format.Wrap || q.values[n] == nil {
		return c
	}
	least := calib.Frac(f, q.values[n], calib.MinMax)
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
	f.F = calib.Frac(f, q.values[n], calib.MinMax)
	q.report.note("input %q has features of different sizes, which are scaled first: it gets %s; [[input]] format "+
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
