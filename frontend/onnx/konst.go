// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
)

// konst is a small tensor whose elements are known: shapes, indices, scalars, small parameters.
type konst struct {
	typ    ir.DType
	shape  []int
	ints   []int64   // of integer and bool types
	floats []float64 // of float types
	own    *ir.Type  // the format whose codes the elements are, shape aside; nil: none
}

// newKonst makes zeros.
func newKonst(typ ir.DType, shape []int) *konst {
	k := &konst{typ: typ, shape: shape}
	n := ir.Type{Shape: shape}.Elems()
	if isFloat(typ) {
		k.floats = make([]float64, n)
	} else {
		k.ints = make([]int64, n)
	}
	return k
}

// intKonst is a list, or with scalar a single number, of int64.
func intKonst(shape []int, v ...int64) *konst { return &konst{typ: ir.I64, shape: shape, ints: v} }

// readKonst decodes a blob.
func readKonst(b *ir.Blob, shape []int) (*konst, error) {
	k := &konst{typ: b.DType, shape: shape}
	if !isFloat(b.DType) {
		var err error
		k.ints, err = b.Ints()
		return k, err
	}
	k.floats = make([]float64, b.Len())
	if b.DType == ir.F64 {
		for i := range k.floats {
			k.floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(b.Bytes[8*i:]))
		}
		return k, nil
	}
	for i, v := range b.Floats() {
		k.floats[i] = float64(v)
	}
	return k, nil
}

// real says that the elements are real numbers, in floats; else they are in ints.
func (k *konst) real() bool { return isFloat(k.typ) }

func (k *konst) len() int { return max(len(k.ints), len(k.floats)) }

// reshaped shares the elements.
func (k *konst) reshaped(shape []int) *konst {
	c := *k
	c.shape = shape
	c.own = k.along(func(axis int) int { // counted from the end, where reshapes seldom change anything
		if at := axis + len(shape) - len(k.shape); at >= 0 && at < len(shape) && shape[at] == k.shape[axis] {
			return at
		}
		return lostAxis
	})
	return &c
}

// lostAxis marks scales whose axis is no axis any more.
const lostAxis = 15

// along is own with its axis of scales moved by f.
func (k *konst) along(f func(axis int) int) *ir.Type {
	if k.own == nil {
		return nil
	}
	a, ok := k.own.Format.(format.Affine)
	if !ok || a.Axis < 0 {
		return k.own
	}
	t := *k.own
	a.Axis = f(a.Axis)
	t.Format = a
	return &t
}

// mark gives a constant node the format of its elements. Scales must run along axis 0, that of the output channels.
func (k *konst) mark(n *ir.Node) error {
	if k == nil || k.own == nil {
		return nil
	}
	if a, ok := k.own.Format.(format.Affine); ok && a.Axis > 0 {
		return diag.New(source.CodeQuantForm, "", "constant %s has scales along an axis that is not that of output channels",
			quote(n.Name)).WithHint("quantize the weights per tensor or per output channel")
	}
	n.Attrs.(*ir.Const).Own = *k.own
	return nil
}

// pick builds a tensor of the given shape from the elements at the indices.
func (k *konst) pick(shape, index []int) *konst {
	out := &konst{typ: k.typ, shape: shape}
	out.own = k.along(func(int) int { return lostAxis })
	if k.real() {
		out.floats = make([]float64, len(index))
		for i, j := range index {
			out.floats[i] = k.floats[j]
		}
		return out
	}
	out.ints = make([]int64, len(index))
	for i, j := range index {
		out.ints[i] = k.ints[j]
	}
	return out
}

