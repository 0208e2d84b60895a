// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
)

// shapes lists the operations that move elements, and those that do nothing in inference.
func shapes() []row {
	return []row{
		{"view.default", "self size", toShape("size")},
		{"_unsafe_view.default", "self size", toShape("size")},
		{"reshape.default", "self shape", toShape("shape")},
		{"flatten.using_ints", "self start_dim end_dim", convertFlatten},
		{"unflatten.int", "self dim sizes", convertUnflatten},
		{"squeeze.default squeeze.dim squeeze.dims", "self dim", convertSqueeze},
		{"unsqueeze.default", "self dim", convertUnsqueeze},
		{"permute.default", "self dims", func(c *call) { c.permuted(c.ints("dims")) }},
		{"transpose.int swapdims.default", "self dim0 dim1", transpose("dim0", "dim1")},
		{"swapaxes.default", "self axis0 axis1", transpose("axis0", "axis1")},
		{"mT.default", "self", func(c *call) {
			rank := len(c.shape(c.tensor("self")))
			if perm := identity(rank); rank > 1 {
				perm[rank-1], perm[rank-2] = rank-2, rank-1
				c.permuted(perm)
			}
		}},
		{"t.default", "self", convertT},
		{"numpy_T.default", "self", convertReverseAxes},
		{"movedim.int moveaxis.int", "self source destination", convertMovedim},
		{"movedim.intlist moveaxis.intlist", "self source destination", convertMovedim},
		{"expand.default", "self size implicit", convertExpand},
		{"expand_as.default", "self other", convertExpandAs},
		{"repeat.default", "self repeats", convertRepeat("repeats")}, {"tile.default", "self dims", convertRepeat("dims")},
		{"repeat_interleave.self_int", "self repeats dim output_size", convertRepeatInterleave},
		{"slice.Tensor", "self dim start end step", convertSlice},
		{"narrow.default", "self dim start length", convertNarrow},
		{"unfold.default", "self dimension size step", convertUnfold},
		{"select.int", "self dim index", convertSelect},
		{"unbind.int", "self dim", convertUnbind},
		{"cat.default concat.default", "tensors dim", convertCat},
		{"hstack.default", "tensors", convertHStack},
		{"stack.default", "tensors dim", convertStack},
		{"split.Tensor", "self split_size dim", convertSplit},
		{"split.sizes split_with_sizes.default", "self split_sizes split_size dim", convertSplit},
		{"chunk.default", "self chunks dim", convertChunk},
		{"tensor_split.sections", "self sections dim", convertTensorSplit},

		{"dropout.default alpha_dropout.default feature_dropout.default", "input p train", convertDropout},
		{"native_dropout.default", "input p train", convertDropout},
		{"_assert_tensor_metadata.default", "a size stride dtype device layout", func(*call) {}},
		{"_assert_async.msg", "self assert_msg", func(*call) {}},
		{"_assert_scalar.default", "self assert_msg", func(*call) {}},
		{"sym_constrain_range.default", "size min max", func(*call) {}},
		{"sym_constrain_range_for_size.default", "size min max", func(*call) {}},
		{"alias.default", "self", pass},
		{"detach.default detach_.default", "self", pass},
		{"lift_fresh_copy.default", "self", pass},
		{"clone.default contiguous.default", "self memory_format", func(c *call) { c.result(c.tensor("self")) }},
	}
}

func pass(c *call) { c.same(c.tensor("self")) }

// convertDropout is nothing in inference; it is noted.
func convertDropout(c *call) {
	if c.bool("train", false) && c.float("p", 0.5) != 0 {
		c.fail(diag.UnsupportedForm, "is in training mode").WithHint("call model.eval() before torch.export")
		return
	}
	x, o := c.tensor("input"), c.b.Origin()
	o.Dropouts++
	if x != nil {
		o.Drops = append(o.Drops, ir.Drop{Behind: x.Name, Rate: c.float("p", 0.5)})
	}
	c.result(x)
}

// moved emits the result of an operation that only moves elements; views of the same memory show later changes.
func (c *call) moved(n *ir.Node) {
	c.views = true
	c.result(n)
}

// reshaped is moved of the same elements in another shape.
func (c *call) reshaped(n *ir.Node) {
	c.write = func(c *call, base, view *ir.Node) *ir.Node { return c.reshape("base", view, base.Type.Shape) }
	c.moved(n)
}

// toShape reshapes; a size of -1 takes what is left.
func toShape(name string) func(*call) {
	return func(c *call) {
		x := c.tensor("self")
		c.reshaped(c.reshape("", x, c.fit(x, c.ints(name))))
	}
}

