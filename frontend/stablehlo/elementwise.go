// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"math"
	"slices"

	"lathe/frontend/build"
	"lathe/frontend/stablehlo/syntax"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// convertConstant makes a constant; one that is the same everywhere keeps one element.
func convertConstant(c *call) {
	i := slices.IndexFunc(c.in.Loose, func(n syntax.Node) bool { return n.Kind == syntax.Data })
	var data *syntax.Node
	if i >= 0 {
		data = &c.in.Loose[i]
	} else if a := c.in.Attrs.Get("value"); a != nil && len(a.Value) > 0 && a.Value[0].Kind == syntax.Data {
		data = &a.Value[0]
	}
	if data == nil {
		c.fail(diag.BadAttribute, "the value is missing")
		return
	}
	t := syntax.Type{Elem: "?"}
	if list := c.in.Types.Out; len(list) == 1 {
		t = list[0]
	} else if len(c.in.Types.In) == 1 {
		t = c.in.Types.In[0]
	}
	lit, err := c.Constant(data, t)
	if err != nil {
		c.wrap(err)
		return
	}
	dims := t.Dims
	if lit.Splat {
		dims = nil
	}
	n := c.constant(lit.Blob, dims...)
	if n != nil {
		n.Attrs.(*ir.Const).Role = build.Unsaid(dims)
	}
	c.outs = append(c.outs, value{n, t.Dims})
}

// same is the shape that operands of an element-wise operation have; scalars may stand for any where scalars is set.
func (c *call) same(args ...value) []int {
	for _, a := range args[1:] {
		if !slices.Equal(a.dims, args[0].dims) {
			c.fail(diag.OperandTypes, "operands of the shapes %s and %s", ir.ShapeString(args[0].dims),
				ir.ShapeString(a.dims))
		}
	}
	return args[0].dims
}

// pointwise applies an operation element by element; values that broadcast stay as small as they are.
func (c *call) pointwise(o *ir.Op, attrs any, args ...value) value {
	dims := c.same(args...)
	nodes := make([]*ir.Node, len(args))
	for i, a := range args {
		nodes[i] = a.node
	}
	return value{c.emit(o, attrs, nodes...), dims}
}

// binary applies an operation of two operands and no attributes; on truth values, which do not wrap, the one that is
// the same on them.
func binary(o, truth *ir.Op) func(c *call) {
	return func(c *call) {
		chosen := o
		if c.args[0].node.Type.Format == ir.Bool && truth != nil {
			chosen = truth
		}
		c.outs = append(c.outs, c.pointwise(chosen, nil, c.args...))
	}
}

// unary applies an operation of one operand and no attributes.
func unary(name string) func(c *call) {
	return func(c *call) {
		o := op.Find(name)
		if o == nil {
			c.fail(diag.UnsupportedOps, "the operation %s is not supported", name)
			return
		}
		c.outs = append(c.outs, c.pointwise(o, nil, c.args...))
	}
}

// scalar is the number that a float value is everywhere, if it is constant.
func (v value) scalar() (float64, bool) {
	if v.node == nil || v.node.Type.Elems() > 1<<16 {
		return 0, false
	}
	return v.node.Uniform()
}

// convertDivide divides; by a power of two it multiplies, which is the same number and has hardware. A sum over windows
// divided by their size is a mean again.
func convertDivide(c *call) {
	x, y := c.args[0], c.args[1]
	dims := c.same(x, y)
	d, ok := y.scalar()
	if ok && x.node.Type.IsFloat() {
		if s, found := c.sums[x.node]; found && d == float64(s.count) {
			c.outs = append(c.outs, value{s.mean, dims})
			return
		}
		if f, _ := math.Frexp(d); math.Abs(f) == 0.5 && float64(float32(1/d)) == 1/d {
			c.outs = append(c.outs, value{c.emit(pointwise.Mul, nil, x.node, c.number(x.node, 1/d)), dims})
			return
		}
	}
	if v, ok := x.scalar(); ok && x.node.Type.IsFloat() && !y.node.IsConst() {
		n := c.emit(curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: float32(v)}, y.node)
		c.outs = append(c.outs, value{n, dims})
		return
	}
	c.outs = append(c.outs, c.pointwise(whole.Div, nil, x, y))
}

// convertNegate is x*(-1) for floats, so that -0 comes out right, and 0 - x for whole numbers.
func convertNegate(c *call) {
	x := c.args[0]
	if x.node.Type.IsFloat() {
		c.outs = append(c.outs, value{c.emit(pointwise.Mul, nil, x.node, c.number(x.node, -1)), x.dims})
		return
	}
	c.outs = append(c.outs, value{c.emit(pointwise.Sub, nil, c.number(x.node, 0), x.node), x.dims})
}

func convertRsqrt(c *call) {
	root := c.pointwise(curve.Sqrt, nil, c.args[0])
	c.outs = append(c.outs, c.pointwise(curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: 1}, root))
}

func convertSquare(c *call) {
	c.outs = append(c.outs, c.pointwise(pointwise.Mul, nil, c.args[0], c.args[0]))
}

// convertClamp is min(max(x, low), high); scalar bounds stand for all elements.
func convertClamp(c *call) {
	low, x, high := c.args[0], c.args[1], c.args[2]
	for _, b := range []*value{&low, &high} {
		if len(b.dims) == 0 {
			b.dims = x.dims
		}
	}
	c.outs = append(c.outs, c.pointwise(pointwise.Min, nil, c.pointwise(pointwise.Max, nil, x, low), high))
}

// convertSame returns its operands: barriers, and annotations of devices.
func convertSame(c *call) { c.outs = append(c.outs, c.args...) }
