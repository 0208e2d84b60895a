// SPDX-License-Identifier: Apache-2.0

package rtltest

import (
	"context"
	"sync"
	"testing"

	"lathe/sim"
)

// programDesigns is how many designs are compiled into one program: with more, the compiler's start counts for little
// already, and two processors have less to share.
const programDesigns = 8

// batch holds the designs of the benches that one test runs at once.
type batch struct {
	mu       sync.Mutex
	programs []*program
}

// program is one compiled program of a batch.
type program struct {
	specs  []sim.Spec
	begun  bool // it takes no more designs
	once   sync.Once
	models []*sim.Model
	err    error
}

// batches finds the batch of a test, which has no place for one: of *testing.T to *batch.
var batches sync.Map

// batchOf is the batch of a test, which ends with it.
func batchOf(t *testing.T) *batch {
	found, known := batches.LoadOrStore(t, &batch{})
	if !known {
		t.Cleanup(func() { batches.Delete(t) })
	}
	return found.(*batch)
}

// add puts a design into a program and returns what builds it. Subtests add theirs before they call Parallel, and go on
// when the test that runs them has named all; a design that comes when its program is being built begins another one. A
// program that cannot be built is built again for each of its designs alone, so that each has its own error.
func (b *batch) add(spec sim.Spec) func(context.Context) (*sim.Model, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := len(b.programs) - 1
	if last < 0 || b.programs[last].begun || len(b.programs[last].specs) == programDesigns {
		b.programs = append(b.programs, &program{})
		last++
	}
	p := b.programs[last]
	number := len(p.specs)
	p.specs = append(p.specs, spec)
	return func(ctx context.Context) (*sim.Model, error) {
		b.mu.Lock()
		p.begun = true
		b.mu.Unlock()
		p.once.Do(func() { p.models, p.err = sim.BuildAll(ctx, p.specs) })
		if p.err != nil {
			return sim.Build(ctx, spec)
		}
		return p.models[number], nil
	}
}
