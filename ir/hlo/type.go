// SPDX-License-Identifier: Apache-2.0

package hlo

import (
	"slices"
	"strconv"
	"strings"
)

// DType is an element type by its StableHLO name.
type DType string

// The element types that programs use; narrow integers travel in I8, I32 or I64.
const (
	I1   DType = "i1"
	I8   DType = "i8"
	I32  DType = "i32"
	I64  DType = "i64"
	UI8  DType = "ui8"
	UI32 DType = "ui32"
	UI64 DType = "ui64"
	F32  DType = "f32"
	F64  DType = "f64"
)

// Bits is the width of one element, 1 for I1, and 0 for a name that is no DType.
func (d DType) Bits() int {
	switch d {
	case I1:
		return 1
	case I8, UI8:
		return 8
	case I32, UI32, F32:
		return 32
	case I64, UI64, F64:
		return 64
	}
	return 0
}

// Bytes is the size of one element in an Array; I1 takes a whole byte there.
func (d DType) Bytes() int { return (d.Bits() + 7) / 8 }

// IsFloat reports F32 and F64.
func (d DType) IsFloat() bool { return d == F32 || d == F64 }

// IsInt reports the signed and unsigned integers, I1 apart.
func (d DType) IsInt() bool { return d.Bits() > 1 && !d.IsFloat() }

// IsSigned reports I8, I32 and I64.
func (d DType) IsSigned() bool { return d == I8 || d == I32 || d == I64 }

// Type is a tensor type: an element type and static dimensions, outermost first; no dimension is a scalar.
type Type struct {
	DType DType
	Dims  []int
}

// TypeOf makes a Type from an element type and its dimensions.
func TypeOf(d DType, dims ...int) Type { return Type{DType: d, Dims: dims} }

// Rank is the number of dimensions.
func (t Type) Rank() int { return len(t.Dims) }

// Len is the number of elements, 1 for a scalar.
func (t Type) Len() int {
	n := 1
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

// With is t with another element type.
func (t Type) With(d DType) Type { return Type{DType: d, Dims: t.Dims} }

// Equal compares element type and dimensions.
func (t Type) Equal(u Type) bool { return t.DType == u.DType && slices.Equal(t.Dims, u.Dims) }

// String is the StableHLO spelling, such as tensor<2x3xi32>.
func (t Type) String() string {
	var b strings.Builder
	b.WriteString("tensor<")
	for _, d := range t.Dims {
		b.WriteString(strconv.Itoa(d))
		b.WriteByte('x')
	}
	b.WriteString(string(t.DType))
	b.WriteByte('>')
	return b.String()
}

// maxElements bounds a tensor so that sizes in bytes never overflow.
const maxElements = 1 << 40

// Check reports an unknown element type, a negative dimension or more than 2^40 elements, in one phrase; "" is sound.
func (t Type) Check() string {
	if t.DType.Bits() == 0 {
		return "unknown element type " + strconv.Quote(string(t.DType))
	}
	n := 1
	for _, d := range t.Dims {
		if d < 0 {
			return "negative dimension in " + t.String()
		}
		if d > 0 && n > maxElements/d {
			return "too many elements in " + t.String()
		}
		n *= max(d, 1)
	}
	return ""
}
