// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lathe/ir/format"
)

// Type is what is known of every value of a node: its shape and how its elements are coded.
type Type struct {
	// Shape lists the dimensions, outermost first, without a sample axis of its own. A scalar has none.
	Shape []int
	// Format is format.FP32 in a float graph, or a float of 16 bits.
	Format format.Format
	// Scales holds one scale per channel when Format has a "[axis]" scale, else nil.
	Scales []float32
}

// Float is a float32 type of the given shape.
func Float(shape ...int) Type { return Type{Shape: shape, Format: format.FP32} }

// Elems is the number of elements.
func (t Type) Elems() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Tokens is the first axis that is more than a batch of one; 1 where there is none. OfToken is the elements of each.
func (t Type) Tokens() int {
	for _, size := range t.Shape {
		if size > 1 {
			return size
		}
	}
	return 1
}

// OfToken is the elements of one of the Tokens.
func (t Type) OfToken() int { return t.Elems() / t.Tokens() }

// BeatWidth is the bits of a beat of the given lanes: the elements, lane 0 lowest, and for block formats the scale of
// their block above.
func (t Type) BeatWidth(lanes int) int {
	w := lanes * t.Format.Width()
	if b, ok := t.Format.(format.Block); ok {
		w += b.ScaleWidth()
	}
	return w
}

// Blocks is the number of blocks of a value in a block format, 0 for other formats.
func (t Type) Blocks() int {
	b, ok := t.Format.(format.Block)
	if !ok {
		return 0
	}
	return format.NewTiling(b, t.Shape).Count()
}

// Block is the number of the block that holds the element at flat row-major position i. It is 0 for formats without.
func (t Type) Block(i int) int {
	b, ok := t.Format.(format.Block)
	if !ok {
		return 0
	}
	return format.NewTiling(b, t.Shape).Of(i)
}

// IsFloat says that values of this type are float32 numbers and not codes.
func (t Type) IsFloat() bool { return format.IsFloat(t.Format) }

// Half is the float of 16 bits to which values of this type are rounded.
func (t Type) Half() (h format.Half, ok bool) { return format.AsHalf(t.Format) }

// SameFormat says that codes of t and u mean the same values.
func (t Type) SameFormat(u Type) bool {
	return format.SameType(t.Format, u.Format) && slices.Equal(t.Scales, u.Scales)
}

// WithShape returns t with another shape.
func (t Type) WithShape(shape []int) Type {
	t.Shape = shape
	return t
}

// String prints "1x8x8 fixed(8,4)", and the scales behind it in braces if there are any.
func (t Type) String() string {
	f := "?"
	if t.Format != nil {
		f = t.Format.String()
	}
	s := ShapeString(t.Shape) + " " + f
	if t.Scales != nil {
		parts := make([]string, len(t.Scales))
		for i, v := range t.Scales {
			parts[i] = strconv.FormatFloat(float64(v), 'x', -1, 32)
		}
		s += "{" + strings.Join(parts, ",") + "}"
	}
	return s
}

// ShapeString prints dimensions as 1x8x8; a scalar prints as "scalar".
func ShapeString(shape []int) string {
	if len(shape) == 0 {
		return "scalar"
	}
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = strconv.Itoa(d)
	}
	return strings.Join(parts, "x")
}

// MaxElems bounds the elements of one tensor; larger ones come from broken files.
const MaxElems = 1 << 33

// MaxValue bounds the elements of a value that is computed, which must fit into memory several times; constants are
// views of their file.
const MaxValue = 1 << 28

// CheckShape refuses negative dimensions and more than MaxElems elements.
func CheckShape(shape []int) error {
	n := 1
	for _, d := range shape {
		if d < 0 {
			return fmt.Errorf("shape %s has a negative dimension", ShapeString(shape))
		}
		if d > 0 && n > MaxElems/d {
			return fmt.Errorf("shape %s has more than 2^33 elements", ShapeString(shape))
		}
		n *= d
	}
	return nil
}
