// SPDX-License-Identifier: Apache-2.0

package hlo

import "slices"

// TakeI looks rows of a table up: index i gives table[i]. The table is 1-D, giving one element an index, or has more
// axes, which follow those of idx in the result. Indices outside are moved to the nearest row.
func (b *Builder) TakeI(table, idx Value) Value {
	if !b.sound("take", table, idx) {
		return Value{}
	}
	if table.typ.Rank() == 0 || !idx.typ.DType.IsInt() || table.typ.Dims[0] == 0 {
		return b.failf("take: %s by %s", table.typ, idx.typ)
	}
	dims := append(slices.Clone(idx.typ.Dims), table.typ.Dims[1:]...)
	return b.emit(KindGather, Type{table.typ.DType, dims}, Attrs{}, table, idx)
}

// Row is the element at a place of an axis, which goes: the place is a scalar of I32 within the axis.
func (b *Builder) Row(x Value, axis int, place Value) Value {
	at, ok := b.places("dynamic_slice", x, axis, place)
	if !ok {
		return Value{}
	}
	dims := append([]int{}, x.typ.Dims...)
	dims[axis] = 1
	v := b.emit(KindDynamicSlice, Type{x.typ.DType, slices.Clone(dims)}, Attrs{}, append([]Value{x}, at...)...)
	return b.Reshape(v, append(dims[:axis:axis], dims[axis+1:]...)...)
}

// PutRow is x with row in the place of an axis that Row reads.
func (b *Builder) PutRow(x, row Value, axis int, place Value) Value {
	at, ok := b.places("dynamic_update_slice", x, axis, place)
	if !ok || !b.sound("dynamic_update_slice", row) {
		return Value{}
	}
	dims := append([]int{}, x.typ.Dims...)
	dims[axis] = 1
	row = b.Reshape(row, dims...)
	if row.typ.DType != x.typ.DType {
		return b.failf("dynamic_update_slice: %s into %s", row.typ, x.typ)
	}
	return b.emit(KindDynamicUpdate, x.typ, Attrs{}, append([]Value{x, row}, at...)...)
}

// places are the indices of an element of one axis.
func (b *Builder) places(op string, x Value, axis int, place Value) ([]Value, bool) {
	if !b.sound(op, x, place) {
		return nil, false
	}
	if axis < 0 || axis >= x.typ.Rank() || !place.typ.Equal(TypeOf(I32)) {
		b.failf("%s: place %s of axis %d of %s", op, place.typ, axis, x.typ)
		return nil, false
	}
	at := make([]Value, x.typ.Rank())
	for i := range at {
		at[i] = b.Int(I32, 0)
	}
	at[axis] = place
	return at, true
}

// ScatterRows writes rows into a table: row i of updates goes to row idx[i] of table, whose first axis counts rows, and
// is combined with what stands there. Rows outside of the table are left out. idx is a vector of integers.
func (b *Builder) ScatterRows(f Reducer, table, idx, updates Value) Value {
	if !b.sound("scatter", table, idx, updates) {
		return Value{}
	}
	rank := table.typ.Rank()
	if rank == 0 || idx.typ.Rank() != 1 || !idx.typ.DType.IsInt() ||
		!slices.Contains([]Reducer{ReduceAdd, ReduceMax, ReduceMin, ReduceMul, ReduceLast}, f) ||
		!updates.typ.Equal(Type{table.typ.DType, append([]int{idx.typ.Dims[0]}, table.typ.Dims[1:]...)}) {
		return b.failf("scatter: %s of %s by %s into %s", f, updates.typ, idx.typ, table.typ)
	}
	return b.emit(KindScatter, table.typ, Attrs{Reducer: f}, table, idx, updates)
}

// SortPlaces sorts lines of x along an axis, the largest first or the least first, equal elements in their order, and
// returns the sorted values and their places before, in I64. NaN is larger than all numbers.
func (b *Builder) SortPlaces(x Value, axis int, largest bool) (values, places Value) {
	if !b.sound("sort", x) {
		return Value{}, Value{}
	}
	if axis < 0 || axis >= x.typ.Rank() {
		return b.failf("sort: axis %d of %s", axis, x.typ), Value{}
	}
	index := b.Iota(x.typ.With(I64), axis)
	dir := LT
	if largest {
		dir = GT
	}
	values = b.sort(x, index, axis, dir)
	return values, b.emit(KindResult, index.typ, Attrs{Index: 1}, values)
}

// sort orders x, and index, the places along the axis, with it.
func (b *Builder) sort(x, index Value, axis int, dir Dir) Value {
	if axis < 0 || axis >= x.typ.Rank() || !index.typ.Equal(x.typ.With(I64)) || dir != LT && dir != GT {
		return b.failf("sort: %s of %s and %s along axis %d", dir, x.typ, index.typ, axis)
	}
	return b.emit(KindSort, x.typ, Attrs{Axes: []int{axis}, Dir: dir}, x, index)
}
