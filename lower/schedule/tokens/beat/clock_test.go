// SPDX-License-Identifier: Apache-2.0

package beat

import (
	"slices"

	"lathe/rtl"
)

// wire is one stream in one cycle: whether a beat is offered, and whether it is taken.
type line struct{ valid, ready bool }

func (w *line) moves() bool { return w.valid && w.ready }

// part is a piece of hardware in every cycle: offer sets the valid of its outputs, which may depend on that of its
// inputs; accept sets the ready of its inputs, which may depend on all valid and on the ready of its outputs; tick is
// the clock edge, and says whether anything has changed.
type clocked interface {
	offer()
	accept()
	tick() bool
}

// skid is stream_skid.
type skidAt struct {
	in, out     *line
	full, spare bool
}

func (s *skidAt) offer()  { s.out.valid = s.full }
func (s *skidAt) accept() { s.in.ready = !s.spare }
func (s *skidAt) tick() bool {
	was := *s
	if s.out.ready || !s.full {
		s.full, s.spare = s.spare || s.in.valid, false
	} else if s.in.moves() {
		s.spare = true
	}
	return s.full != was.full || s.spare != was.spare || s.in.moves() || s.out.moves()
}

// widen is stream_widen.
type widenAt struct {
	in, out     *line
	n, count    int
	full, spare bool // full: the output register
}

func (w *widenAt) offer()  { w.out.valid = w.full }
func (w *widenAt) accept() { w.in.ready = !w.spare }
func (w *widenAt) tick() bool {
	room, enter := !w.full || w.out.ready, w.spare || w.in.valid
	changed := w.in.moves() || w.out.moves() || room && w.spare
	w.spare = !room && enter
	if room {
		w.full = enter && w.count == w.n-1
		if enter {
			w.count = (w.count + 1) % w.n
		}
	}
	return changed
}

// narrow is stream_narrow without its skid.
type narrowAt struct {
	in, out  *line
	n, count int
	busy     bool
}

func (w *narrowAt) offer()  { w.out.valid = w.busy }
func (w *narrowAt) accept() { w.in.ready = !w.busy || w.out.ready && w.count == w.n-1 }
func (w *narrowAt) tick() bool {
	load, gone := w.in.moves(), w.out.moves()
	switch {
	case load:
		w.busy, w.count = true, 0
	case gone:
		w.count++
		w.busy = w.count < w.n
	}
	return load || gone
}

// steps makes a fixed sequence of steps a frame, which take beats of its inputs and give some.
type stepsAt struct {
	in    []*line
	out   *line
	stage *rtl.Stage
	at    int
	step  rtl.Step
	can   bool // the beats that the step takes are there
	left  int  // beats of a burst that follow
	pipe  row
}

func newStepsAt(stage *rtl.Stage, in []*line, out *line) *stepsAt {
	return &stepsAt{in: in, out: out, stage: stage, step: stage.Step(0), pipe: row{last: stage.Regs}}
}

func (s *stepsAt) offer() {
	s.can = true
	for i, w := range s.in {
		s.can = s.can && (s.step.Take>>i&1 == 0 || w.valid)
	}
	s.out.valid = s.pipe.valid(s.can && s.step.Give)
}

func (s *stepsAt) accept() {
	moves := s.moves() && s.can
	for i, w := range s.in {
		w.ready = moves && s.step.Take>>i&1 == 1
	}
}

func (s *stepsAt) moves() bool { return s.step.Free || s.pipe.moves(s.out) }

func (s *stepsAt) tick() bool {
	if !s.moves() {
		return false
	}
	gives := s.can && s.step.Give
	changed := s.pipe.shift(gives || s.left > 0) || s.can
	switch {
	case gives:
		s.left = max(s.stage.Burst, 1) - 1
	case s.left > 0:
		s.left--
	}
	if s.can {
		if s.at++; s.at == s.stage.Period {
			s.at = 0
		}
		s.step = s.stage.Step(s.at)
	}
	return changed
}

