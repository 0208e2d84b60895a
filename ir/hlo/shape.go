// SPDX-License-Identifier: Apache-2.0

package hlo

import "slices"

// Reshape gives x new dimensions with the same number of elements in the same row-major order.
func (b *Builder) Reshape(x Value, dims ...int) Value {
	if !b.sound("reshape", x) || slices.Equal(x.typ.Dims, dims) {
		return x
	}
	t := Type{x.typ.DType, slices.Clone(dims)}
	if t.Check() == "" && t.Len() != x.typ.Len() {
		return b.failf("reshape: %s to %s", x.typ, t)
	}
	return b.emit(KindReshape, t, Attrs{}, x)
}

// Transpose permutes axes: axis i of the result is axis perm[i] of x.
func (b *Builder) Transpose(x Value, perm ...int) Value {
	if !b.sound("transpose", x) {
		return Value{}
	}
	if !isPermutation(perm, x.typ.Rank()) {
		return b.failf("transpose: %v does not permute the axes of %s", perm, x.typ)
	}
	t := Type{x.typ.DType, make([]int, len(perm))}
	for i, p := range perm {
		t.Dims[i] = x.typ.Dims[p]
	}
	return b.emit(KindTranspose, t, Attrs{Axes: slices.Clone(perm)}, x)
}

// BroadcastInDim repeats x into dims: axis i of x becomes axis axes[i] of the result, and has its size or 1.
func (b *Builder) BroadcastInDim(x Value, dims, axes []int) Value {
	if !b.sound("broadcast", x) {
		return Value{}
	}
	bad := len(axes) != x.typ.Rank() || !ascending(axes, len(dims))
	for i := 0; !bad && i < len(axes); i++ {
		bad = x.typ.Dims[i] != dims[axes[i]] && x.typ.Dims[i] != 1
	}
	t := Type{x.typ.DType, slices.Clone(dims)}
	if bad {
		return b.failf("broadcast: %s along axes %v to %s", x.typ, axes, t)
	}
	return b.emit(KindBroadcast, t, Attrs{Axes: slices.Clone(axes)}, x)
}

// BroadcastTo repeats x into dims by the rule of NumPy: axes are aligned at the end.
func (b *Builder) BroadcastTo(x Value, dims ...int) Value {
	if !b.sound("broadcast", x) || slices.Equal(x.typ.Dims, dims) {
		return x
	}
	if x.typ.Rank() > len(dims) {
		return b.failf("broadcast: %s to rank %d", x.typ, len(dims))
	}
	return b.BroadcastInDim(x, dims, seq(len(dims)-x.typ.Rank(), x.typ.Rank()))
}

// Along repeats a vector over the type dims so that its elements follow one axis, such as a bias per channel.
func (b *Builder) Along(vector Value, dims []int, axis int) Value {
	return b.BroadcastInDim(vector, dims, []int{axis})
}

// Slice takes elements start, start+stride, ... below limit of each axis; a nil stride is 1 everywhere.
func (b *Builder) Slice(x Value, start, limit, stride []int) Value {
	if !b.sound("slice", x) {
		return Value{}
	}
	rank := x.typ.Rank()
	if stride == nil {
		stride = fill(1, rank)
	}
	if len(start) != rank || len(limit) != rank || len(stride) != rank {
		return b.failf("slice: [%v:%v:%v] of %s", start, limit, stride, x.typ)
	}
	t := Type{x.typ.DType, make([]int, rank)}
	for i, d := range x.typ.Dims {
		if start[i] < 0 || limit[i] < start[i] || limit[i] > d || stride[i] < 1 {
			return b.failf("slice: [%d:%d:%d] on axis %d of %s", start[i], limit[i], stride[i], i, x.typ)
		}
		t.Dims[i] = (limit[i] - start[i] + stride[i] - 1) / stride[i]
	}
	a := Attrs{Start: slices.Clone(start), Limit: slices.Clone(limit), Stride: slices.Clone(stride)}
	return b.emit(KindSlice, t, a, x)
}

// SliceAxis is Slice on a single axis with stride 1.
func (b *Builder) SliceAxis(x Value, axis, start, limit int) Value {
	if !b.sound("slice", x) {
		return Value{}
	}
	if axis < 0 || axis >= x.typ.Rank() {
		return b.failf("slice: axis %d of %s", axis, x.typ)
	}
	from, to := fill(0, x.typ.Rank()), slices.Clone(x.typ.Dims)
	from[axis], to[axis] = start, limit
	return b.Slice(x, from, to, nil)
}

