// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/window"
)

const reduceAttrs = "axes keepdims noop_with_empty_axes"

// reduceTable lists the reductions.
func reduceTable() []opSpec {
	row := func(name string, since int, r reduction) opSpec {
		return opSpec{name, reduceAttrs, 1, 2, convertReduce(r, since), false}
	}
	return []opSpec{
		row("ReduceMean", 18, reduction{o: reduce.Mean}),
		row("ReduceSum", 13, reduction{o: reduce.Sum}),
		row("ReduceMax", 18, reduction{o: reduce.Max, empty: math.Inf(-1)}),
		row("ReduceMin", 18, reduction{o: reduce.Min, empty: math.Inf(1)}),
		row("ReduceProd", 18, reduction{o: reduce.Prod, empty: 1}),
		row("ReduceL1", 18, reduction{by: build.L1}),
		row("ReduceL2", 18, reduction{by: build.L2}),
		row("ReduceSumSquare", 18, reduction{by: build.SumSquare}),
		row("ReduceLogSum", 18, reduction{by: build.LogSum, empty: math.Inf(-1)}),
		row("ReduceLogSumExp", 18, reduction{by: build.LogSumExp, empty: math.Inf(-1)}),
	}
}

// reduction is one operation, or what a helper makes.
type reduction struct {
	o     *ir.Op
	by    build.Reduction
	empty float64 // the result for no elements
}

// convertReduce: the axes are an attribute in older operator sets and input 1 since the given one. None, or an empty
// list, are all axes, unless noop_with_empty_axes asks for the value itself.
func convertReduce(r reduction, input int) func(*call) {
	return func(c *call) {
		var list []int64
		old := c.byAttrs(input, "axes")
		switch a := c.attr("axes", kindInts); {
		case c.has(1):
			list = c.list(1, "axes")
		case a != nil && old:
			list = a.ints
		}
		x := c.arg(0)
		if c.err != nil {
			return
		}
		if len(list) == 0 && c.int("noop_with_empty_axes", 0) != 0 {
			c.result(c.reduceNothing(r, x))
			return
		}
		rank := len(c.shape(0))
		var axes []int
		for _, a := range list {
			axes = append(axes, c.axis(a, rank, 0))
		}
		if len(list) == 0 {
			for i := range rank {
				axes = append(axes, i)
			}
		}
		slices.Sort(axes)
		c.reduce(r, x, slices.Compact(axes))
	}
}

// reduceNothing is a reduction over no axis: every element is reduced alone.
func (c *call) reduceNothing(r reduction, x *ir.Node) *ir.Node {
	switch r.by {
	case build.L1, build.L2:
		return c.emit("", curve.Abs, nil, x)
	case build.SumSquare:
		return c.emit("", pointwise.Mul, nil, x, x)
	case build.LogSum:
		return c.emit("", curve.Log, nil, x)
	}
	return c.emit("", move.Identity, nil, x)
}

// reduce makes a reduction over sorted axes the result.
func (c *call) reduce(r reduction, x *ir.Node, axes []int) {
	if c.err != nil {
		return
	}
	var kept, left []int // the shape with axes of size 1, and without
	for i, d := range x.Type.Shape {
		if slices.Contains(axes, i) {
			kept = append(kept, 1)
		} else {
			kept, left = append(kept, d), append(left, d)
		}
	}
	drop := c.int("keepdims", 1) == 0
	if x.Type.Elems() == 0 || len(axes) == 0 {
		if len(axes) == 0 {
			c.result(c.reduceNothing(r, x))
			return
		}
		if drop {
			kept = left
		}
		c.result(c.repeat("", c.like(x, r.empty, "nothing"), kept))
		return
	}
	if r.o == nil {
		n, err := c.b.Reduce(c.place(""), r.by, x, axes, !drop)
		c.wrap(diag.OperandShapes, err)
		c.result(n)
		return
	}
	last := ""
	if drop {
		last = "pool"
	}
	n := c.reduceBy(r.o, axes, x, last)
	if drop {
		n = c.reshape("", n, left)
	}
	c.result(n)
}

// reduceBy emits one reduction. A mean over all spatial axes of an image is a global pool; the greatest of truth values
// is whether any is true.
func (c *call) reduceBy(o *ir.Op, axes []int, x *ir.Node, suffix string) *ir.Node {
	if c.err != nil {
		return nil
	}
	shape := x.Type.Shape
	if o == reduce.Mean && (slices.Equal(axes, []int{2, 3}) && len(shape) == 4 ||
		slices.Equal(axes, []int{2}) && len(shape) == 3) && x.Type.IsFloat() {
		return c.emit(suffix, window.GlobalAvgPool, &window.GlobalAttrs{}, x)
	}
	if x.Type.Format == ir.Bool && o == reduce.Max {
		o = reduce.Any
	}
	if x.Type.Format == ir.Bool && o == reduce.Min {
		o = reduce.All
	}
	return c.emit(suffix, o, &reduce.Attrs{Axes: axes}, x)
}
