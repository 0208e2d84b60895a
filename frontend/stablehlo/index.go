// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// places are the dimension numbers of a gather or a scatter.
type places struct {
	// window are the axes of the result, or of updates, that run through a slice.
	window []int
	// collapsed and batching are axes of the operand that slices do not have; batching goes with indexBatching.
	collapsed, batching, indexBatching []int
	// axes says which axis of the operand each component of an index counts along, vector where components stand.
	axes   []int
	vector int
	sizes  []int // of slices
}

// convertGather takes slices at positions. Whole slices along one axis become a gather of the graph; every other form
// gathers elements of the operand in one row, at positions that are computed.
func convertGather(c *call) {
	x, index := c.args[0], c.args[1]
	attrs := c.Dict(c.in.Attrs.Get("dimension_numbers"))
	p := places{
		window: c.list(attrs, "offset_dims"), collapsed: c.list(attrs, "collapsed_slice_dims"),
		batching: c.list(attrs, "operand_batching_dims"), indexBatching: c.list(attrs, "start_indices_batching_dims"),
		axes: c.list(attrs, "start_index_map"),
	}
	if len(c.args) == 3 {
		sizes, ok := build.Ints(c.args[2].node)
		if !ok {
			c.fail(diag.DataDependent, "the sizes of slices are computed from data")
			return
		}
		p.sizes = toInts(sizes)
	} else {
		p.sizes = c.ints(len(x.dims), required, "slice_sizes")
	}
	if v, ok := attrs.Get("index_vector_dim").Int(); ok {
		p.vector = int(v)
	}
	if !c.placed(&p, x.dims, index) {
		return
	}
	if n := c.rows(p, x, index); n != nil || c.err != nil {
		c.done(n)
		return
	}
	at, _ := c.flat(p, x.dims, index)
	flat := c.shape(c.full(x), []int{elems(x.dims)})
	c.done(c.emit(whole.Gather, &column.AxisAttrs{Axis: 0}, flat, at))
}

// placed checks dimension numbers against the shapes.
func (c *call) placed(p *places, dims []int, index value) bool {
	if p.vector < 0 || p.vector > len(index.dims) || !ir.IsWhole(index.node.Type.Format) || len(p.sizes) != len(dims) {
		c.fail(diag.OperandTypes, "indices of type %s do not fit %s", typeText(index), ir.ShapeString(dims))
		return false
	}
	c.axes(slices.Concat(p.collapsed, p.batching), len(dims))
	c.axes(p.axes, len(dims))
	c.axes(p.indexBatching, len(index.dims))
	k := 1
	if p.vector < len(index.dims) {
		k = index.dims[p.vector]
	}
	windows := len(dims) - len(p.collapsed) - len(p.batching)
	c.axes(p.window, windows+len(index.dims))
	if c.err == nil && (k != len(p.axes) || len(p.window) != windows || len(p.batching) != len(p.indexBatching) ||
		slices.Contains(p.indexBatching, p.vector)) {
		c.fail(diag.BadAttribute, "the dimension numbers do not fit %s and %s", ir.ShapeString(dims),
			ir.ShapeString(index.dims))
	}
	for i, s := range p.sizes {
		flat := slices.Contains(p.collapsed, i) || slices.Contains(p.batching, i)
		if c.err == nil && (s < 0 || s > dims[i] || s != 1 && flat) {
			c.fail(diag.BadAttribute, "slices of %v from %s", p.sizes, ir.ShapeString(dims))
		}
	}
	if c.err == nil && (elems(dims) == 0 || elems(dims) >= 1<<31) {
		c.fail(diag.BadDimension, "positions in %s", ir.ShapeString(dims))
	}
	return c.err == nil
}

// rows is the form that looks up embeddings: whole slices along one axis, which is dropped; nil for other forms.
func (c *call) rows(p places, x, index value) *ir.Node {
	if len(p.axes) != 1 || !slices.Equal(p.collapsed, p.axes) || len(p.batching) > 0 {
		return nil
	}
	axis := p.axes[0]
	for i, s := range p.sizes {
		if i != axis && s != x.dims[i] {
			return nil
		}
	}
	batch := indexBatch(p, index.dims)
	for i := range p.window { // the result has the axes of indices in place of the axis
		want := i
		if i >= axis {
			want += len(batch)
		}
		if p.window[i] != want {
			return nil
		}
	}
	at := c.shape(c.full(index), batch)
	return c.emit(whole.Gather, &column.AxisAttrs{Axis: axis}, c.full(x), c.clamped(at, x.dims[axis]-1))
}

