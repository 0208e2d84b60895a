// SPDX-License-Identifier: Apache-2.0

package build

import (
	"math"
	"slices"
	"strconv"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
)

// ResizeAttrs are the attributes of Resize, by the names of ONNX.
type ResizeAttrs struct {
	// Axes are those that change; Sizes has the new size of each. Scales, if not nil, are the factors that coordinates
	// follow; otherwise they are the ratios of the sizes.
	Axes, Sizes []int
	Scales      []float64
	// Mode is nearest, linear or cubic.
	Mode string
	// Coordinates is half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric or
	// tf_crop_and_resize.
	Coordinates string
	// Crop is where tf_crop_and_resize begins and ends on each axis, as parts of it; what lies outside the image gets
	// the value Outside.
	Crop    [][2]float64
	Outside float32
	// Nearest is round_prefer_floor, round_prefer_ceil, floor or ceil.
	Nearest string
	// CubicA is the parameter of cubic (ONNX: -0.75); ExcludeOutside leaves out what lies outside the image, instead
	// of repeating its border.
	CubicA         float64
	ExcludeOutside bool
	// Antialias makes linear and cubic filters as wide as the new pixels, where there are fewer of them.
	Antialias bool
}

// Resize samples x at other places along axes, one axis after the other (ONNX Resize; torch's upsample_nearest2d is
// nearest, asymmetric and floor; upsample_bilinear2d is linear with align_corners or pytorch_half_pixel).
func (b *Builder) Resize(at Place, x *ir.Node, a ResizeAttrs) (*ir.Node, error) {
	c := b.chain(at)
	if len(a.Sizes) != len(a.Axes) || a.Scales != nil && len(a.Scales) != len(a.Axes) ||
		a.Coordinates == "tf_crop_and_resize" && len(a.Crop) != len(a.Axes) {
		c.fail(diag.BadAttribute, "sizes %v, scales %v and crops %v for the axes %v", a.Sizes, a.Scales, a.Crop, a.Axes)
		return c.done(nil)
	}
	y, smooth := x, map[int][]float32{}
	for i, axis := range a.Axes {
		axis = c.axis(axis, len(x.Type.Shape))
		if c.err == nil && a.Sizes[i] < 1 {
			c.fail(diag.BadDimension, "axis %d gets the size %d", axis, a.Sizes[i])
		}
		if c.err != nil {
			return c.done(nil)
		}
		s := sampler{ResizeAttrs: &a, in: x.Type.Shape[axis], out: a.Sizes[i]}
		if s.scale = float64(s.out) / float64(s.in); a.Scales != nil {
			s.scale = a.Scales[i]
		}
		if a.Crop != nil {
			s.crop = a.Crop[i]
		}
		if !(s.scale > 0) {
			c.fail(diag.BadAttribute, "axis %d has the scale %g", axis, s.scale)
		}
		part := "axis" + strconv.Itoa(axis)
		if f := s.factor(y, axis); f > 0 {
			y, smooth[axis] = c.repeated(part, y, axis, f), triangle(f)
			continue
		}
		y = c.sampled(part, y, axis, &s)
	}
	return c.done(c.smoothed(y, smooth))
}

// sampler makes an axis of out elements of one of in elements.
type sampler struct {
	*ResizeAttrs
	in, out int
	scale   float64
	crop    [2]float64
}

// tap is one of the elements that make up each result: where it lies, and its weight, nil for 1.
type tap struct {
	at     []int64
	weight []float32
}

// taps are the elements that make up an axis, as many for each result.
func (c *chain) taps(s *sampler) []tap {
	count := map[string]int{"nearest": 1, "linear": 2, "cubic": 4}[s.Mode]
	if count == 0 {
		c.fail(diag.UnsupportedForm, "the mode %q is not supported, there are nearest, linear and cubic", s.Mode)
		return nil
	}
	taps := make([]tap, count)
	for o := range s.out {
		place, ok := s.place(o)
		if !ok {
			c.fail(diag.UnsupportedForm, "the coordinates %q are not supported", s.Coordinates)
			return nil
		}
		if s.Mode == "nearest" {
			at, ok := nearestOf(s.Nearest, place)
			if !ok {
				c.fail(diag.UnsupportedForm, "the rounding %q is not supported", s.Nearest)
				return nil
			}
			taps[0].at = append(taps[0].at, s.clamp(at))
			continue
		}
		first, weights := s.weights(place, 1)
		for k, w := range weights {
			taps[k].at = append(taps[k].at, s.clamp(first+float64(k)))
			taps[k].weight = append(taps[k].weight, float32(w))
		}
	}
	return taps
}

