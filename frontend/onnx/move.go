// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"
	"strconv"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/walk"
	"lathe/ir/op/whole"
)

// moveTable lists operations that move elements of several values, or of one.
func moveTable() []opSpec {
	return []opSpec{
		{"Concat", "axis", 1, many, convertConcat, false},
		{"Split", "axis split num_outputs", 1, 2, convertSplit, true},
		{"Slice", "starts ends axes", 1, 5, convertSlice, false},
		{"Pad", "mode pads value", 1, 4, convertPad, false},
		{"Expand", "", 2, 2, convertExpand, false},
		{"Tile", "", 2, 2, convertTile, false},
		{"DepthToSpace", "blocksize mode", 1, 1, convertDepthToSpace, false},
		{"SpaceToDepth", "blocksize mode", 1, 1, convertSpaceToDepth, false},
	}
}

// convertMany chains an operation of two operands.
func convertMany(o *ir.Op) func(*call) {
	return func(c *call) {
		c.present()
		c.alike(0)
		n := c.arg(0)
		for i := 1; i < len(c.in); i++ {
			suffix := ""
			if i < len(c.in)-1 {
				suffix = "part"
			}
			n = c.emit(suffix, o, nil, n, c.arg(i))
		}
		if len(c.in) == 1 {
			n = c.emit("", move.Identity, nil, n)
		}
		c.result(n)
	}
}

// present demands all inputs.
func (c *call) present() {
	for i, v := range c.in {
		if v == nil {
			c.fail(diag.OperandCount, "input %d is missing", i)
		}
	}
}

// convertMean is the sum divided by the number of operands.
func convertMean(c *call) {
	if len(c.in) == 1 {
		convertUnary(move.Identity)(c)
		return
	}
	c.present()
	n := c.data(0)
	for i := 1; i < len(c.in); i++ {
		n = c.emit("sum", pointwise.Add, nil, n, c.data(i))
	}
	c.result(c.emit("", pointwise.Mul, nil, n, c.number(1/float32(len(c.in)), "share")))
}

// convertConcat joins; operands without elements are left out.
func convertConcat(c *call) {
	if c.present(); c.err != nil {
		return
	}
	c.alike(0)
	axis := c.axis(c.int("axis", 1), len(c.shape(0)), 0)
	var args []*ir.Node
	for i, v := range c.in {
		if c.err == nil && (len(v.shape()) != 1 || v.shape()[0] != 0) {
			args = append(args, c.arg(i))
		}
	}
	if c.err == nil && len(args) == 0 {
		args = append(args, c.arg(0))
	}
	c.result(c.emit("", move.Concat, &move.ConcatAttrs{Axis: axis}, args...))
}

// convertSplit: sizes are an attribute up to opset 12, an input from 13, or equal; the last of unequal ones is smaller.
func convertSplit(c *call) {
	axis := c.axis(c.int("axis", 0), len(c.shape(0)), 0)
	if c.err != nil {
		return
	}
	size, parts := c.shape(0)[axis], len(c.n.out)
	if k := c.int("num_outputs", int64(parts)); k != int64(parts) {
		c.fail(diag.OperandCount, "has %d results, num_outputs is %d", parts, k)
	}
	each := (size + parts - 1) / parts
	sizes := make([]int, parts)
	for i := range sizes {
		sizes[i] = min(each, size-i*each)
	}
	switch {
	case c.has(1):
		sizes = sizes[:0]
		for _, v := range c.list(1, "the sizes") {
			sizes = append(sizes, int(min(max(v, 0), math.MaxInt32)))
		}
	case c.hasAttr("split"):
		sizes = c.ints("split")
	}
	x, start := c.arg(0), 0
	if c.err == nil && len(sizes) != parts {
		c.fail(diag.OperandCount, "has %d results and %d sizes", parts, len(sizes))
	}
	for i, n := range sizes {
		if c.err == nil && (n < 0 || start+n > size) {
			c.fail(diag.BadDimension, "cannot split the %d elements of axis %d into %v", size, axis, sizes)
		}
		if c.err == nil && c.wants(i) {
			c.resultAt(i, c.part(strconv.Itoa(i), x, axis, start, n))
		}
		start += n
	}
	if c.err == nil && start != size {
		c.fail(diag.BadDimension, "cannot split the %d elements of axis %d into %v", size, axis, sizes)
	}
}

// part is a run of n elements of an axis from start on, which may have no elements.
func (c *call) part(suffix string, x *ir.Node, axis, start, n int) *ir.Node {
	if c.err == nil && n == 0 {
		shape := slices.Clone(x.Type.Shape)
		shape[axis] = 0
		return c.empty(x.Type.Format, shape)
	}
	return c.emit(suffix, move.Slice, &move.SliceAttrs{Axis: axis, Start: start, Count: n, Step: 1}, x)
}

// convertSlice takes one axis after the other.
func convertSlice(c *call) {
	starts, ends, axes, steps := c.sliceArgs()
	x := c.arg(0)
	for i := range starts {
		if c.err != nil {
			return
		}
		axis := c.axis(axes[i], len(c.shape(0)), 0)
		if c.err == nil && (steps[i] == 0 || steps[i] == math.MinInt64 || slices.Contains(axes[:i], axes[i])) {
			c.fail(diag.BadAttribute, "axis %d is repeated, or its step is 0", axes[i])
		}
		if c.err != nil {
			return
		}
		first, n := sliceRange(starts[i], ends[i], steps[i], int64(c.shape(0)[axis]))
		if n == 0 {
			c.result(c.part("", x, axis, 0, 0))
			return
		}
		index := make([]int, n)
		for k := range index {
			index[k] = first + k*int(steps[i])
		}
		x = c.pick(x, axis, index)
	}
	c.named(x)
}

