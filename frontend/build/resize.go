// SPDX-License-Identifier: Apache-2.0

package build

import (
	"math"
	"slices"
	"strconv"

	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op"
)

// ResizeAttrs are the attributes of Resize, by the names of ONNX.
type ResizeAttrs struct {
	// Axes are those that change; Sizes has the new size of each. Scales, if not nil, are the factors that coordinates
	// follow; otherwise they are the ratios of the sizes.
	Axes, Sizes []int
	Scales      []float64
	// Mode is nearest, linear or cubic.
	Mode string
	// Coordinates is half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners or asymmetric.
	Coordinates string
	// Nearest is round_prefer_floor, round_prefer_ceil, floor or ceil.
	Nearest string
	// CubicA is the parameter of cubic (ONNX: -0.75); ExcludeOutside leaves out what lies outside of the image, instead
	// of repeating its border.
	CubicA         float64
	ExcludeOutside bool
}

// Resize samples x at other places along axes, one axis after the other (ONNX Resize; torch's upsample_nearest2d is
// nearest, asymmetric and floor; upsample_bilinear2d is linear with align_corners or pytorch_half_pixel).
func (b *Builder) Resize(at Place, x *ir.Node, a ResizeAttrs) (*ir.Node, error) {
	c := b.chain(at)
	if len(a.Sizes) != len(a.Axes) || a.Scales != nil && len(a.Scales) != len(a.Axes) {
		c.fail(source.CodeAttr, "sizes %v and scales %v for the axes %v", a.Sizes, a.Scales, a.Axes)
		return c.done(nil)
	}
	y := x
	for i, axis := range a.Axes {
		axis = c.axis(axis, len(x.Type.Shape))
		if c.err == nil && a.Sizes[i] < 1 {
			c.fail(source.CodeDims, "axis %d gets the size %d", axis, a.Sizes[i])
		}
		if c.err != nil {
			return c.done(nil)
		}
		scale := float64(a.Sizes[i]) / float64(x.Type.Shape[axis])
		if a.Scales != nil {
			scale = a.Scales[i]
		}
		if !(scale > 0) {
			c.fail(source.CodeAttr, "axis %d has the scale %g", axis, scale)
		}
		taps := c.taps(&a, x.Type.Shape[axis], a.Sizes[i], scale)
		y = c.sampled("axis"+strconv.Itoa(axis), y, axis, taps)
	}
	return c.done(y)
}

// tap is one of the elements that make up each result: where it lies, and its weight, nil for 1.
type tap struct {
	at     []int64
	weight []float32
}

// taps are the elements of an axis of in that make up an axis of out.
func (c *chain) taps(a *ResizeAttrs, in, out int, scale float64) []tap {
	count := map[string]int{"nearest": 1, "linear": 2, "cubic": 4}[a.Mode]
	if count == 0 {
		c.fail(source.CodeForm, "the mode %q is not supported, there are nearest, linear and cubic", a.Mode)
		return nil
	}
	taps := make([]tap, count)
	for o := range out {
		place, ok := coordinate(a.Coordinates, o, in, out, scale)
		if !ok {
			c.fail(source.CodeForm, "the coordinates %q are not supported", a.Coordinates)
			return nil
		}
		if a.Mode == "nearest" {
			at, ok := nearestOf(a.Nearest, place)
			if !ok {
				c.fail(source.CodeForm, "the rounding %q is not supported", a.Nearest)
				return nil
			}
			taps[0].at = append(taps[0].at, int64(min(max(at, 0), float64(in-1))))
			continue
		}
		first := math.Floor(place)
		weights := []float64{1 - (place - first), place - first}
		if a.Mode == "cubic" {
			weights = cubic(place-first, a.CubicA)
			first--
		}
		if a.ExcludeOutside {
			inside(weights, first, in)
		}
		for k, w := range weights {
			taps[k].at = append(taps[k].at, int64(min(max(first+float64(k), 0), float64(in-1))))
			taps[k].weight = append(taps[k].weight, float32(w))
		}
	}
	return taps
}

// coordinate is where element o of out elements lies among in elements (ONNX, Resize); ok is false for an unknown mode.
func coordinate(mode string, o, in, out int, scale float64) (x float64, ok bool) {
	half := (float64(o)+0.5)/scale - 0.5
	if scale == float64(out)/float64(in) { // exact where the quotient is rounded
		half = (2*float64(o)+1)*float64(in)/float64(2*out) - 0.5
	}
	switch mode {
	case "half_pixel":
		return half, true
	case "half_pixel_symmetric":
		return float64(in)/2*(1-float64(out)/(scale*float64(in))) + half, true
	case "pytorch_half_pixel":
		if out == 1 {
			return 0, true
		}
		return half, true
	case "align_corners":
		if out == 1 {
			return 0, true
		}
		return float64(o*(in-1)) / float64(out-1), true
	case "asymmetric":
		if scale == float64(out)/float64(in) {
			return float64(o*in) / float64(out), true
		}
		return float64(o) / scale, true
	}
	return 0, false
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

// cubic are the weights of the elements before, at, behind and after next of a place t behind an element (Keys, 1981).
func cubic(t, a float64) []float64 {
	near := func(d float64) float64 { return ((a+2)*d-(a+3))*d*d + 1 }
	far := func(d float64) float64 { return ((a*d-5*a)*d+8*a)*d - 4*a }
	return []float64{far(t + 1), near(t), near(1 - t), far(2 - t)}
}

// inside leaves out weights of elements that are not there, and makes the others add up to 1.
func inside(weights []float64, first float64, in int) {
	total := 0.0
	for k := range weights {
		if p := first + float64(k); p < 0 || p >= float64(in) {
			weights[k] = 0
		}
		total += weights[k]
	}
	for k := range weights {
		weights[k] /= total
	}
}

// sampled is the sum of the taps of an axis.
func (c *chain) sampled(part string, x *ir.Node, axis int, taps []tap) *ir.Node {
	if c.err != nil || len(taps) == 1 && identity(taps[0].at, x.Type.Shape[axis]) {
		return x
	}
	column := slices.Repeat([]int{1}, len(x.Type.Shape)-axis) // the axis, before those behind it
	column[0] = len(taps[0].at)
	var sum *ir.Node
	for k, t := range taps {
		name := part + ".tap" + strconv.Itoa(k)
		y := c.do(name, op.Gather, &op.AxisAttrs{Axis: axis}, x, c.wholes(name+".at", ir.I64, t.at, len(t.at)))
		if t.weight != nil {
			y = c.do(name+".weighted", op.Mul, nil, y, c.floats(name+".weights", t.weight, column...))
		}
		if sum != nil {
			y = c.do(name+".sum", op.Add, nil, sum, y)
		}
		sum = y
	}
	return sum
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
