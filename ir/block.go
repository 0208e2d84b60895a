// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"fmt"
	"math"

	"lathe/internal/diag"
	"lathe/ir/format"
)

// BlockFormat returns the block format of t; ok is false for scalar formats.
func (t Type) BlockFormat() (b format.Block, ok bool) {
	b, ok = t.Format.(format.Block)
	return b, ok
}

// InBlocks says that t has a block format.
func (t Type) InBlocks() bool {
	_, ok := t.BlockFormat()
	return ok
}

// BlockLengths lists the lengths of the blocks of one row, the last axis: k each, the tail shorter. nil for scalar
// formats.
func (t Type) BlockLengths() []int {
	b, ok := t.BlockFormat()
	if !ok {
		return nil
	}
	return Blocks(t.Row(), b.BlockSize())
}

// Blocks cuts n elements into blocks of k and a shorter tail, and lists their lengths.
func Blocks(n, k int) []int {
	var lengths []int
	for ; n > 0; n -= k {
		lengths = append(lengths, min(n, k))
	}
	return lengths
}

// Row is the length of the last axis, 1 for a scalar.
func (t Type) Row() int {
	if len(t.Shape) == 0 {
		return 1
	}
	return t.Shape[len(t.Shape)-1]
}

// ScaleShape is the shape of the scale fields of a block format: that of t with the number of blocks of a row as the
// last axis, of a matrix cut into tiles also with theirs as the one before.
func (t Type) ScaleShape() []int {
	b, _ := t.BlockFormat()
	rows, cols := format.NewTiling(b, t.Shape).Grid()
	switch n := len(t.Shape); n {
	case 0, 1:
		return []int{cols}
	default:
		return append(append([]int(nil), t.Shape[:n-2]...), rows, cols)
	}
}

// SameBlocks says that values of shapes a and b, in row-major order, are cut into the same blocks of up to k elements.
func SameBlocks(a, b []int, k int) bool {
	x, y := Type{Shape: a}.Row(), Type{Shape: b}.Row()
	return x == y || x%k == 0 && y%k == 0
}

// blockScales reads the scale fields of a constant, whose type lists the scales as numbers.
func (t Type) blockScales() ([]int64, error) {
	b, _ := t.BlockFormat()
	n := t.Blocks()
	if len(t.Scales) != n {
		return nil, fmt.Errorf("%d scales for %d blocks of %s", len(t.Scales), n, t)
	}
	fields := make([]int64, n)
	for i, s := range t.Scales {
		e, ok := format.Log2(s)
		if ok {
			fields[i], ok = b.ScaleField(e)
		}
		if !ok {
			lo, hi := b.ScaleLimits()
			return nil, fmt.Errorf("scale %g of block %d is not a power of two from 2^%d to 2^%d", s, i, lo, hi)
		}
	}
	return fields, nil
}

// ScaleValues gives scale fields of b as the numbers that the type of a constant lists.
func ScaleValues(b format.Block, fields []int64) []float32 {
	out := make([]float32, len(fields))
	for i, x := range fields {
		out[i] = float32(math.Ldexp(1, b.ScaleExp(x)))
	}
	return out
}

// EncodeFloats encodes real values into a new value of a quantized type t; they must be finite where t has no NaN.
func EncodeFloats(t Type, x []float32) *Tensor {
	v := NewTensor(t)
	b, block := t.BlockFormat()
	if !block {
		for i, f := range x {
			v.Codes[i] = t.Format.Encode(format.FromFloat32(f))
		}
		return v
	}
	wide := make([]float64, len(x))
	for i, f := range x {
		wide[i] = float64(f)
	}
	tiles := format.NewTiling(b, t.Shape)
	for block := range v.BlockScales {
		v.BlockScales[block] = tiles.EncodeFloats(b, block, wide, v.Codes)
	}
	return v
}

// EachBlock calls f for every block of a value in a block format, in tiles for every row of it: the index of the block
// and elements from..to-1.
func (t *Tensor) EachBlock(f func(block, from, to int)) {
	b, _ := t.Type.BlockFormat()
	tiles := format.NewTiling(b, t.Type.Shape)
	for block := range tiles.Count() {
		tiles.Pieces(block, func(from, to int) { f(block, from, to) })
	}
}

// checkBlocks holds block formats to the last axis, and constants of them to one scale a block.
func checkBlocks(n *Node) *diag.Error {
	b, block := n.Type.BlockFormat()
	if !block {
		return nil
	}
	if len(n.Type.Shape) == 0 || b.Axis() >= 0 && b.Axis() != len(n.Type.Shape)-1 {
		return n.Errorf(diag.BlockAxis, "%s cuts axis %d of %s; blocks of a graph run along the last axis", b, b.Axis(),
			ShapeString(n.Type.Shape))
	}
	if b.BlockRows() > 1 && !n.IsConst() {
		return n.Errorf(diag.BlockAxis, "%s cuts tiles; values other than constants have blocks along the last axis", b)
	}
	if n.IsConst() {
		if _, err := n.Type.blockScales(); err != nil {
			return n.Errorf(diag.BlockScale, "%v", err)
		}
	}
	return nil
}
