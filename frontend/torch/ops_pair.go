// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"math"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// pairs lists arithmetic, comparisons, logic and choices, with broadcasting, and casts.
func pairs() []row {
	list := []row{
		{"add.Tensor add.Scalar", "self other alpha", arithmetic(pointwise.Add)},
		{"sub.Tensor sub.Scalar", "self other alpha", arithmetic(pointwise.Sub)},
		{"rsub.Tensor rsub.Scalar", "self other alpha", convertRsub},
		{"mul.Tensor mul.Scalar", "self other", arithmetic(pointwise.Mul)},
		{"maximum.default max.other", "self other", arithmetic(pointwise.Max)},
		{"minimum.default min.other", "self other", arithmetic(pointwise.Min)},
		{"clamp.Tensor clip.Tensor", "self min max", convertClamp},
		{"clamp_min.Tensor", "self min", convertClamp},
		{"clamp_max.Tensor", "self max", convertClamp},
		{"div.Tensor div.Scalar true_divide.Tensor", "self other", convertDiv},
		{"div.Tensor_mode div.Scalar_mode", "self other rounding_mode", convertDiv},
		{"floor_divide.default", "self other", convertDiv},
		{"remainder.Tensor remainder.Scalar", "self other", pairWith(whole.Mod, &whole.ModAttrs{Floor: true})},
		{"fmod.Tensor fmod.Scalar", "self other", pairWith(whole.Mod, &whole.ModAttrs{})},
		{"pow.Tensor_Scalar", "self exponent", convertPow},
		{"pow.Tensor_Tensor pow.Scalar", "self exponent", func(c *call) { c.pair(whole.Power, nil, "self", "exponent") }},
		{"square.default", "self", func(c *call) { c.power(c.tensor("self"), 2) }},
		{"neg.default", "self", convertNeg},
		{"logical_not.default", "self",
			func(c *call) { c.result(c.emit("", whole.Not, nil, c.cast(c.tensor("self"), ir.B1))) }},
		{"bitwise_not.default", "self", unary(whole.Not)},
		{"isnan.default", "self", unary(whole.IsNaN)},
		{"isinf.default", "self", unary(whole.IsInf)},
		{"where.self where.ScalarOther where.ScalarSelf where.Scalar", "condition self other", convertWhere},
		{"masked_fill.Scalar masked_fill.Tensor", "self mask value", convertMaskedFill},
		{"to.dtype", "self dtype non_blocking copy memory_format", convertTo},
		{"to.dtype_layout", "self dtype layout device pin_memory non_blocking copy memory_format", convertTo},
		{"to.device", "self device dtype non_blocking copy memory_format", convertTo},
		{"to.other", "self other non_blocking copy memory_format", convertTo},
		{"_to_copy.default", "self dtype layout device pin_memory non_blocking memory_format", convertTo},
		{"type_as.default", "self other", convertTo},
		{"float.default half.default double.default long.default int.default bool.default", "self", convertTo},
	}
	for _, rel := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
		list = append(list, row{rel + ".Tensor " + rel + ".Scalar", "self other", compare(rel)})
	}
	for _, o := range []*ir.Op{whole.And, whole.Or, whole.Xor} {
		list = append(list, row{"logical_" + o.Name + ".default", "self other", logical(o)},
			row{"bitwise_" + o.Name + ".Tensor bitwise_" + o.Name + ".Scalar __" + o.Name + "__.Tensor __" + o.Name +
				"__.Scalar", "self other", pairWith(o, nil)})
	}
	return list
}

// outType is the element type that the archive states of the first result; that of x where it states none.
func (c *call) outType(x *ir.Node) ir.DType {
	if outs := c.outs(); len(outs) > 0 && c.err == nil {
		if m := c.graph.tensors[outs[0]]; m != nil {
			typ, err := m.storage()
			c.wrap(err)
			return typ
		}
	}
	if x == nil || c.err != nil {
		return ir.F32
	}
	return ir.StoredAs(x.Type.Format)
}

// cast brings a node into the format of an element type; nothing where it has it.
func (c *call) cast(x *ir.Node, to ir.DType) *ir.Node {
	if c.err != nil || x == nil || x.Type.Format == ir.FormatOf(to) {
		return x
	}
	return c.emit("cast", whole.Convert, &whole.ConvertAttrs{To: to}, x)
}

// isTensor says that an argument is a tensor and no number.
func (c *call) isTensor(name string) bool {
	a, ok := c.arg(name)
	return ok && a.kind == "as_tensor"
}

