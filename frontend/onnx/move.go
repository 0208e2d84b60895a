// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"
	"strconv"

	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op"
)

// moveTable lists operations that move elements of several values, or of one, and those of any number of operands.
func moveTable() []opSpec {
	least := func(a, b float64) float64 { return min(a, b) }
	most := func(a, b float64) float64 { return max(a, b) }
	plus := func(a, b float64) float64 { return a + b }
	return []opSpec{
		{"Min", "", 1, many, foldMany(least, func(_ *call, a, b int64) int64 { return min(a, b) }), convertMany(op.Min)},
		{"Max", "", 1, many, foldMany(most, func(_ *call, a, b int64) int64 { return max(a, b) }), convertMany(op.Max)},
		{"Sum", "", 1, many, foldMany(plus, func(_ *call, a, b int64) int64 { return a + b }), convertMany(op.Add)},
		{"Concat", "axis", 1, many, foldConcat, convertConcat},
		{"Split", "axis split num_outputs", 1, 2, nil, convertSplit},
		{"Slice", "starts ends axes", 1, 5, foldSlice, convertSlice},
		{"Gather", "axis", 2, 2, foldGather, convertGather},
		{"Pad", "mode pads value", 1, 4, nil, convertPad},
		{"Expand", "", 2, 2, foldExpand, convertExpand},
		{"DepthToSpace", "blocksize mode", 1, 1, nil, convertDepthToSpace},
		{"SpaceToDepth", "blocksize", 1, 1, nil, convertSpaceToDepth},
	}
}

// several says that all results of an operation can be used.
func (s *opSpec) several() bool { return s.name == "Split" }

// foldMany applies an operation of two constants from the first to the last.
func foldMany(fl func(a, b float64) float64, in func(c *call, a, b int64) int64) func(*call, []*konst) *konst {
	pair := foldBinary(fl, in)
	return func(c *call, k []*konst) *konst {
		sum := k[0]
		for _, next := range k[1:len(c.in)] {
			if sum = pair(c, []*konst{sum, next}); sum == nil {
				return nil
			}
		}
		return sum
	}
}

// convertMany chains an operation of two operands.
func convertMany(o *ir.Op) func(*call) {
	return func(c *call) {
		n := c.data(0)
		for i := 1; i < len(c.in); i++ {
			suffix := ""
			if i < len(c.in)-1 {
				suffix = "part"
			}
			n = c.emit(suffix, o, nil, n, c.data(i))
		}
		if len(c.in) == 1 {
			n = c.emit("", op.Identity, nil, n)
		}
		c.result(n)
	}
}

func convertConcat(c *call) {
	axis := c.axis(c.int("axis", 1), len(c.shape(0)), 0)
	args := make([]*ir.Node, len(c.in))
	for i, v := range c.in {
		if v == nil {
			c.fail(source.CodeArity, "input %d is missing", i)
		}
		if c.err != nil {
			return
		}
		args[i] = c.data(i)
	}
	c.result(c.emit("", op.Concat, &op.ConcatAttrs{Axis: axis}, args...))
}

// resultAt makes n result i.
func (c *call) resultAt(i int, n *ir.Node) {
	if name := c.n.out[i]; c.err == nil && n != nil && name != "" {
		*c.values[name] = value{name: name, shape: n.Type.Shape, typ: ir.F32, node: n}
	}
}