// fit replaces a -1 among sizes by what is left of the elements of x.
func (c *call) fit(x *ir.Node, sizes []int) []int {
	if c.err != nil {
		return nil
	}
	have, rest, open := x.Type.Shape, elems(x.Type.Shape), -1
	out := slices.Clone(sizes)
	for i, d := range sizes {
		switch {
		case d == -1 && open < 0:
			open = i
		case d < 0 || d > ir.MaxElems:
			c.fail(diag.BadDimension, "cannot reshape %s to %v", ir.ShapeString(have), sizes)
			return nil
		case d > 0:
			rest /= d
		}
	}
	if open >= 0 {
		out[open] = rest
	}
	if err := ir.CheckShape(out); err != nil || elems(out) != elems(have) || len(out) > maxRank {
		c.fail(diag.OperandShapes, "cannot reshape %s to %v", ir.ShapeString(have), sizes)
	}
	return out
}

func convertFlatten(c *call) {
	x := c.tensor("self")
	shape := c.shape(x)
	from, to := c.axis(c.int("start_dim", 0), len(shape)), c.axis(c.int("end_dim", -1), len(shape))
	if c.err == nil && len(shape) == 0 {
		c.reshaped(c.reshape("", x, []int{1}))
		return
	}
	if c.err == nil && from > to {
		c.fail(diag.BadAttribute, "flattens axes %d to %d", from, to)
	}
	if c.err != nil {
		return
	}
	c.reshaped(c.reshape("", x, slices.Concat(shape[:from], []int{elems(shape[from : to+1])}, shape[to+1:])))
}

func convertUnflatten(c *call) {
	x := c.tensor("self")
	shape := c.shape(x)
	axis, sizes := c.axis(c.int("dim", 0), len(shape)), c.ints("sizes")
	if c.err != nil || len(shape) == 0 {
		return
	}
	c.reshaped(c.reshape("", x, c.fit(x, slices.Concat(shape[:axis], sizes, shape[axis+1:]))))
}

// convertSqueeze drops axes of size 1: all, or those given that have it.
func convertSqueeze(c *call) {
	x := c.tensor("self")
	in := c.shape(x)
	drop := c.axes(c.ints("dim"), len(in))
	shape := make([]int, 0, len(in))
	for i, d := range in {
		if d != 1 || !slices.Contains(drop, i) {
			shape = append(shape, d)
		}
	}
	c.reshaped(c.reshape("", x, shape))
}

func convertUnsqueeze(c *call) {
	x := c.tensor("self")
	axis := c.axis(c.int("dim", 0), len(c.shape(x))+1)
	if c.err == nil {
		c.reshaped(c.reshape("", x, slices.Insert(slices.Clone(x.Type.Shape), axis, 1)))
	}
}

// permuted emits a transpose; axes may be negative.
func (c *call) permuted(dims []int) {
	x := c.tensor("self")
	perm := make([]int, len(dims))
	for i, d := range dims {
		perm[i] = c.axis(int64(d), len(c.shape(x)))
	}
	if sorted := slices.Sorted(slices.Values(perm)); c.err == nil &&
		(len(perm) != len(x.Type.Shape) || len(slices.Compact(sorted)) != len(perm)) {
		c.fail(diag.BadAttribute, "%v is not a permutation of %d axes", dims, len(x.Type.Shape))
	}
	back := make([]int, len(perm))
	for i, p := range perm {
		back[min(p, len(perm)-1)] = i
	}
	c.write = func(c *call, _, view *ir.Node) *ir.Node { return c.turn("base", view, back) }
	c.moved(c.turn("", x, perm))
}

// turn permutes axes; nothing where they stay in order.
func (c *call) turn(suffix string, x *ir.Node, perm []int) *ir.Node {
	if c.err != nil || x == nil || slices.IsSorted(perm) {
		return x
	}
	n := c.emit(suffix, move.Transpose, &move.TransposeAttrs{Perm: perm}, x)
	if c.err == nil && c.constant(x) && slices.Equal(perm, []int{1, 0}) {
		c.turned[n] = x
	}
	return n
}

func identity(rank int) []int {
	perm := make([]int, rank)
	for i := range perm {
		perm[i] = i
	}
	return perm
}

func transpose(first, second string) func(*call) {
	return func(c *call) {
		rank := len(c.shape(c.tensor("self")))
		a, b := c.axis(c.int(first, 0), rank), c.axis(c.int(second, 0), rank)
		perm := identity(rank)
		if c.err == nil && rank > 0 {
			perm[a], perm[b] = b, a
		}
		c.permuted(perm)
	}
}

