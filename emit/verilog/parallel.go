// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls f for 0 to n-1, on all processors.
func parallel(n int, f func(i int)) {
	var wait sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wait.Wait()
}
