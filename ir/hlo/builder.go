// SPDX-License-Identifier: Apache-2.0

// Package hlo holds StableHLO programs as data. A Builder makes them: it infers every type, and its first mistake
// sticks (Err), so that callers chain calls and look once. A program depends on nothing but the calls made; ir/hlo/text
// prints it.
package hlo

import (
	"slices"
	"strings"

	"lathe/internal/diag"
)

// Value is the result of an operation or an argument; the zero Value stands for "failed" and is passed along silently.
type Value struct {
	b      *Builder
	typ    Type
	number int
	scale  *Value // of codes in a block format, see WithScale
}

// Type is the type of the value; the zero Type for a failed one.
func (v Value) Type() Type { return v.typ }

// Number is the position in Program.Ops of what computes v; -1 for a failed value.
func (v Value) Number() int {
	if v.b == nil {
		return -1
	}
	return v.number
}

// WithScale hangs the scale fields of a block format on the codes v: one field a block, blocks along the last axis.
func (v Value) WithScale(scale Value) Value {
	v.scale = &scale
	return v
}

// Scale is what WithScale hung on v; the zero Value for codes of scalar formats.
func (v Value) Scale() Value {
	if v.scale == nil {
		return Value{}
	}
	return *v.scale
}

// Builder collects one program. It is not safe for concurrent use.
type Builder struct {
	// Samples is the length of the axis of samples that leads the values of the node that is printed; 0: they have
	// none. The builder itself reads it in Lead, Axis, Axes and Dims only.
	Samples int
	// Straight asks for operations without loops, for readers to whom loops mean nothing.
	Straight bool

	p      Program
	consts map[string]Value
	done   bool
	err    *diag.Error
}

// New starts the program called name.
func New(name string) *Builder {
	return &Builder{p: Program{Name: name}, consts: map[string]Value{}}
}

// Err is the first mistake, a *diag.Error with code L0810 at the position last given to At, or nil.
func (b *Builder) Err() error {
	if b.err == nil {
		return nil
	}
	return b.err
}

// Program is the finished program, which nobody may change; nil after a mistake or without Return.
func (b *Builder) Program() *Program {
	if b.err == nil && !b.done {
		b.failf("program has no return")
	}
	if b.err != nil {
		return nil
	}
	return &b.p
}

// Ops are the operations so far, which nobody may change; later calls append to them.
func (b *Builder) Ops() []Operation { return b.p.Ops }

// Made is the value of operation n.
func (b *Builder) Made(n int) Value {
	if b.err != nil {
		return Value{}
	}
	if n < 0 || n >= len(b.p.Ops) {
		return b.failf("operation %d of %d", n, len(b.p.Ops))
	}
	return Value{b: b, typ: b.p.Ops[n].Type, number: n}
}

// Place is the place in the model of operation n, "" before the first.
func (b *Builder) Place(n int) string { return b.p.Pos(n) }

// At names the place in the model for which operations follow; it becomes a comment line and the position of errors.
func (b *Builder) At(pos string) {
	b.p.Places = append(b.p.Places, strings.Map(printable, pos))
}

// printable keeps a comment on its line.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}

// Lead is the number of axes before those of the node: 1 where there are samples, else 0.
func (b *Builder) Lead() int { return min(b.Samples, 1) }

// Axis is the axis here of axis i of the node.
func (b *Builder) Axis(i int) int { return i + b.Lead() }

// Axes maps several axes of the node.
func (b *Builder) Axes(axes ...int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = b.Axis(a)
	}
	return out
}

// Dims is a shape of the node as it is here: behind the axis of samples, if there is one.
func (b *Builder) Dims(shape ...int) []int {
	if b.Samples == 0 {
		return slices.Clone(shape)
	}
	return append([]int{b.Samples}, shape...)
}

// Arg adds an input of the program; inputs are passed in the order of these calls, weights after them.
func (b *Builder) Arg(name string, t Type) Value {
	if msg := t.Check(); msg != "" {
		return b.failf("argument %q: %s", name, msg)
	}
	b.p.Inputs = append(b.p.Inputs, Argument{Name: strings.Map(printable, name), Type: t})
	return b.emit(KindInput, t, Attrs{Index: len(b.p.Inputs) - 1})
}

// Donate lets a result of Return, counted from 0, take over the memory of an input, such as a parameter in a step of
// training; both have one type.
func (b *Builder) Donate(input Value, result int) {
	if !b.sound("donate", input) {
		return
	}
	o := b.p.Ops[input.number]
	if o.Kind != KindInput || result < 0 {
		b.failf("donate: %s to result %d", o.Kind, result)
		return
	}
	b.p.Inputs[o.Attrs.Index].Becomes = result + 1
}

// Split gives each device an equal part of an axis of an input, where a program runs on several: it computes what it
// would compute on one.
func (b *Builder) Split(input Value, axis int) {
	if !b.sound("split", input) {
		return
	}
	o := b.p.Ops[input.number]
	if o.Kind != KindInput || axis < 0 || axis >= o.Type.Rank() {
		b.failf("split: %s %s along axis %d", o.Kind, o.Type, axis)
		return
	}
	b.p.Inputs[o.Attrs.Index].Split = axis + 1
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
	return b.constant(a.Type, a.narrowed())
}

// constant is a constant of a type, given by one element where all are equal.
func (b *Builder) constant(t Type, value Array) Value {
	key := t.String() + string(value.Data)
	if v, ok := b.consts[key]; ok {
		return v
	}
	v := b.emit(KindConstant, t, Attrs{Value: value})
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

// Return ends the program with its results.
func (b *Builder) Return(values ...Value) {
	if b.done {
		b.failf("program returns twice")
		return
	}
	if len(values) == 0 {
		b.failf("program returns nothing")
	}
	b.done = true
	if !b.sound("return", values...) {
		return
	}
	b.p.Results = numbers(values)
	if msg := b.p.donations(); msg != "" {
		b.failf("%s", msg)
	}
}

// emit appends one operation, and gives its first result.
func (b *Builder) emit(k Kind, result Type, a Attrs, operands ...Value) Value {
	if b.done {
		return b.failf("%s after return", k)
	}
	if msg := result.Check(); msg != "" {
		return b.failf("%s: %s", k, msg)
	}
	o := Operation{Kind: k, Operands: numbers(operands), Type: result, Place: len(b.p.Places), Attrs: a}
	b.p.Ops = append(b.p.Ops, o)
	return Value{b: b, typ: result, number: len(b.p.Ops) - 1}
}

// exact marks the sum of products v.
func (v Value) exact() Value {
	if v.b != nil {
		v.b.p.Ops[v.number].Attrs.Exact = true
	}
	return v
}

// sound reports that all operands are values of this program; the first that is not becomes the error.
func (b *Builder) sound(op string, operands ...Value) bool {
	if b.err != nil {
		return false
	}
	for i, v := range operands {
		if v.b != b {
			b.failf("%s: operand %d is not a value of this program", op, i)
			return false
		}
	}
	return true
}

// failf records the first mistake and returns the failed Value.
func (b *Builder) failf(format string, args ...any) Value {
	if b.err == nil {
		pos := b.p.Name
		if n := len(b.p.Places); n > 0 && b.p.Places[n-1] != "" {
			pos = b.p.Places[n-1]
		}
		b.err = diag.New(diag.HLOBuild, pos, format, args...)
	}
	return Value{}
}

func numbers(values []Value) []int {
	out := make([]int, len(values))
	for i, v := range values {
		out[i] = v.number
	}
	return out
}
