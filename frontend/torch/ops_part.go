// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
)

// slice takes count elements of an axis from start on; nothing where that is all.
func (c *call) slice(suffix string, x *ir.Node, axis, start, count, step int) *ir.Node {
	if c.err != nil || x == nil {
		return nil
	}
	if count == x.Type.Shape[axis] && step == 1 {
		return x
	}
	if count < 1 {
		shape := slices.Clone(x.Type.Shape)
		shape[axis] = 0
		n, err := c.b.Const(c.place.Name+".nothing", &ir.Blob{DType: ir.StoredAs(x.Type.Format)}, shape)
		c.wrap(err)
		return n
	}
	return c.emit(suffix, move.Slice, &move.SliceAttrs{Axis: axis, Start: start, Count: count, Step: step}, x)
}

// axisOf reads an axis of the first argument; size is that of the axis.
func (c *call) axisOf(name string, def int64) (x *ir.Node, axis, size int) {
	x = c.tensor("self")
	axis = c.axis(c.int(name, def), len(c.shape(x)))
	if c.err == nil && len(x.Type.Shape) == 0 {
		c.fail(diag.OperandShapes, "takes a part of a single number")
	}
	if c.err != nil {
		return nil, 0, 0
	}
	return x, axis, x.Type.Shape[axis]
}

// bound maps an index, negative from the end, into 0..n.
func bound(i int64, n int) int {
	if i < 0 {
		i += int64(n)
	}
	return int(min(max(i, 0), int64(n)))
}

// stretch reads which indices of an axis of a size a slice takes: first, first+step, ... below last.
func (c *call) stretch(size int) (first, last, step int) {
	first, last = bound(c.int("start", 0), size), bound(c.int("end", maxSize), size)
	by := c.int("step", 1)
	if c.err == nil && by < 1 {
		c.fail(diag.BadAttribute, "step is %d; it must be positive", by)
	}
	return first, last, int(min(by, int64(max(size, 1))))
}

func convertSlice(c *call) {
	x, axis, size := c.axisOf("dim", 0)
	if first, last, step := c.stretch(size); c.err == nil {
		c.part(x, axis, first, (max(last-first, 0)+step-1)/step, step)
	}
}

// part makes a slice the result, a view.
func (c *call) part(x *ir.Node, axis, first, count, step int) {
	c.write = func(c *call, base, view *ir.Node) *ir.Node {
		return c.overwritten("base", base, view, axis, first, step)
	}
	c.moved(c.slice("", x, axis, first, count, step))
}

func convertNarrow(c *call) {
	x, axis, size := c.axisOf("dim", 0)
	from, count := bound(c.int("start", 0), size), c.int("length", 0)
	if c.err == nil && (count < 0 || count > int64(size-from)) {
		c.fail(diag.BadAttribute, "takes %d elements from %d on out of %d", count, from, size)
	}
	c.part(x, axis, from, int(count), 1)
}

// without is a shape less one axis.
func without(shape []int, axis int) []int { return slices.Delete(slices.Clone(shape), axis, axis+1) }

// pick is one index of an axis, which vanishes.
func (c *call) pick(suffix string, x *ir.Node, axis, index int) *ir.Node {
	if c.err != nil || x == nil {
		return nil
	}
	part := "slice"
	if suffix != "" {
		part = suffix + "." + part
	}
	return c.reshape(suffix, c.slice(part, x, axis, index, 1, 1), without(x.Type.Shape, axis))
}

// element reads an index of an axis of a size.
func (c *call) element(size int) int {
	i := c.int("index", 0)
	if i < 0 {
		i += int64(size)
	}
	if c.err == nil && (i < 0 || i >= int64(size)) {
		c.fail(diag.BadAttribute, "selects element %d of %d", c.int("index", 0), size)
	}
	return int(i)
}

func convertSelect(c *call) {
	x, axis, size := c.axisOf("dim", 0)
	if i := c.element(size); c.err == nil {
		c.write = func(c *call, base, view *ir.Node) *ir.Node { return c.putAt("base", base, view, axis, i) }
		c.moved(c.pick("", x, axis, i))
	}
}

func convertUnbind(c *call) {
	x, axis, size := c.axisOf("dim", 0)
	c.views = true
	if !c.expect(size) {
		return
	}
	for i, name := range c.outs() {
		c.result(c.pick(name, x, axis, i))
	}
}

// expect refuses an operation that has another number of results than it gives.
func (c *call) expect(n int) bool {
	if have := len(c.outs()); c.err == nil && have != n {
		c.fail(diag.OperandCount, "has %d results, and gives %d", have, n)
	}
	return c.err == nil
}

func convertCat(c *call) {
	nodes := c.tensors("tensors")
	if c.err != nil {
		return
	}
	full := slices.DeleteFunc(slices.Clone(nodes), func(n *ir.Node) bool { return n == nil || n.Type.Elems() == 0 })
	if len(full) == 0 {
		full = nodes
	}
	c.result(c.concat("", full, c.int("dim", 0)))
}

