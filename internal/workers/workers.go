// SPDX-License-Identifier: Apache-2.0

// Package workers spreads loops over processors.
package workers

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// pieces is how many pieces a processor gets, so that one that others disturb holds up little.
const pieces = 4

// Ranges calls f for ranges that together are 0 to n, each of at least grain numbers but for the last, several at once
// where n is more than grain. Who computes what depends on the machine, so what f computes of a number must not
// depend on the range in which it comes.
func Ranges(n, grain int, f func(from, to int)) {
	grain = max(grain, 1)
	procs := runtime.GOMAXPROCS(0)
	if n <= grain || procs == 1 {
		if n > 0 {
			f(0, n)
		}
		return
	}
	step := max(grain, (n+procs*pieces-1)/(procs*pieces))
	var next atomic.Int64
	work := func() {
		for {
			from := int(next.Add(int64(step))) - step
			if from >= n {
				return
			}
			f(from, min(from+step, n))
		}
	}
	var wg sync.WaitGroup
	for range min(procs, (n+step-1)/step) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}
