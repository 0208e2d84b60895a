// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/coding"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
)

// call is one ONNX node on its way into the graph. The first error sticks: later steps do nothing and return zero
// values, so that converters read without error handling.
type call struct {
	*importer
	fr    *frame
	opset int // of the default domain, for this node
	n     *node
	in    []*value // nil where an optional input is absent
	label string
	// volume: three spatial axes are no error.
	volume bool
	err    *diag.Error
}

// at is the position in messages.
func (c *call) at() string { return c.base + ": " + clip(c.label) + " (" + clip(c.n.op) + ")" }

// fail sets the error if there is none yet.
func (c *call) fail(code diag.Code, msg string, args ...any) *diag.Error {
	if c.err == nil {
		c.err = diag.New(code, c.at(), msg, args...)
		return c.err
	}
	return diag.New(code, "", "")
}

// wrap sets the error to one from elsewhere, under a code of this importer.
func (c *call) wrap(code diag.Code, err error) {
	if err == nil || c.err != nil {
		return
	}
	var d *diag.Error
	if errors.As(err, &d) {
		e := *d
		e.Pos = c.at()
		if e.Code.Graph() {
			e.Code = code
		}
		c.err = &e
		return
	}
	c.fail(code, "%v", err)
}

// inputs is a number of inputs in words.
func inputs(least, most int) string {
	switch {
	case least < most:
		return fmt.Sprintf("%d to %d inputs", least, most)
	case least == 1:
		return "1 input"
	}
	return fmt.Sprintf("%d inputs", least)
}

// check holds the node against its row: number of inputs, attribute names, results that are read.
func (c *call) check(s *opSpec) {
	for len(c.in) > 0 && c.in[len(c.in)-1] == nil {
		c.in = c.in[:len(c.in)-1]
	}
	required := min(s.least, len(c.in))
	if len(c.in) < s.least || len(c.in) > s.most {
		c.fail(diag.OperandCount, "takes %s, this one has %d", inputs(s.least, s.most), len(c.in))
	} else if i := slices.Index(c.in[:required], nil); i >= 0 {
		c.fail(diag.OperandCount, "takes %s, input %d is missing", inputs(s.least, s.most), i)
	}
	if len(c.n.out) == 0 || c.n.out[0] == "" && (!s.several || strings.Join(c.n.out, "") == "") {
		c.fail(diag.OperandCount, "has no result")
	}
	seen := map[string]bool{}
	for _, a := range c.n.attrs {
		names := strings.Fields(s.attrs)
		switch {
		case !slices.Contains(names, a.name):
			e := c.fail(diag.BadAttribute, "has no attribute %s", quote(a.name))
			if near := source.Near(a.name, names); near != "" {
				_ = e.WithHint("did you mean %s?", near)
			}
		case seen[a.name]:
			c.fail(diag.BadAttribute, "attribute %s is given twice", quote(a.name))
		}
		seen[a.name] = true
	}
}

// apply converts a node.
func (c *call) apply(s *opSpec) {
	for _, o := range c.n.out[min(1, len(c.n.out)):] {
		if o != "" && c.fr.used[o] && !s.several {
			c.fail(diag.SecondResult, "its result %s is used; only the first result is supported", quote(o))
		}
	}
	if c.err == nil {
		c.b.Unsigned(func() { s.convert(c) })
	}
}

// attr finds an attribute and checks its type; nil if it is absent.
func (c *call) attr(name string, kind int) *attr {
	for i := range c.n.attrs {
		a := &c.n.attrs[i]
		if a.name != name {
			continue
		}
		typed := a.kind == int64(kind) || a.kind == 0 && a.has>>kind&1 != 0
		if !typed || kind == kindTensor && a.t == nil {
			c.fail(diag.BadAttribute, "attribute %s has the wrong type", name)
			return nil
		}
		return a
	}
	return nil
}

// hasAttr says that an attribute is present, whatever its type.
func (c *call) hasAttr(name string) bool {
	return slices.ContainsFunc(c.n.attrs, func(a attr) bool { return a.name == name })
}

