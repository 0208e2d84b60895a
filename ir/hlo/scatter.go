// SPDX-License-Identifier: Apache-2.0

package hlo

import (
	"fmt"
	"strings"
)

// ReduceLast keeps the update: the reducer of a scatter that overwrites.
const ReduceLast Reducer = "update"

// ScatterRows writes rows into a table: row i of updates goes to row idx[i] of table, whose first axis counts rows, and
// is combined with what stands there. Rows outside of the table are left out. idx is a vector of integers.
func (b *Builder) ScatterRows(f Reducer, table, idx, updates Value) Value {
	if !b.sound("scatter", table, idx, updates) {
		return Value{}
	}
	rank := table.typ.Rank()
	if rank == 0 || idx.typ.Rank() != 1 || !idx.typ.DType.IsInt() ||
		!updates.typ.Equal(Type{table.typ.DType, append([]int{idx.typ.Dims[0]}, table.typ.Dims[1:]...)}) {
		return b.failf("scatter: %s by %s into %s", updates.typ, idx.typ, table.typ)
	}
	window := ""
	if rank > 1 {
		window = fmt.Sprintf("update_window_dims = [%s], ", intList(seq(1, rank-1)))
	}
	attrs := "indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<" + window +
		"inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false"
	v := b.emitRegion("scatter", table.typ, attrs, region(f, table.typ.DType), table, idx, updates)
	return v.with(Attrs{Reducer: f})
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
	name := fmt.Sprintf("%%%d", b.next)
	first := Value{b: b, name: name + "#0", typ: x.typ, number: b.record("sort", x.typ, []Value{x, index})}
	dir := LT
	if largest {
		dir = GT
	}
	first.with(Attrs{Axes: []int{axis}, Dir: dir})
	second := Value{b: b, name: name + "#1", typ: index.typ, number: b.record("sort_places", index.typ, []Value{first})}
	b.next++
	fmt.Fprintf(&b.body, "    %s:2 = \"stablehlo.sort\"(%s, %s) <{dimension = %d : i64, is_stable = true}> ({\n%s    })"+
		" : (%s, %s) -> (%s, %s)\n", name, x.name, index.name, axis, before(x.typ.DType, largest), x.typ, index.typ, x.typ,
		index.typ)
	return first, second
}

// before is the body of a sort: whether an element stands before another.
func before(d DType, largest bool) string {
	t, i, truth := Type{DType: d}.String(), Type{DType: I64}.String(), Type{DType: I1}.String()
	var s strings.Builder
	fmt.Fprintf(&s, "    ^bb0(%%x: %s, %%y: %s, %%i: %s, %%j: %s):\n", t, t, i, i)
	compare := func(name, x, y string, dir Dir) {
		fmt.Fprintf(&s, "      %s = \"stablehlo.compare\"(%s, %s) <{"+
			"comparison_direction = #stablehlo<comparison_direction %s>, compare_type = #stablehlo<comparison_type %s>}> : "+
			"(%s, %s) -> %s\n", name, x, y, dir, compareType(d), t, t, truth)
	}
	x, y := "%x", "%y"
	if !largest {
		x, y = y, x
	}
	compare("%more", x, y, GT)
	result := "%more"
	if d.IsFloat() { // or x is NaN and y is not
		compare("%a", x, x, NE)
		compare("%b", y, y, EQ)
		fmt.Fprintf(&s, "      %%c = \"stablehlo.and\"(%%a, %%b) : (%s, %s) -> %s\n", truth, truth, truth)
		fmt.Fprintf(&s, "      %%d = \"stablehlo.or\"(%%more, %%c) : (%s, %s) -> %s\n", truth, truth, truth)
		result = "%d"
	}
	fmt.Fprintf(&s, "      \"stablehlo.return\"(%s) : (%s) -> ()\n", result, truth)
	return s.String()
}
