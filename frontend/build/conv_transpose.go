// SPDX-License-Identifier: Apache-2.0

package build

import (
	"slices"
	"strconv"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
)

// volumeAxes is the number of spatial axes of a volume.
const volumeAxes = 3

// Conv is a convolution of x [N,C,...] over one to three spatial axes by w [M,C/groups,...] and bias [M], which may be
// nil.
func (b *Builder) Conv(at Place, x, w, bias *ir.Node, a *sum.ConvAttrs) (*ir.Node, error) {
	c := b.chain(at)
	return c.done(c.conv("", x, w, bias, a))
}

// conv is Conv as part of a chain.
func (c *chain) conv(part string, x, w, bias *ir.Node, a *sum.ConvAttrs) *ir.Node {
	if len(a.Window.Kernel) == volumeAxes {
		return c.volume(part, x, w, bias, a)
	}
	args := []*ir.Node{x, w}
	if bias != nil {
		args = append(args, bias)
	}
	return c.do(part, sum.Conv, a, args...)
}

// volume is a convolution over three spatial axes: a sum of convolutions over the last two, one for each place of the
// kernel along the first, in which the steps of that axis are samples.
func (c *chain) volume(name string, x, w, bias *ir.Node, a *sum.ConvAttrs) *ir.Node {
	win := &a.Window
	if before, after := win.Pads[0], win.Pads[volumeAxes]; before+after > 0 {
		x = c.do("padded", move.Pad, &move.PadAttrs{Axis: 2, Before: before, After: after}, x)
	}
	shape := c.shape(x)
	if c.err == nil && (len(shape) != volumeAxes+2 || len(w.Type.Shape) != volumeAxes+2) {
		c.fail(diag.OperandShapes, "needs batch, channels and three spatial axes, its input is %s, its weights are %s",
			ir.ShapeString(shape), ir.ShapeString(w.Type.Shape))
	}
	if c.err != nil {
		return nil
	}
	reach, stride := (win.Kernel[0]-1)*win.Dilations[0]+1, win.Strides[0]
	if shape[2] < reach {
		c.fail(diag.OperandShapes, "a kernel of %d does not fit %d slices", reach, shape[2])
		return nil
	}
	depth := (shape[2]-reach)/stride + 1
	flat := geometry.Window{Kernel: win.Kernel[1:], Strides: win.Strides[1:], Dilations: win.Dilations[1:],
		Pads: slices.Concat(win.Pads[1:volumeAxes], win.Pads[volumeAxes+1:])}
	var y *ir.Node
	for k := range win.Kernel[0] {
		slab := c.do("slices", move.Slice,
			&move.SliceAttrs{Axis: 2, Start: k * win.Dilations[0], Count: depth, Step: stride}, x)
		slab = c.transpose("steps", slab, 0, 2, 1, 3, 4)
		slab = c.reshape("images", slab, shape[0]*depth, shape[1], shape[3], shape[4])
		slab = c.conv("conv", slab, c.layer(w, k), bias, &sum.ConvAttrs{Window: flat, Groups: a.Groups})
		if bias = nil; k > 0 {
			slab = c.do("sum", pointwise.Add, nil, y, slab)
		}
		y = slab
	}
	if c.err != nil {
		return nil
	}
	out := y.Type.Shape
	return c.transpose(name, c.reshape("volumes", y, shape[0], depth, out[1], out[2], out[3]), 0, 2, 1, 3, 4)
}

// layer is the weights of place k of the first spatial axis. Scales of codes belong to axis 0, and stay.
func (c *chain) layer(w *ir.Node, k int) *ir.Node {
	part := c.do("kernel_slice", move.Slice, &move.SliceAttrs{Axis: 2, Start: k, Count: 1, Step: 1}, w)
	if c.err != nil {
		return nil
	}
	part = c.reshape("kernel", part, slices.Delete(slices.Clone(w.Type.Shape), 2, 3)...)
	if from, ok := w.Attrs.(*ir.Const); ok && c.err == nil && from.Own.Format != nil {
		if to, ok := part.Attrs.(*ir.Const); ok {
			to.Own = from.Own
		}
	}
	return part
}

