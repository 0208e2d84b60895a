// SPDX-License-Identifier: Apache-2.0

package hlo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// Array is a tensor with its data, little endian and row-major; I1 takes one byte an element.
type Array struct {
	Type Type
	Data []byte
	bad  string // why a constructor refused its arguments
}

// FromInt64s makes an array of d from exact integers. A value that d cannot hold, or a count that does not match dims,
// makes an Array that Check refuses; so constructors can stand inside an expression.
func FromInt64s(d DType, dims []int, values []int64) Array {
	a := newArray(Type{d, dims}, len(values))
	if a.bad != "" {
		return a
	}
	for i, v := range values {
		if !holds(d, v) {
			return Array{Type: a.Type, bad: fmt.Sprintf("%s cannot hold %d (element %d)", d, v, i)}
		}
		putInt(d, a.Data[i*d.Bytes():], v)
	}
	return a
}

// FromFloat32s makes an F32 array; the number of values must match dims (see Check).
func FromFloat32s(dims []int, values []float32) Array {
	a := newArray(Type{F32, dims}, len(values))
	if a.bad == "" {
		for i, v := range values {
			binary.LittleEndian.PutUint32(a.Data[4*i:], math.Float32bits(v))
		}
	}
	return a
}

// FromFloat64s makes an array of F64, or of F32 with each value rounded half-even; the count must match dims.
func FromFloat64s(d DType, dims []int, values []float64) Array {
	a := newArray(Type{d, dims}, len(values))
	if a.bad != "" {
		return a
	}
	if !d.IsFloat() {
		return Array{Type: a.Type, bad: fmt.Sprintf("%s is not a float type", d)}
	}
	for i, v := range values {
		if d == F32 {
			binary.LittleEndian.PutUint32(a.Data[4*i:], math.Float32bits(float32(v)))
		} else {
			binary.LittleEndian.PutUint64(a.Data[8*i:], math.Float64bits(v))
		}
	}
	return a
}

// newArray allocates the data of t, which must have n elements.
func newArray(t Type, n int) Array {
	a := Array{Type: t}
	if a.bad = t.Check(); a.bad == "" && t.Len() != n {
		a.bad = fmt.Sprintf("%d values for %s", n, t)
	}
	if a.bad == "" {
		a.Data = make([]byte, n*t.DType.Bytes())
	}
	return a
}

// Check says in one phrase why the array cannot be used; "" is sound.
func (a Array) Check() string {
	if a.bad != "" {
		return a.bad
	}
	if msg := a.Type.Check(); msg != "" {
		return msg
	}
	if want := a.Type.Len() * a.Type.DType.Bytes(); want != len(a.Data) {
		return fmt.Sprintf("%d bytes of data for %s, which has %d", len(a.Data), a.Type, want)
	}
	return ""
}

// Int64s returns the elements of an integer or I1 array (UI64 by its bits), nil for a float or unsound array.
func (a Array) Int64s() []int64 {
	if a.Check() != "" || a.Type.DType.IsFloat() {
		return nil
	}
	out := make([]int64, a.Type.Len())
	for i := range out {
		out[i] = a.intAt(i)
	}
	return out
}

// Float64s returns the elements as float64 (64-bit integers are rounded half-even), nil for an unsound array.
func (a Array) Float64s() []float64 {
	if a.Check() != "" {
		return nil
	}
	out := make([]float64, a.Type.Len())
	for i := range out {
		switch a.Type.DType {
		case F32:
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(a.Data[4*i:])))
		case F64:
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(a.Data[8*i:]))
		case UI64:
			out[i] = float64(binary.LittleEndian.Uint64(a.Data[8*i:]))
		default:
			out[i] = float64(a.intAt(i))
		}
	}
	return out
}

// uniform reports that every element has the same bits; an array without elements is not uniform.
func (a Array) uniform() bool {
	n := a.Type.DType.Bytes()
	return len(a.Data) >= n && bytes.Equal(a.Data[n:], a.Data[:len(a.Data)-n])
}

// intAt reads element i of a non-float array.
func (a Array) intAt(i int) int64 {
	switch a.Type.DType {
	case I8:
		return int64(int8(a.Data[i]))
	case I32:
		return int64(int32(binary.LittleEndian.Uint32(a.Data[4*i:])))
	case UI32:
		return int64(binary.LittleEndian.Uint32(a.Data[4*i:]))
	case I64, UI64:
		return int64(binary.LittleEndian.Uint64(a.Data[8*i:]))
	}
	return int64(a.Data[i])
}

// holds reports that d represents v exactly.
func holds(d DType, v int64) bool {
	switch d {
	case F32:
		return int64(float32(v)) == v && v != math.MaxInt64
	case F64:
		return int64(float64(v)) == v && v != math.MaxInt64
	case I64:
		return true
	case UI64:
		return v >= 0
	}
	if d.IsSigned() {
		return v>>(d.Bits()-1) == v>>63
	}
	return v>>d.Bits() == 0
}

// putInt writes v, which d holds.
func putInt(d DType, to []byte, v int64) {
	switch d {
	case F32:
		binary.LittleEndian.PutUint32(to, math.Float32bits(float32(v)))
	case F64:
		binary.LittleEndian.PutUint64(to, math.Float64bits(float64(v)))
	case I32, UI32:
		binary.LittleEndian.PutUint32(to, uint32(v))
	case I64, UI64:
		binary.LittleEndian.PutUint64(to, uint64(v))
	default:
		to[0] = byte(v)
	}
}

// narrowed is a with one element where all are equal.
func (a Array) narrowed() Array {
	if n := a.Type.DType.Bytes(); a.uniform() {
		return Array{Type: Type{DType: a.Type.DType}, Data: a.Data[:n]}
	}
	return a
}
