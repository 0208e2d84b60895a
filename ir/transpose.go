// SPDX-License-Identifier: Apache-2.0

package ir

// TransposeIndex lists, for each element in row-major order of an array whose axis i is axis perm[i] of an array of the
// given shape, the index of that element in the original.
func TransposeIndex(shape, perm []int) []int {
	strides := make([]int, len(shape))
	s := 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = s
		s *= shape[i]
	}
	index := []int{0}
	for _, p := range perm {
		next := make([]int, 0, len(index)*shape[p])
		for _, base := range index {
			for k := range shape[p] {
				next = append(next, base+k*strides[p])
			}
		}
		index = next
	}
	return index
}

// TransposeShape is the shape of that array: shape[perm[0]], shape[perm[1]], ...
func TransposeShape(shape, perm []int) []int {
	out := make([]int, len(perm))
	for i, p := range perm {
		out[i] = shape[p]
	}
	return out
}
