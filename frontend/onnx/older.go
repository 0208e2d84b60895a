// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir/op/whole"
)

// convertUpsample is Resize of opsets 7 to 9: scales from 1 on, an attribute first and then input 1; element i comes
// from floor(i/scale), or lies between the neighbours of i/scale.
func convertUpsample(c *call) {
	a := build.ResizeAttrs{Mode: c.string("mode", "nearest"), Coordinates: "asymmetric", Nearest: "floor",
		Axes: c.resizeAxes()}
	var scales []float64
	switch s := c.attr("scales", kindFloats); {
	case c.has(1):
		scales = c.numbers(1, "the scales")
	case s != nil:
		for _, v := range s.floats {
			scales = append(scales, float64(v))
		}
	default:
		c.fail(diag.OperandCount, "has no scales")
	}
	if c.err == nil && len(scales) != len(a.Axes) {
		c.fail(diag.BadAttribute, "%d scales for %d axes", len(scales), len(a.Axes))
	}
	for i, v := range scales {
		if c.err == nil && !(v >= 1 && v <= math.MaxFloat64) {
			c.fail(diag.BadAttribute, "scale %d is %g; scales are numbers from 1 on", i, v)
		}
	}
	if c.err == nil {
		c.scaled(&a, scales)
		c.resized(a)
	}
}

// convertLpNorm is x divided by the sum of absolute values, or by the root of the sum of squares, along an axis.
func convertLpNorm(c *call) {
	x := c.data(0)
	axis := c.axis(c.int("axis", -1), len(c.shape(0)), 0)
	by, ok := map[int64]build.Reduction{1: build.L1, 2: build.L2}[c.int("p", 2)]
	if !ok {
		c.fail(diag.BadAttribute, "attribute p is %d; 1 and 2 are supported", c.int("p", 2))
	}
	if c.err != nil {
		return
	}
	size, err := c.b.Reduce(c.place("size"), by, x, []int{axis}, true)
	c.wrap(diag.OperandShapes, err)
	c.result(c.emit("", whole.Div, nil, x, size))
}