// ConvTransposeAttrs are the attributes of ConvTranspose, an entry a spatial axis (1 to 3); Pads are begins, then ends.
type ConvTransposeAttrs struct {
	Strides, Pads, OutputPadding, Dilations []int
	Groups                                  int
}

// ConvTranspose is the transpose of a convolution: x [N,C,...], constant w [C,M/groups,...], bias [M] or nil. An axis
// has (d-1)*stride - pads + dilation*(k-1) + 1 + outputPadding elements. It becomes a convolution with stride 1: one
// that computes all results between two elements as channels of one, or, where channels form groups or the kernel is
// dilated, one over x with zeros between its elements.
func (b *Builder) ConvTranspose(at Place, x, w, bias *ir.Node, a ConvTransposeAttrs) (*ir.Node, error) {
	c, s := b.chain(at), x.Type.Shape
	rank := len(s) - 2
	if rank < 1 || rank > volumeAxes {
		c.fail(diag.SpatialAxes, "%s has %d spatial axes: 1 to 3 are supported", ir.ShapeString(s), rank)
		return c.done(nil)
	}
	if len(a.Strides) != rank || len(a.Pads) != 2*rank || len(a.OutputPadding) != rank || len(a.Dilations) != rank {
		c.fail(diag.BadAttribute, "strides %v, pads %v, output padding %v and dilations %v do not fit %d spatial axes",
			a.Strides, a.Pads, a.OutputPadding, a.Dilations, rank)
		return c.done(nil)
	}
	for i := range rank {
		if a.Strides[i] < 1 || a.Dilations[i] < 1 {
			c.fail(diag.BadAttribute, "stride %d and dilation %d must be positive", a.Strides[i], a.Dilations[i])
			return c.done(nil)
		}
	}
	t := c.deconvolution(w, s, &a)
	if c.err != nil {
		return c.done(nil)
	}
	if t.phased(bias) {
		return c.done(c.phases(x, bias, t))
	}
	return c.done(c.between(x, bias, t))
}

// between convolves x, with stride - 1 zeros between its elements, by the weights turned around.
func (c *chain) between(x, bias *ir.Node, t *deconvolution) *ir.Node {
	rank := len(t.axes)
	window := geometry.Window{Pads: make([]int, 2*rank)}
	for i, a := range t.axes {
		begin, end := a.dilation*(a.kernel-1)-a.begin, a.dilation*(a.kernel-1)-a.end
		if a.stride > 1 {
			x = c.do("zeros"+strconv.Itoa(i), move.Pad, &move.PadAttrs{Axis: 2 + i, After: a.stride - 1, Each: true}, x)
			end -= a.stride - 1 // of the zeros behind the last element
		}
		x = c.cropped("part"+strconv.Itoa(i), x, 2+i, max(-begin, 0), max(-end, 0))
		window.Kernel, window.Strides = append(window.Kernel, a.kernel), append(window.Strides, 1)
		window.Dilations = append(window.Dilations, a.dilation)
		window.Pads[i], window.Pads[rank+i] = max(begin, 0), max(end, 0)
	}
	weights := t.weights(t.rows*t.groups, window.Kernel, func(m, k int, tap []int) float32 {
		from := make([]int, rank)
		for i, v := range tap {
			from[i] = t.axes[i].kernel - 1 - v
		}
		return t.at(m, k, from)
	})
	return c.convolved("", x, bias, t, window, weights)
}

// cropped cuts elements off both ends of an axis.
func (c *chain) cropped(part string, x *ir.Node, axis, begin, end int) *ir.Node {
	if c.err != nil || begin+end == 0 {
		return x
	}
	a := &move.SliceAttrs{Axis: axis, Start: begin, Count: x.Type.Shape[axis] - begin - end, Step: 1}
	return c.do(part, move.Slice, a, x)
}

// deconvolution is a transposed convolution: its axes, and its weights [channels, rows, ...] in groups of channels.
type deconvolution struct {
	w                      *ir.Node
	values                 []float32
	channels, rows, groups int
	axes                   []deconvAxis
}