// convertHStack joins along axis 1, vectors along their only one.
func convertHStack(c *call) {
	nodes := c.tensors("tensors")
	if c.err == nil && len(nodes) > 0 {
		c.result(c.concat("", nodes, int64(min(1, len(c.shape(nodes[0]))-1))))
	}
}

// concat joins nodes along an axis.
func (c *call) concat(suffix string, nodes []*ir.Node, axis int64) *ir.Node {
	if c.err != nil {
		return nil
	}
	if len(nodes) == 0 || slices.Contains(nodes, nil) {
		c.fail(diag.OperandCount, "joins nothing")
		return nil
	}
	at := c.axis(axis, len(nodes[0].Type.Shape))
	if len(nodes) == 1 {
		return nodes[0]
	}
	return c.emit(suffix, move.Concat, &move.ConcatAttrs{Axis: at}, nodes...)
}

// convertStack joins along a new axis.
func convertStack(c *call) {
	nodes := c.tensors("tensors")
	for i, n := range nodes {
		axis := c.axis(c.int("dim", 0), len(c.shape(n))+1)
		if c.err != nil || n == nil {
			return
		}
		nodes[i] = c.reshape("part", n, slices.Insert(slices.Clone(n.Type.Shape), axis, 1))
	}
	if c.err == nil && len(nodes) > 0 {
		c.result(c.concat("", nodes, int64(c.axis(c.int("dim", 0), len(nodes[0].Type.Shape)))))
	}
}

// convertSplit cuts an axis into parts of one size, the last one smaller, or of given sizes.
func convertSplit(c *call) {
	x, axis, size := c.axisOf("dim", 0)
	sizes := c.ints("split_sizes")
	if sizes == nil {
		sizes = c.ints("split_size")
	}
	if len(sizes) == 1 && c.n.target == prefix+"split.Tensor" {
		sizes = c.equal(size, sizes[0])
	}
	c.split(x, axis, size, sizes)
}

// equal are the sizes of parts of an axis; the last one may be smaller.
func (c *call) equal(size, part int) []int {
	if c.err == nil && part < 1 {
		c.fail(diag.BadAttribute, "cuts %d elements into parts of %d", size, part)
	}
	if c.err != nil || !c.expect((size+part-1)/part) {
		return nil
	}
	var sizes []int
	for size > 0 {
		sizes = append(sizes, min(part, size))
		size -= part
	}
	return sizes
}

func (c *call) split(x *ir.Node, axis, size int, sizes []int) {
	total := 0
	for _, s := range sizes {
		total += s
	}
	if c.err == nil && total != size {
		c.fail(diag.OperandShapes, "cuts axis %d of %s into %v", axis, ir.ShapeString(x.Type.Shape), sizes)
	}
	c.views = true
	if !c.expect(len(sizes)) {
		return
	}
	at := 0
	for i, name := range c.outs() {
		c.result(c.slice(name, x, axis, at, sizes[i], 1))
		at += sizes[i]
	}
}

// convertChunk: parts have ceil(size/chunks) elements, so that there may be fewer of them.
func convertChunk(c *call) {
	x, axis, size := c.axisOf("dim", 0)
	n := c.int("chunks", 1)
	if c.err == nil && n < 1 {
		c.fail(diag.BadAttribute, "cuts into %d parts", n)
	}
	if c.err == nil {
		c.split(x, axis, size, c.equal(size, int((int64(size)+n-1)/n)))
	}
}

// convertTensorSplit: the first size mod sections parts have one element more.
func convertTensorSplit(c *call) {
	x, axis, size := c.axisOf("dim", 0)
	n := c.int("sections", 1)
	if c.err == nil && (n < 1 || n > int64(size)) {
		c.fail(diag.BadAttribute, "cuts %d elements into %d parts", size, n)
	}
	if c.err == nil {
		c.expect(int(n))
	}
	var sizes []int
	for i := int64(0); c.err == nil && i < n; i++ {
		s := size / int(n)
		if i < int64(size)%n {
			s++
		}
		sizes = append(sizes, s)
	}
	c.split(x, axis, size, sizes)
}

// convertUnfold takes all windows of an axis, whose elements stand along a new last axis.
func convertUnfold(c *call) {
	x, axis, size := c.axisOf("dimension", 0)
	width, step := int(c.int("size", 1)), int(c.int("step", 1))
	if c.err == nil && (width < 1 || width > size || step < 1) {
		c.fail(diag.BadAttribute, "takes windows of %d elements, %d apart, out of %d", width, step, size)
	}
	if c.err != nil {
		return
	}
	var places []int64
	count := (size-width)/step + 1
	for i := range count * width {
		places = append(places, int64(i/width*step+i%width))
	}
	shape := slices.Insert(slices.Clone(x.Type.Shape), axis+1, width)
	shape[axis] = count
	perm := append(slices.Delete(identity(len(shape)), axis+1, axis+2), axis+1)
	c.views = true
	c.result(c.turn("", c.reshape("windows", c.ordered("elements", x, axis, places), shape), perm))
}
