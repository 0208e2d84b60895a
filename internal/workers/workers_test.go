// SPDX-License-Identifier: Apache-2.0

package workers_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"lathe/internal/workers"
)

// TestRanges: every number is computed once, in ranges of the grain at least, whatever the number of processors.
func TestRanges(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 3, 8} {
		runtime.GOMAXPROCS(procs)
		for _, n := range []int{0, 1, 7, 64, 1000} {
			for _, grain := range []int{0, 1, 7, 64, 5000} {
				done := make([]atomic.Int32, n)
				workers.Ranges(n, grain, func(from, to int) {
					if to-from < grain && to != n || from >= to {
						t.Errorf("%d in grains of %d: a range from %d to %d", n, grain, from, to)
					}
					for i := from; i < to; i++ {
						done[i].Add(1)
					}
				})
				for i := range done {
					if done[i].Load() != 1 {
						t.Fatalf("%d in grains of %d: %d is computed %d times", n, grain, i, done[i].Load())
					}
				}
			}
		}
	}
}