// clamp is the element at a place, or that at the border.
func (s *sampler) clamp(place float64) int64 { return int64(min(max(place, 0), float64(s.in-1))) }

// place is where element o of the result lies on the axis (ONNX, Resize); ok is false for unknown coordinates.
func (s *sampler) place(o int) (x float64, ok bool) {
	in, out, at := float64(s.in), float64(s.out), float64(o)
	half, corner := (at+0.5)/s.scale-0.5, at/s.scale
	if s.scale == out/in { // exact where the quotient is rounded
		half, corner = (2*at+1)*in/(2*out)-0.5, at*in/out
	}
	switch s.Coordinates {
	case "half_pixel":
		return half, true
	case "half_pixel_symmetric":
		return in/2*(1-out/(s.scale*in)) + half, true
	case "pytorch_half_pixel":
		if s.out == 1 {
			return 0, true
		}
		return half, true
	case "align_corners":
		if s.out == 1 {
			return 0, true
		}
		return at * (in - 1) / (out - 1), true
	case "asymmetric":
		return corner, true
	case "tf_crop_and_resize":
		if s.out == 1 {
			return (s.crop[0] + s.crop[1]) / 2 * (in - 1), true
		}
		return s.crop[0]*(in-1) + at*(s.crop[1]-s.crop[0])*(in-1)/(out-1), true
	}
	return 0, false
}

// weights are those of the elements from first on around a place, by a filter stretched by 1/narrow. They add up to 1.
func (s *sampler) weights(place, narrow float64) (first float64, weights []float64) {
	reach := 1 / narrow
	if s.Mode == "cubic" {
		reach *= 2
	}
	total := 0.0
	first = math.Floor(place-reach) + 1
	for i := first; i < first+math.Ceil(2*reach); i++ {
		w := s.filter(math.Abs(i-place) * narrow)
		if s.ExcludeOutside && (i < 0 || i >= float64(s.in)) {
			w = 0
		}
		weights, total = append(weights, w), total+w
	}
	for k := range weights {
		weights[k] /= total
	}
	return first, weights
}

// filter is the weight at a distance: a triangle, or a cubic one (Keys, 1981).
func (s *sampler) filter(d float64) float64 {
	a := s.CubicA
	switch {
	case s.Mode == "linear":
		return max(0, 1-d)
	case d <= 1:
		return ((a+2)*d-(a+3))*d*d + 1
	case d < 2:
		return ((a*d-5*a)*d+8*a)*d - 4*a
	}
	return 0
}

// nearestOf rounds a coordinate.
func nearestOf(mode string, x float64) (at float64, ok bool) {
	switch mode {
	case "round_prefer_floor":
		return math.Ceil(x - 0.5), true
	case "round_prefer_ceil":
		return math.Floor(x + 0.5), true
	case "floor":
		return math.Floor(x), true
	case "ceil":
		return math.Ceil(x), true
	}
	return 0, false
}

// sampled is an axis of x made anew.
func (c *chain) sampled(part string, x *ir.Node, axis int, s *sampler) *ir.Node {
	taps := c.taps(s)
	if c.err != nil || len(taps) == 1 && identity(taps[0].at, x.Type.Shape[axis]) {
		return x
	}
	column := slices.Repeat([]int{1}, len(x.Type.Shape)-axis) // the axis, before those behind it
	column[0] = s.out
	if s.Antialias && s.scale < 1 && s.Mode != "nearest" {
		x = c.filtered(part, x, axis, s)
	} else {
		x = c.tapped(part, x, axis, taps, column)
	}
	if s.Coordinates != "tf_crop_and_resize" {
		return x
	}
	inside := make([]int64, s.out)
	for o := range inside {
		if p, _ := s.place(o); p >= 0 && p <= float64(s.in-1) {
			inside[o] = 1
		}
	}
	if !slices.Contains(inside, 0) {
		return x
	}
	return c.do(part+".inside", whole.Where, nil, c.wholes(part+".where", ir.B1, inside, column...), x,
		c.number(part+".outside", float64(s.Outside)))
}

