// SPDX-License-Identifier: Apache-2.0

package move

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// TestWalk compares walks with index lists: broadcasts and transposes of shapes with axes of size 1, some large enough
// for several goroutines.
func TestWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 7))
	for i := range 300 {
		shape := draw.Shape(r, 0, 4)
		if i%20 == 0 {
			shape = []int{3, 97, 1 + r.IntN(3), 211}
		}
		a, b := draw.Smaller(r, shape), draw.Smaller(r, shape)
		out := make([]int64, walk.Size(shape))
		x, y := numbers(walk.Size(a)), numbers(walk.Size(b))
		walk.Binary(walk.Broadcasting(shape, a, b), out, x, y, func(a, b int64) int64 { return a<<32 | b })
		ia, ib := walk.BroadcastIndex(a, shape), walk.BroadcastIndex(b, shape)
		for k, v := range out {
			if v != int64(ia[k])<<32|int64(ib[k]) {
				t.Fatalf("%v and %v to %v: element %d is of %d and %d, not %d and %d", a, b, shape, k, v>>32, v&(1<<32-1),
					ia[k], ib[k])
			}
		}
		perm := r.Perm(len(shape))
		walk.Move(transposeWalk(shape, perm), out, numbers(len(out)))
		for k, want := range ir.TransposeIndex(shape, perm) {
			if out[k] != int64(want) {
				t.Fatalf("%v by %v: element %d is of %d, not %d", shape, perm, k, out[k], want)
			}
		}
	}
}

// TestWalkJoins holds that axes become one where they can, so that runs are long.
func TestWalkJoins(t *testing.T) {
	for _, c := range []struct {
		shape, a, b []int
		dims        []int
	}{
		{[]int{2, 3, 4}, []int{2, 3, 4}, []int{2, 3, 4}, []int{24}},
		{[]int{2, 3, 4}, []int{2, 3, 4}, nil, []int{24}},
		{[]int{2, 3, 4}, []int{2, 3, 4}, []int{4}, []int{6, 4}},
		{[]int{2, 3, 4}, []int{2, 1, 1}, []int{2, 3, 4}, []int{2, 12}},
		{[]int{1, 1}, []int{1, 1}, nil, []int{1}},
	} {
		if w := walk.Broadcasting(c.shape, c.a, c.b); !slices.Equal(w.Dims, c.dims) {
			t.Errorf("%v with %v: %v, not %v", c.a, c.b, w.Dims, c.dims)
		}
	}
}

func numbers(n int) []int64 {
	x := make([]int64, n)
	for i := range x {
		x[i] = int64(i)
	}
	return x
}