// operand is an argument of an element type: a tensor, cast if need be, or a number.
func (c *call) operand(name string, typ ir.DType) *ir.Node {
	if c.isTensor(name) {
		return c.cast(c.tensor(name), typ)
	}
	return c.constantOf(c.scalar(name), typ, name)
}

// constantOf is a constant of one number with the rank 0.
func (c *call) constantOf(s number, typ ir.DType, role string) *ir.Node {
	if c.err != nil {
		return nil
	}
	f := ir.FormatOf(typ)
	b := ir.FloatBlob([]float32{float32(s.float())})
	if f != ir.Float().Format {
		if s.kind == 'f' {
			s.i = int64(s.f)
		}
		if f == ir.Bool && s.float() != 0 {
			s.i = 1
		}
		b = ints(typ, s.i)
	}
	n, err := c.b.Const(c.place.Name+"."+role, b, nil)
	c.wrap(err)
	return n
}

// pair makes a node of two arguments, both in the type of the result.
func (c *call) pair(o *ir.Op, attrs any, first, second string) {
	var x *ir.Node
	if c.isTensor(first) {
		x = c.tensor(first)
	}
	typ := c.outType(x)
	a := c.operand(first, typ)
	c.result(c.emit("", o, attrs, a, c.operand(second, typ)))
}

// convertClamp bounds self by tensors, of which either may be missing.
func convertClamp(c *call) {
	typ := c.outType(nil)
	x := c.operand("self", typ)
	if c.has("min") {
		x = c.emit("low", pointwise.Max, nil, x, c.operand("min", typ))
	}
	if c.has("max") {
		x = c.emit("high", pointwise.Min, nil, x, c.operand("max", typ))
	}
	c.result(x)
}

func pairWith(o *ir.Op, attrs any) func(*call) {
	return func(c *call) { c.pair(o, attrs, "self", "other") }
}

// arithmetic converts self op alpha*other.
func arithmetic(o *ir.Op) func(*call) {
	return func(c *call) {
		a, b := c.scaled("self", "other")
		c.result(c.emit("", o, nil, a, b))
	}
}

// scaled reads two operands in the type of the result; the second one is multiplied by alpha.
func (c *call) scaled(first, second string) (a, b *ir.Node) {
	typ := c.outType(nil)
	a, b = c.operand(first, typ), c.operand(second, typ)
	if c.has("alpha") {
		if s := c.scalar("alpha"); s.float() != 1 {
			b = c.emit("alpha", pointwise.Mul, nil, b, c.constantOf(s, typ, "alpha"))
		}
	}
	return a, b
}

// convertRsub is other - alpha*self.
func convertRsub(c *call) {
	b, a := c.scaled("other", "self")
	c.result(c.emit("", pointwise.Sub, nil, b, a))
}

// convertDiv is a quotient of floats, or one that is rounded. Dividing by a constant is a product.
func convertDiv(c *call) {
	mode := c.str("rounding_mode", "")
	if c.n.target == prefix+"floor_divide.default" {
		mode = "floor"
	}
	typ := c.outType(nil)
	a, b := c.operand("self", typ), c.operand("other", typ)
	if c.err != nil {
		return
	}
	integral := !a.Type.IsFloat()
	switch {
	case mode != "" && mode != "floor" && mode != "trunc":
		c.fail(diag.BadAttribute, "rounding_mode is %s; it may be floor or trunc", source.Quote(mode))
	case mode == "" && divisor(b):
		b = c.emit("reciprocal", curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: 1}, b)
		c.result(c.emit("", pointwise.Mul, nil, a, b))
	case mode == "" || integral && mode == "trunc":
		c.result(c.emit("", whole.Div, nil, a, b))
	case integral: // the remainder has the sign of b
		rest := c.emit("rest", whole.Mod, &whole.ModAttrs{Floor: true}, a, b)
		c.result(c.emit("", whole.Div, nil, c.emit("whole", pointwise.Sub, nil, a, rest), b))
	case mode == "floor":
		c.result(c.emit("", curve.Floor, nil, c.emit("quotient", whole.Div, nil, a, b)))
	default:
		q := c.emit("quotient", whole.Div, nil, a, b)
		size := c.emit("size", curve.Floor, nil, c.emit("abs", curve.Abs, nil, q))
		c.result(c.emit("", pointwise.Mul, nil, size, c.emit("sign", curve.Sign, nil, q)))
	}
}

