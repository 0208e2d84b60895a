// SPDX-License-Identifier: Apache-2.0

// Package workers spreads loops over processors.
package workers

import (
	"context"
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

// Each calls f for the numbers 0 to n-1, begun in this order, as many at once as there are processors.
func Each(n int, f func(i int)) {
	_ = Try(context.Background(), n, runtime.GOMAXPROCS(0), func(i int) error {
		f(i)
		return nil
	})
}

// Try calls f for the numbers 0 to n-1, begun in this order, at most so many at once. After a failure, or when ctx
// ends, those that have begun end and no other begins. The error is that of the lowest number that failed, whatever the
// timing, since all below it have begun; without a failure it is the cause of the end of ctx.
func Try(ctx context.Context, n, most int, f func(i int) error) error {
	var next atomic.Int64
	var stop atomic.Bool
	failed := make([]error, n)
	work := func() {
		for !stop.Load() && ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if failed[i] = f(i); failed[i] != nil {
				stop.Store(true)
			}
		}
	}
	var wg sync.WaitGroup
	for range min(most, n) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
