// SPDX-License-Identifier: Apache-2.0

package slow

import (
	"math"
	"slices"

	"lathe/internal/workers"
	"lathe/ir/hlo"
)

// combine is what a reducer makes of two elements; float sums and products are not yet rounded.
func combine(f hlo.Reducer, d hlo.DType) func(x, y uint64) uint64 {
	if f == hlo.ReduceLast {
		return func(_, y uint64) uint64 { return y }
	}
	kind := map[hlo.Reducer]hlo.Kind{hlo.ReduceAdd: hlo.KindAdd, hlo.ReduceMul: hlo.KindMultiply,
		hlo.ReduceMax: hlo.KindMaximum, hlo.ReduceMin: hlo.KindMinimum}[f]
	if d.IsFloat() {
		g := floatDyads[kind]
		return func(x, y uint64) uint64 {
			return math.Float64bits(g(math.Float64frombits(x), math.Float64frombits(y)))
		}
	}
	g, w := wholeDyad(kind, d), wordOf(d)
	return func(x, y uint64) uint64 { return uint64(w.wrap(g(int64(x), int64(y)))) }
}

// settle rounds sums and products of floats.
func settle(v value) value {
	if v.t.DType == hlo.F32 {
		for i, x := range v.x {
			v.x[i] = rounded(hlo.F32, math.Float64frombits(x))
		}
	}
	return v
}

// reduce reduces over axes: they are moved behind the others.
func reduce(o *hlo.Operation, x, start value) value {
	v := blank(o.Type)
	var perm []int
	for i := range x.t.Dims {
		if !slices.Contains(o.Attrs.Axes, i) {
			perm = append(perm, i)
		}
	}
	lines := transpose(x, append(perm, o.Attrs.Axes...)).x
	n := len(lines) / max(len(v.x), 1)
	f := combine(o.Attrs.Reducer, o.Type.DType)
	workers.Ranges(len(v.x), grain/max(n, 1)+1, func(from, to int) {
		for i := from; i < to; i++ {
			sum := start.x[0]
			for _, e := range lines[i*n : (i+1)*n] {
				sum = f(sum, e)
			}
			v.x[i] = sum
		}
	})
	return settle(v)
}

// reduceWindow adds up one element of each window after the other.
func reduceWindow(o *hlo.Operation, x, start value) value {
	w := &o.Attrs.Window
	rank := x.t.Rank()
	x = pad(x, start.x[0], w.Low, w.High, make([]int, rank))
	v := blank(o.Type)
	for i := range v.x {
		v.x[i] = start.x[0]
	}
	f := combine(o.Attrs.Reducer, o.Type.DType)
	each := strides(x.t.Dims)
	steps := make([]int, rank)
	around := make([]int, rank)
	for i, s := range each {
		steps[i], around[i] = s*w.Stride[i], s*w.Dilation[i]
	}
	runs(w.Size, around, 0, func(_, first, n, step int) {
		for i := range n {
			runs(o.Type.Dims, steps, first+i*step, func(at, from, n, step int) {
				for k := range n {
					v.x[at+k] = f(v.x[at+k], x.x[from+k*step])
				}
			})
		}
	})
	return settle(v)
}
