// SPDX-License-Identifier: Apache-2.0

package hlo

import (
	"fmt"
	"strings"
)

// Dot says which axes of two operands are multiplied and summed (Contract) and which are kept side by side (Batch);
// the lists pair up by position.
type Dot struct {
	LhsContract, RhsContract []int
	LhsBatch, RhsBatch       []int
}

// DotGeneral multiplies and sums. The result has the batch axes, then the other axes of x, then those of y; its
// element type is out, in which products and sums are taken (integers wrap).
func (b *Builder) DotGeneral(x, y Value, d Dot, out DType) Value {
	if !b.sound("dot", x, y) {
		return Value{}
	}
	if x.typ.DType != y.typ.DType {
		return b.failf("dot: operands %s and %s differ in element type", x.typ, y.typ)
	}
	t := Type{DType: out}
	if !d.fits(x.typ, y.typ) {
		return b.failf("dot: %s by %s over axes %v and %v, batch %v and %v",
			x.typ, y.typ, d.LhsContract, d.RhsContract, d.LhsBatch, d.RhsBatch)
	}
	for _, a := range d.LhsBatch {
		t.Dims = append(t.Dims, x.typ.Dims[a])
	}
	t.Dims = append(t.Dims, others(x.typ, d.LhsBatch, d.LhsContract)...)
	t.Dims = append(t.Dims, others(y.typ, d.RhsBatch, d.RhsContract)...)
	var parts []string
	for _, p := range []struct {
		name string
		axes []int
	}{
		{"lhs_batching_dimensions", d.LhsBatch}, {"rhs_batching_dimensions", d.RhsBatch},
		{"lhs_contracting_dimensions", d.LhsContract}, {"rhs_contracting_dimensions", d.RhsContract},
	} {
		parts = append(parts, fmt.Sprintf("%s = [%s]", p.name, intList(p.axes)))
	}
	numbers := "dot_dimension_numbers = #stablehlo.dot<" + strings.Join(parts, ", ") + ">"
	return b.emit("dot_general", t, numbers, x, y).with(Attrs{Dot: d})
}

// fits reports that the axis lists are legal for x and y and that the sizes agree.
func (d Dot) fits(x, y Type) bool {
	left := append(append([]int{}, d.LhsBatch...), d.LhsContract...)
	right := append(append([]int{}, d.RhsBatch...), d.RhsContract...)
	if len(d.LhsBatch) != len(d.RhsBatch) || len(left) != len(right) ||
		!distinct(left, x.Rank()) || !distinct(right, y.Rank()) {
		return false
	}
	for i := range left {
		if x.Dims[left[i]] != y.Dims[right[i]] {
			return false
		}
	}
	return true
}

// others lists the sizes of the axes of t that are in neither list.
func others(t Type, batch, contract []int) []int {
	var dims []int
	for i, d := range t.Dims {
		used := false
		for _, a := range append(append([]int{}, batch...), contract...) {
			used = used || a == i
		}
		if !used {
			dims = append(dims, d)
		}
	}
	return dims
}
