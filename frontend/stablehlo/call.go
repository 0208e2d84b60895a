// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/stablehlo/syntax"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
)

// call is one operation while it is converted. Its first error sticks, so that conversions look once, at the end.
type call struct {
	*importer
	in   *syntax.Instr
	sc   *scope
	args []value
	outs []value
	err  error
}

func (c *call) fail(code diag.Code, msg string, args ...any) {
	if c.err == nil {
		c.err = c.Errorf(code, c.in.Op.At, c.in.Op.Name+": "+msg, args...)
	}
}

// wrap keeps an error of a package below.
func (c *call) wrap(err error) {
	if err != nil && c.err == nil {
		c.err = c.positioned(err, diag.UnsupportedForm, c.in.Op.At)
	}
}

// operands looks the operands up; false if one failed before, which is reported already.
func (c *call) operands() bool {
	for _, name := range c.in.Operands {
		v, ok := c.sc.find(name)
		if !ok {
			c.report(c.Errorf(diag.UndefinedValue, c.in.Op.At, "%%%s is not defined", name))
			return false
		}
		if v.node == nil {
			return false
		}
		c.args = append(c.args, v)
	}
	return true
}

// check compares the number of operands with the table, and their types with those that the text states.
func (c *call) check(s *spec) {
	n := len(c.args)
	if n < s.least || s.most >= 0 && n > s.most {
		c.fail(diag.OperandCount, "%d operands", n)
		return
	}
	if s.bare && len(c.in.Loose) > 0 {
		c.fail(diag.MLIRSyntax, "unexpected %q", c.in.Loose[0].Text)
	}
	if s.untyped {
		return
	}
	types := c.in.Types.In
	if len(types) == 1 && !c.in.Types.Arrow && n > 1 {
		types = slices.Repeat(types, n)
	}
	switch {
	case len(types) == 0 && n > 0:
		c.fail(diag.OperandTypes, "the types of its operands are missing")
	case len(types) != n && c.in.Types.Arrow:
		c.fail(diag.OperandTypes, "%d operands have %d types", n, len(types))
	}
	if len(types) != n {
		return
	}
	for i, t := range types {
		if s.mixed && !c.in.Types.Arrow {
			break
		}
		c.sameType(t, c.args[i], "operand")
	}
}

// markUnsigned marks the operands that the text states to be ui64.
func (c *call) markUnsigned() {
	types := c.in.Types.In
	is := func(t syntax.Type) bool { return t.Elem == "ui64" }
	for i, a := range c.args {
		if len(types) == len(c.args) && is(types[i]) || len(types) != len(c.args) && slices.ContainsFunc(types, is) {
			c.b.MarkUnsigned(a.node)
		}
	}
}

// sameType checks a value against a type that the text states.
func (c *call) sameType(t syntax.Type, v value, what string) {
	if !t.Tensor || v.node == nil || c.err != nil {
		return
	}
	ok := len(t.Dims) == len(v.dims)
	for i := 0; ok && i < len(v.dims); i++ {
		ok = t.Dims[i] == syntax.Dynamic || t.Dims[i] == v.dims[i]
	}
	if d := syntax.Storage(t.Elem); d == "" || ir.FormatOf(d) != v.node.Type.Format {
		ok = false
	}
	if !ok {
		c.fail(diag.OperandTypes, "the %s has the type %s and not %s", what, typeText(v), t)
	}
}

// typeText prints the type of a value as the text would.
func typeText(v value) string {
	t := syntax.Type{Tensor: true, Dims: v.dims, Elem: string(ir.StoredAs(v.node.Type.Format))}
	switch {
	case t.Elem == string(ir.B1):
		t.Elem = "i1"
	case strings.HasPrefix(t.Elem, "u"):
		t.Elem = "ui" + t.Elem[1:]
	}
	return t.String()
}

// results are the types that the text states for the results, nil where it states none.
func (c *call) results() []syntax.Type {
	switch t := c.in.Types; {
	case t.Arrow:
		return t.Out
	case len(c.in.Op.Results) == 1 && len(t.In) > 0:
		return t.In[len(t.In)-1:]
	case len(t.In) == len(c.in.Op.Results):
		return t.In
	}
	return nil
}

// checkResults compares the results with the types that the text states.
func (c *call) checkResults() {
	if c.err != nil {
		return
	}
	if len(c.outs) < len(c.in.Op.Results) {
		c.fail(diag.OperandCount, "%d results, the text names %d", len(c.outs), len(c.in.Op.Results))
		return
	}
	for i, t := range c.results() {
		if i < len(c.outs) {
			c.sameType(t, c.outs[i], "result")
		}
	}
}