// byAttrs says that the operator set is older than the one since which attributes of these names are inputs. From that
// one on they are errors: nothing would read them.
func (c *call) byAttrs(since int, names ...string) bool {
	if c.opset < since {
		return true
	}
	for _, name := range names {
		if c.hasAttr(name) {
			c.fail(diag.BadAttribute, "attribute %s is an input since operator set %d, and the model states set %d", name, since,
				c.opset)
		}
	}
	return false
}

// maxAttr bounds integers in attributes that are sizes or positions in windows.
const maxAttr = 1 << 20

func (c *call) int(name string, def int64) int64 {
	if a := c.attr(name, kindInt); a != nil {
		return a.i
	}
	return def
}

func (c *call) float(name string, def float32) float32 {
	if a := c.attr(name, kindFloat); a != nil {
		return a.f
	}
	return def
}

func (c *call) string(name, def string) string {
	if a := c.attr(name, kindString); a != nil {
		return string(a.s[:min(len(a.s), maxName)])
	}
	return def
}

// ints reads a list of small integers; nil if it is absent.
func (c *call) ints(name string) []int {
	a := c.attr(name, kindInts)
	if a == nil {
		return nil
	}
	out := make([]int, len(a.ints))
	for i, v := range a.ints {
		if v > maxAttr || v < -maxAttr {
			c.fail(diag.BadAttribute, "attribute %s holds %d, beyond the limit of %d", name, v, maxAttr)
			return nil
		}
		out[i] = int(v)
	}
	return out
}

// has says that input i is present.
func (c *call) has(i int) bool { return i < len(c.in) && c.in[i] != nil }

// shape is the shape of input i.
func (c *call) shape(i int) []int { return c.in[i].shape() }

// axis maps an axis, negative from the end, into 0..rank-1 (or rank, where last is 1).
func (c *call) axis(v int64, rank, last int) int {
	if v < int64(-rank) || v >= int64(rank+last) {
		c.fail(diag.BadAttribute, "axis %d is outside %d dimensions", v, rank)
		return 0
	}
	if v < 0 {
		v += int64(rank)
	}
	return int(v)
}

// arg returns the node of input i, whatever its type.
func (c *call) arg(i int) *ir.Node {
	if c.err != nil {
		return nil
	}
	v := c.in[i]
	if v.quant != nil {
		return c.codesOf(v)
	}
	n, err := c.load(v)
	c.wrap(diag.ConstantExpression, err)
	if storage(v.dtype) == ir.U64 {
		c.b.MarkUnsigned(n)
	}
	return n
}

// data returns the node of input i, which must hold real numbers.
func (c *call) data(i int) *ir.Node {
	if c.err != nil {
		return nil
	}
	if !isFloat(storage(c.in[i].dtype)) {
		c.fail(diag.BadElementType, "input %d (%s) holds %s where floats are needed", i, quote(c.in[i].name),
			dtypeName(c.in[i].dtype))
		return nil
	}
	return c.arg(i)
}

// whole says that input i holds whole numbers or truth values.
func (c *call) whole(i int) bool { return !isFloat(storage(c.in[i].dtype)) }

// weight is data that must be constant.
func (c *call) weight(i int, what string) *ir.Node {
	c.needsConstant(i, what)
	return c.data(i)
}

// needsConstant fails where input i is no constant.
func (c *call) needsConstant(i int, what string) {
	if c.err == nil && !c.in[i].constant() {
		c.wrap(diag.NotConstant, build.NotConstant(c.in[i].node, what+" "+quote(c.in[i].name)))
	}
}

// emit makes a node, or a constant where all arguments are constants. Without suffix it is the one that users see under
// the name of the ONNX node.
func (c *call) emit(suffix string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	return c.emitBy(c.b.Emit, suffix, o, attrs, args...)
}

// emitNow is emit for weights, which are computed whatever their size.
func (c *call) emitNow(suffix string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	return c.emitBy(c.b.Evaluate, suffix, o, attrs, args...)
}

type emitter func(build.Place, *ir.Op, any, ...*ir.Node) (*ir.Node, error)

