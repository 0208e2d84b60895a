// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"flag"
	"runtime"
	"sync"

	"lathe/internal/driver/proof"
)

var update = flag.Bool("update", false, "write the pages that are measured")

// quietSamples are those of a run without stalls; in others, ports stall in so many percent of the cycles.
const (
	quietSamples = 16
	stallPercent = 30
)

var stallSeeds = []uint64{1, 2, 3}

// inHardware are the files of the examples that match a pattern, without those of transformers.
func inHardware(pattern string) ([]string, error) { return proof.InHardware(examples, pattern) }

// inParallel works on all entries, on all processors.
func inParallel[T any](all []T, work func(T)) {
	queue := make(chan T)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for e := range queue {
				work(e)
			}
		})
	}
	for _, e := range all {
		queue <- e
	}
	close(queue)
	workers.Wait()
}