// result is the type of the only result; its shape may be open where the text leaves it so.
func (c *call) result() syntax.Type {
	list := c.results()
	if len(list) != 1 || !list[0].Tensor {
		c.fail(diag.OperandTypes, "the type of the result is missing")
		return syntax.Type{Tensor: true, Elem: "f32"}
	}
	return list[0]
}

// static is result, and demands a known shape.
func (c *call) static() []int {
	t := c.result()
	if !t.Static() {
		c.fail(diag.DynamicShape, "the shape of %s is known at run time only", t)
	}
	return t.Dims
}

// emit makes a node; after an error it makes none.
func (c *call) emit(o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	if c.err != nil || slices.Contains(args, nil) {
		return nil
	}
	at := c.at()
	if at.Alt = o.Name; at.Alt == at.Name {
		at.Alt = ""
	}
	n, err := c.b.Emit(at, o, attrs, args...)
	c.wrap(err)
	if err != nil {
		return nil
	}
	return n
}

// at is where the nodes of the operation come from.
func (c *call) at() build.Place {
	_, short, _ := strings.Cut(c.in.Op.Name, ".")
	if short == "" {
		short = c.in.Op.Name
	}
	return build.Place{Name: c.place(short), Source: c.in.Op.Name}
}

// constant makes a constant of numbers.
func (c *call) constant(data *ir.Blob, dims ...int) *ir.Node {
	if c.err != nil {
		return nil
	}
	n, err := c.b.Const(c.place("const"), data, dims)
	c.wrap(err)
	return n
}

// number is a scalar in the format of like.
func (c *call) number(like *ir.Node, v float64) *ir.Node {
	if like == nil {
		return nil
	}
	if like.Type.IsFloat() {
		return c.constant(ir.FloatBlob([]float32{float32(v)}))
	}
	return c.constant(build.IntBlob(ir.StoredAs(like.Type.Format), []int64{int64(v)}))
}

// node is operand i with all its elements.
func (c *call) node(i int) *ir.Node { return c.full(c.args[i]) }

// full gives a value all its elements.
func (c *call) full(v value) *ir.Node {
	if c.err != nil || v.node == nil || slices.Equal(v.node.Type.Shape, v.dims) {
		return v.node
	}
	return c.emit(move.Repeat, &move.RepeatAttrs{Shape: v.dims}, v.node)
}

// expand is full outside of any operation.
func (im *importer) expand(v value, name string) (*ir.Node, error) {
	if v.node == nil || slices.Equal(v.node.Type.Shape, v.dims) {
		return v.node, nil
	}
	return im.b.Emit(build.Place{Name: name, Source: "broadcast"}, move.Repeat, &move.RepeatAttrs{Shape: v.dims}, v.node)
}

// done defines the results.
func (c *call) done(nodes ...*ir.Node) {
	for _, n := range nodes {
		c.outs = append(c.outs, wholeValue(n))
	}
}

// ints reads an attribute of whole numbers under one of its names; def where it is missing, an error without def.
func (c *call) ints(n int, def int, names ...string) []int {
	a := c.in.Attrs.Get(names...)
	if a == nil {
		if def == required {
			c.fail(diag.BadAttribute, "the attribute %s is missing", names[0])
		}
		return slices.Repeat([]int{def}, max(n, 0))
	}
	list, ok := c.Ints(a)
	if ok && n >= 0 && len(list) == 1 && n != 1 && a.Value[0].Kind == syntax.Data { // a splat of a shape not stated
		list = slices.Repeat(list, n)
	}
	if !ok || n >= 0 && len(list) != n {
		c.fail(diag.BadAttribute, "the attribute %s is not a list of %d whole numbers", a.Name, n)
		return slices.Repeat([]int{max(def, 0)}, max(n, 0))
	}
	return toInts(list)
}

// required says that an attribute must be there.
const required = -1 << 40

func toInts(list []int64) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = int(v)
	}
	return out
}

// axis reads an attribute that names an axis of an operand of the given rank.
func (c *call) axis(rank int, names ...string) int {
	v, ok := c.in.Attrs.Get(names...).Int()
	if !ok || v < 0 || v >= int64(rank) {
		c.fail(diag.BadAttribute, "the attribute %s names no axis of %d", names[0], rank)
		return 0
	}
	return int(v)
}

// axes checks that all are different axes of a value of the given rank.
func (c *call) axes(list []int, rank int) []int {
	for i, a := range list {
		if a < 0 || a >= rank || slices.Contains(list[:i], a) {
			c.fail(diag.BadAttribute, "%v are not different axes of %d", list, rank)
			return nil
		}
	}
	return list
}
