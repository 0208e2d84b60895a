// SPDX-License-Identifier: Apache-2.0

package workers_test

import (
	"context"
	"errors"
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

// TestTry: the lowest number that fails decides, however late it does, and nothing begins after a failure or after the
// end of the context.
func TestTry(t *testing.T) {
	low, high := errors.New("low"), errors.New("high")
	for range 50 {
		failed := make(chan bool)
		var begun atomic.Int32
		err := workers.Try(t.Context(), 1000, 2, func(i int) error {
			begun.Add(1)
			switch i {
			case 0:
				<-failed
				return low
			case 1:
				close(failed)
				return high
			}
			return nil
		})
		if n := begun.Load(); !errors.Is(err, low) || n > 4 {
			t.Fatalf("%v after %d of 1000 have begun", err, n)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err := workers.Try(ctx, 1000, 1, func(i int) error {
		if i > 7 {
			t.Errorf("%d begins after the end", i)
		}
		if i == 7 {
			cancel(high)
		}
		return nil
	})
	if !errors.Is(err, high) {
		t.Errorf("ended for %v", err)
	}
}

// TestMost: so many run at once, and no more.
func TestMost(t *testing.T) {
	for _, most := range []int{0, 1, 3} {
		var now, peak, sum atomic.Int32
		err := workers.Try(t.Context(), 100, most, func(i int) error {
			n := now.Add(1)
			for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
			}
			runtime.Gosched()
			sum.Add(int32(i))
			now.Add(-1)
			return nil
		})
		if err != nil || sum.Load() != 4950 || peak.Load() > int32(max(most, 1)) {
			t.Errorf("at most %d: %v, %d in sum, %d at once", most, err, sum.Load(), peak.Load())
		}
	}
}

// TestEach: every number once, also of none.
func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 57} {
		done := make([]atomic.Int32, n)
		workers.Each(n, func(i int) { done[i].Add(1) })
		for i := range done {
			if done[i].Load() != 1 {
				t.Errorf("%d of %d: %d times", i, n, done[i].Load())
			}
		}
	}
}
