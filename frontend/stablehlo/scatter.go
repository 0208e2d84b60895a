// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/whole"
)

// convertScatter writes updates at positions: element by element into the operand as one row, behind which stands one
// more place for all updates of slices that do not lie inside, unless all positions are known to.
func convertScatter(c *call) {
	if len(c.args) != 3 {
		c.fail(diag.UnsupportedForm, "a scatter of %d operands", len(c.args))
		return
	}
	x, index, updates := c.args[0], c.args[1], c.args[2]
	attrs := c.Dict(c.in.Attrs.Get("scatter_dimension_numbers"))
	p := places{
		window: c.list(attrs, "update_window_dims"), collapsed: c.list(attrs, "inserted_window_dims"),
		batching: c.list(attrs, "input_batching_dims"), indexBatching: c.list(attrs, "scatter_indices_batching_dims"),
		axes: c.list(attrs, "scatter_dims_to_operand_dims"),
	}
	if v, ok := attrs.Get("index_vector_dim").Int(); ok {
		p.vector = int(v)
	}
	p.sizes = slices.Repeat([]int{1}, len(x.dims))
	w := 0
	for axis := range x.dims {
		if slices.Contains(p.collapsed, axis) || slices.Contains(p.batching, axis) {
			continue
		}
		if w >= len(p.window) || p.window[w] < 0 || p.window[w] >= len(updates.dims) {
			c.fail(diag.BadAttribute, "the dimension numbers do not fit %s", ir.ShapeString(x.dims))
			return
		}
		p.sizes[axis] = updates.dims[p.window[w]]
		w++
	}
	if !c.placed(&p, x.dims, index) {
		return
	}
	reduction, known := reductions[c.monoid()]
	if !known && !c.replaces() {
		c.fail(diag.UnsupportedForm, "a scatter by an operation that is not recognised")
		return
	}
	at, inside := c.flat(p, x.dims, index)
	if at == nil {
		return
	}
	if !slices.Equal(at.Type.Shape, updates.dims) {
		c.fail(diag.OperandTypes, "updates of shape %s for positions of shape %s", ir.ShapeString(updates.dims),
			ir.ShapeString(at.Type.Shape))
		return
	}
	n := elems(x.dims)
	if inside.node != nil {
		outside := value{c.whole(at, int64(n)), at.Type.Shape}
		at = c.full(c.choose(inside, wholeValue(at), outside))
	}
	c.write(x, at, updates, reduction)
}

// write puts updates at places of x as a row, or one behind it.
func (c *call) write(x value, at *ir.Node, updates value, reduction string) {
	n, spare := elems(x.dims), 1
	if list, ok := build.Ints(at); ok && slices.Min(append(list, 0)) >= 0 && slices.Max(append(list, 0)) < int64(n) {
		spare = 0
	}
	row := []int{elems(updates.dims)}
	table := c.padded(c.shape(c.full(x), []int{n}), 0, 0, spare, 0)
	table = c.emit(whole.ScatterElements, &whole.ScatterAttrs{Axis: 0, Reduce: reduction}, table, c.shape(at, row),
		c.shape(c.full(updates), row))
	if table != nil && spare > 0 {
		table = c.slice(table, 0, 0, n, 1)
	}
	if table != nil {
		c.done(c.shape(table, x.dims))
	}
}

// reductions are the ways in which an update joins what stands in its place, by the operation of the region.
var reductions = map[string]string{
	"stablehlo.add": "add", "stablehlo.multiply": "mul", "stablehlo.maximum": "max", "stablehlo.minimum": "min",
}

// replaces says that the region returns the update as it is.
func (c *call) replaces() bool {
	args := c.regionArgs()
	if len(args) != 2 || len(c.in.Regions[0].Blocks[0].Ops) != 1 {
		return false
	}
	ret := c.Instr(&c.in.Regions[0].Blocks[0].Ops[0])
	return slices.Equal(ret.Operands, args[1:])
}
