// SPDX-License-Identifier: Apache-2.0

package build

import (
	"lathe/ir"
	"lathe/ir/format"
)

// Edge is what stands beyond the ends of an axis that is padded by its own elements.
type Edge uint8

// Edges.
const (
	EdgeReflect Edge = iota // the elements inside, mirrored at the last one
	EdgeRepeat              // the last element: ONNX "edge", PyTorch "replicate"
	EdgeWrap                // the other end: ONNX "wrap", PyTorch "circular"
)

// PadPlaces are the places that an axis of size elements has them from, with before and after more at its ends; ok is
// false where the edge needs more elements than there are.
func PadPlaces(size, before, after int, e Edge) (places []int, ok bool) {
	if more := max(before, after); e == EdgeReflect && more >= size || e == EdgeWrap && more > size {
		return nil, false
	}
	places = make([]int, 0, before+size+after)
	for i := -before; i < size+after; i++ {
		k := i
		switch {
		case e == EdgeRepeat:
			k = min(max(i, 0), size-1)
		case e == EdgeWrap:
			k = (i + size) % size
		case i < 0:
			k = -i
		case i >= size:
			k = 2*(size-1) - i
		}
		places = append(places, k)
	}
	return places, true
}

// PadValue is v as the constant of move.Pad for x, which is a float32; ok is false where whole numbers would be
// padded by another number. The bounds of a format can be had, although float32 rounds them: they saturate.
func PadValue(x *ir.Node, v float64) (value float32, ok bool) {
	value = float32(v)
	f := x.Type.Format
	return value, x.Type.IsFloat() || f.Encode(format.FromFloat32(value)) == f.Encode(format.FromFloat64(v))
}
