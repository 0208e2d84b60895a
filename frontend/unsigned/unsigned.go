// SPDX-License-Identifier: Apache-2.0

// Package unsigned writes operations on unsigned integers of 64 bits out in those on signed ones. Float graphs hold
// both as Int64, modulo 2^64: sums, products and bits are the same, and what depends on the order is not. Turning the
// sign bit over makes the one order the other; every engine then computes what it has.
package unsigned

import (
	"math"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/whole"
)

// Maker makes the nodes of one operation. Part tells a node from the others, and is "" for the result.
type Maker interface {
	Do(part string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node
	// Like is a scalar constant in the format of n.
	Like(n *ir.Node, v int64) *ir.Node
}

// Form is the operation o on args, of which those are unsigned that is says. It is nil where the operation on signed
// numbers is the same.
func Form(m Maker, o *ir.Op, attrs any, args []*ir.Node, is func(n *ir.Node) bool) *ir.Node {
	f := former{m}
	switch o {
	case pointwise.Max, pointwise.Min:
		return f.turned("", f.Do("signed", o, attrs, f.turned("a", args[0]), f.turned("b", args[1])))
	case reduce.Max, reduce.Min, whole.TopKValues:
		return f.turned("", f.Do("signed", o, attrs, f.turned("order", args[0])))
	case reduce.ArgMax, whole.TopKIndices:
		return f.Do("", o, attrs, f.turned("order", args[0]))
	case whole.Compare:
		if rel := attrs.(*whole.CompareAttrs).Rel; rel == "eq" || rel == "ne" {
			return nil
		}
		return f.Do("", o, attrs, f.turned("a", args[0]), f.turned("b", args[1]))
	case whole.Div:
		return f.div("", args[0], args[1])
	case whole.Mod:
		q := f.div("quotient", args[0], args[1])
		return f.Do("", pointwise.Sub, nil, args[0], f.Do("product", pointwise.Mul, nil, q, args[1]))
	case whole.Power:
		return f.power(attrs, args[0], args[1], is(args[1]))
	case curve.Abs:
		return f.Do("", move.Identity, nil, args[0])
	case curve.Sign:
		some := f.compare("some", "ne", args[0], f.Like(args[0], 0))
		return f.Do("", whole.Convert, &whole.ConvertAttrs{To: ir.I64}, some)
	case whole.Convert:
		if a := attrs.(*whole.ConvertAttrs); !ir.IsWhole(ir.FormatOf(a.To)) {
			return f.float(a, args[0])
		}
	case whole.ScatterElements, whole.ScatterND:
		if order(attrs) {
			y := f.Do("signed", o, attrs, f.turned("order", args[0]), args[1], f.turned("updates", args[2]))
			return f.turned("", y)
		}
	}
	return nil
}

// order says that a scatter takes the greater or the less of two numbers.
func order(attrs any) bool {
	how := ""
	switch a := attrs.(type) {
	case *whole.ScatterAttrs:
		how = a.Reduce
	case *whole.ScatterNDAttrs:
		how = a.Reduce
	}
	return how == "max" || how == "min"
}

// ShiftRight shifts zeros into x, of a signed format of any width. Amounts are unsigned; those of W and more leave 0.
func ShiftRight(m Maker, x, by *ir.Node) *ir.Node {
	f := former{m}
	none := f.compare("none", "eq", by, f.Like(by, 0))
	less := f.Do("less", pointwise.Sub, nil, by, f.Like(by, 1))
	return f.Do("", whole.Where, nil, none, x, f.Do("shifted", whole.ShiftRight, nil, f.half("half", x), less))
}

type former struct{ Maker }

// turned is x with its sign bit turned over, which brings unsigned numbers into the order of signed ones, and back.
func (f former) turned(part string, x *ir.Node) *ir.Node {
	return f.Do(part, whole.Xor, nil, x, f.Like(x, math.MinInt64))
}

func (f former) compare(part, rel string, a, b *ir.Node) *ir.Node {
	return f.Do(part, whole.Compare, &whole.CompareAttrs{Rel: rel}, a, b)
}

// half is floor(x / 2), which has no sign bit.
func (f former) half(part string, x *ir.Node) *ir.Node {
	if x == nil {
		return nil
	}
	most, _ := ir.WholeOf(x.Type.Format)
	moved := f.Do(part+"_signed", whole.ShiftRight, nil, x, f.Like(x, 1))
	return f.Do(part, whole.And, nil, moved, f.Like(x, most.Max()))
}

// div is a / b, and 0 where b is 0. Twice the quotient of half of a is right or one too small; a divisor with the sign
// bit set goes into a once or not at all, which that last step finds, too, from a quotient of 0.
func (f former) div(part string, a, b *ir.Node) *ir.Node {
	zero := f.Like(b, 0)
	small := f.Do("small", pointwise.Max, nil, b, zero) // 0 for divisors of 2^63 and more: their quotients are 0
	q := f.Do("half_quotient", whole.Div, nil, f.half("half", a), small)
	q = f.Do("even", pointwise.Add, nil, q, q)
	left := f.Do("left", pointwise.Sub, nil, a, f.Do("covered", pointwise.Mul, nil, q, b))
	more := f.compare("fits", "ge", f.turned("left_order", left), f.turned("order", b))
	more = f.Do("once_more", whole.And, nil, more, f.compare("some", "ne", b, zero))
	one := f.Do("one", whole.Convert, &whole.ConvertAttrs{To: ir.I64}, more)
	return f.Do(part, pointwise.Add, nil, q, one)
}

// power is a^b. A number to 2^63 is 1 modulo 2^64 where it is odd, else 0. Signed exponents below 0 leave 1 of 1, else
// 0.
func (f former) power(attrs any, a, b *ir.Node, unsigned bool) *ir.Node {
	zero, one := f.Like(b, 0), f.Like(a, 1)
	negative := f.compare("negative", "lt", b, zero)
	y := f.Do("low", whole.Power, attrs, a, f.Do("exponent", whole.And, nil, b, f.Like(b, math.MaxInt64)))
	if unsigned {
		odd := f.Do("odd", whole.And, nil, a, one)
		return f.Do("", pointwise.Mul, nil, y, f.Do("high", whole.Where, nil, negative, odd, one))
	}
	is := f.Do("inverse", whole.Convert, &whole.ConvertAttrs{To: ir.I64}, f.compare("is_one", "eq", a, one))
	return f.Do("", whole.Where, nil, negative, is, y)
}

// float is the nearest float. Halves of numbers from 2^63 on keep what was cut off in their last bit, where it decides
// ties only.
func (f former) float(a *whole.ConvertAttrs, x *ir.Node) *ir.Node {
	single := &whole.ConvertAttrs{To: ir.F32}
	odd := f.Do("odd", whole.And, nil, x, f.Like(x, 1))
	half := f.Do("half_float", whole.Convert, single, f.Do("sticky", whole.Or, nil, f.half("half", x), odd))
	large := f.Do("large", pointwise.Add, nil, half, half)
	part := ""
	if a.To != ir.F32 {
		part = "float32"
	}
	negative := f.compare("high", "lt", x, f.Like(x, 0))
	y := f.Do(part, whole.Where, nil, negative, large, f.Do("small", whole.Convert, single, x))
	if part == "" {
		return y
	}
	return f.Do("", whole.Convert, a, y)
}