func convertT(c *call) {
	rank := len(c.shape(c.tensor("self")))
	if c.err == nil && rank > 2 {
		c.fail(diag.OperandShapes, "takes a matrix")
	}
	convertReverseAxes(c)
}

func convertReverseAxes(c *call) {
	perm := identity(len(c.shape(c.tensor("self"))))
	slices.Reverse(perm)
	c.permuted(perm)
}

// convertMovedim moves axes to given places; the others keep their order.
func convertMovedim(c *call) {
	rank := len(c.shape(c.tensor("self")))
	from, to := c.ints("source"), c.ints("destination")
	if c.err == nil && len(from) != len(to) {
		c.fail(diag.BadAttribute, "moves axes %v to %v", from, to)
	}
	perm := slices.Repeat([]int{-1}, rank)
	used := make([]bool, rank)
	for i := range from {
		f, t := c.axis(int64(from[i]), rank), c.axis(int64(to[i]), rank)
		if c.err != nil || rank == 0 {
			return
		}
		perm[t], used[f] = f, true
	}
	next := 0
	for i := range perm {
		if perm[i] >= 0 {
			continue
		}
		for next < rank && used[next] {
			next++
		}
		perm[i] = min(next, rank-1)
		next++
	}
	c.permuted(perm)
}

// convertExpand broadcasts; a size of -1 is that of the axis itself.
func convertExpand(c *call) {
	x, sizes := c.tensor("self"), c.ints("size")
	in := c.shape(x)
	for i, d := range sizes {
		if k := i - (len(sizes) - len(in)); d == -1 && k >= 0 && k < len(in) {
			sizes[i] = in[k]
		}
	}
	c.moved(c.broadcast("", x, sizes))
}

func convertExpandAs(c *call) {
	x, other := c.tensor("self"), c.tensor("other")
	c.moved(c.broadcast("", x, c.shape(other)))
}

// broadcast repeats a value to a shape; nothing where it has it already.
func (c *call) broadcast(suffix string, x *ir.Node, shape []int) *ir.Node {
	if c.err != nil || x == nil || slices.Equal(x.Type.Shape, shape) {
		return x
	}
	if slices.ContainsFunc(shape, func(d int) bool { return d < 0 }) || len(shape) > maxRank {
		c.fail(diag.BadDimension, "cannot expand %s to %v", ir.ShapeString(x.Type.Shape), shape)
		return nil
	}
	return c.emit(suffix, move.Repeat, &move.RepeatAttrs{Shape: shape}, x)
}

// convertRepeat tiles: axis i stands repeats[i] times in a row. Tile takes fewer numbers than axes, for the last ones.
func convertRepeat(name string) func(*call) {
	return func(c *call) {
		x, times := c.tensor("self"), c.ints(name)
		if c.err == nil && name == "dims" && len(times) < len(x.Type.Shape) {
			times = append(slices.Repeat([]int{1}, len(x.Type.Shape)-len(times)), times...)
		}
		if c.err == nil && len(times) < len(x.Type.Shape) {
			c.fail(diag.BadAttribute, "repeats %s %v times", ir.ShapeString(x.Type.Shape), times)
		}
		if c.err != nil {
			return
		}
		x = c.reshape("axes", x, append(slices.Repeat([]int{1}, len(times)-len(x.Type.Shape)), x.Type.Shape...))
		c.composed(func(at build.Place) (*ir.Node, error) { return c.b.Tile(at, x, times) }, x)
	}
}

// convertRepeatInterleave has each element of an axis stand so many times in a row, of all elements without an axis.
func convertRepeatInterleave(c *call) {
	x, times := c.tensor("self"), int(c.int("repeats", 1))
	if c.err == nil && !c.has("dim") {
		x = c.reshape("flat", x, []int{x.Type.Elems()})
	}
	axis := c.axis(c.int("dim", 0), len(c.shape(x)))
	if c.err != nil {
		return
	}
	shape := x.Type.Shape
	apart := slices.Insert(slices.Clone(shape), axis+1, 1)
	repeats := slices.Repeat([]int{1}, len(apart))
	repeats[axis+1] = times
	joined := slices.Clone(shape)
	joined[axis] *= times
	place := c.place
	place.Name += ".tiled"
	tiled, err := c.b.Tile(place, c.reshape("apart", x, apart), repeats)
	if c.wrap(err); c.err != nil {
		return
	}
	c.result(c.reshape("", tiled, joined))
}