// tapped is the sum of the taps of an axis.
func (c *chain) tapped(part string, x *ir.Node, axis int, taps []tap, columns []int) *ir.Node {
	var sum *ir.Node
	for k, t := range taps {
		name := part + ".tap" + strconv.Itoa(k)
		y := c.picked(name, x, axis, t.at)
		if t.weight != nil {
			y = c.do(name+".weighted", pointwise.Mul, nil, y, c.floats(name+".weights", t.weight, columns...))
		}
		if sum != nil {
			y = c.do(name+".sum", pointwise.Add, nil, sum, y)
		}
		sum = y
	}
	return sum
}

// filtered multiplies an axis by the matrix of all weights: there are many where the filter is wide.
func (c *chain) filtered(part string, x *ir.Node, axis int, s *sampler) *ir.Node {
	matrix := make([]float32, s.in*s.out)
	for o := range s.out {
		place, _ := s.place(o)
		first, weights := s.weights(place, s.scale)
		for k, w := range weights {
			matrix[int(s.clamp(first+float64(k)))*s.out+o] += float32(w)
		}
	}
	last := len(x.Type.Shape) - 1
	perm := make([]int, last+1)
	for i := range perm {
		perm[i] = i
	}
	perm[axis], perm[last] = last, axis // its own inverse
	shape := slices.Clone(x.Type.Shape)
	shape[axis], shape[last] = shape[last], shape[axis]
	rows := c.reshape(part+".rows", c.transpose(part+".last", x, perm...), x.Type.Elems()/s.in, s.in)
	y := c.do(part+".filtered", sum.MatMul, nil, rows, c.floats(part+".weights", matrix, s.in, s.out))
	shape[last] = s.out
	return c.transpose(part+".back", c.reshape(part+".axes", y, shape...), perm...)
}

// identity says that the positions are all of an axis, in order.
func identity(at []int64, size int) bool {
	for i, p := range at {
		if p != int64(i) {
			return false
		}
	}
	return len(at) == size
}

// factor is the whole factor by which a spatial axis of an image grows by linear interpolation between the centres of
// elements; 0 for all else.
func (s *sampler) factor(x *ir.Node, axis int) int {
	rank := len(x.Type.Shape)
	centres := s.Coordinates == "half_pixel" || s.Coordinates == "pytorch_half_pixel" ||
		s.Coordinates == "half_pixel_symmetric"
	if s.Mode != "linear" || !centres || s.ExcludeOutside || axis < 2 || rank < 3 || rank > 4 || s.out%s.in != 0 ||
		s.scale != float64(s.out/s.in) || s.out == s.in {
		return 0
	}
	return s.out / s.in
}

// repeated gives every element of an axis factor times, and those at the ends as much more as a window over factor
// elements reaches beyond them.
func (c *chain) repeated(part string, x *ir.Node, axis, factor int) *ir.Node {
	reach := factor / 2
	return c.do(part, move.Stretch, &move.StretchAttrs{Axis: axis, Size: x.Type.Shape[axis]*factor + 2*reach,
		Start: -reach, Step: 1, Of: factor}, x)
}

// triangle are the weights of factor repeated elements in linear interpolation: their mean, where their number is odd;
// else the mean of the means on both sides of a place between two.
func triangle(factor int) []float32 {
	w := make([]float32, factor+1-factor%2)
	for i := range w {
		if w[i] = 1 / float32(factor); factor%2 == 0 && (i == 0 || i == factor) {
			w[i] /= 2
		}
	}
	return w
}

// smoothed is the convolution of each channel of an image by the product of one row of weights for each axis, by axis;
// x itself where there are none.
func (c *chain) smoothed(x *ir.Node, rows map[int][]float32) *ir.Node {
	if c.err != nil || len(rows) == 0 {
		return x
	}
	rank := len(x.Type.Shape) - 2
	kernel := []float32{1}
	w := geometry.Window{Pads: make([]int, 2*rank)}
	for i := range rank {
		row := rows[2+i]
		if row == nil {
			row = []float32{1}
		}
		w.Kernel, w.Strides, w.Dilations = append(w.Kernel, len(row)), append(w.Strides, 1), append(w.Dilations, 1)
		var product []float32
		for _, a := range kernel {
			for _, b := range row {
				product = append(product, a*b)
			}
		}
		kernel = product
	}
	channels := x.Type.Shape[1]
	var weights []float32
	for range channels {
		weights = append(weights, kernel...)
	}
	return c.do("smoothed", sum.Conv, &sum.ConvAttrs{Window: w, Groups: channels}, x,
		c.floats("smooth", weights, append([]int{channels, 1}, w.Kernel...)...))
}
