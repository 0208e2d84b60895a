// SPDX-License-Identifier: Apache-2.0

package hlo

import (
	"math"
	"slices"
)

// Reducer is the operation that a reduction repeats.
type Reducer string

// The reducers, the first four with 0, the smallest or the largest value, or 1 as the start. Integers wrap in their own
// type.
const (
	ReduceAdd Reducer = "add"
	ReduceMax Reducer = "maximum"
	ReduceMin Reducer = "minimum"
	ReduceMul Reducer = "multiply"
	// ReduceLast keeps the update: the reducer of a scatter that overwrites.
	ReduceLast Reducer = "update"
)

// Reduce reduces x over the axes, which disappear from the result.
func (b *Builder) Reduce(f Reducer, x Value, axes ...int) Value {
	if !b.sound("reduce", x) {
		return Value{}
	}
	if !distinct(axes, x.typ.Rank()) {
		return b.failf("reduce: axes %v of %s", axes, x.typ)
	}
	if len(axes) == 0 {
		return x
	}
	return b.reduce(f, x, b.start(f, x.typ.DType), axes)
}

// reduce is Reduce from a start, over one axis or more.
func (b *Builder) reduce(f Reducer, x, start Value, axes []int) Value {
	if len(axes) == 0 || !distinct(axes, x.typ.Rank()) || !f.starts(x, start) {
		return b.failf("reduce: %s over axes %v of %s from %s", f, axes, x.typ, start.typ)
	}
	t := Type{x.typ.DType, others(x.typ, axes, nil)}
	return b.emit(KindReduce, t, Attrs{Axes: slices.Clone(axes), Reducer: f}, x, start)
}

// starts says that a value is one with which a reduction of x may begin.
func (f Reducer) starts(x, start Value) bool {
	known := f == ReduceAdd || f == ReduceMax || f == ReduceMin || f == ReduceMul
	return known && start.typ.Equal(TypeOf(x.typ.DType))
}

// ReduceKeep is Reduce with the axes kept at size 1.
func (b *Builder) ReduceKeep(f Reducer, x Value, axes ...int) Value {
	v := b.Reduce(f, x, axes...)
	if b.err != nil {
		return Value{}
	}
	dims := append([]int{}, x.typ.Dims...)
	for _, a := range axes {
		dims[a] = 1
	}
	return b.Reshape(v, dims...)
}

// Window is a window that slides over every axis of a tensor; nil lists stand for 1 (Stride, Dilation) or 0 (Low,
// High).
type Window struct {
	Size, Stride, Dilation []int
	Low, High              []int // padding with the start value of the reducer
}

// Spatial widens a window over the n axes before the last (channels-last images) to all axes of x.
func (w Window) Spatial(x Value) Window {
	n := len(w.Size)
	lead := x.typ.Rank() - n - 1
	if lead < 0 {
		return Window{}
	}
	widen := func(s []int, with int) []int {
		if s == nil {
			return nil
		}
		return append(append(fill(with, lead), s...), with)
	}
	return Window{widen(w.Size, 1), widen(w.Stride, 1), widen(w.Dilation, 1), widen(w.Low, 0), widen(w.High, 0)}
}

// ReduceWindow reduces the elements under each position of the window; only whole windows count.
func (b *Builder) ReduceWindow(f Reducer, x Value, w Window) Value {
	if !b.sound("reduce_window", x) {
		return Value{}
	}
	rank := x.typ.Rank()
	for _, s := range []*[]int{&w.Stride, &w.Dilation} {
		if *s == nil {
			*s = fill(1, rank)
		}
	}
	for _, s := range []*[]int{&w.Low, &w.High} {
		if *s == nil {
			*s = fill(0, rank)
		}
	}
	if _, ok := w.slide(x.typ.Dims); !ok || rank == 0 {
		return b.failf("reduce_window: %+v over %s", w, x.typ)
	}
	return b.reduceWindow(f, x, b.start(f, x.typ.DType), w)
}

// reduceWindow is ReduceWindow from a start, with all lists of the window filled in.
func (b *Builder) reduceWindow(f Reducer, x, start Value, w Window) Value {
	dims, ok := w.slide(x.typ.Dims)
	if !ok || len(dims) == 0 || !f.starts(x, start) {
		return b.failf("reduce_window: %s of %+v over %s from %s", f, w, x.typ, start.typ)
	}
	return b.emit(KindReduceWindow, Type{x.typ.DType, dims}, Attrs{Window: w, Reducer: f}, x, start)
}

// slide gives the number of window positions on each axis; all lists are filled in.
func (w Window) slide(dims []int) ([]int, bool) {
	out := make([]int, len(dims))
	for _, s := range [][]int{w.Size, w.Stride, w.Dilation, w.Low, w.High} {
		if len(s) != len(dims) {
			return nil, false
		}
	}
	for i, d := range dims {
		if w.Size[i] < 1 || w.Stride[i] < 1 || w.Dilation[i] < 1 {
			return nil, false
		}
		room := d + w.Low[i] + w.High[i] - stretch(w.Size[i], w.Dilation[i])
		if room >= 0 {
			out[i] = room/w.Stride[i] + 1
		}
	}
	return out, true
}

// ArgMax is the I32 index of the largest element along axis, the first of equals; the axis disappears. NaN is larger
// than all numbers, as NumPy, XLA and ONNX have it.
func (b *Builder) ArgMax(x Value, axis int) Value {
	largest := b.ReduceKeep(ReduceMax, x, axis)
	if b.err != nil {
		return Value{}
	}
	index, none := b.Iota(x.typ.With(I32), axis), b.Int(I32, math.MaxInt32)
	hit := b.Compare(EQ, x, b.BroadcastInDim(largest, x.typ.Dims, seq(0, x.typ.Rank())))
	if !x.typ.DType.IsFloat() {
		return b.Reduce(ReduceMin, b.Select(hit, index, none), axis)
	}
	// Whether the maximum of a row with NaN is NaN or not: indices of NaN are the lowest, others stand behind them.
	size := b.Int(I32, int64(x.typ.Dims[axis]))
	place := b.Select(b.Compare(NE, x, x), index, b.Select(hit, b.Add(index, size), none))
	first := b.Reduce(ReduceMin, place, axis)
	return b.Select(b.Compare(LT, first, size), first, b.Sub(first, size))
}

// start is the neutral element of a reducer.
func (b *Builder) start(f Reducer, d DType) Value {
	switch f {
	case ReduceAdd:
		return b.Int(d, 0)
	case ReduceMul:
		return b.Int(d, 1)
	}
	if d.IsFloat() {
		return b.Float(d, math.Inf(boolInt(f == ReduceMin)*2-1))
	}
	lo, hi := limits(d)
	if d == UI64 && f == ReduceMin {
		return b.Not(b.Int(d, 0))
	}
	if f == ReduceMax {
		return b.Int(d, lo)
	}
	return b.Int(d, hi)
}

// limits are the smallest and largest value of an integer type as int64 (UI64: up to 2^63-1).
func limits(d DType) (lo, hi int64) {
	n := min(d.Bits(), 63)
	if d.IsSigned() {
		return -1 << (d.Bits() - 1), 1<<(d.Bits()-1) - 1
	}
	return 0, int64(uint64(1)<<n - 1)
}
