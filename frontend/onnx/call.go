// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op"
)

// call is one ONNX node on its way into the graph. The first error sticks: later steps do nothing and return zero
// values, so that converters read without error handling.
type call struct {
	*importer
	n     *node
	in    []*value // nil where an optional input is absent
	label string
	err   *diag.Error
}

// fail sets the error if there is none yet.
func (c *call) fail(code, msg string, args ...any) *diag.Error {
	if c.err == nil {
		c.err = diag.New(code, c.at(c.n), msg, args...)
		return c.err
	}
	return diag.New(code, "", "")
}

// wrap sets the error to one from elsewhere, under a code of this importer.
func (c *call) wrap(code string, err error) {
	if err == nil || c.err != nil {
		return
	}
	var d *diag.Error
	if errors.As(err, &d) {
		e := *d
		e.Pos = c.at(c.n)
		if strings.HasPrefix(e.Code, "L03") {
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
		c.fail(source.CodeArity, "takes %s, this one has %d", inputs(s.least, s.most), len(c.in))
	} else if i := slices.Index(c.in[:required], nil); i >= 0 {
		c.fail(source.CodeArity, "takes %s, input %d is missing", inputs(s.least, s.most), i)
	}
	if len(c.n.out) == 0 || c.n.out[0] == "" {
		c.fail(source.CodeArity, "has no result")
	}
	seen := map[string]bool{}
	for _, a := range c.n.attrs {
		names := strings.Fields(s.attrs)
		switch {
		case !slices.Contains(names, a.name):
			e := c.fail(source.CodeAttr, "has no attribute %s", quote(a.name))
			if near := nearest(a.name, names); near != "" {
				_ = e.WithHint("did you mean %s?", near)
			}
		case seen[a.name]:
			c.fail(source.CodeAttr, "attribute %s is given twice", quote(a.name))
		case a.ref:
			c.fail(source.CodeAttr, "attribute %s refers to one of a function, which is not supported", quote(a.name))
		}
		seen[a.name] = true
	}
}

// fold evaluates the node if it is a constant expression of small operands. It returns false if it is none.
func (c *call) fold(s *opSpec) bool {
	if s.fold == nil {
		return false
	}
	for _, v := range c.in {
		if v != nil && !v.constant() {
			return false
		}
	}
	known := make([]*konst, max(min(s.most, 5), len(c.in)))
	for i, v := range c.in {
		if v == nil {
			continue
		}
		k, ok, err := c.constantOf(v)
		if c.wrap(source.CodeFold, err); err != nil {
			return true
		}
		if !ok {
			return false
		}
		known[i] = k
	}
	if k := s.fold(c, known); k != nil {
		c.constantResult(k)
	}
	return true
}

// apply converts a node that is no constant expression.
func (c *call) apply(s *opSpec) {
	for _, o := range c.n.out[1:] {
		if o != "" && c.used[o] && !s.several() {
			c.fail(source.CodeSecondUsed, "its result %s is used; only the first result is supported", quote(o))
		}
	}
	if s.convert != nil {
		s.convert(c)
		return
	}
	for _, v := range c.in {
		if v != nil && !v.constant() {
			c.fail(source.CodeDynamic, "works on constants only in this version, but %s is computed at run time",
				quote(v.name)).Hint = c.constantsOnlyHint()
			return
		}
	}
	c.fail(source.CodeLimit, "its operands are too large for a constant expression")
}

// constantsOnlyHint says how to go around an operation that works on constants only.
func (c *call) constantsOnlyHint() string {
	const shown = 3
	var computed []string
	for _, v := range c.in {
		if v != nil && !v.constant() && len(computed) < shown && !slices.Contains(computed, quote(v.name)) {
			computed = append(computed, quote(v.name))
		}
	}
	return "export the model without it: end it at " + strings.Join(computed, " and ")
}

// room takes the elements of a shape from the budget, or fails.
func (c *call) room(shape []int) bool {
	if c.err != nil {
		return false
	}
	if err := ir.CheckShape(shape); err != nil {
		c.fail(source.CodeDims, "%v", err)
	} else if n := (ir.Type{Shape: shape}).Elems(); !c.charge(n) {
		c.fail(source.CodeLimit, "its constant result of %d elements is too large", n)
	}
	return c.err == nil
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
			c.fail(source.CodeAttr, "attribute %s has the wrong type", name)
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
			c.fail(source.CodeAttr, "attribute %s holds %d, beyond the limit of %d", name, v, maxAttr)
			return nil
		}
		out[i] = int(v)
	}
	return out
}

// has says that input i is present.
func (c *call) has(i int) bool { return i < len(c.in) && c.in[i] != nil }

// shape is the shape of input i.
func (c *call) shape(i int) []int { return c.in[i].shape }

