// SPDX-License-Identifier: Apache-2.0

package hlo

import "strings"

// Arg adds an input of the program; inputs are passed in the order of these calls, weights after them.
func (b *Builder) Arg(name string, t Type) Value {
	if msg := t.Check(); msg != "" {
		return b.failf("argument %q: %s", name, msg)
	}
	b.p.Inputs = append(b.p.Inputs, Argument{Name: strings.Map(printable, name), Type: t})
	return b.emit(KindInput, t, Attrs{Index: len(b.p.Inputs) - 1})
}

// Weight adds data that travels as an argument of the program instead of its text: large constants, and divisors,
// which the compiler would otherwise replace by a multiplication with the reciprocal.
func (b *Builder) Weight(a Array) Value {
	if msg := a.Check(); msg != "" {
		return b.failf("weight: %s", msg)
	}
	b.p.Weights = append(b.p.Weights, Argument{Type: a.Type, Data: a})
	return b.emit(KindWeight, a.Type, Attrs{Index: len(b.p.Weights) - 1})
}

// inlineElements is the largest constant that stands in the text when its elements differ.
const inlineElements = 1024

// Const is a constant in the text: a splat where all elements agree, a list up to 1,024 elements; a larger one
// becomes a Weight. Equal constants are written once.
func (b *Builder) Const(a Array) Value {
	if msg := a.Check(); msg != "" {
		return b.failf("constant: %s", msg)
	}
	if b.err != nil {
		return Value{}
	}
	if !a.uniform() && a.Type.Len() > inlineElements {
		return b.Weight(a)
	}
	value := a.narrowed()
	key := a.Type.String() + string(value.Data)
	if v, ok := b.consts[key]; ok {
		return v
	}
	v := b.emit(KindConstant, a.Type, Attrs{Value: value})
	b.consts[key] = v
	return v
}

// Int is a scalar constant of any element type that holds x.
func (b *Builder) Int(d DType, x int64) Value { return b.Const(FromInt64s(d, nil, []int64{x})) }

// Float is a scalar constant of F32 or F64.
func (b *Builder) Float(d DType, x float64) Value { return b.Const(FromFloat64s(d, nil, []float64{x})) }

// Splat is a constant of the type of like with every element x.
func (b *Builder) Splat(like Value, x int64) Value {
	if !b.sound("splat", like) {
		return Value{}
	}
	return b.BroadcastInDim(b.Int(like.typ.DType, x), like.typ.Dims, nil)
}

// Iota is a tensor whose element is its index along axis.
func (b *Builder) Iota(t Type, axis int) Value {
	if b.err != nil {
		return Value{}
	}
	if axis < 0 || axis >= t.Rank() {
		return b.failf("iota: axis %d of %s", axis, t)
	}
	return b.emit(KindIota, t, Attrs{Axes: []int{axis}})
}