func (c *call) emitBy(emit emitter, suffix string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	if c.err != nil {
		return nil
	}
	n, err := emit(c.place(suffix), o, attrs, args...)
	if err != nil {
		code := diag.OperandShapes
		if d := (*diag.Error)(nil); !errors.As(err, &d) { // not of the shapes: of the elements of constants
			code = diag.ConstantExpression
		}
		c.wrap(code, err)
		return nil
	}
	if !n.IsConst() {
		for _, a := range args {
			if err := coding.Check(a); err != nil {
				c.wrap(diag.QuantForm, err)
			}
		}
	} else if len(args) > 0 {
		coding.Keep(n, o, attrs, args[0])
	}
	return n
}

// place is where nodes come from: this one, under its own name or with a suffix.
func (c *call) place(suffix string) build.Place {
	if suffix != "" {
		return build.Place{Name: c.label + "." + suffix, Source: c.n.op}
	}
	return build.Place{Name: c.label, Alt: strings.ToLower(clip(c.n.op)), Source: c.n.op}
}

// made makes a constant that this node computes.
func (c *call) made(role string, data *ir.Blob, shape []int) *ir.Node {
	if c.err != nil {
		return nil
	}
	n, err := c.b.Const(c.label+"."+role, data, shape)
	c.wrap(diag.BadDimension, err)
	if data.DType == ir.U64 {
		c.b.MarkUnsigned(n)
	}
	return n
}

// number is a constant of one real number.
func (c *call) number(v float32, role string) *ir.Node {
	return c.made(role, ir.FloatBlob([]float32{v}), nil)
}

// like is a constant of one number in the format of n.
func (c *call) like(n *ir.Node, v float64, role string) *ir.Node {
	if c.err != nil || n.Type.IsFloat() {
		return c.number(float32(v), role)
	}
	return c.made(role, build.IntBlob(ir.StoredAs(n.Type.Format), []int64{int64(v)}), nil)
}

// whole64 is a constant of int64.
func (c *call) whole64(role string, shape []int, v ...int64) *ir.Node {
	return c.made(role, build.IntBlob(ir.I64, v), shape)
}

// empty is a constant without elements.
func (c *call) empty(f format.Format, shape []int) *ir.Node {
	return c.made("empty", build.IntBlob(ir.StoredAs(f), nil), shape)
}

// result makes n the first result of the ONNX node.
func (c *call) result(n *ir.Node) { c.resultAt(0, n) }

// resultAt makes n result i, if there is one.
func (c *call) resultAt(i int, n *ir.Node) {
	if c.err != nil || n == nil || i >= len(c.n.out) || c.n.out[i] == "" {
		return
	}
	similar := int64(1)
	for _, v := range c.in {
		if v != nil {
			similar = v.dtype
			break
		}
	}
	name := c.n.out[i]
	if n.IsConst() && coding.Own(n) == nil {
		n.Name, n.Pos = name, c.base+": "+name+" (initializer)"
	}
	dtype := dtypeOf(n.Type.Format, similar)
	switch {
	case c.b.IsUnsigned(n):
		dtype = dtypeUint64
	case dtype == dtypeUint64: // sizes and places
		dtype = dtypeOf(n.Type.Format, 0)
	}
	*c.fr.values[name] = value{name: name, dtype: dtype, node: n}
}

// wants says that result i is read.
func (c *call) wants(i int) bool {
	return i < len(c.n.out) && c.n.out[i] != "" && c.fr.used[c.n.out[i]]
}

// reshape gives a node another shape.
func (c *call) reshape(suffix string, n *ir.Node, shape []int) *ir.Node {
	if c.err != nil {
		return nil
	}
	return c.emit(suffix, move.Reshape, &move.ReshapeAttrs{Shape: shape}, n)
}

// view gives input 0 another shape. A constant stays where it is.
func (c *call) view(shape []int) {
	n := c.arg(0)
	if c.err == nil && elems(shape) != n.Type.Elems() {
		c.fail(diag.OperandShapes, "cannot reshape %s to %s", ir.ShapeString(n.Type.Shape), ir.ShapeString(shape))
	}
	c.result(c.reshape("", n, shape))
}