// cast converts the elements: floats to integers by truncation, saturating, NaN to 0.
func (k *konst) cast(typ ir.DType) *konst {
	out := newKonst(typ, k.shape)
	for i := range k.len() {
		switch {
		case k.real() && out.real():
			out.floats[i] = roundTo(typ, k.floats[i])
		case k.real() && typ == ir.B1:
			out.ints[i] = truth(k.floats[i] != 0)
		case k.real():
			out.ints[i] = wrap(typ, saturate(k.floats[i]))
		case out.real():
			out.floats[i] = roundTo(typ, float64(k.ints[i]))
		default:
			out.ints[i] = wrap(typ, k.ints[i])
		}
	}
	return out
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// saturate truncates towards zero.
func saturate(v float64) int64 {
	switch {
	case math.IsNaN(v):
		return 0
	case v >= 1<<63:
		return math.MaxInt64
	case v <= -1<<63:
		return math.MinInt64
	}
	return int64(v)
}

// wrap reduces v to the range of an integer type, modulo its size.
func wrap(typ ir.DType, v int64) int64 {
	switch typ {
	case ir.B1:
		return truth(v != 0)
	case ir.I8:
		return int64(int8(v))
	case ir.U8:
		return int64(uint8(v))
	case ir.I16:
		return int64(int16(v))
	case ir.U16:
		return int64(uint16(v))
	case ir.I32:
		return int64(int32(v))
	case ir.U32:
		return int64(uint32(v))
	}
	return v
}

// roundTo rounds to the precision of a float type. One operation on float32 values in float64, rounded once more, is
// the correctly rounded float32 operation.
func roundTo(typ ir.DType, v float64) float64 {
	switch typ {
	case ir.F64:
		return v
	case ir.F32:
		return float64(float32(v))
	}
	f := narrowFloats[0]
	if typ == ir.BF {
		f = narrowFloats[1]
	}
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	_, e := math.Frexp(v)
	step := max(e-f.bits, f.least)
	v = math.Ldexp(math.RoundToEven(math.Ldexp(v, -step)), step)
	if math.Abs(v) > f.largest {
		return math.Inf(int(math.Copysign(1, v)))
	}
	return v
}

// narrowFloats are f16 and bf16: significand bits, exponent of the smallest step, largest finite value.
var narrowFloats = [2]struct {
	bits, least int
	largest     float64
}{{11, -24, 65504}, {8, -133, 0x1.fep127}}

// blob stores the elements as f32, which is what graphs hold.
// Codes of more bits than f32 tells apart are stored as f64.
func (k *konst) blob() (*ir.Blob, error) {
	if !k.real() {
		return nil, fmt.Errorf("integers where real numbers are needed")
	}
	if k.own != nil && k.own.Format.Width() > 16 {
		return ir.DoubleBlob(k.floats), nil
	}
	values := make([]float32, len(k.floats))
	for i, v := range k.floats {
		values[i] = float32(v)
	}
	return ir.FloatBlob(values), nil
}

// broadcastShape is NumPy's rule for two shapes.
func broadcastShape(a, b []int) ([]int, error) {
	out := make([]int, max(len(a), len(b)))
	for i := range out {
		da, db := dimFromEnd(a, len(out)-i), dimFromEnd(b, len(out)-i)
		switch {
		case da == db || db == 1:
			out[i] = da
		case da == 1:
			out[i] = db
		default:
			return nil, fmt.Errorf("shapes %s and %s do not broadcast", ir.ShapeString(a), ir.ShapeString(b))
		}
	}
	return out, nil
}

func dimFromEnd(shape []int, fromEnd int) int {
	if fromEnd > len(shape) {
		return 1
	}
	return shape[len(shape)-fromEnd]
}

// strided lists, in row-major order of shape, offset + sum of index*stride.
func strided(shape, strides []int, offset int) []int {
	if slices.Contains(shape, 0) {
		return nil // not after the other dimensions have made a long list
	}
	index := []int{offset}
	for i, d := range shape {
		next := make([]int, 0, len(index)*d)
		for _, base := range index {
			for k := range d {
				next = append(next, base+k*strides[i])
			}
		}
		index = next
	}
	return index
}

// rowMajor is the strides of a shape.
func rowMajor(shape []int) []int {
	strides, s := make([]int, len(shape)), 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = s
		s *= shape[i]
	}
	return strides
}

// broadcastTo repeats k to a shape that broadcastShape gave.
func (k *konst) broadcastTo(shape []int) *konst {
	own, strides := rowMajor(k.shape), make([]int, len(shape))
	for i := range shape {
		if from := len(shape) - i; dimFromEnd(k.shape, from) != 1 {
			strides[i] = own[len(k.shape)-from]
		}
	}
	return k.pick(shape, strided(shape, strides, 0))
}

// transposed permutes the axes.
func (k *konst) transposed(perm []int) *konst {
	own := rowMajor(k.shape)
	shape, strides := make([]int, len(perm)), make([]int, len(perm))
	for i, p := range perm {
		shape[i], strides[i] = k.shape[p], own[p]
	}
	out := k.pick(shape, strided(shape, strides, 0))
	out.own = k.along(func(axis int) int { return slices.Index(perm, axis) })
	return out
}
