// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"math"
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op"
	"lathe/ir/op/reduce"
)

// monoid names the operation by which a region joins two values: that of "applies", or of a region that consists of
// one operation on its arguments. It is "" for others.
func (c *call) monoid() string {
	for i := range c.in.Loose {
		if c.in.Loose[i].Is("applies") && i+1 < len(c.in.Loose) {
			return c.in.Loose[i+1].Text
		}
	}
	if len(c.in.Regions) != 1 || len(c.in.Regions[0].Blocks) != 1 {
		return ""
	}
	ops := c.in.Regions[0].Blocks[0].Ops
	if len(ops) != 2 || len(ops[0].Results) != 1 {
		return ""
	}
	in, ret := c.Instr(&ops[0]), c.Instr(&ops[1])
	args := c.regionArgs()
	if len(in.Operands) != 2 || len(args) != 2 || !slices.Equal(ret.Operands, ops[0].Results) {
		return ""
	}
	if !slices.Contains(in.Operands, args[0]) || !slices.Contains(in.Operands, args[1]) {
		return ""
	}
	return ops[0].Name
}

// regionArgs are the names of the arguments of a region: of its block, or in the parentheses of the pretty form, which
// hold one pair each; pairs are put into the order of blocks, all left ones first.
func (c *call) regionArgs() []string {
	var names []string
	if len(c.in.Regions) == 0 || len(c.in.Regions[0].Blocks) == 0 {
		return nil
	}
	for _, a := range c.in.Regions[0].Blocks[0].Args {
		names = append(names, a.Name)
	}
	for side := range 2 {
		for i := side; i < len(c.in.Names); i += 2 {
			names = append(names, c.in.Names[i])
		}
	}
	return names
}

// reduceOp is what the operation of a region does to axes; nil for those that reduce nothing.
func reduceOp(name string, like *ir.Node) *ir.Op {
	switch name {
	case "stablehlo.add":
		return reduce.Sum
	case "stablehlo.maximum":
		return reduce.Max
	case "stablehlo.minimum":
		return reduce.Min
	case "stablehlo.or":
		if like.Type.Format == ir.Bool {
			return reduce.Max
		}
	case "stablehlo.and":
		if like.Type.Format == ir.Bool {
			return reduce.Min
		}
	case "stablehlo.multiply":
		return op.Find("reduce_prod")
	}
	return nil
}

// neutral says that a value does not change what an operation makes of it.
func (c *call) neutral(name string, init value) bool {
	v, ok := init.scalar()
	if !ok {
		return false
	}
	float := init.node.Type.IsFloat()
	if c.b.IsUnsigned(init.node) && (name == "stablehlo.maximum" || name == "stablehlo.minimum") {
		codes, _ := build.Ints(init.node)
		return codes[0] == map[bool]int64{true: 0, false: -1}[name == "stablehlo.maximum"]
	}
	switch name {
	case "stablehlo.add", "stablehlo.or", "stablehlo.xor":
		return v == 0
	case "stablehlo.multiply":
		return v == 1
	case "stablehlo.and":
		return v == 1 && init.node.Type.Format == ir.Bool || !float && v == -1
	case "stablehlo.maximum":
		return float && math.IsInf(v, -1) || !float && v == float64(least(init.node))
	case "stablehlo.minimum":
		return float && math.IsInf(v, 1) || !float && v == float64(most(init.node))
	}
	return false
}

// convertReduce reduces axes by an operation that is recognised; several operands at once are the arguments of argmax.
func convertReduce(c *call) {
	values, inits := c.reduceOperands()
	axes := c.ints(-1, required, "dimensions")
	if c.err != nil {
		return
	}
	x := values[0]
	axes = slices.Sorted(slices.Values(c.axes(axes, len(x.dims))))
	if len(values) != 1 {
		c.reducePlaced(values, inits, axes)
		return
	}
	name := c.monoid()
	o := reduceOp(name, x.node)
	if o == nil {
		c.fail(diag.UnsupportedForm, "a reduction by an operation that is not recognised")
		return
	}
	c.outs = append(c.outs, c.reduced(name, o, x, inits[0], axes))
}

// reduceOperands splits the operands into values and initial values: in the pretty form each stands behind its own.
func (c *call) reduceOperands() (values, inits []value) {
	n := len(c.args) / 2
	if len(c.args)%2 != 0 || n == 0 || c.in.Inits != 0 && c.in.Inits != n {
		c.fail(diag.OperandCount, "%d operands", len(c.args))
		return nil, nil
	}
	for i := range n {
		if c.in.Inits > 0 {
			values, inits = append(values, c.args[2*i]), append(inits, c.args[2*i+1])
		} else {
			values, inits = append(values, c.args[i]), append(inits, c.args[n+i])
		}
	}
	for i, v := range inits {
		if len(v.dims) != 0 || v.node.Type.Format != values[i].node.Type.Format ||
			!slices.Equal(values[i].dims, values[0].dims) {
			c.fail(diag.OperandTypes, "values and initial values have other types")
			return nil, nil
		}
	}
	return values, inits
}

// reduced reduces axes, which vanish, and joins the result with an initial value that is not neutral.
func (c *call) reduced(name string, o *ir.Op, x, init value, axes []int) value {
	var dims []int
	for i, d := range x.dims {
		if !slices.Contains(axes, i) {
			dims = append(dims, d)
		}
	}
	var n *ir.Node
	switch {
	case len(axes) == 0:
		n = c.full(x)
	case elems(x.dims) == 0:
		c.fail(diag.BadDimension, "reduces %s, which has no elements", ir.ShapeString(x.dims))
		return value{}
	default:
		n = c.shape(c.emit(o, &reduce.Attrs{Axes: axes}, c.full(x)), dims)
	}
	if c.neutral(name, init) {
		return wholeValue(n)
	}
	v := value{init.node, dims}
	return c.joined(name, wholeValue(n), v)
}

// joined applies the operation of a monoid to two values.
func (c *call) joined(name string, a, b value) value {
	if a.node == nil || b.node == nil {
		return value{}
	}
	inner := call{importer: c.importer, in: c.in, sc: c.sc, args: []value{a, b}, err: c.err}
	if s := c.specs[name]; s != nil {
		s.convert(&inner)
	}
	c.err = inner.err
	if len(inner.outs) == 0 {
		return value{}
	}
	return inner.outs[0]
}