// convertSplit: sizes are an attribute up to opset 12, an input from 13, or equal; the last of unequal ones is smaller.
func convertSplit(c *call) {
	axis := c.axis(c.int("axis", 0), len(c.shape(0)), 0)
	if c.err != nil {
		return
	}
	size, parts := c.shape(0)[axis], len(c.n.out)
	if k := c.int("num_outputs", int64(parts)); k != int64(parts) {
		c.fail(source.CodeArity, "has %d results, num_outputs is %d", parts, k)
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
	x, start := c.data(0), 0
	if c.err == nil && len(sizes) != parts {
		c.fail(source.CodeArity, "has %d results and %d sizes", parts, len(sizes))
	}
	for i, n := range sizes {
		if c.err == nil && (n < 1 || start+n > size) {
			c.fail(source.CodeDims, "cannot split the %d elements of axis %d into %v", size, axis, sizes)
		}
		a := &op.SliceAttrs{Axis: axis, Start: start, Count: n, Step: 1}
		if c.err == nil && c.n.out[i] != "" && c.used[c.n.out[i]] {
			c.resultAt(i, c.emit(strconv.Itoa(i), op.Slice, a, x))
		}
		start += n
	}
	if c.err == nil && start != size {
		c.fail(source.CodeDims, "cannot split the %d elements of axis %d into %v", size, axis, sizes)
	}
}

// convertSlice takes one axis after the other.
func convertSlice(c *call) {
	known := make([]*konst, 5)
	for i := 1; i < len(c.in); i++ {
		if c.has(i) {
			known[i] = c.small(i, "where to cut")
		}
	}
	if c.err != nil {
		return
	}
	starts, ends, axes, steps := c.sliceArgs(known)
	x := c.data(0)
	for i := range starts {
		if c.err != nil {
			return
		}
		axis := c.axis(axes[i], len(c.shape(0)), 0)
		if c.err == nil && (steps[i] == 0 || steps[i] == math.MinInt64 || slices.Contains(axes[:i], axes[i])) {
			c.fail(source.CodeAttr, "axis %d is repeated, or its step is 0", axes[i])
		}
		if c.err != nil {
			return
		}
		first, n := sliceRange(starts[i], ends[i], steps[i], int64(c.shape(0)[axis]))
		if n == 0 {
			c.fail(source.CodeDims, "keeps nothing of axis %d of %s", axis, ir.ShapeString(c.shape(0)))
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
func (c *call) named(x *ir.Node) { c.result(c.emit("", op.Identity, nil, x)) }

// maxPieces bounds the pieces that a value is cut into when it is put together anew.
const maxPieces = 64

// pick takes the given indices of an axis: one slice for each run of equal steps, joined where there are several.
func (c *call) pick(x *ir.Node, axis int, index []int) *ir.Node {
	if c.err != nil {
		return nil
	}
	var pieces []*ir.Node
	for at := 0; at < len(index); {
		a := &op.SliceAttrs{Axis: axis, Start: index[at], Count: 1, Step: 1}
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
			c.fail(source.CodePieces, "puts %d pieces of axis %d of %s into another order, %d at most are supported",
				len(index), axis, ir.ShapeString(x.Type.Shape), maxPieces)
			return nil
		}
		if a.Count == x.Type.Shape[axis] {
			pieces = append(pieces, x)
		} else {
			pieces = append(pieces, c.emit("slice", op.Slice, a, x))
		}
	}
	if len(pieces) == 1 || c.err != nil {
		return pieces[0]
	}
	return c.emit("concat", op.Concat, &op.ConcatAttrs{Axis: axis}, pieces...)
}

// convertGather takes constant indices along an axis.
func convertGather(c *call) {
	axis := c.axis(c.int("axis", 0), len(c.shape(0)), 0)
	k := c.small(1, "the indices")
	if c.err != nil {
		return
	}
	if k.real() || len(k.ints) == 0 {
		c.fail(source.CodeDType, "indices must be integers, one at least")
		return
	}
	size := c.shape(0)[axis]
	index := make([]int, len(k.ints))
	for i, v := range k.ints {
		if v < int64(-size) || v >= int64(size) {
			c.fail(source.CodeFold, "index %d is outside of %d elements", v, size)
			return
		}
		index[i] = int((v + int64(size)) % int64(size))
	}
	x := c.pick(c.data(0), axis, index)
	shape := slices.Concat(c.shape(0)[:axis], k.shape, c.shape(0)[axis+1:])
	c.result(c.emit("", op.Reshape, &op.ReshapeAttrs{Shape: shape}, x))
}

// convertExpand broadcasts to a constant shape.
func convertExpand(c *call) {
	k := c.small(1, "the shape")
	if k == nil {
		return
	}
	want := c.dims(k)
	shape, err := broadcastShape(c.shape(0), want)
	if c.wrap(source.CodeShape, err); err != nil {
		return
	}
	if slices.Equal(shape, c.shape(0)) {
		convertIdentity(c)
		return
	}
	c.result(c.emit("", op.Repeat, &op.RepeatAttrs{Shape: shape}, c.data(0)))
}

// blocks reads the block size of DepthToSpace and SpaceToDepth, which take images.
func (c *call) blocks(what string, divided ...int) int {
	b := c.int("blocksize", 0)
	if len(c.shape(0)) != 4 {
		c.fail(source.CodeShape, "takes images of 4 dimensions, not %s", ir.ShapeString(c.shape(0)))
		return 1
	}
	for _, axis := range divided {
		size := int64(c.shape(0)[axis])
		if axis == 1 {
			if b > 0 && b < 1<<15 && size%(b*b) == 0 {
				continue
			}
		} else if b > 0 && size%b == 0 {
			continue
		}
		c.fail(source.CodeAttr, "blocks of %d by %d do not divide the %s of %s", b, b, what, ir.ShapeString(c.shape(0)))
		return 1
	}
	return int(b)
}

// regroup cuts axes, permutes what comes of it, and joins axes.
func (c *call) regroup(cut, perm, joined []int) {
	n := c.emit("cut", op.Reshape, &op.ReshapeAttrs{Shape: cut}, c.data(0))
	n = c.emit("move", op.Transpose, &op.TransposeAttrs{Perm: perm}, n)
	c.result(c.emit("", op.Reshape, &op.ReshapeAttrs{Shape: joined}, n))
}

func convertDepthToSpace(c *call) {
	b, s := c.blocks("channels", 1), c.shape(0)
	mode := c.string("mode", "DCR")
	switch {
	case c.err != nil:
	case mode == "DCR":
		c.regroup([]int{s[0], b, b, s[1] / b / b, s[2], s[3]}, []int{0, 3, 4, 1, 5, 2},
			[]int{s[0], s[1] / b / b, s[2] * b, s[3] * b})
	case mode == "CRD":
		c.regroup([]int{s[0], s[1] / b / b, b, b, s[2], s[3]}, []int{0, 1, 4, 2, 5, 3},
			[]int{s[0], s[1] / b / b, s[2] * b, s[3] * b})
	default:
		c.fail(source.CodeAttr, "mode %s is neither DCR nor CRD", quote(mode))
	}
}

func convertSpaceToDepth(c *call) {
	b, s := c.blocks("pixels", 2, 3), c.shape(0)
	if c.err == nil {
		c.regroup([]int{s[0], s[1], s[2] / b, b, s[3] / b, b}, []int{0, 3, 5, 1, 2, 4},
			[]int{s[0], s[1] * b * b, s[2] / b, s[3] / b})
	}
}