// deconvAxis is one spatial axis of a transposed convolution, of in elements before and out behind.
type deconvAxis struct{ kernel, stride, dilation, begin, end, in, out int }

// deconvolution reads the constant weights w for x of the shape s.
func (c *chain) deconvolution(w *ir.Node, s []int, a *ConvTransposeAttrs) *deconvolution {
	shape := w.Type.Shape
	if len(shape) != len(s) || shape[0] != s[1] || a.Groups < 1 || s[1]%a.Groups != 0 {
		c.fail(diag.OperandShapes, "weights %s in %d groups do not fit the %d channels of %s", ir.ShapeString(shape),
			a.Groups, s[1], ir.ShapeString(s))
		return nil
	}
	if !w.IsConst() {
		c.err = NotConstant(w, "the weights")
		return nil
	}
	v, err := w.Value()
	if c.err = err; err != nil {
		return nil
	}
	t := &deconvolution{w: w, values: v.Floats, channels: shape[0], rows: shape[1], groups: a.Groups}
	rank := len(s) - 2
	for i := range rank {
		x := deconvAxis{kernel: shape[2+i], stride: a.Strides[i], dilation: a.Dilations[i], begin: a.Pads[i],
			end: a.Pads[rank+i] - a.OutputPadding[i], in: s[2+i]}
		x.out = (x.in-1)*x.stride + x.dilation*(x.kernel-1) + 1 - x.begin - x.end
		t.axes = append(t.axes, x)
	}
	return t
}

// at is the weight of channel k of its group for channel m of the result.
func (t *deconvolution) at(m, k int, tap []int) float32 {
	i := (m/t.rows*(t.channels/t.groups)+k)*t.rows + m%t.rows
	for j, v := range tap {
		i = i*t.axes[j].kernel + v
	}
	return t.values[i]
}

// weights lists those of a convolution to so many channels: f is that of channel k of a group at a place of the kernel.
func (t *deconvolution) weights(channels int, kernel []int, f func(m, k int, place []int) float32) (list []float32) {
	place := make([]int, len(kernel))
	for m := range channels {
		for k := range t.channels / t.groups {
			for i := range (ir.Type{Shape: kernel}).Elems() {
				for j, rest := len(kernel)-1, i; j >= 0; j-- {
					place[j], rest = rest%kernel[j], rest/kernel[j]
				}
				list = append(list, f(m, k, place))
			}
		}
	}
	return list
}

// convolved is the convolution of x by weights that were made of those of t.
func (c *chain) convolved(part string, x, bias *ir.Node, t *deconvolution, w geometry.Window,
	weights []float32) *ir.Node {
	if c.err != nil {
		return nil
	}
	shape := append([]int{0, t.channels / t.groups}, w.Kernel...)
	shape[0] = len(weights) / (ir.Type{Shape: shape[1:]}).Elems()
	kernel, err := c.b.Const(t.w.Name, ir.FloatBlob(weights), shape)
	if c.err = err; err != nil {
		return nil
	}
	from(kernel, t.w)
	kernel.Attrs.(*ir.Const).Own = t.own(shape[0])
	return c.conv(part, x, kernel, bias, &sum.ConvAttrs{Window: w, Groups: t.groups})
}

// own is the format that the model gives to the weights, as those of so many channels; none where scales belong to
// channels of x.
func (t *deconvolution) own(channels int) ir.Type {
	own := t.w.Attrs.(*ir.Const).Own
	if own.Scales == nil {
		return own
	}
	if axis, ok := format.ScaleAxis(own.Format); !ok || axis != 1 || len(own.Scales) != t.rows {
		return ir.Type{}
	}
	own.Format = format.WithScaleAxis(own.Format, 0)
	own.Scales = slices.Repeat(own.Scales, channels/t.rows)
	return own
}

// taps is how many elements of x a result between them is computed from, at most.
func (s *deconvAxis) taps() int { return (s.kernel + s.stride - 1) / s.stride }

