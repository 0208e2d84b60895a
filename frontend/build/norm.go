// SPDX-License-Identifier: Apache-2.0

package build

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/geometry"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sum"
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

// tinyVariance stands for what MeanVarianceNormalization adds to deviations, 1e-9: no float32 notices either but where
// all values are equal, which both make 0.
const tinyVariance = 1e-18

// MeanVariance is (x - mean)/deviation over some axes, negative ones counted from the end (ONNX).
func (b *Builder) MeanVariance(at Place, x *ir.Node, axes []int) (*ir.Node, error) {
	c, s := b.chain(at), x.Type.Shape
	var over []int
	for _, a := range axes {
		over = append(over, c.axis(a, len(s)))
	}
	slices.Sort(over)
	over = slices.Compact(over)
	if c.err != nil || len(over) == 0 {
		c.fail(diag.BadAttribute, "axes %v of %s: at least one is needed", axes, ir.ShapeString(s))
		return c.done(nil)
	}
	if over[0] == len(s)-len(over) { // the last ones
		return c.done(c.do("", norm.LayerNorm, &norm.Attrs{Axis: over[0], Eps: tinyVariance}, x))
	}
	var perm, kept []int
	for i, d := range s {
		if !slices.Contains(over, i) {
			perm, kept = append(perm, i), append(kept, d)
		}
	}
	channels := ir.Type{Shape: kept}.Elems()
	perm = append(perm, over...)
	y := c.transpose("turned", x, perm...)
	turned := slices.Clone(c.shape(y))
	y = c.reshape("rows", y, 1, channels, x.Type.Elems()/max(channels, 1))
	y = c.do("normed", norm.GroupNorm, &norm.GroupNormAttrs{Groups: channels, Eps: tinyVariance}, y)
	back := make([]int, len(perm))
	for i, p := range perm {
		back[p] = i
	}
	return c.done(c.transpose("back", c.reshape("unrow", y, turned...), back...))
}

// LpPool is the norm sum(|x|^p)^(1/p) of each window, in which padding counts nothing.
func (b *Builder) LpPool(at Place, x *ir.Node, w geometry.Window, p int) (*ir.Node, error) {
	c, s := b.chain(at), x.Type.Shape
	rank := len(w.Kernel)
	if w.CeilMode { // zeros behind the last element do no harm
		w.CeilMode, w.Pads = false, slices.Clone(w.Pads)
		for i, k := range w.Kernel {
			span := s[2+i] + w.Pads[i] + w.Pads[rank+i] - (k-1)*w.Dilations[i] - 1
			if more := (w.Strides[i] - span%w.Strides[i]) % w.Strides[i]; span >= 0 &&
				span+more-w.Pads[i] < s[2+i] { // it starts within the image
				w.Pads[rank+i] += more
			}
		}
	}
	shape := append([]int{s[1], 1}, w.Kernel...)
	ones := c.floats("ones", slices.Repeat([]float32{1}, ir.Type{Shape: shape}.Elems()), shape...)
	sums := c.conv("sums", c.toPower(x, p), ones, nil, &sum.ConvAttrs{Window: w, Groups: s[1]})
	return c.done(c.root(sums, p))
}

// GlobalLp is the norm of all elements behind the channels.
func (b *Builder) GlobalLp(at Place, x *ir.Node, p int) (*ir.Node, error) {
	c, a := b.chain(at), &reduce.Attrs{}
	for i := range x.Type.Shape[2:] {
		a.Axes = append(a.Axes, 2+i)
	}
	return c.done(c.root(c.do("sums", reduce.Sum, a, c.toPower(x, p)), p))
}

// toPower is |x|^p.
func (c *chain) toPower(x *ir.Node, p int) *ir.Node {
	switch p {
	case 1:
		return c.do("abs", curve.Abs, nil, x)
	case 2:
		return c.do("square", pointwise.Mul, nil, x, x)
	}
	return c.do("power", curve.Pow, &curve.PowAttrs{Exponent: float32(p)}, c.do("abs", curve.Abs, nil, x))
}

// root is x^(1/p), the result.
func (c *chain) root(x *ir.Node, p int) *ir.Node {
	switch p {
	case 1:
		return x
	case 2:
		return c.do("", curve.Sqrt, nil, x)
	}
	return c.do("", curve.Pow, &curve.PowAttrs{Exponent: 1 / float32(p)}, x)
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
