// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"lathe/emit/circuit"
	"lathe/internal/evidence"
	"lathe/internal/workers"
)

// Wanted says which circuits are proven.
type Wanted string

// The sets of circuits.
const (
	None  Wanted = ""      // none: lines are compared with today's circuits only
	Some  Wanted = "cover" // a covering set of the changed modules, of circuits that have no line
	Stale Wanted = "stale" // all that have no line
	Every Wanted = "all"   // all: a sweep
)

// Results brings evidence up to date: the uses have today's circuits, and the wanted circuits are proven, at most so
// many of a covering set. save is called after each proof, to keep what is known. A sweep in which a proof fails is
// none; after one, no edge is needed.
func (p *Prover) Results(ctx context.Context, e *evidence.Evidence, wanted Wanted, most int, save func() error,
	say func(string)) error {
	p.Edges = e.Edges
	all, err := Survey(ctx, p.Examples, e.Edges, func(done, total int) {
		if done%40 == 0 || done == total {
			say(fmt.Sprintf("%d of %d designs compiled", done, total))
		}
	})
	if err != nil {
		return err
	}
	library, err := circuit.All()
	if err != nil {
		return err
	}
	e.Uses = e.Uses[:0]
	for _, d := range all {
		e.Uses = append(e.Uses, d.Use)
	}
	queue, err := choose(e, all, e.Changed(library), wanted, most, say)
	if err != nil {
		return err
	}
	failed := p.proveAll(ctx, e, queue, save, say)
	if err := ctx.Err(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d proofs failed", failed, len(queue))
	}
	if wanted == Every {
		e.Sweep, e.Edges = evidence.Sweep{Commit: p.Commit, Modules: library.Hashes(nil)}, nil
		for i := range e.Uses {
			e.Uses[i].As = ""
		}
		e.Clean()
	}
	return save()
}

// choose are the designs to prove, one of each circuit, those that take long first.
func choose(e *evidence.Evidence, all []*Design, changed []string, wanted Wanted, most int,
	say func(string)) ([]*Design, error) {
	first := map[string]bool{}
	var queue []*Design
	for _, d := range all {
		if d.Circuit == nil || first[d.Use.Circuit+d.Answers] {
			continue
		}
		if p := e.Of(d.Use); wanted == Every || p == nil || p.Failure != "" {
			first[d.Use.Circuit+d.Answers] = true
			queue = append(queue, d)
		}
	}
	say(fmt.Sprintf("%d circuits without a proof; changed modules: %v", len(queue), changed))
	switch wanted {
	case None:
		return nil, nil
	case Some:
		chosen, shown, classes := Cover(queue, changed, most)
		say(fmt.Sprintf("%d circuits show %d of %d classes of parameters", len(chosen), shown, classes))
		queue = chosen
	case Stale, Every:
	default:
		return nil, fmt.Errorf("%q is none of cover, stale, all", wanted)
	}
	slices.SortStableFunc(queue, func(a, b *Design) int { return b.II - a.II })
	return queue, nil
}

// proveAll proves designs, and counts those that fail.
func (p *Prover) proveAll(ctx context.Context, e *evidence.Evidence, queue []*Design, save func() error,
	say func(string)) (failed int) {
	var lock sync.Mutex
	done := 0
	workers.Each(len(queue), func(i int) {
		if ctx.Err() != nil {
			return
		}
		line := p.Prove(ctx, queue[i].Use)
		lock.Lock()
		defer lock.Unlock()
		if ctx.Err() != nil { // what was interrupted shows nothing
			return
		}
		done++
		verdict := fmt.Sprintf("%d mismatches", line.Mismatches)
		if line.Failure != "" {
			failed++
			verdict = line.Failure
		}
		e.Set(line)
		say(fmt.Sprintf("%d of %d: %s: %s", done, len(queue), queue[i].Use, verdict))
		if err := save(); err != nil {
			say(err.Error())
			failed++
		}
	})
	return failed
}

// Equal adds the edge that says that a library module with all inside it is what it was at the last sweep, as a command
// has proven.
func Equal(e *evidence.Evidence, module, command string) error {
	library, err := circuit.All()
	if err != nil {
		return err
	}
	now, was := library.Hashes(e.Edges)[module], e.Sweep.Modules[module]
	switch {
	case now == "":
		return fmt.Errorf("the library has no module %q; changed are %v", module, e.Changed(library))
	case was == "":
		return fmt.Errorf("module %q was not there at the last sweep, at %s", module, e.Sweep.Commit)
	case now == was:
		return fmt.Errorf("module %q is what it was at the last sweep, at %s; changed are %v", module, e.Sweep.Commit,
			e.Changed(library))
	}
	e.Edges = append(e.Edges, circuit.Edge{Module: module, Old: was, New: now, Proof: command})
	return nil
}