// turns are the places of the first and of the last result, in whole strides.
func (s *deconvAxis) turns() (first, last int) {
	return s.begin / s.stride, (s.begin + s.out - 1) / s.stride
}

// phased says that results between two elements are best computed as channels of one convolution.
func (t *deconvolution) phased(bias *ir.Node) bool {
	strided := false
	for _, a := range t.axes {
		_, last := a.turns()
		if a.dilation > 1 || a.begin < 0 || a.out < 1 || last-a.in >= a.taps()-1 {
			return false
		}
		strided = strided || a.stride > 1
	}
	return strided && t.groups == 1 && (bias == nil || bias.IsConst() && bias.Type.IsFloat())
}

// phases computes all results between two elements at once: result stride*i + r of an axis is a sum over the weights
// r, r+stride, ... The channels of a convolution of x are, for each r, all channels of the result; then they are put
// side by side, and what is padding cut off (Shi and others 2016, "Is the deconvolution layer the same as a
// convolutional layer?").
func (c *chain) phases(x, bias *ir.Node, t *deconvolution) *ir.Node {
	rank, phases := len(t.axes), 1
	w := geometry.Window{Pads: make([]int, 2*rank)}
	for i, a := range t.axes {
		first, last := a.turns()
		begin, end := a.taps()-1-first, last-(a.in-1)
		x = c.cropped("part"+strconv.Itoa(i), x, 2+i, max(-begin, 0), max(-end, 0))
		w.Kernel, w.Strides, w.Dilations = append(w.Kernel, a.taps()), append(w.Strides, 1), append(w.Dilations, 1)
		w.Pads[i], w.Pads[rank+i] = max(begin, 0), max(end, 0)
		phases *= a.stride
	}
	tap := make([]int, rank)
	weights := t.weights(phases*t.rows, w.Kernel, func(m, k int, place []int) float32 {
		for i, r := rank-1, m/t.rows; i >= 0; i-- {
			a := &t.axes[i]
			tap[i], r = r%a.stride+a.stride*(a.taps()-1-place[i]), r/a.stride
			if tap[i] >= a.kernel {
				return 0
			}
		}
		return t.at(m%t.rows, k, tap)
	})
	y := c.convolved("phases", x, c.tiled(bias, phases), t, w, weights)
	if c.err != nil {
		return nil
	}
	// [n, stride..., rows, turns...] to [n, rows, turns and strides...]
	s := y.Type.Shape
	cut, perm, joined := []int{s[0]}, []int{0, 1 + rank}, []int{s[0], t.rows}
	for i, a := range t.axes {
		cut, perm, joined = append(cut, a.stride), append(perm, 2+rank+i, 1+i), append(joined, s[2+i]*a.stride)
	}
	cut = append(append(cut, t.rows), s[2:]...)
	y = c.reshape("joined", c.transpose("between", c.reshape("cut", y, cut...), perm...), joined...)
	for i, a := range t.axes {
		first, _ := a.turns()
		begin := a.begin - first*a.stride
		y = c.cropped("crop"+strconv.Itoa(i), y, 2+i, begin, joined[2+i]-begin-a.out)
	}
	return y
}

// tiled is the constant bias, so many times.
func (c *chain) tiled(bias *ir.Node, times int) *ir.Node {
	if c.err != nil || bias == nil {
		return nil
	}
	v, err := bias.Value()
	if c.err = err; err != nil {
		return nil
	}
	k := bias.Attrs.(*ir.Const)
	values, data := v.Floats, ir.FloatBlob(slices.Repeat(v.Floats, times))
	if k.Data.DType == ir.F64 && k.Data.Len() == len(values) {
		data = ir.DoubleBlob(slices.Repeat(k.Data.Floats64(), times))
	}
	n, err := c.b.Const(bias.Name, data, []int{len(values) * times})
	if c.err = err; err != nil {
		return nil
	}
	from(n, bias)
	own := k.Own
	if own.Scales != nil {
		own.Scales = slices.Repeat(own.Scales, times)
	}
	n.Attrs.(*ir.Const).Own = own
	return n
}