// clamped brings positions into 0 ... last, as the operations demand.
func (c *call) clamped(at *ir.Node, last int) *ir.Node {
	if list, ok := build.Ints(at); ok && len(list) > 0 && slices.Min(list) >= 0 && slices.Max(list) <= int64(last) {
		return at
	}
	if at != nil && int64(last) > most(at) {
		at = c.emit(whole.Convert, &whole.ConvertAttrs{To: ir.I64}, at)
	}
	return c.emit(pointwise.Min, nil, c.emit(pointwise.Max, nil, at, c.whole(at, 0)), c.whole(at, int64(last)))
}

// indexBatch is the shape of indices without the axis of their components.
func indexBatch(p places, dims []int) []int {
	if p.vector >= len(dims) {
		return dims
	}
	return slices.Delete(slices.Clone(dims), p.vector, p.vector+1)
}

// flat is the position in the operand, as one row, of each element of the result: the start of its slice, clamped so
// that slices lie inside, and the place within. inside says which of them were not clamped; its node is nil where there
// is nothing to clamp.
func (c *call) flat(p places, dims []int, index value) (at *ir.Node, inside value) {
	stride := make([]int, len(dims))
	for i, s := len(dims)-1, 1; i >= 0; i-- {
		stride[i] = s
		s *= dims[i]
	}
	batch := indexBatch(p, index.dims)
	t := terms{call: c, rank: len(batch) + len(p.window)}
	var batchAxes []int // of the result
	for i := range t.rank {
		if !slices.Contains(p.window, i) {
			batchAxes = append(batchAxes, i)
		}
	}
	wide := c.full(index)
	if wide != nil && wide.Type.Format != ir.Int64 {
		wide = c.emit(whole.Convert, &whole.ConvertAttrs{To: ir.I64}, wide)
	}
	for k, axis := range p.axes {
		part := wide
		if p.vector < len(index.dims) {
			part = c.slice(wide, p.vector, k, k+1, 1)
		}
		if part = c.shape(part, batch); part == nil {
			return nil, value{}
		}
		near := c.clamped(part, dims[axis]-p.sizes[axis])
		if near != part {
			same := c.compare("eq", wholeValue(part), wholeValue(near))
			if inside.node != nil {
				same = c.pointwise(whole.And, nil, inside, same)
			}
			inside = same
		}
		t.add(near, stride[axis], batchAxes)
	}
	for i, axis := range p.batching {
		from := p.indexBatching[i]
		if p.vector < from {
			from--
		}
		t.add(c.iota(ir.I64, []int{batch[from]}, 0).node, stride[axis], []int{batchAxes[from]})
	}
	w := 0
	for axis := range dims {
		if slices.Contains(p.collapsed, axis) || slices.Contains(p.batching, axis) {
			continue
		}
		t.add(c.iota(ir.I64, []int{p.sizes[axis]}, 0).node, stride[axis], []int{p.window[w]})
		w++
	}
	if t.sum == nil { // one element, always the same
		t.sum = c.shape(c.constant(build.IntBlob(ir.I64, []int64{0})), slices.Repeat([]int{1}, t.rank))
	}
	out := resultShape(p, batch)
	if inside.node != nil {
		inside = c.broadcast(inside, batchAxes, out)
	}
	return c.full(value{t.sum, out}), inside
}

// terms adds up positions that run along axes of a value of some rank.
type terms struct {
	*call
	rank int
	sum  *ir.Node
}

// add adds n times a stride; axis i of n is axis axes[i] of the sum.
func (t *terms) add(n *ir.Node, stride int, axes []int) {
	if n == nil {
		return
	}
	shape := slices.Repeat([]int{1}, t.rank)
	for i, a := range axes {
		shape[a] = n.Type.Shape[i]
	}
	if n = t.shape(n, shape); n != nil {
		n = t.emit(pointwise.Mul, nil, n, t.whole(n, int64(stride)))
	}
	if t.sum != nil {
		n = t.emit(pointwise.Add, nil, t.sum, n)
	}
	t.sum = n
}

