// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"slices"

	"lathe/frontend/coding"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
)

// emit makes a node. Without suffix it is the one that users see under the name of the operation.
func (c *call) emit(suffix string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	if c.err != nil || slices.Contains(args, nil) {
		return nil
	}
	at := c.place
	if suffix != "" {
		at.Name, at.Alt = at.Name+"."+suffix, ""
	}
	emit := c.b.Emit
	if len(args) == 1 && o.Traits.KeepsCodes && coding.Own(args[0]) != nil {
		emit = c.b.Evaluate // scales follow the axes
	}
	n, err := emit(at, o, attrs, args...)
	if c.wrap(err); err != nil {
		return n
	}
	if n.IsConst() && len(args) > 0 {
		coding.Keep(n, o, attrs, args[0])
	}
	for _, a := range args {
		if !n.IsConst() {
			c.wrap(coding.Check(a))
		}
	}
	return n
}

// result makes n the next result of the operation, and holds it against what the archive states of it.
func (c *call) result(n *ir.Node) {
	if c.err != nil || n == nil {
		return
	}
	outs := c.outs()
	if c.done >= len(outs) {
		c.fail(diag.OperandCount, "has %d results, and gives more", len(outs))
		return
	}
	name := outs[c.done]
	c.done++
	v := &value{node: n, typ: ir.StoredAs(n.Type.Format), memory: &memory{}}
	if m := c.graph.tensors[name]; m != nil {
		typ, err := m.storage()
		c.wrap(err)
		c.agree(name, m, n, typ)
		v.typ = typ
	}
	c.remember(v)
	if c.err == nil {
		*c.values[name] = *v
	}
}

// results makes each of the nodes a result.
func (c *call) results(nodes ...*ir.Node) {
	for _, n := range nodes {
		c.result(n)
	}
}

// leave says of the results that were not made where they would come from.
func (c *call) leave() {
	for _, name := range c.outs()[min(c.done, len(c.outs())):] {
		if c.err == nil {
			*c.values[name] = value{missing: c.place.Name, memory: &memory{}}
		}
	}
}

// agree holds a node against the shape and type that the archive states.
func (c *call) agree(name string, m *meta, n *ir.Node, typ ir.DType) {
	if c.err != nil {
		return
	}
	shape, err := c.shapeOf(m)
	if diag.CodeOf(err) == diag.UnsupportedForm {
		return // an expression that is not known; the shape follows from the operation
	}
	c.wrap(err)
	if c.err == nil && (!slices.Equal(shape, n.Type.Shape) || ir.FormatOf(typ) != n.Type.Format) {
		c.fail(diag.ProgramDisagrees, "gives %s of %s; the archive states %s of %s for %s", ir.ShapeString(n.Type.Shape),
			n.Type.Format, ir.ShapeString(shape), ir.FormatOf(typ), source.Quote(name))
	}
}

// remember says which memory a result shares: that of the first argument for views and for operations in place, which
// change it and what it is a view of. Other names of the older contents then have none that a graph could give.
func (c *call) remember(v *value) {
	if !c.views && !c.inplace || len(c.n.in) == 0 {
		return
	}
	names := tensorNames(c.n.in[0].arg)
	if len(names) != 1 || c.values[names[0]] == nil {
		return
	}
	first := c.values[names[0]]
	v.memory, v.version = first.memory, first.version
	if !c.inplace {
		v.base, v.write = names[0], c.write
		return
	}
	was := first.memory.version
	first.memory.version++
	first.memory.by = c.place.Name
	v.version, v.base, v.write = first.memory.version, names[0], sameElements
	c.contents(names[0], v.node, was)
}

// contents makes n, which an operation in place gives, what a name stands for, and what that is a view of. Names of the
// version before last are behind already, and stay so.
func (c *call) contents(name string, n *ir.Node, was int) {
	v := c.values[name]
	if v.spec != nil && v.spec.kind != "user_input" {
		c.fail(diag.InPlaceMutation, "changes %s, a part of the model, in place", source.Quote(name)).
			Hint = "call model.eval() before torch.export"
	}
	if c.err != nil || n == nil || v.version != was {
		return
	}
	if v.node, v.version = n, v.memory.version; v.write == nil {
		return
	}
	base := c.values[v.base]
	if base.version != was {
		return
	}
	whole := v.write(c, base.node, n)
	if c.err != nil { // the base stays as it was, and is behind: an error where something reads it
		c.err = nil
		return
	}
	c.contents(v.base, whole, was)
}

func sameElements(_ *call, _, view *ir.Node) *ir.Node { return view }

// same passes the first argument on, which the operation does not change.
func (c *call) same(n *ir.Node) {
	c.views, c.write = true, sameElements
	c.result(n)
}

// reshape gives a node another shape; none where it has it already.
func (c *call) reshape(suffix string, n *ir.Node, shape []int) *ir.Node {
	if c.err != nil || n == nil || slices.Equal(n.Type.Shape, shape) {
		return n
	}
	return c.emit(suffix, move.Reshape, &move.ReshapeAttrs{Shape: shape}, n)
}

// axis maps an axis, negative from the end, into 0..rank-1.
func (c *call) axis(v int64, rank int) int {
	n := int64(max(rank, 1)) // a scalar takes 0 and -1
	if v < -n || v >= n {
		c.fail(diag.BadAttribute, "axis %d is outside %d dimensions", v, rank)
		return 0
	}
	if v < 0 {
		v += n
	}
	return int(v)
}

// axes maps a list of axes, all of them where it is empty, into ascending order.
func (c *call) axes(list []int, rank int) []int {
	var out []int
	for _, v := range list {
		out = append(out, c.axis(int64(v), rank))
	}
	if len(list) == 0 {
		for i := range rank {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// shape is the shape of a node, nil after an error.
func (c *call) shape(n *ir.Node) []int {
	if c.err != nil || n == nil {
		return nil
	}
	return n.Type.Shape
}

func elems(shape []int) int { return ir.Type{Shape: shape}.Elems() }
