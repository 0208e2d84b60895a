// SPDX-License-Identifier: Apache-2.0

package hlo_test

import (
	"slices"
	"testing"

	"lathe/ir/hlo"
)

// TestOperationValue: constants come with their data, splats with one element, and results know their number.
func TestOperationValue(t *testing.T) {
	b := hlo.New("const")
	v := b.Const(hlo.FromInt64s(hlo.I32, []int{2, 2}, []int64{1, 2, 3, 4}))
	s := b.Const(hlo.FromInt64s(hlo.I64, []int{2}, []int64{-9, -9}))
	b.Return(v, s)
	ops := b.Program().Ops
	if got := ops[v.Number()].Attrs.Value.Int64s(); !slices.Equal(got, []int64{1, 2, 3, 4}) {
		t.Error(got)
	}
	if got := ops[s.Number()].Attrs.Value.Int64s(); !slices.Equal(got, []int64{-9}) {
		t.Error(got)
	}
	if n := (hlo.Value{}).Number(); n != -1 {
		t.Error(n)
	}
}
