// SPDX-License-Identifier: Apache-2.0

// Package beat computes in which cycles beats move through a net of parts: steps, memories, FIFOs, forks.
//
// No clock ticks. Each part knows in which cycle it takes a beat that is offered to it, and in which one it offers the
// next, as soon as it knows when those before have left; so the work is that of the beats, however many cycles lie
// between them. Tests compare it with a simulation that drives every part in every cycle.
package beat

import (
	"context"

	"lathe/internal/diag"
	"lathe/rtl"
)

// Net is parts and the wires between them.
type Net struct {
	tables  *Tables
	parts   []part
	waiting []int  // the parts that must move
	waits   []bool // by part
	sources []*source
	sinks   []*sink
	loads   []*Load
}

// New makes a net without parts, with the tables of others of the same stages.
func New(t *Tables) *Net { return &Net{tables: t} }

// Tables hold what stages do in each step of a period, computed once a stage.
type Tables struct {
	marks map[*rtl.Stage][]mark
	uses  map[*rtl.Stage][]uses
}

// NewTables holds nothing yet.
func NewTables() *Tables { return &Tables{map[*rtl.Stage][]mark{}, map[*rtl.Stage][]uses{}} }

// once is f of a stage, computed once.
func once[T any](have map[*rtl.Stage]T, s *rtl.Stage, f func(*rtl.Stage) T) T {
	v, known := have[s]
	if !known {
		v = f(s)
		have[s] = v
	}
	return v
}

// Source makes an input of the net: frames of so many beats without a pause, or with one before a beat in every cycle
// in which holds says so.
func (n *Net) Source(beats, frames int, holds func(cycle int) bool) (*Wire, *Counter) {
	out := n.Wire()
	s := &source{out: out, left: beats * frames, counts: out.Watch(beats), holds: holds}
	n.add(s, nil, []*Wire{out})
	n.sources = append(n.sources, s)
	return out, s.counts
}

// Sink makes an output, which takes every beat; not in a cycle in which holds says so, if it is not nil.
func (n *Net) Sink(from *Wire, beats int, holds func(cycle int) bool) *Counter {
	s := &sink{in: from, counts: from.Watch(beats), holds: holds}
	n.add(s, []*Wire{from}, nil)
	n.sinks = append(n.sinks, s)
	return s.counts
}

// Fork gives the beats of in to so many wires.
func (n *Net) Fork(in *Wire, count int) *Fork {
	f := &Fork{In: in, Blocked: make([]int, count)}
	for range count {
		f.Out = append(f.Out, n.Wire())
	}
	n.add(f, []*Wire{in}, f.Out)
	return f
}

// Fifo makes a FIFO of so many places, with the registers of a block RAM or without; of none, only a wire.
func (n *Net) Fifo(in, out *Wire, places int, late bool) *Load {
	if places == 0 {
		n.add(&link{in: in, out: out}, []*Wire{in}, []*Wire{out})
		return &Load{}
	}
	f := newFifo(in, out, places, late)
	f.load = &Load{}
	n.add(f, []*Wire{in}, []*Wire{out})
	n.loads = append(n.loads, f.load)
	return f.load
}

// Open makes the FIFO of no places behind a wire one without an end, behind a run that has stopped. The cycles of later
// beats are then none that any hardware has; which beats move is what a run with that FIFO from the start would say,
// since parts are determinate. The load is about what the FIFO would hold.
func (n *Net) Open(in *Wire) *Load {
	l := n.parts[in.to].(*link)
	f := newFifo(l.in, l.out, Unlimited, false)
	f.load = &Load{}
	n.parts[in.to], n.loads = f, append(n.loads, f.load)
	if f.offered = l.active; l.active {
		f.load.enter(in.at)
		in.take(in.at)
	}
	n.wake(in.to)
	return f.load
}

// Stage makes the parts of a stage that is no fork. Of sparse ones every row of registers that move together has one
// place: as many as it has for beats that come one by one, with gaps between them, and are then held up.
func (n *Net) Stage(s *rtl.Stage, sparse bool, in []*Wire, out *Wire) {
	whole := s
	if sparse {
		least := *s
		least.Regs, least.Columns.Ahead = min(s.Regs, 1), 0
		s = &least
	}
	var p part
	switch s.Kind {
	case rtl.StageSteps:
		p = newSteps(s, once(n.tables.marks, whole, marksOf), in, out)
	case rtl.StageMemory:
		p = newMemory(s, once(n.tables.uses, whole, usesOf), in, out)
	case rtl.StageWiden:
		p = &widen{in: in[0], out: out, n: s.N}
	case rtl.StageNarrow:
		p = &narrow{in: in[0], out: out, n: s.N}
	case rtl.StageColumns:
		p = newColumns(s.Columns, in[0], out)
	case rtl.StageSkid:
		p = newFifo(in[0], out, 2, false)
	case rtl.StageCredit:
		p = newCredit(in[0], out, whole.Regs, s.N) // its registers never hold beats up
	case rtl.StageFifo:
		n.Fifo(in[0], out, s.N, s.N > BlockRAM)
		return
	}
	n.add(p, in, []*Wire{out})
}

// Check refuses what no module of the library has: a step without registers that waits for room where there is no FIFO
// to say since when there is any.
func (n *Net) Check() error {
	for _, p := range n.parts {
		if s, ok := p.(*steps); ok && s.waits() {
			switch n.parts[s.out.to].(type) {
			case *fifo, *sink:
			default:
				return diag.New(diag.ModuleTiming, "", "in a flow line steps without registers wait for room, and no skid follows")
			}
		}
	}
	return nil
}

// add makes p a part between its wires.
func (n *Net) add(p part, in, out []*Wire) {
	for _, w := range in {
		w.to = len(n.parts)
	}
	for _, w := range out {
		w.from = len(n.parts)
	}
	n.parts, n.waits = append(n.parts, p), append(n.waits, true)
	n.waiting = append(n.waiting, len(n.parts)-1)
}

// wake has a part move again; there is none at a wire that nobody reads.
func (n *Net) wake(part int) {
	if part >= 0 && !n.waits[part] {
		n.waits[part] = true
		n.waiting = append(n.waiting, part)
	}
}

// patience is how many moves of parts pass between two looks at the context.
const patience = 1 << 12

// Run moves all beats, and says whether every frame has left by then. An error is that of a context that ends before.
func (n *Net) Run(ctx context.Context) (done bool, err error) {
	for moves := 0; len(n.waiting) > 0; moves++ {
		if moves%patience == 0 {
			if err := ctx.Err(); err != nil {
				return false, err
			}
		}
		p := n.waiting[len(n.waiting)-1]
		n.waiting, n.waits[p] = n.waiting[:len(n.waiting)-1], false
		n.parts[p].move()
	}
	for _, l := range n.loads {
		l.count(true)
	}
	return n.finished(), nil
}

// finished says that all sources are empty and all sinks have whole frames.
func (n *Net) finished() bool {
	for _, s := range n.sources {
		if s.left > 0 || s.out.has {
			return false
		}
	}
	for _, s := range n.sinks {
		for _, from := range n.sources {
			if s.counts.had*from.counts.beats != from.counts.had*s.counts.beats {
				return false
			}
		}
	}
	return true
}
