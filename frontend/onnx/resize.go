// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"

	"lathe/frontend/build"
	"lathe/internal/diag"
)

const resizeAttrs = "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value " +
	"keep_aspect_ratio_policy mode nearest_mode"

// convertResize: x, a region of interest, scales, sizes; of the last two one is given. In opset 10 the scales are
// input 1.
func convertResize(c *call) {
	a := build.ResizeAttrs{
		Mode: c.string("mode", "nearest"), Coordinates: c.string("coordinate_transformation_mode", "half_pixel"),
		Nearest: c.string("nearest_mode", "round_prefer_floor"), CubicA: float64(c.float("cubic_coeff_a", -0.75)),
		ExcludeOutside: c.int("exclude_outside", 0) != 0, Antialias: c.int("antialias", 0) != 0,
		Outside: c.float("extrapolation_value", 0),
	}
	scales := 2
	if c.opset < 11 {
		a.Coordinates, a.Nearest, scales = "asymmetric", "floor", 1
	}
	a.Axes = c.resizeAxes()
	if a.Coordinates == "tf_crop_and_resize" {
		c.crop(&a)
	}
	if c.err != nil {
		return
	}
	switch {
	case c.has(scales) && elems(c.shape(scales)) > 0:
		c.scaled(&a, c.numbers(scales, "the scales"))
	case c.has(3):
		for _, v := range c.list(3, "the sizes") {
			a.Sizes = append(a.Sizes, int(min(max(v, 0), maxSmall)))
		}
		c.keepRatio(&a)
	default:
		c.fail(diag.OperandCount, "has neither scales nor sizes")
	}
	if c.err == nil && (len(a.Sizes) != len(a.Axes) || a.Scales != nil && len(a.Scales) != len(a.Axes)) {
		c.fail(diag.BadAttribute, "%d sizes or scales for %d axes", max(len(a.Sizes), len(a.Scales)), len(a.Axes))
	}
	if c.err == nil {
		c.resized(a)
	}
}

// scaled sets scales, and the sizes that follow from them.
func (c *call) scaled(a *build.ResizeAttrs, scales []float64) {
	a.Scales = scales
	for i, axis := range a.Axes[:min(len(a.Axes), len(scales))] {
		part := float64(c.shape(0)[axis])
		if a.Crop != nil {
			part *= a.Crop[i][1] - a.Crop[i][0]
		}
		a.Sizes = append(a.Sizes, int(min(max(math.Floor(part*scales[i]), 0), maxSmall)))
	}
}

// crop reads the region of interest: where it begins on each axis, then where it ends.
func (c *call) crop(a *build.ResizeAttrs) {
	if !c.has(1) {
		c.fail(diag.OperandCount, "tf_crop_and_resize needs a region of interest")
		return
	}
	region, n := c.numbers(1, "the region of interest"), len(a.Axes)
	if c.err == nil && len(region) != 2*n {
		c.fail(diag.BadAttribute, "the region of interest has %d numbers for %d axes", len(region), n)
		return
	}
	for i := range region[:len(region)/2] {
		a.Crop = append(a.Crop, [2]float64{region[i], region[n+i]})
	}
}

// resizeAxes are those of the attribute, or all.
func (c *call) resizeAxes() (axes []int) {
	rank := len(c.shape(0))
	if a := c.attr("axes", kindInts); a != nil {
		for _, v := range a.ints {
			axes = append(axes, c.axis(v, rank, 0))
		}
		return axes
	}
	for i := range rank {
		axes = append(axes, i)
	}
	return axes
}

// keepRatio makes sizes of one factor: the least (not_larger) or the greatest (not_smaller) of those asked for.
func (c *call) keepRatio(a *build.ResizeAttrs) {
	policy := c.string("keep_aspect_ratio_policy", "stretch")
	if c.err != nil || policy == "stretch" || len(a.Sizes) != len(a.Axes) {
		return
	}
	factor := math.Inf(1)
	if policy == "not_smaller" {
		factor = 0
	} else if policy != "not_larger" {
		c.fail(diag.BadAttribute, "keep_aspect_ratio_policy is %s; it may be stretch, not_larger or not_smaller",
			quote(policy))
		return
	}
	for i, axis := range a.Axes {
		f := float64(a.Sizes[i]) / float64(c.shape(0)[axis])
		if policy == "not_larger" {
			factor = min(factor, f)
		} else {
			factor = max(factor, f)
		}
	}
	for i, axis := range a.Axes {
		a.Sizes[i] = int(math.RoundToEven(float64(c.shape(0)[axis]) * factor))
		a.Scales = append(a.Scales, factor)
	}
}

// resized leaves out axes that keep their size.
func (c *call) resized(a build.ResizeAttrs) {
	all, scales := a, a.Scales
	a.Axes, a.Sizes, a.Scales, a.Crop = nil, nil, nil, nil
	for i, axis := range all.Axes {
		whole := all.Crop == nil || all.Crop[i] == [2]float64{0, 1}
		if whole && all.Sizes[i] == c.shape(0)[axis] && (scales == nil || scales[i] == 1) {
			continue
		}
		a.Axes, a.Sizes = append(a.Axes, axis), append(a.Sizes, all.Sizes[i])
		if scales != nil {
			a.Scales = append(a.Scales, scales[i])
		}
		if all.Crop != nil {
			a.Crop = append(a.Crop, all.Crop[i])
		}
	}
	if len(a.Axes) == 0 {
		convertIdentity(c)
		return
	}
	x := c.data(0)
	if c.err != nil {
		return
	}
	n, err := c.b.Resize(c.place(""), x, a)
	c.wrap(diag.OperandShapes, err)
	c.result(n)
}
