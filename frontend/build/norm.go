// SPDX-License-Identifier: Apache-2.0

package build

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/geometry"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/window"
)

// InstanceNorm normalizes each channel (axis 1) of each sample over the axes behind it; scale and bias, a value a
// channel, may be nil, but not the scale alone.
func (b *Builder) InstanceNorm(at Place, x, scale, bias *ir.Node, eps float32) (*ir.Node, error) {
	c := b.chain(at)
	if len(x.Type.Shape) < 3 {
		c.fail(diag.OperandShapes, "%s has no axis after the channels", ir.ShapeString(x.Type.Shape))
		return c.done(nil)
	}
	args := []*ir.Node{x}
	for _, a := range []*ir.Node{scale, bias} {
		if a != nil {
			args = append(args, a)
		}
	}
	if scale == nil && bias != nil {
		c.fail(diag.UnsupportedForm, "a bias without a scale")
	}
	return c.done(c.do("", norm.GroupNorm, &norm.GroupNormAttrs{Groups: x.Type.Shape[1], Eps: eps}, args...))
}

// LRNAttrs are the attributes of LRN.
type LRNAttrs struct {
	Size              int
	Alpha, Beta, Bias float32
}

// LRN is x/(bias + alpha/size*sum)^beta, with the sum of squares over size channels around each: from
// c - floor((size-1)/2) to c + ceil((size-1)/2) (ONNX; torch's local_response_norm with odd sizes).
func (b *Builder) LRN(at Place, x *ir.Node, a LRNAttrs) (*ir.Node, error) {
	c, s := b.chain(at), x.Type.Shape
	if len(s) < 2 || a.Size < 1 {
		c.fail(diag.BadAttribute, "%d channels around each of %s", a.Size, ir.ShapeString(s))
		return c.done(nil)
	}
	pixels := ir.Type{Shape: s[2:]}.Elems()
	low := (a.Size - 1) / 2
	square := c.do("square", pointwise.Mul, nil, x, x)
	mean := c.do("mean", window.AvgPool,
		&window.AvgAttrs{IncludePad: true, Window: geometry.Window{Kernel: []int{a.Size, 1},
			Strides: []int{1, 1}, Pads: []int{low, 0, a.Size - 1 - low, 0}, Dilations: []int{1, 1}}},
		c.reshape("image", square, s[0], 1, s[1], pixels))
	sum := c.do("scaled", pointwise.Mul, nil, mean, c.number("alpha", float64(a.Alpha)))
	sum = c.do("biased", pointwise.Add, nil, sum, c.number("bias", float64(a.Bias)))
	factor := c.do("factor", curve.Pow, &curve.PowAttrs{Exponent: -a.Beta}, sum)
	return c.done(c.do("", pointwise.Mul, nil, x, c.reshape("factors", factor, s...)))
}
