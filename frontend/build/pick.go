// SPDX-License-Identifier: Apache-2.0

package build

import (
	"strconv"
	"strings"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/move"
	"lathe/ir/op/whole"
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

// mostRuns bounds the pieces that an axis is put together from.
const mostRuns = 16

// Pick takes the elements of an axis at places that are known, each in 0 to size-1. Places that rise become a slice, a
// stretch or both, a few runs of them a concat of those, which streams can do; all others are looked up.
func (b *Builder) Pick(at Place, x *ir.Node, axis int, places []int64) (*ir.Node, error) {
	c := b.chain(at)
	if x.IsConst() || len(places) == 0 {
		return c.done(c.looked("", x, axis, places))
	}
	var runs [][]int64
	from := 0
	for i := range places {
		if i+1 == len(places) || places[i+1] < places[i] {
			runs, from = append(runs, places[from:i+1]), i+1
		}
	}
	switch {
	case len(runs) == 1:
		return c.done(c.picked("", x, axis, places))
	case len(runs) > mostRuns:
		return c.done(c.looked("", x, axis, places))
	}
	var pieces []*ir.Node
	for i, run := range runs {
		pieces = append(pieces, c.picked("piece"+strconv.Itoa(i), x, axis, run))
	}
	return c.done(c.do("", move.Concat, &move.ConcatAttrs{Axis: axis}, pieces...))
}

// looked takes the elements of an axis at places by a table of them.
func (c *chain) looked(part string, x *ir.Node, axis int, places []int64) *ir.Node {
	name := "at"
	if part != "" {
		name = part + ".at"
	}
	return c.do(part, whole.Gather, &column.AxisAttrs{Axis: axis}, x, c.wholes(name, ir.I64, places, len(places)))
}

// picked is Pick of one run of places.
func (c *chain) picked(part string, x *ir.Node, axis int, places []int64) *ir.Node {
	if c.err != nil {
		return nil
	}
	index := make([]int, len(places))
	for i, p := range places {
		index[i] = int(p) - int(places[0])
	}
	first, last := int(places[0]), index[len(index)-1]
	step := 1
	if len(index) > 1 {
		step = index[1]
	}
	even := true
	for i, p := range index {
		even = even && p == i*step
	}
	a := move.StretchOf(axis, last+1, index)
	switch {
	case even && step > 0:
		if len(index) == x.Type.Shape[axis] {
			return x
		}
		return c.do(part, move.Slice, &move.SliceAttrs{Axis: axis, Start: first, Count: len(index), Step: step}, x)
	case a != nil && last+1 < x.Type.Shape[axis]:
		cut := &move.SliceAttrs{Axis: axis, Start: first, Count: last + 1, Step: 1}
		x = c.do(strings.TrimPrefix(part+".part", "."), move.Slice, cut, x)
		fallthrough
	case a != nil:
		return c.do(part, move.Stretch, a, x)
	}
	return c.looked(part, x, axis, places)
}
