// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"fmt"
	"slices"

	"lathe/ir/format"
)

// The formats that whole numbers and truth values have in float graphs: two's complement or unsigned integers, modulo
// 2^W. Elements of the source type u64 are Int64, too: models use them for positions.
var (
	Int8   format.Format = whole(8, true)
	Int16  format.Format = whole(16, true)
	Int32  format.Format = whole(32, true)
	Int64  format.Format = whole(64, true)
	Uint8  format.Format = whole(8, false)
	Uint16 format.Format = whole(16, false)
	Uint32 format.Format = whole(32, false)
	// Bool is 1 for true, 0 for false.
	Bool format.Format = whole(1, false)
)

func whole(width int, signed bool) format.Fixed {
	return format.Fixed{W: width, Signed: signed, Over: format.Wrap}
}

// IsWhole says that f is one of the formats of whole numbers and truth values in float graphs.
func IsWhole(f format.Format) bool {
	switch f {
	case Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Bool:
		return true
	}
	return false
}

// WholeOf is the integers that a format of whole numbers or truth values holds, modulo 2^W; ok is false for all others.
func WholeOf(f format.Format) (ints format.Fixed, ok bool) {
	if !IsWhole(f) {
		return format.Fixed{}, false
	}
	return format.AsFixed(f)
}

// FormatOf is the format that elements of a storage type have in a float graph: floats of all widths are FP32. It is
// nil for an unknown type.
func FormatOf(d DType) format.Format {
	switch d {
	case F32, F64, F16, BF:
		return format.FP32
	case I8:
		return Int8
	case I16:
		return Int16
	case I32:
		return Int32
	case I64, U64:
		return Int64
	case U8:
		return Uint8
	case U16:
		return Uint16
	case U32:
		return Uint32
	case B1:
		return Bool
	}
	return nil
}

// HalfOf is the float of 16 bits that elements of a storage type are.
func HalfOf(d DType) (h format.Half, ok bool) {
	switch d {
	case F16:
		return format.AsHalf(format.F16)
	case BF:
		return format.AsHalf(format.BF16)
	}
	return h, false
}

// StoredAs is the storage type of elements in a format of float graphs; "" for other formats.
func StoredAs(f format.Format) DType {
	switch f {
	case format.BF16:
		return BF
	case format.F16:
		return F16
	}
	for _, d := range []DType{F32, I8, I16, I32, I64, U8, U16, U32, B1} {
		if FormatOf(d) == f {
			return d
		}
	}
	return ""
}

// FloatFormat is the format that n has in a float graph: what its operation says, else the one format that all its
// arguments have. FP32 stands for all floats. Sources keep theirs. The error says which formats the operation does not
// take, or not together.
func (n *Node) FloatFormat() (format.Format, error) {
	switch {
	case len(n.Args) == 0:
		return n.Type.Format, nil
	case n.Op.Format != nil:
		return n.Op.Format(n)
	case !slices.ContainsFunc(n.Args, func(a *Node) bool { return IsWhole(a.Type.Format) }):
		return computed(n.Args[0]), nil
	}
	f, err := n.OneFormat(n.Args...)
	if err == nil && IsWhole(f) && !n.Op.Traits.Whole {
		err = fmt.Errorf("%s takes floats, %q is %s", n.Op.Name, n.Args[0].Name, f)
	}
	return f, err
}

// computed is the format in which values of a are computed with: floats of 16 bits are FP32.
func computed(a *Node) format.Format {
	if a.Type.IsFloat() {
		return format.FP32
	}
	return a.Type.Format
}

// OneFormat is the format that all args of n have; FP32 stands for all floats.
func (n *Node) OneFormat(args ...*Node) (format.Format, error) {
	f := computed(args[0])
	for _, a := range args[1:] {
		if computed(a) != f {
			return nil, fmt.Errorf("%s takes arguments of one format, %q is %s and %q is %s", n.Op.Name, args[0].Name, f,
				a.Name, a.Type.Format)
		}
	}
	return f, nil
}

// Positions is the size of the smallest axis whose positions the elements of n are, read directly or behind nodes that
// move or convert them; 0 if they are none.
func (g *Graph) Positions(n *Node) int {
	carried, least := map[*Node]bool{n: true}, 0
	for _, m := range g.Nodes {
		for i, a := range m.Args {
			if !carried[a] {
				continue
			}
			if t := m.Op.Traits; t.KeepsCodes || t.FloatOnly && t.Elementwise && len(m.Args) == 1 {
				carried[m] = true
			} else if t.Index != nil {
				if size := t.Index(m, i); size > 0 && (least == 0 || size < least) {
					least = size
				}
			}
		}
	}
	return least
}