// divisor says that n is a constant by whose reciprocal one may multiply.
func divisor(n *ir.Node) bool {
	if !n.IsConst() || !n.Type.IsFloat() || n.Type.Elems() > 1<<16 {
		return false
	}
	t, err := n.Value()
	if err != nil {
		return false
	}
	for _, v := range t.Floats {
		if r := 1 / float64(v); v == 0 || math.IsInf(r, 0) || math.IsNaN(r) || math.Abs(r) < 1e-37 || math.Abs(r) > 1e37 {
			return false
		}
	}
	return true
}

func convertPow(c *call) {
	x, s := c.tensor("self"), number{}
	if s = c.scalar("exponent"); c.err != nil {
		return
	}
	typ := c.outType(x)
	if ir.FormatOf(typ) != ir.Float().Format {
		c.pair(whole.Power, nil, "self", "exponent")
		return
	}
	c.power(c.cast(x, typ), s.float())
}

// power is a float to a constant power.
func (c *call) power(x *ir.Node, exponent float64) {
	if x != nil && !x.Type.IsFloat() {
		c.result(c.emit("", pointwise.Mul, nil, x, x))
		return
	}
	c.result(c.emit("", curve.Pow, &curve.PowAttrs{Exponent: float32(exponent)}, x))
}

func convertNeg(c *call) {
	x := c.tensor("self")
	if c.err != nil {
		return
	}
	if typ := c.outType(x); x.Type.IsFloat() {
		c.result(c.emit("", pointwise.Mul, nil, x, c.constantOf(number{kind: 'i', i: -1}, typ, "minus")))
	} else {
		c.result(c.emit("", pointwise.Sub, nil, c.constantOf(number{kind: 'i'}, typ, "zero"), x))
	}
}

// common is the element type in which two arguments meet where the result has another: floats where there is one.
func (c *call) common(first, second string) ir.DType {
	float, wide, bools := false, ir.DType(""), true
	for _, name := range []string{first, second} {
		if !c.isTensor(name) {
			s := c.scalar(name)
			float = float || s.kind == 'f'
			bools = bools && s.kind == 'b'
			continue
		}
		n := c.tensor(name)
		if c.err != nil {
			return ir.F32
		}
		typ := ir.StoredAs(n.Type.Format)
		float = float || n.Type.IsFloat()
		bools = bools && typ == ir.B1
		if wide != "" && wide != typ {
			wide = ir.I64
		} else {
			wide = typ
		}
	}
	switch {
	case float:
		return ir.F32
	case wide == ir.B1 && !bools || wide == "":
		return ir.I64
	}
	return wide
}

func compare(rel string) func(*call) {
	return func(c *call) {
		typ := c.common("self", "other")
		a := c.operand("self", typ)
		c.result(c.emit("", whole.Compare, &whole.CompareAttrs{Rel: rel}, a, c.operand("other", typ)))
	}
}

func logical(o *ir.Op) func(*call) {
	return func(c *call) {
		a := c.operand("self", ir.B1)
		c.result(c.emit("", o, nil, a, c.operand("other", ir.B1)))
	}
}

func convertWhere(c *call) {
	typ := c.outType(nil)
	cond := c.cast(c.tensor("condition"), ir.B1)
	a := c.operand("self", typ)
	c.result(c.emit("", whole.Where, nil, cond, a, c.operand("other", typ)))
}

func convertMaskedFill(c *call) {
	x, mask := c.tensor("self"), c.tensor("mask")
	typ := c.outType(x)
	c.result(c.emit("", whole.Where, nil, c.cast(mask, ir.B1), c.operand("value", typ), x))
}

// convertTo casts to the type that the archive states of the result. Floats of all widths are computed in float32; a
// cast to a narrower type rounds.
func convertTo(c *call) {
	x := c.tensor("self")
	to := c.outType(x)
	if c.err != nil {
		return
	}
	from := ir.StoredAs(x.Type.Format)
	if a, ok := c.arg("self"); ok {
		if v := c.values[tensorNames(a)[0]]; v != nil && v.typ != "" {
			from = v.typ
		}
	}
	narrow := to == ir.F16 || to == ir.BF
	if from == to || x.Type.Format == ir.FormatOf(to) && !narrow || narrow && from == ir.F16 && to == ir.F16 {
		c.same(x)
		return
	}
	c.result(c.emit("", whole.Convert, &whole.ConvertAttrs{To: to}, x))
}
