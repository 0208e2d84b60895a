// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"slices"
	"testing"
)

func TestTransposeIndex(t *testing.T) {
	for _, c := range []struct{ shape, perm, index, out []int }{
		{[]int{2, 3}, []int{1, 0}, []int{0, 3, 1, 4, 2, 5}, []int{3, 2}},
		{[]int{1, 2, 3}, []int{2, 0, 1}, []int{0, 3, 1, 4, 2, 5}, []int{3, 1, 2}},
		{[]int{2, 2, 2}, []int{1, 2, 0}, []int{0, 4, 1, 5, 2, 6, 3, 7}, []int{2, 2, 2}},
		{nil, nil, []int{0}, []int{}},
		{[]int{2, 0}, []int{1, 0}, []int{}, []int{0, 2}},
	} {
		if got := TransposeIndex(c.shape, c.perm); !slices.Equal(got, c.index) {
			t.Errorf("%v by %v: %v, want %v", c.shape, c.perm, got, c.index)
		}
		if got := TransposeShape(c.shape, c.perm); !slices.Equal(got, c.out) {
			t.Errorf("%v by %v: shape %v, want %v", c.shape, c.perm, got, c.out)
		}
	}
}
