// SPDX-License-Identifier: Apache-2.0

package hlo_test

import (
	"math"
	"slices"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/hlo"
)

// TestScatter writes rows: two meet in one place, and one lies outside.
func TestScatter(t *testing.T) {
	for _, c := range []struct {
		reducer hlo.Reducer
		want    []int64
	}{
		{hlo.ReduceLast, []int64{1, 2, 30, 40, 5, 6}}, {hlo.ReduceAdd, []int64{1, 2, 43, 64, 5, 6}},
		{hlo.ReduceMul, []int64{1, 2, 900, 3200, 5, 6}}, {hlo.ReduceMax, []int64{1, 2, 30, 40, 5, 6}},
		{hlo.ReduceMin, []int64{1, 2, 3, 4, 5, 6}},
	} {
		b := hlo.New("scatter")
		x := b.Arg("x", hlo.TypeOf(hlo.I32, 3, 2))
		i := b.Const(hlo.FromInt64s(hlo.I64, []int{3}, []int64{1, 1, 3}))
		v := b.Const(hlo.FromInt64s(hlo.I32, []int{3, 2}, []int64{10, 20, 30, 40, 50, 60}))
		b.Return(b.ScatterRows(c.reducer, x, i, v))
		got := pjrttest.Run(t, b, hlo.FromInt64s(hlo.I32, []int{3, 2}, []int64{1, 2, 3, 4, 5, 6}))
		if !slices.Equal(got[0].Int64s(), c.want) {
			t.Errorf("%s: %v, want %v", c.reducer, got[0].Int64s(), c.want)
		}
	}
}

// TestSort sorts lines with equal elements, zeros of both signs and NaN.
func TestSort(t *testing.T) {
	nan, zero := float32(math.NaN()), math.Float32frombits(1<<31)
	x := []float32{2, nan, -1, 2, 0, zero}
	for _, c := range []struct {
		largest bool
		want    []int64
	}{{true, []int64{1, 0, 3, 4, 5, 2}}, {false, []int64{2, 4, 5, 0, 3, 1}}} {
		b := hlo.New("sort")
		values, places := b.SortPlaces(b.Arg("x", hlo.TypeOf(hlo.F32, 1, 6)), 1, c.largest)
		b.Return(values, places)
		got := pjrttest.Run(t, b, hlo.FromFloat32s([]int{1, 6}, x))
		if !slices.Equal(got[1].Int64s(), c.want) {
			t.Errorf("largest %v: %v, want %v", c.largest, got[1].Int64s(), c.want)
		}
		for i, p := range c.want {
			if v := got[0].Float64s()[i]; v != float64(x[p]) && v == v {
				t.Errorf("largest %v: element %d is %g", c.largest, i, v)
			}
		}
	}
}

// TestScatterErrors wants shapes that do not fit refused.
func TestScatterErrors(t *testing.T) {
	for name, build := range map[string]func(b *hlo.Builder, x, i hlo.Value){
		"updates": func(b *hlo.Builder, x, i hlo.Value) { b.ScatterRows(hlo.ReduceAdd, x, i, x) },
		"indices": func(b *hlo.Builder, x, _ hlo.Value) { b.ScatterRows(hlo.ReduceAdd, x, x, x) },
		"axis":    func(b *hlo.Builder, x, _ hlo.Value) { b.SortPlaces(x, 2, true) },
	} {
		b := hlo.New(name)
		build(b, b.Arg("x", hlo.TypeOf(hlo.F32, 3, 2)), b.Arg("i", hlo.TypeOf(hlo.I64, 2)))
		if b.Err() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