// Concat joins values along axis; all other axes agree.
func (b *Builder) Concat(axis int, values ...Value) Value {
	if !b.sound("concatenate", values...) {
		return Value{}
	}
	if len(values) == 0 || axis < 0 || axis >= values[0].typ.Rank() {
		return b.failf("concatenate: %d values along axis %d", len(values), axis)
	}
	t := Type{values[0].typ.DType, slices.Clone(values[0].typ.Dims)}
	t.Dims[axis] = 0
	for _, v := range values {
		want := Type{t.DType, slices.Clone(t.Dims)}
		if v.typ.Rank() == len(t.Dims) {
			want.Dims[axis] = v.typ.Dims[axis]
		}
		if !v.typ.Equal(want) {
			return b.failf("concatenate: %s beside %s along axis %d", v.typ, values[0].typ, axis)
		}
		t.Dims[axis] += v.typ.Dims[axis]
	}
	return b.emit(KindConcatenate, t, Attrs{Axes: []int{axis}}, values...)
}

// Pad puts low and high elements of the scalar value around x and inner ones between its elements (nil: 0 everywhere);
// negative low or high cut off.
func (b *Builder) Pad(x, value Value, low, high, inner []int) Value {
	if !b.sound("pad", x, value) {
		return Value{}
	}
	rank := x.typ.Rank()
	if inner == nil {
		inner = fill(0, rank)
	}
	if len(low) != rank || len(high) != rank || len(inner) != rank || !value.typ.Equal(Type{DType: x.typ.DType}) {
		return b.failf("pad: %s with %s by %v, %v, %v", x.typ, value.typ, low, high, inner)
	}
	t := Type{x.typ.DType, make([]int, rank)}
	for i, d := range x.typ.Dims {
		if inner[i] < 0 {
			return b.failf("pad: interior padding %d", inner[i])
		}
		t.Dims[i] = d + max(d-1, 0)*inner[i] + low[i] + high[i]
	}
	a := Attrs{Low: slices.Clone(low), High: slices.Clone(high), Inner: slices.Clone(inner)}
	return b.emit(KindPad, t, a, x, value)
}

// Reverse turns the order of the elements along the axes.
func (b *Builder) Reverse(x Value, axes ...int) Value {
	if !b.sound("reverse", x) {
		return Value{}
	}
	if !distinct(axes, x.typ.Rank()) {
		return b.failf("reverse: axes %v of %s", axes, x.typ)
	}
	return b.emit(KindReverse, x.typ, Attrs{Axes: slices.Clone(axes)}, x)
}

// Blocks cuts the last axis of x into blocks of k: [..., n] becomes [..., ceil(n/k), k], filled up with zeros.
func (b *Builder) Blocks(x Value, k int) Value {
	if !b.sound("blocks", x) || k < 1 || x.typ.Rank() == 0 {
		return b.failf("blocks of %d of %s", k, x.typ)
	}
	dims := x.typ.Dims
	last := len(dims) - 1
	count := (dims[last] + k - 1) / k
	if gap := count*k - dims[last]; gap > 0 {
		high := make([]int, len(dims))
		high[last] = gap
		none := make([]int, len(dims))
		x = b.Pad(x, b.Int(x.typ.DType, 0), none, high, none)
	}
	return b.Reshape(x, append(append([]int{}, dims[:last]...), count, k)...)
}

// Unblocks is the inverse of Blocks: the first n elements of [..., blocks, k].
func (b *Builder) Unblocks(x Value, n int) Value {
	if !b.sound("unblocks", x) || x.typ.Rank() < 2 {
		return b.failf("unblocks of %s", x.typ)
	}
	dims := x.typ.Dims
	last := len(dims) - 2
	flat := b.Reshape(x, append(append([]int{}, dims[:last]...), dims[last]*dims[last+1])...)
	return b.SliceAxis(flat, last, 0, n)
}

// seq is n numbers from start on.
func seq(start, n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = start + i
	}
	return s
}

// fill is n times x.
func fill(x, n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = x
	}
	return s
}

// distinct reports that the axes are different ones below rank.
func distinct(axes []int, rank int) bool {
	seen := make([]bool, rank)
	for _, a := range axes {
		if a < 0 || a >= rank || seen[a] {
			return false
		}
		seen[a] = true
	}
	return true
}

func isPermutation(perm []int, rank int) bool { return len(perm) == rank && distinct(perm, rank) }

func ascending(axes []int, rank int) bool { return distinct(axes, rank) && slices.IsSorted(axes) }
