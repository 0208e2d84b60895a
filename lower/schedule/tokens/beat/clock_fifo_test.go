// SPDX-License-Identifier: Apache-2.0

package beat

import (
	"slices"

	"lathe/rtl"
)

// fifo is stream_fifo. With a depth of 0 it is not there: two wires.
type fifoAt struct {
	in, out *line
	depth   int
	// late says that the FIFO has the registers of a block RAM.
	late   bool
	used   int
	v0, v1 bool // the two registers
	// held and most are the beats in it, now and at most, counted as stream_fifo does.
	held, most int
	skid       *skidAt
}

func newFifoAt(in, out *line, depth int, late bool) *fifoAt {
	f := &fifoAt{in: in, out: out, depth: depth, late: late}
	if depth == 1 || depth == 2 {
		f.skid = &skidAt{in: in, out: out}
	}
	return f
}

func (f *fifoAt) offer() {
	switch {
	case f.skid != nil:
		f.skid.offer()
	case f.depth == 0:
		f.out.valid = f.in.valid
	case f.late:
		f.out.valid = f.v1
	default:
		f.out.valid = f.used > 0
	}
}

func (f *fifoAt) accept() {
	switch {
	case f.skid != nil:
		f.skid.accept()
	case f.depth == 0:
		f.in.ready = f.out.ready
	default:
		f.in.ready = f.used < f.depth
	}
}

func (f *fifoAt) tick() bool {
	enters, leaves := f.in.moves(), f.out.moves()
	if enters {
		f.held++
	}
	if leaves {
		f.held--
	}
	f.most = max(f.most, f.held)
	switch {
	case f.skid != nil:
		return f.skid.tick()
	case f.depth == 0:
		return enters
	case !f.late:
		f.used = f.held
		return enters || leaves
	}
	take1 := !f.v1 || f.out.ready
	take0 := !f.v0 || take1
	read := take0 && f.used > 0
	changed := enters || leaves || read || f.v0 && take1
	if take1 {
		f.v1 = f.v0
	}
	if take0 {
		f.v0 = read
	}
	if enters {
		f.used++
	}
	if read {
		f.used--
	}
	return changed
}

// creditAt is stream_credit.
type creditAt struct {
	in, out    *line
	rows       []bool // the last one first in line
	held, free int
}

func (c *creditAt) offer()  { c.out.valid = c.held > 0 }
func (c *creditAt) accept() { c.in.ready = c.free > 0 }
func (c *creditAt) tick() bool {
	enters, arrives, read := c.in.moves(), c.rows[0], c.out.moves()
	changed := enters || arrives || read || slices.Contains(c.rows, true)
	if c.rows = append(c.rows[1:], enters); enters {
		c.free--
	}
	if arrives {
		c.held++
	}
	if read {
		c.held--
		c.free++
	}
	return changed
}

func (w *twin) credit(x stream) stream {
	s := rtl.Stage{Kind: rtl.StageCredit, Regs: 1 + w.r.IntN(9), N: 1 + w.r.IntN(12)}
	return w.stage(s, []stream{x}, x.beats, func(in []*line, out *line) clocked {
		return &creditAt{in: in[0], out: out, rows: make([]bool, s.Regs), free: s.N}
	})
}

// fork is stream_fork.
type forkAt struct {
	in    *line
	out   []*line
	taken []bool
	// blocked counts, for each branch, the cycles in which it alone held up the others.
	blocked []int
}

func (f *forkAt) offer() {
	for i, w := range f.out {
		w.valid = f.in.valid && !f.taken[i]
	}
}

func (f *forkAt) accept() {
	f.in.ready = true
	for i, w := range f.out {
		f.in.ready = f.in.ready && (f.taken[i] || w.ready)
	}
}

func (f *forkAt) tick() bool {
	if !f.in.valid {
		return false
	}
	holds, culprit, changed := 0, 0, f.in.ready
	for i, w := range f.out {
		if !f.taken[i] && !w.ready {
			holds, culprit = holds+1, i
		}
	}
	if holds == 1 {
		f.blocked[culprit]++
	}
	for i, w := range f.out {
		changed = changed || w.moves()
		f.taken[i] = !f.in.ready && (f.taken[i] || w.ready)
	}
	return changed
}

// source offers the beats of all frames without a pause.
type sourceAt struct {
	out        *line
	left       int
	beats, had int
	first      []int // cycle of the first beat of each frame
	now        *int
	holds      func(cycle int) bool
	ready      bool // the next beat is offered until it is taken
}

func (s *sourceAt) offer() {
	s.ready = s.ready || s.holds == nil || !s.holds(*s.now)
	s.out.valid = s.left > 0 && s.ready
}

func (s *sourceAt) accept() {}
func (s *sourceAt) tick() bool {
	if !s.out.moves() {
		return false
	}
	s.ready = false
	if s.had%s.beats == 0 {
		s.first = append(s.first, *s.now)
	}
	s.had++
	s.left--
	return true
}

// sink takes every beat.
type sinkAt struct {
	in          *line
	beats, had  int
	first, last []int // cycles of the first and last beat of each frame
	now         *int
	holds       func(cycle int) bool
}

func (s *sinkAt) offer()  {}
func (s *sinkAt) accept() { s.in.ready = s.holds == nil || !s.holds(*s.now) }
func (s *sinkAt) tick() bool {
	if !s.in.moves() {
		return false
	}
	if s.had%s.beats == 0 {
		s.first = append(s.first, *s.now)
	}
	if s.had++; s.had%s.beats == 0 {
		s.last = append(s.last, *s.now)
	}
	return true
}