// resultShape is the shape of the result of a gather, or of the updates of a scatter.
func resultShape(p places, batch []int) []int {
	shape := make([]int, len(batch)+len(p.window))
	var sizes []int
	for axis, s := range p.sizes {
		if !slices.Contains(p.collapsed, axis) && !slices.Contains(p.batching, axis) {
			sizes = append(sizes, s)
		}
	}
	b := 0
	for i := range shape {
		if w := slices.Index(p.window, i); w >= 0 {
			shape[i] = sizes[w]
		} else {
			shape[i] = batch[b]
			b++
		}
	}
	return shape
}

// convertDynamicSlice takes a slice at positions, which are clamped so that it lies inside.
func convertDynamicSlice(c *call) {
	x := c.args[0]
	sizes := c.ints(len(x.dims), required, "slice_sizes", "sizes")
	if len(c.args) != len(x.dims)+1 {
		c.fail(diag.OperandCount, "%d positions for %d axes", len(c.args)-1, len(x.dims))
		return
	}
	n := c.full(x)
	for axis, size := range sizes {
		if size < 0 || size > x.dims[axis] {
			c.fail(diag.BadAttribute, "slices of %v from %s", sizes, ir.ShapeString(x.dims))
			return
		}
		n = c.cutAt(n, axis, c.args[1+axis].node, size)
	}
	c.done(n)
}

// cutAt keeps size elements of an axis from a position on.
func (c *call) cutAt(n *ir.Node, axis int, start *ir.Node, size int) *ir.Node {
	if n == nil || start == nil || c.err != nil {
		return nil
	}
	last := n.Type.Shape[axis] - size
	if last == 0 {
		return n
	}
	if at, ok := build.Ints(start); ok {
		from := int(min(max(at[0], 0), int64(last)))
		return c.slice(n, axis, from, from+size, 1)
	}
	at := c.clamped(start, last)
	if at != nil && at.Type.Format != ir.Int64 {
		at = c.emit(whole.Convert, &whole.ConvertAttrs{To: ir.I64}, at)
	}
	at = c.emit(pointwise.Add, nil, at, c.iota(ir.I64, []int{size}, 0).node)
	return c.emit(whole.Gather, &column.AxisAttrs{Axis: axis}, n, at)
}

// convertDynamicUpdate writes a slice at positions, which are clamped so that it lies inside. Each element asks where
// it lies in the slice.
func convertDynamicUpdate(c *call) {
	x, update := c.args[0], c.args[1]
	rank := len(x.dims)
	if len(c.args) != rank+2 || len(update.dims) != rank {
		c.fail(diag.OperandCount, "%d positions for %d axes", len(c.args)-2, rank)
		return
	}
	part := c.full(update)
	inside := value{}
	for axis, d := range x.dims {
		size := update.dims[axis]
		if size > d || size < 1 {
			c.fail(diag.OperandTypes, "writes %s into %s", ir.ShapeString(update.dims), ir.ShapeString(x.dims))
			return
		}
		if size == d {
			continue
		}
		at := c.clamped(c.args[2+axis].node, d-size)
		if at != nil && at.Type.Format != ir.Int64 {
			at = c.emit(whole.Convert, &whole.ConvertAttrs{To: ir.I64}, at)
		}
		from := c.emit(pointwise.Sub, nil, c.iota(ir.I64, []int{d}, 0).node, at)
		v := wholeValue(from)
		if from == nil {
			return
		}
		in := c.pointwise(whole.And, nil, c.compare("ge", v, c.num(v, 0)), c.compare("lt", v, c.num(v, float64(size))))
		part = c.emit(whole.Gather, &column.AxisAttrs{Axis: axis}, part, c.clamped(from, size-1))
		in = c.broadcast(in, []int{axis}, x.dims)
		if inside.node != nil {
			in = c.pointwise(whole.And, nil, inside, in)
		}
		inside = in
	}
	if inside.node == nil {
		c.done(part)
		return
	}
	c.outs = append(c.outs, c.pointwise(whole.Where, nil, inside, wholeValue(part), x))
}
