// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"lathe/internal/workers"
)

// Grain is the least number of elements worth a goroutine.
const Grain = 1 << 12

// Lines calls f for every line of shape along axis: n elements from base, stride apart.
func Lines(shape []int, axis int, f func(base, n, stride int)) {
	stride := Size(shape[axis+1:])
	n := shape[axis]
	for outer := range Size(shape[:axis]) {
		for inner := range stride {
			f(outer*n*stride+inner, n, stride)
		}
	}
}

// EachLine is lines, several at once. scratch has n elements that f may use.
func EachLine(shape []int, axis int, f func(base, n, stride int, scratch []float64)) {
	stride := Size(shape[axis+1:])
	n := shape[axis]
	workers.Ranges(Size(shape[:axis])*stride, 1+Grain/max(n, 1), func(from, to int) {
		scratch := make([]float64, n)
		for i := from; i < to; i++ {
			f(i/stride*n*stride+i%stride, n, stride, scratch)
		}
	})
}
