// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/frontend/stablehlo/syntax"
	"lathe/ir"
	"lathe/ir/op"
)

// maxRounds bounds how often one element may be written.
const maxRounds = 64

// convertScatter writes updates at positions that are constant. Every element asks which update it gets, round by round
// where several have the same place; updates outside of the operand are dropped.
func convertScatter(c *call) {
	if len(c.args) != 3 {
		c.fail(source.CodeForm, "a scatter of %d operands", len(c.args))
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
			c.fail(source.CodeAttr, "the dimension numbers do not fit %s", ir.ShapeString(x.dims))
			return
		}
		p.sizes[axis] = updates.dims[p.window[w]]
		w++
	}
	if !c.placed(&p, x.dims, index) {
		return
	}
	join := c.monoid()
	if join == "" && !c.replaces() {
		c.fail(source.CodeForm, "a scatter by an operation that is not recognised")
		return
	}
	targets, ok := c.targets(p, x.dims, index)
	if c.err != nil {
		return
	}
	if !ok {
		c.fail(source.CodeDynamic, "the positions of a scatter are computed from data")
		return
	}
	if len(targets) != elems(updates.dims) {
		c.fail(syntax.CodeTypes, "updates of shape %s for %d positions", ir.ShapeString(updates.dims), len(targets))
		return
	}
	c.outs = append(c.outs, c.scattered(join, x, updates, targets))
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

// targets are the places of all elements of the updates, -1 for those outside; ok is false for positions that are not
// constant.
func (c *call) targets(p places, dims []int, index value) (list []int64, ok bool) {
	if !index.node.IsConst() {
		return nil, false
	}
	at, ok := build.Ints(c.flat(p, dims, index, false))
	if !ok {
		return nil, false
	}
	// A slice that does not lie inside as a whole is dropped as a whole. Clamping changes the positions of those.
	inside, ok := build.Ints(c.flat(p, dims, index, true))
	list = slices.Clone(at)
	for i := range list {
		if !ok || list[i] != inside[i] {
			list[i] = -1
		}
	}
	return list, ok
}

// scattered applies updates to x: one gather a round from x and the updates in a row.
func (c *call) scattered(join string, x, updates value, targets []int64) value {
	n := elems(x.dims)
	rounds := make([]map[int64]int, 0, 1)
	seen := map[int64]int{}
	for i, t := range targets {
		if t < 0 || t >= int64(n) {
			continue
		}
		r := seen[t]
		if join == "" {
			r = 0 // the last one stays
		}
		seen[t]++
		if r == len(rounds) {
			if r == maxRounds {
				c.fail(source.CodeLimit, "a scatter writes one element more than %d times", maxRounds)
				return value{}
			}
			rounds = append(rounds, map[int64]int{})
		}
		rounds[r][t] = i
	}
	flat := c.shape(c.full(x), []int{n})
	all := c.shape(c.full(updates), []int{len(targets)})
	for _, round := range rounds {
		from := make([]int64, n)
		mask := make([]int64, n)
		for i := range from {
			from[i] = int64(i)
			if u, ok := round[int64(i)]; ok {
				from[i], mask[i] = int64(n+u), 1
			}
		}
		both := c.emit(op.Concat, &op.ConcatAttrs{Axis: 0}, flat, all)
		next := c.emit(op.Gather, &op.AxisAttrs{Axis: 0}, both, c.constant(build.IntBlob(ir.I64, from), n))
		if join != "" {
			joined := c.joined(join, whole(flat), whole(next)).node
			next = c.emit(op.Where, nil, c.constant(build.IntBlob(ir.B1, mask), n), joined, flat)
		}
		flat = next
	}
	return whole(c.shape(flat, x.dims))
}
