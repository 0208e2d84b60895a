// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// num is a number in the format of x, for all its elements.
func (c *call) num(x value, v float64) value { return value{c.number(x.node, v), x.dims} }

func (c *call) add(a, b value) value { return c.pointwise(pointwise.Add, nil, a, b) }
func (c *call) sub(a, b value) value { return c.pointwise(pointwise.Sub, nil, a, b) }
func (c *call) mul(a, b value) value { return c.pointwise(pointwise.Mul, nil, a, b) }

// convertLog1p is log(1 + x) without the loss of digits where x is small: x*log(w)/(w - 1) for w = 1 + x, and x where
// w is 1 (Goldberg, What Every Computer Scientist Should Know About Floating-Point Arithmetic, theorem 4).
func convertLog1p(c *call) {
	x := c.args[0]
	one := c.num(x, 1)
	w := c.add(one, x)
	d := c.sub(w, one)
	scaled := c.pointwise(pointwise.Mul, nil, x, c.pointwise(whole.Div, nil, c.pointwise(curve.Log, nil, w), d))
	plain := c.pointwise(curve.Log, nil, w)
	near := c.compare("lt", c.pointwise(curve.Abs, nil, x), one)
	some := c.compare("eq", d, c.num(x, 0))
	c.outs = append(c.outs, c.choose(some, x, c.choose(near, scaled, plain)))
}

// convertExpm1 is exp(x) - 1; where |x| is below 1, 2*t/(1 - t) for t = tanh(x/2), which loses no digits.
func convertExpm1(c *call) {
	x := c.args[0]
	one := c.num(x, 1)
	t := c.pointwise(curve.Tanh, nil, c.mul(x, c.num(x, 0.5)))
	near := c.pointwise(whole.Div, nil, c.add(t, t), c.sub(one, t))
	far := c.sub(c.pointwise(curve.Exp, nil, x), one)
	small := c.compare("lt", c.pointwise(curve.Abs, nil, x), one)
	c.outs = append(c.outs, c.choose(small, near, far))
}

// convertErfc is 1 - erf(x).
func convertErfc(c *call) {
	x := c.args[0]
	c.outs = append(c.outs, c.sub(c.num(x, 1), c.pointwise(curve.Erf, nil, x)))
}

// convertCbrt is sign(x)*|x|^(1/3).
func convertCbrt(c *call) {
	x := c.args[0]
	root := c.pointwise(curve.Pow, &curve.PowAttrs{Exponent: 1. / 3}, c.pointwise(curve.Abs, nil, x))
	c.outs = append(c.outs, c.mul(c.pointwise(curve.Sign, nil, x), root))
}

// convertRoundAway rounds ties away from zero: the fraction of |x| is exact, and decides.
func convertRoundAway(c *call) {
	x := c.args[0]
	size := c.pointwise(curve.Abs, nil, x)
	down := c.pointwise(curve.Floor, nil, size)
	up := c.compare("ge", c.sub(size, down), c.num(x, 0.5))
	near := c.choose(up, c.add(down, c.num(x, 1)), down)
	c.outs = append(c.outs, c.mul(c.pointwise(curve.Sign, nil, x), near))
}

// convertIsFinite is |x| < infinity, which a NaN is not.
func convertIsFinite(c *call) {
	nan, inf := c.pointwise(whole.IsNaN, nil, c.args[0]), c.pointwise(whole.IsInf, nil, c.args[0])
	c.outs = append(c.outs, c.pointwise(whole.Not, nil, c.pointwise(whole.Or, nil, nan, inf)))
}

// convertRemainder has the sign of the dividend.
func convertRemainder(c *call) {
	c.outs = append(c.outs, c.pointwise(whole.Mod, &whole.ModAttrs{}, c.args...))
}

// convertBatchNorm is (x - mean)/sqrt(variance + epsilon)*scale + offset along one axis.
func convertBatchNorm(c *call) {
	x := c.args[0]
	axis := c.axis(max(len(x.dims), 1), "feature_index")
	eps, known := 0.0, false
	if a := c.in.Attrs.Get("epsilon"); a != nil && len(a.Value) > 0 {
		eps, known = a.Value[0].Float()
	}
	if !known {
		c.fail(diag.BadAttribute, "the attribute epsilon is missing, or no number")
	}
	if c.err != nil {
		return
	}
	var p [4]value // scale, offset, mean, variance
	for i, v := range c.args[1:] {
		p[i] = c.broadcast(v, []int{axis}, x.dims)
	}
	v := c.add(p[3], c.num(x, eps))
	if v.node == nil {
		return
	}
	root := c.pointwise(curve.Sqrt, nil, v)
	c.outs = append(c.outs, c.add(c.mul(c.pointwise(whole.Div, nil, c.sub(x, p[2]), root), p[0]), p[1]))
}

// whole is a whole number in the format of like, exactly.
func (c *call) whole(like *ir.Node, v int64) *ir.Node {
	if like == nil {
		return nil
	}
	return c.constant(intBlob(like.Type.Format, []int64{v}))
}