// named makes x the result, under the name of the ONNX node.
func (c *call) named(x *ir.Node) { c.result(c.emit("", move.Identity, nil, x)) }

// maxPieces bounds the pieces that a value is cut into when it is put together anew.
const maxPieces = 64

// pick takes the given indices of an axis: one slice for each run of equal steps, joined where there are several; of
// constants, and where the slices are too many, by one operation that needs a table.
func (c *call) pick(x *ir.Node, axis int, index []int) *ir.Node {
	if c.err != nil {
		return nil
	}
	if a := move.StretchOf(axis, x.Type.Shape[axis], index); a != nil && len(index) > x.Type.Shape[axis] && !x.IsConst() {
		return c.emit("stretch", move.Stretch, a, x)
	}
	var pieces []*ir.Node
	for at := 0; at < len(index); {
		a := &move.SliceAttrs{Axis: axis, Start: index[at], Count: 1, Step: 1}
		for k := at + 1; k < len(index); k++ {
			step := index[k] - index[k-1]
			if step < 1 || a.Count > 1 && step != a.Step {
				break
			}
			a.Step, a.Count = step, a.Count+1
		}
		if a.Count == 2 && a.Step > 1 && at+2 < len(index) { // the second may begin a longer run
			a.Count, a.Step = 1, 1
		}
		at += a.Count
		if len(pieces) == maxPieces {
			return c.table(x, axis, index)
		}
		if a.Count == x.Type.Shape[axis] {
			pieces = append(pieces, x)
		} else {
			pieces = append(pieces, c.emit("slice", move.Slice, a, x))
		}
	}
	if len(pieces) == 1 || c.err != nil {
		return pieces[0]
	}
	return c.emit("concat", move.Concat, &move.ConcatAttrs{Axis: axis}, pieces...)
}

// table is pick by a gather with constant indices.
func (c *call) table(x *ir.Node, axis int, index []int) *ir.Node {
	v := make([]int64, len(index))
	for i, k := range index {
		v[i] = int64(k)
	}
	return c.emit("gather", whole.Gather, &column.AxisAttrs{Axis: axis}, x, c.whole64("indices", []int{len(v)}, v...))
}

// convertExpand broadcasts to a constant shape.
func convertExpand(c *call) {
	want := c.size(1, "the shape")
	x := c.arg(0)
	if c.err != nil {
		return
	}
	shape, err := walk.Broadcast(c.shape(0), want)
	if c.wrap(diag.OperandShapes, err); err != nil {
		return
	}
	if slices.Equal(shape, c.shape(0)) {
		convertIdentity(c)
		return
	}
	c.result(c.repeat("", x, shape))
}

// repeat broadcasts to a shape.
func (c *call) repeat(suffix string, x *ir.Node, shape []int) *ir.Node {
	if err := ir.CheckShape(shape); err != nil {
		c.fail(diag.BadDimension, "%v", err)
	}
	if c.err == nil && elems(shape) == 0 {
		return c.empty(x.Type.Format, shape)
	}
	return c.emit(suffix, move.Repeat, &move.RepeatAttrs{Shape: shape}, x)
}

// convertTile repeats along axes.
func convertTile(c *call) {
	times, x := c.size(1, "the repetitions"), c.arg(0)
	if c.err == nil && len(times) != len(x.Type.Shape) {
		c.fail(diag.OperandShapes, "%d repetitions for %d axes", len(times), len(x.Type.Shape))
	}
	if c.err != nil {
		return
	}
	shape := slices.Clone(x.Type.Shape)
	for i := range shape {
		shape[i] *= times[i]
	}
	if elems(shape) == 0 {
		c.result(c.empty(x.Type.Format, shape))
		return
	}
	n, err := c.b.Tile(c.place(""), x, times)
	c.wrap(diag.OperandShapes, err)
	c.result(n)
}

func convertDepthToSpace(c *call) { c.blocks((*build.Builder).DepthToSpace) }

// convertSpaceToDepth: its mode came with opset 28.
func convertSpaceToDepth(c *call) { c.blocks((*build.Builder).SpaceToDepth) }

// blocks converts DepthToSpace and SpaceToDepth.
func (c *call) blocks(f func(*build.Builder, build.Place, *ir.Node, int, build.BlockOrder) (*ir.Node, error)) {
	order := build.DCR
	switch mode := c.string("mode", "DCR"); mode {
	case "DCR":
	case "CRD":
		order = build.CRD
	default:
		c.fail(diag.BadAttribute, "mode %s is neither DCR nor CRD", quote(mode))
	}
	x, size := c.arg(0), c.int("blocksize", 0)
	if c.err != nil {
		return
	}
	n, err := f(c.b, c.place(""), x, int(min(max(size, 0), maxAttr)), order)
	c.wrap(diag.OperandShapes, err)
	c.result(n)
}
