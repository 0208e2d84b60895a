// SPDX-License-Identifier: Apache-2.0

package build

import (
	"slices"
	"strconv"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
)

// Expand broadcasts x to the shape that x and the given one have together: axes of either may be 1 (ONNX). With -1 an
// axis stays as it is (torch).
func (b *Builder) Expand(at Place, x *ir.Node, shape []int) (*ir.Node, error) {
	c, have := b.chain(at), x.Type.Shape
	out := slices.Clone(shape)
	for len(out) < len(have) {
		out = slices.Insert(out, 0, 1)
	}
	for i := range out {
		from := i - len(out) + len(have)
		if from < 0 {
			continue
		}
		switch d := have[from]; {
		case out[i] == -1, out[i] == 1:
			out[i] = d
		case d != 1 && d != out[i]:
			c.fail(diag.OperandShapes, "%s cannot be broadcast to %s", ir.ShapeString(have), ir.ShapeString(shape))
		}
	}
	if slices.Equal(out, have) {
		return c.done(x)
	}
	return c.done(c.do("", move.Repeat, &move.RepeatAttrs{Shape: out}, x))
}

// Tile repeats x along each axis as a whole; leading axes are added where there are more counts than axes.
func (b *Builder) Tile(at Place, x *ir.Node, counts []int) (*ir.Node, error) {
	c, shape := b.chain(at), x.Type.Shape
	counts = slices.Clone(counts)
	for len(counts) < len(shape) { // torch counts from the end
		counts = slices.Insert(counts, 0, 1)
	}
	for len(shape) < len(counts) {
		shape = slices.Insert(slices.Clone(shape), 0, 1)
	}
	var cut, wide []int // an axis for each count that is not 1, before the axis that it repeats
	out := slices.Clone(shape)
	for i, n := range counts {
		if n < 1 {
			c.fail(diag.BadAttribute, "axis %d is repeated %d times", i, n)
			return c.done(nil)
		}
		if n > 1 {
			cut, wide = append(cut, 1), append(wide, n)
		}
		cut, wide, out[i] = append(cut, shape[i]), append(wide, shape[i]), n*shape[i]
	}
	if slices.Equal(cut, wide) {
		return c.done(c.reshape("shape", x, out...))
	}
	y := c.do("repeat", move.Repeat, &move.RepeatAttrs{Shape: wide}, c.reshape("cut", x, cut...))
	return c.done(c.reshape("", y, out...))
}

// Split cuts x along an axis into pieces of the given sizes, which together are the axis. The pieces are named by their
// numbers behind the name of the place.
func (b *Builder) Split(at Place, x *ir.Node, axis int, sizes []int) ([]*ir.Node, error) {
	c, shape := b.chain(at), x.Type.Shape
	axis = c.axis(axis, len(shape))
	from := 0
	var pieces []*ir.Node
	for i, size := range sizes {
		a := &move.SliceAttrs{Axis: axis, Start: from, Count: size, Step: 1}
		pieces = append(pieces, c.do(strconv.Itoa(i), move.Slice, a, x))
		from += size
	}
	if c.err == nil && from != shape[axis] {
		c.fail(diag.OperandShapes, "pieces of %v do not make up axis %d of %s", sizes, axis, ir.ShapeString(shape))
	}
	if c.err != nil {
		return nil, c.err
	}
	return pieces, nil
}