// axis maps an axis, negative from the end, into 0..rank-1 (or rank, where last is 1).
func (c *call) axis(v int64, rank, last int) int {
	if v < int64(-rank) || v >= int64(rank+last) {
		c.fail(source.CodeAttr, "axis %d is outside of %d dimensions", v, rank)
		return 0
	}
	if v < 0 {
		v += int64(rank)
	}
	return int(v)
}

// small returns the elements of input i, which must be a small constant.
func (c *call) small(i int, what string) *konst {
	if c.err != nil {
		return nil
	}
	k, ok, err := c.constantOf(c.in[i])
	c.wrap(source.CodeFold, err)
	if err == nil && !ok {
		if !c.in[i].constant() {
			c.fail(source.CodeDynamic, "%s (%s) is computed at run time, it must be constant", what, quote(c.in[i].name))
		} else {
			c.fail(source.CodeLimit, "%s (%s) is too large", what, quote(c.in[i].name))
		}
	}
	if c.err != nil {
		return nil
	}
	return k
}

// list reads input i as a list of integers.
func (c *call) list(i int, what string) []int64 {
	k := c.small(i, what)
	if k == nil {
		return nil
	}
	if k.real() || len(k.shape) > 1 {
		c.fail(source.CodeDType, "%s must be a list of integers, not %s of %s", what, ir.ShapeString(k.shape), k.typ)
		return nil
	}
	return k.ints
}

// scalar reads input i as one number.
func (c *call) scalar(i int, what string) float64 {
	k := c.small(i, what)
	switch {
	case k == nil:
		return 0
	case k.len() != 1:
		c.fail(source.CodeShape, "%s has shape %s, it must be one number", what, ir.ShapeString(k.shape))
		return 0
	case !k.real():
		return float64(k.ints[0])
	}
	return k.floats[0]
}

// data returns the node of input i, which must hold real numbers.
func (c *call) data(i int) *ir.Node {
	if c.err != nil {
		return nil
	}
	if !isFloat(c.in[i].typ) {
		c.fail(source.CodeDType, "input %d (%s) holds %s, real numbers are needed", i, quote(c.in[i].name), typeName(c.in[i]))
		return nil
	}
	n, err := c.materialize(c.in[i], c.label+".const")
	c.wrap(source.CodeFold, err)
	return n
}

func typeName(v *value) string {
	if v.tensor != nil && (v.typ == "" || v.tensor.fourBits()) {
		return dtypeName(v.tensor.dtype)
	}
	return string(v.typ)
}

// weight is data that must be constant.
func (c *call) weight(i int, what string) *ir.Node {
	if c.err == nil && !c.in[i].constant() {
		c.fail(source.CodeNotConst, "%s (%s) are computed at run time, they must be constant", what, quote(c.in[i].name))
	}
	return c.data(i)
}

// emit appends a node. Without suffix it is the one that users see under the name of the ONNX node.
func (c *call) emit(suffix string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	if c.err != nil {
		return nil
	}
	name := ""
	if suffix == "" {
		name = c.names.take(c.label, strings.ToLower(clip(c.n.op)))
	} else {
		name = c.names.take(c.label+"."+suffix, "")
	}
	n, err := op.New(o, name, c.base+": "+name+" ("+c.n.op+")", attrs, args...)
	if err == nil {
		err = ir.CheckShape(n.Type.Shape)
	}
	if err != nil {
		c.wrap(source.CodeShape, err)
		return nil
	}
	n.Type.Format = ir.Float().Format
	c.g.Nodes = append(c.g.Nodes, n)
	return n
}

// result makes n the first result of the ONNX node.
func (c *call) result(n *ir.Node) {
	if c.err != nil || n == nil {
		return
	}
	*c.values[c.n.out[0]] = value{name: c.n.out[0], shape: n.Type.Shape, typ: ir.F32, node: n}
}

// constantResult makes k the first result.
func (c *call) constantResult(k *konst) {
	if c.err == nil {
		*c.values[c.n.out[0]] = value{name: c.n.out[0], shape: k.shape, typ: k.typ, known: k}
	}
}

// view gives input 0 another shape: a constant stays where it is, an activation is reshaped.
func (c *call) view(shape []int) {
	if c.err != nil {
		return
	}
	v := c.in[0]
	if !v.constant() {
		typ := v.typ
		n := c.emit("", op.Reshape, &op.ReshapeAttrs{Shape: shape}, v.node)
		if c.result(n); n != nil {
			c.values[c.n.out[0]].typ = typ
		}
		return
	}
	if (ir.Type{Shape: shape}).Elems() != (ir.Type{Shape: v.shape}).Elems() {
		c.fail(source.CodeShape, "cannot reshape %s to %s", ir.ShapeString(v.shape), ir.ShapeString(shape))
		return
	}
	out := value{name: c.n.out[0], shape: shape, typ: v.typ, tensor: v.tensor}
	if v.known != nil {
		out.known = v.known.reshaped(shape)
	}
	*c.values[c.n.out[0]] = out
}
