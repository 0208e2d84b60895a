// SPDX-License-Identifier: Apache-2.0

package hlo

import (
	"fmt"
	"strconv"
	"strings"
)

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
	attr := "value = dense<" + literal(a) + "> : " + a.Type.String()
	if v, ok := b.consts[attr]; ok {
		return v
	}
	v := b.emit("constant", a.Type, attr).with(Attrs{Value: a.narrowed()})
	b.consts[attr] = v
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

// literal is the text of a dense attribute: floats by their bits, so that every one of them (NaN too) is exact.
func literal(a Array) string {
	if a.Type.Len() == 0 {
		return ""
	}
	if a.uniform() {
		return element(a, 0)
	}
	var s strings.Builder
	next := 0
	nest(&s, a, 0, &next)
	return s.String()
}

// nest writes axis after axis as nested brackets.
func nest(s *strings.Builder, a Array, axis int, next *int) {
	if axis == a.Type.Rank() {
		s.WriteString(element(a, *next))
		*next++
		return
	}
	s.WriteByte('[')
	for i := range a.Type.Dims[axis] {
		if i > 0 {
			s.WriteString(", ")
		}
		nest(s, a, axis+1, next)
	}
	s.WriteByte(']')
}

func element(a Array, i int) string {
	switch d := a.Type.DType; d {
	case I1:
		return strconv.FormatBool(a.Data[i] != 0)
	case UI64:
		return strconv.FormatUint(uint64(a.intAt(i)), 10)
	case F32, F64:
		n := d.Bytes()
		var s strings.Builder
		s.WriteString("0x")
		for j := n - 1; j >= 0; j-- {
			fmt.Fprintf(&s, "%02X", a.Data[i*n+j])
		}
		return s.String()
	}
	return strconv.FormatInt(a.intAt(i), 10)
}

// ints is the text of an i64 array attribute.
func ints(values []int) string {
	if len(values) == 0 {
		return "array<i64>"
	}
	return "array<i64: " + intList(values) + ">"
}

func intList(values []int) string {
	s := make([]string, len(values))
	for i, v := range values {
		s[i] = strconv.Itoa(v)
	}
	return strings.Join(s, ", ")
}
