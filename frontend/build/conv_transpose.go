// SPDX-License-Identifier: Apache-2.0

package build

import (
	"slices"

	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/sum"
)

// ConvTransposeAttrs are the attributes of ConvTranspose, an entry a spatial axis (1 or 2); Pads are begins, then ends.
type ConvTransposeAttrs struct {
	Strides, Pads, OutputPadding, Dilations []int
	Groups                                  int
}

// ConvTranspose is the transpose of a convolution: x [N,C,...], constant w [C,M/groups,...], bias [M] or nil. An axis
// has (d-1)*stride - pads + dilation*(k-1) + 1 + outputPadding elements. It becomes a convolution with stride 1, by
// the weights turned around, over x with zeros between its elements.
func (b *Builder) ConvTranspose(at Place, x, w, bias *ir.Node, a ConvTransposeAttrs) (*ir.Node, error) {
	c, s := b.chain(at), x.Type.Shape
	rank := len(s) - 2
	if rank < 1 || rank > 2 {
		c.fail(source.CodeSpatial, "%s has %d spatial axes: 1 and 2 are supported", ir.ShapeString(s), rank)
		return c.done(nil)
	}
	if len(a.Strides) != rank || len(a.Pads) != 2*rank || len(a.OutputPadding) != rank || len(a.Dilations) != rank {
		c.fail(source.CodeAttr, "strides %v, pads %v, output padding %v and dilations %v do not fit %d spatial axes",
			a.Strides, a.Pads, a.OutputPadding, a.Dilations, rank)
		return c.done(nil)
	}
	kernel := c.turned(w, s, a.Groups)
	window := geometry.Window{Pads: make([]int, 2*rank)}
	for i := range rank {
		if c.err != nil {
			return c.done(nil)
		}
		k, d := w.Type.Shape[2+i], a.Dilations[i]
		if a.Strides[i] < 1 || d < 1 {
			c.fail(source.CodeAttr, "stride %d and dilation %d must be positive", a.Strides[i], d)
			return c.done(nil)
		}
		x = c.stretched(x, 2+i, a.Strides[i])
		begin, end := d*(k-1)-a.Pads[i], d*(k-1)-a.Pads[rank+i]+a.OutputPadding[i]
		x = c.cropped(x, 2+i, max(-begin, 0), max(-end, 0))
		window.Kernel, window.Strides = append(window.Kernel, k), append(window.Strides, 1)
		window.Dilations = append(window.Dilations, d)
		window.Pads[i], window.Pads[rank+i] = max(begin, 0), max(end, 0)
	}
	args := []*ir.Node{x, kernel}
	if bias != nil {
		args = append(args, bias)
	}
	return c.done(c.do("", sum.Conv, &sum.ConvAttrs{Window: window, Groups: a.Groups}, args...))
}

// turned are the weights [C,M/groups,...] of a transposed convolution over s as those of a convolution,
// [M,C/groups,...], turned around along the spatial axes.
func (c *chain) turned(w *ir.Node, s []int, groups int) *ir.Node {
	shape := w.Type.Shape
	if len(shape) != len(s) || shape[0] != s[1] || groups < 1 || s[1]%groups != 0 {
		c.fail(source.CodeShape, "weights %s in %d groups do not fit the %d channels of %s", ir.ShapeString(shape), groups,
			s[1], ir.ShapeString(s))
		return nil
	}
	if !w.IsConst() {
		c.err = NotConstant(w, "the weights")
		return nil
	}
	t, err := w.Value()
	if err != nil || c.err != nil {
		c.err = err
		return nil
	}
	in, out, taps := shape[0]/groups, shape[1], ir.Type{Shape: shape[2:]}.Elems()
	turned := make([]float32, len(t.Floats))
	for i, v := range t.Floats { // group, in, out, tap
		tap, o, k, g := i%taps, i/taps%out, i/taps/out%in, i/taps/out/in
		turned[((g*out+o)*in+k)*taps+taps-1-tap] = v
	}
	n, err := c.b.Const(w.Name, ir.FloatBlob(turned), append([]int{groups * out, in}, shape[2:]...))
	if c.err = err; err == nil {
		from(n, w)
	}
	return n
}

// stretched puts stride - 1 zeros between the elements of an axis.
func (c *chain) stretched(x *ir.Node, axis, stride int) *ir.Node {
	if c.err != nil || stride == 1 || x.Type.Shape[axis] == 1 {
		return x
	}
	s := slices.Clone(x.Type.Shape)
	y := c.reshape("cut", x, slices.Insert(slices.Clone(s), axis+1, 1)...)
	y = c.do("zeros", move.Pad, &move.PadAttrs{Axis: axis + 1, After: stride - 1}, y)
	s[axis] *= stride
	return c.cropped(c.reshape("joined", y, s...), axis, 0, stride-1)
}

// cropped cuts elements off both ends of an axis.
func (c *chain) cropped(x *ir.Node, axis, begin, end int) *ir.Node {
	if c.err != nil || begin+end == 0 {
		return x
	}
	a := &move.SliceAttrs{Axis: axis, Start: begin, Count: x.Type.Shape[axis] - begin - end, Step: 1}
	return c.do("crop", move.Slice, a, x)
}