// pipe is a row of registers that move together.
type row struct {
	bits uint64
	last int // how many
}

// valid is whether the last register holds a beat; without registers whether one comes.
func (p *row) valid(comes bool) bool {
	if p.last == 0 {
		return comes
	}
	return p.bits>>(p.last-1)&1 == 1
}

func (p *row) moves(out *line) bool { return out.ready || p.last > 0 && !out.valid }

func (p *row) shift(comes bool) (changed bool) {
	was := p.bits
	p.bits <<= 1
	if comes {
		p.bits |= 1
	}
	p.bits &= 1<<p.last - 1
	return was != 0 || comes
}

// memory holds beats of streams that steps read.
type memoryAt struct {
	in     []*line
	out    *line
	stage  *rtl.Stage
	at     int
	stores []storeAt
	pipe   row
}

// storeAt counts the beats of one stream.
type storeAt struct {
	written, begun int   // beats written; those of the frames before that of the next step
	need, freed    int   // of the next step
	seen           int   // beats written, as steps see them
	unseen         []int // beats written in each of the last cycles that are not seen yet, the earliest first
}

func newMemoryAt(stage *rtl.Stage, in []*line, out *line) *memoryAt {
	m := &memoryAt{in: in, out: out, stage: stage, stores: make([]storeAt, len(in)), pipe: row{last: stage.Regs}}
	m.look()
	return m
}

func (m *memoryAt) look() {
	for i := range m.stores {
		s := &m.stores[i]
		s.need, s.freed = s.begun+m.stage.Stores[i].Need(m.at), s.begun+m.stage.Stores[i].Freed(m.at)
	}
}

func (m *memoryAt) offer() { m.out.valid = m.pipe.valid(false) }

func (m *memoryAt) accept() {
	for i, s := range m.stores {
		m.in[i].ready = s.written < s.freed+m.stage.Stores[i].Places
	}
}

func (m *memoryAt) tick() bool {
	reads, changed := true, false
	for _, s := range m.stores {
		reads = reads && s.seen >= s.need
	}
	if m.pipe.moves(m.out) {
		changed = m.pipe.shift(reads && (m.stage.Gives == nil || m.stage.Gives(m.at))) || reads
		if reads {
			m.next()
		}
	}
	for i := range m.stores {
		s := &m.stores[i]
		came := 0
		if m.in[i].moves() {
			came = 1
		}
		s.written += came
		s.unseen = append(s.unseen, came)
		changed = changed || slices.Contains(s.unseen, 1)
		if len(s.unseen) > m.stage.Late {
			s.seen += s.unseen[0]
			s.unseen = s.unseen[1:]
		}
	}
	return changed
}

func (m *memoryAt) next() {
	if m.at++; m.at == m.stage.Period {
		m.at = 0
		for i := range m.stores {
			m.stores[i].begun += m.stage.Stores[i].Frame
		}
	}
	m.look()
}

// columns is op_window_cols.
type columnsAt struct {
	in, out    *line
	c          rtl.Columns
	t, next    int
	tail, done bool
	hold       bool
	run        bool
}

func (c *columnsAt) offer() { c.out.valid = c.hold }
func (c *columnsAt) accept() {
	c.run = !c.hold || c.out.ready
	c.in.ready = c.run && (!c.tail || c.t < c.c.Ahead)
}

func (c *columnsAt) tick() bool {
	take := c.in.moves()
	rowEnd := take && c.t == c.c.W-1
	last := c.next == c.c.Last
	send := c.run && (c.tail || take && !c.done && (c.t == c.next || rowEnd && c.t < c.next))
	changed := take || send || c.out.moves()
	if c.run {
		c.hold = send
	}
	if take {
		if c.t++; rowEnd {
			c.t = 0
		}
	}
	if send {
		if c.next += c.c.Step; last {
			c.next = c.c.First
		}
	}
	switch {
	case rowEnd:
		c.tail, c.done = !(c.done || send && last), false
	case send && last:
		c.tail, c.done = false, !c.tail
	}
	return changed
}
