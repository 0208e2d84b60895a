// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/sum"
)

// dimNumbers say which axis of image, kernel and result is what: spatial axes in order.
type dimNumbers struct {
	batch, feature       int
	spatial              []int
	in, out              int // of the kernel
	kernel               []int
	outBatch, outFeature int
	outSpatial           []int
}

// dimNumbers reads [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], as it stands or in #stablehlo.conv<...>.
func (c *call) dimNumbers() (d dimNumbers) {
	a := c.in.Attrs.Get("dim_numbers", "dimension_numbers")
	if a == nil || len(a.Value) == 0 {
		c.fail(diag.BadAttribute, "the dimension numbers are missing")
		return
	}
	text := c.Source(a.Value[0].At, a.Value[len(a.Value)-1].End)
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == '[' || r == ']' })
	var lists []string
	for _, f := range fields {
		if strings.Contains(f, ",") {
			lists = append(lists, f)
		}
	}
	if len(lists) != 3 {
		c.fail(diag.BadAttribute, "unsupported dimension numbers %s", text)
		return
	}
	d.batch, d.feature, d.spatial = c.axisNames(lists[0], "b", "f")
	d.in, d.out, d.kernel = c.axisNames(lists[1], "i", "o")
	d.outBatch, d.outFeature, d.outSpatial = c.axisNames(lists[2], "b", "f")
	if len(d.kernel) != len(d.spatial) || len(d.kernel) != len(d.outSpatial) {
		c.fail(diag.BadAttribute, "the dimension numbers %s do not agree", text)
	}
	return d
}

// axisNames reads one list: the places of two letters and of the numbers 0, 1, ...
func (c *call) axisNames(list, first, second string) (a, b int, spatial []int) {
	names := strings.Split(strings.ReplaceAll(list, " ", ""), ",")
	a, b = slices.Index(names, first), slices.Index(names, second)
	for i := range len(names) - 2 {
		at := slices.Index(names, strconv.Itoa(i))
		spatial = append(spatial, at)
		if at < 0 {
			c.fail(diag.BadAttribute, "the dimension numbers [%s] lack axis %d", list, i)
		}
	}
	if a < 0 || b < 0 || len(names) < 2 {
		c.fail(diag.BadAttribute, "the dimension numbers [%s] lack %s or %s", list, first, second)
	}
	return a, b, spatial
}

// windowAttrs are strides and the like, from window = {...} or from attributes.
type windowAttrs struct {
	stride, low, high, lhs, rhs []int
	reverse                     []int
}

func (c *call) convWindow(rank int) (w windowAttrs) {
	if a := c.in.Attrs.Get("window"); a != nil {
		inner := *c
		copied := *c.in
		copied.Attrs = c.Dict(a)
		inner.in = &copied
		w = inner.windowLists(rank, [5]string{"stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"})
		c.err = inner.err
		return w
	}
	return c.windowLists(rank, [5]string{"window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal"})
}

func (c *call) windowLists(rank int, names [5]string) (w windowAttrs) {
	w.stride = c.ints(rank, 1, names[0])
	w.low, w.high = c.pads(rank, names[1])
	w.lhs, w.rhs = c.ints(rank, 1, names[2]), c.ints(rank, 1, names[3])
	w.reverse = c.ints(rank, 0, names[4])
	if slices.Min(append(slices.Concat(w.stride, w.lhs, w.rhs), 1)) < 1 {
		c.fail(diag.BadAttribute, "strides %v and dilations %v and %v must be positive", w.stride, w.lhs, w.rhs)
	}
	return w
}

// pads reads [[low, high], ...].
func (c *call) pads(rank int, name string) (low, high []int) {
	all := c.ints(2*rank, 0, name)
	for i := range rank {
		low, high = append(low, all[2*i]), append(high, all[2*i+1])
	}
	return low, high
}

// convertConv makes a convolution of images as they are where channels come second or last, else between transposes.
func convertConv(c *call) {
	d := c.dimNumbers()
	if c.err != nil {
		return
	}
	rank := len(d.spatial)
	w := c.convWindow(rank)
	groups, _ := c.in.Attrs.Get("feature_group_count").Int()
	batches, _ := c.in.Attrs.Get("batch_group_count").Int()
	switch {
	case len(c.args[0].dims) != rank+2 || len(c.args[1].dims) != rank+2:
		c.fail(diag.OperandTypes, "dimension numbers of %d axes for %s and %s", rank+2, ir.ShapeString(c.args[0].dims),
			ir.ShapeString(c.args[1].dims))
	case rank > 2 || rank < 1:
		c.fail(diag.SpatialAxes, "images of %d spatial axes are not supported", rank)
	case batches > 1:
		c.fail(diag.UnsupportedForm, "groups along the batch axis are not supported")
	case elems(c.args[0].dims) == 0 || elems(c.args[1].dims) == 0:
		c.fail(diag.BadDimension, "has no elements: an image of %s and weights of %s", ir.ShapeString(c.args[0].dims),
			ir.ShapeString(c.args[1].dims))
	}
	c.widen()
	if c.err != nil {
		return
	}
	c.conv(d, w, max(int(groups), 1))
}

func (c *call) conv(d dimNumbers, w windowAttrs, groups int) {
	rank := len(d.spatial)
	image := slices.Concat([]int{d.batch}, d.spatial, []int{d.feature})
	fixed := c.args[1].node.IsConst() && c.args[1].node.Type.IsFloat()
	last := !fixed || !slices.Equal([]int{d.batch, d.feature}, []int{0, 1}) || !slices.IsSorted(d.spatial)
	kernel := slices.Concat([]int{d.out}, d.kernel, []int{d.in})
	if !last {
		image = slices.Concat([]int{d.batch, d.feature}, d.spatial)
		kernel = slices.Concat([]int{d.out, d.in}, d.kernel)
	}
	x, weights := c.transpose(c.node(0), image), c.transpose(c.node(1), kernel)
	first := 2 // spatial axis
	if last {
		first = 1
	}
	attrs := &sum.ConvAttrs{Groups: groups}
	attrs.ChannelsLast, attrs.Strides, attrs.Dilations = last, w.stride, w.rhs
	attrs.Pads = make([]int, 2*rank)
	for i := range rank {
		if weights != nil && w.reverse[i] != 0 {
			weights = c.reversed(weights, first+i)
		}
		low, high := w.low[i], w.high[i]
		if low < 0 || high < 0 || w.lhs[i] > 1 { // zeros between elements, as transposed convolutions have them
			x = c.padAxis(x, first+i, min(low, 0), min(high, 0), w.lhs[i]-1, 0)
			low, high = max(low, 0), max(high, 0)
		}
		attrs.Pads[i], attrs.Pads[rank+i] = low, high
		if weights != nil {
			attrs.Kernel = append(attrs.Kernel, weights.Type.Shape[first+i])
		}
	}
	var n *ir.Node
	if fixed {
		n = c.emit(sum.Conv, attrs, x, weights)
	} else {
		n = c.patches(x, weights, attrs)
	}
	back := make([]int, rank+2) // axis i of the result is axis back[i] of n
	back[d.outBatch], back[d.outFeature] = 0, 1
	if last {
		back[d.outFeature] = rank + 1
	}
	for i, a := range d.outSpatial {
		back[a] = first + i
	}
	c.done(c.transpose(n, back))
}
