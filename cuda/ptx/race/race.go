// SPDX-License-Identifier: Apache-2.0

// Package race finds accesses to shared memory that nothing orders. It keeps, for each granule of bytes, who wrote last
// and who has read since, in terms of vector clocks: each warp counts its own barriers and knows, of every other warp,
// which of its barriers it has met. An access to what another warp did is sound only where that other warp's clock of
// then is known. (FastTrack, Flanagan and Freund, PLDI 2009, at the level of warps.)
package race

import "math/bits"

// Kind is what is wrong with an access.
type Kind int

// The kinds of conflicts.
const (
	Unwritten       Kind = iota + 1 // a read of what was never written
	InFlight                        // a read of what is being copied
	OverFlight                      // a write to what is being copied
	ReadAfterWrite                  // a read of what another warp wrote, nothing in between
	WriteAfterWrite                 // a write of what another warp wrote
	WriteAfterRead                  // a write of what another warp read
	WithinWarp                      // lanes of one warp that nothing has brought together in between
	Unphased                        // an access to what a bulk copy wrote, without its phase of an mbarrier
	Unfenced                        // one by the asynchronous proxy to what others wrote, without a fence
	OverRead                        // a write to what the asynchronous proxy is reading
	Object                          // an access to an mbarrier by what is no instruction on mbarriers
)

// Conflict is an access that is not sound, and the earlier one.
type Conflict struct {
	Kind Kind
	// Offset is the first byte concerned.
	Offset int
	// Warp and Inst name the earlier access, where there is one.
	Warp int
	Inst int32
}

// Access is who accesses.
type Access struct {
	Warp int
	// Clock is what the warp knows: of each warp the latest barrier that it has met; of itself, its own.
	Clock []uint32
	// Inst is an index that Conflict gives back; Turn tells executions of an instruction apart.
	Inst int32
	Turn uint32
	// Atomic accesses do not conflict with each other.
	Atomic bool
	// Async accesses are those of the asynchronous proxy. Fenced says, of each warp, which of its writes are fenced for
	// that proxy, as far as the accessing warp knows, and Phases how many phases of each mbarrier it has seen complete.
	Async          bool
	Fenced, Phases []uint32
	reads          bool
	// Lane is the lane that accesses, Many for several at once; Sync counts what has brought lanes of the warp
	// together (bar.warp.sync and barriers), All is its count when that were all lanes last, and Met tells of some of
	// them, if that ever happened. These count only where Shadow.Lanes is set.
	Lane      uint8
	Sync, All uint32
	Met       *Met
}

// Met is, for each lane of a warp, when it has last met each other lane, itself or by way of others.
type Met [32][32]uint32

// Join notes that lanes met when the count became sync.
func (m *Met) Join(group, sync uint32) {
	var all [32]uint32
	for g := group; g != 0; g &= g - 1 {
		i := bits.TrailingZeros32(g)
		for x, v := range m[i] {
			all[x] = max(all[x], v)
		}
		all[i] = sync
	}
	for g := group; g != 0; g &= g - 1 {
		m[bits.TrailingZeros32(g)] = all
	}
}

// follows says that every lane among `lanes`, which accessed when the count was sync, has met this one since.
func (a *Access) follows(lanes, sync uint32) bool {
	if a.All > sync {
		return true
	}
	if a.Met == nil || a.Lane == Many {
		return false
	}
	for ; lanes != 0; lanes &= lanes - 1 {
		if a.Met[a.Lane][bits.TrailingZeros32(lanes)] <= sync {
			return false
		}
	}
	return true
}

// lanesOf is the set that a lane stands for.
func lanesOf(lane uint8) uint32 {
	if lane == Many {
		return 1<<32 - 1
	}
	return 1 << lane
}

// Many stands for more than one lane.
const Many = 255

// cell is the history of a granule.
type cell struct {
	writer uint8 // warp + 1; 0 where nothing was written
	flight bool
	atomic bool
	wLane  uint8 // lane that wrote last, Many for several
	wTurn  uint32
	wClock uint32
	wInst  int32
	wSync  uint32 // count of the writer's warp then
	// agent is 0, or an mbarrier + 1 by whose phase wClock a bulk copy has landed; reading counts the reads of the
	// asynchronous proxy under way; object says that this is part of an mbarrier.
	agent   uint8
	object  bool
	reading uint16
	readers uint32 // warps that have read since
	rClock  uint32 // clock and instruction of all readers, where mixed holds nothing
	rInst   int32
}

// reader is the last read of a warp.
type reader struct {
	clock uint32
	inst  int32
}

// laneReads are what the warp that has read a granule last has read of it since its lanes came together last: the
// instruction of one lane (Many for several), and the last one of the others, if they have read.
type laneReads struct {
	warp, lane      uint8 // warp + 1; 0 for none
	others          uint32
	sync, otherSync uint32
	inst, other     int32
}

// Shadow is the history of a block's shared memory.
type Shadow struct {
	grain int
	cells []cell
	// mixed holds readers whose clocks or instructions differ, by cell.
	mixed map[int]*[32]reader
	// atomics holds what atomic accesses leave unordered, by cell, until a plain write follows them.
	atomics map[int]*atomics
	lanes   []laneReads // by cell; nil until Lanes needs them
	// Lanes demands order between the lanes of a warp too.
	Lanes bool
}

// New makes the shadow of size bytes, in granules: every access must begin and end at multiples of grain.
func New(size, grain int) *Shadow {
	return &Shadow{grain: grain, cells: make([]cell, (size+grain-1)/grain), mixed: map[int]*[32]reader{},
		atomics: map[int]*atomics{}}
}

// Reset forgets everything.
func (s *Shadow) Reset() {
	clear(s.cells)
	clear(s.mixed)
	clear(s.atomics)
	clear(s.lanes)
}

func (s *Shadow) span(off, n int) (from, to int) {
	return off / s.grain, min((off+n+s.grain-1)/s.grain, len(s.cells))
}

// Read notes a read of n bytes.
func (s *Shadow) Read(a *Access, off, n int) *Conflict {
	from, to := s.span(off, n)
	own := a.Clock[a.Warp]
	a.reads = true
	for i := from; i < to; i++ {
		c := &s.cells[i]
		u := int(c.writer) - 1
		switch {
		case u < 0:
			return &Conflict{Kind: Unwritten, Offset: i * s.grain}
		case c.flight:
			return s.conflict(InFlight, i, u, c.wInst)
		case c.agent != 0 || c.object:
			if k := a.special(c); k != 0 {
				return s.conflict(k, i, u, c.wInst)
			}
		case u != a.Warp && a.Clock[u] < c.wClock && !(a.Atomic && c.atomic):
			return s.conflict(ReadAfterWrite, i, u, c.wInst)
		case s.Lanes && u == a.Warp && apart(c.wLane, a.Lane) && !a.follows(lanesOf(c.wLane), c.wSync) &&
			!(a.Atomic && c.atomic):
			return s.conflict(WithinWarp, i, u, c.wInst)
		}
		if a.Atomic || len(s.atomics) > 0 {
			if done, c := s.readAtomics(a, i); done || c != nil {
				if c != nil {
					return c
				}
				continue
			}
		}
		s.note(i, c, a, own)
	}
	return nil
}

// note remembers a read of cell i.
func (s *Shadow) note(i int, c *cell, a *Access, own uint32) {
	if s.Lanes {
		s.laneReads(i).note(a)
	}
	if c.readers&^(1<<a.Warp) == 0 || c.rClock == own && c.rInst == a.Inst {
		c.readers |= 1 << a.Warp
		c.rClock, c.rInst = own, a.Inst
		if len(s.mixed) == 0 || s.mixed[i] == nil {
			return
		}
	}
	s.mix(i, c, a, own)
}

// mix notes a read where earlier readers had another clock or instruction.
func (s *Shadow) mix(i int, c *cell, a *Access, own uint32) {
	m := s.mixed[i]
	if m == nil {
		met := true
		for r := c.readers; r != 0; r &= r - 1 {
			met = met && a.Clock[bits.TrailingZeros32(r)] >= c.rClock
		}
		if met { // a later access that is ordered after this one is ordered after those too
			c.readers, c.rClock, c.rInst = 1<<a.Warp, own, a.Inst
			return
		}
		m = new([32]reader)
		for r := c.readers; r != 0; r &= r - 1 {
			m[bits.TrailingZeros32(r)] = reader{c.rClock, c.rInst}
		}
		s.mixed[i] = m
	}
	m[a.Warp] = reader{own, a.Inst}
	c.readers |= 1 << a.Warp
}

// Write notes a write of n bytes.
func (s *Shadow) Write(a *Access, off, n int) *Conflict { return s.write(a, off, n, false) }

// Issue notes that an asynchronous copy to n bytes has begun.
func (s *Shadow) Issue(a *Access, off, n int) *Conflict { return s.write(a, off, n, true) }

func (s *Shadow) write(a *Access, off, n int, flight bool) *Conflict {
	from, to := s.span(off, n)
	own := a.Clock[a.Warp]
	a.reads = false
	for i := from; i < to; i++ {
		c := &s.cells[i]
		u := int(c.writer) - 1
		switch {
		case c.flight:
			return s.conflict(OverFlight, i, u, c.wInst)
		case c.agent != 0 || c.object || c.reading != 0 || a.Async:
			if k := a.special(c); k != 0 {
				return s.conflict(k, i, u, c.wInst)
			}
		}
		switch {
		case c.agent != 0: // its phase has been waited for
		case u >= 0 && u != a.Warp && a.Clock[u] < c.wClock && !(a.Atomic && c.atomic):
			return s.conflict(WriteAfterWrite, i, u, c.wInst)
		case s.Lanes && !(a.Atomic && c.atomic):
			if inst, ok := s.apart(i, c, a); ok {
				return s.conflict(WithinWarp, i, a.Warp, inst)
			}
		}
		if len(s.atomics) > 0 {
			if c := s.writeAtomics(a, i); c != nil {
				return c
			}
		}
		if others := c.readers &^ (1 << a.Warp); others != 0 {
			if w, inst := s.unmet(i, c, a, others); w >= 0 {
				return s.conflict(WriteAfterRead, i, w, inst)
			}
		}
		if s.lanes != nil {
			s.lanes[i] = laneReads{}
		}
		lane := a.Lane
		if a.Atomic {
			s.keep(i, c)
			if c.atomic && u == a.Warp && lane != c.wLane {
				lane = Many
			}
		} else if len(s.atomics) > 0 {
			delete(s.atomics, i)
		}
		if c.readers != 0 && len(s.mixed) > 0 {
			delete(s.mixed, i)
		}
		*c = cell{writer: uint8(a.Warp + 1), flight: flight, atomic: a.Atomic, wClock: own, wInst: a.Inst, wTurn: a.Turn,
			wLane: lane, wSync: a.Sync}
	}
	return nil
}

// unmet is a reader that nothing orders before the access, and its instruction; -1 if there is none.
func (s *Shadow) unmet(i int, c *cell, a *Access, others uint32) (int, int32) {
	var m *[32]reader
	if len(s.mixed) > 0 {
		m = s.mixed[i]
	}
	for r := others; r != 0; r &= r - 1 {
		w := bits.TrailingZeros32(r)
		last := reader{c.rClock, c.rInst}
		if m != nil {
			last = m[w]
		}
		if a.Clock[w] < last.clock {
			return w, last.inst
		}
	}
	return -1, 0
}

// Land ends an asynchronous copy: from now on its bytes are what the warp wrote.
func (s *Shadow) Land(a *Access, off, n int) {
	from, to := s.span(off, n)
	for i := from; i < to; i++ {
		s.cells[i].flight = false
		s.cells[i].wClock, s.cells[i].wSync = a.Clock[a.Warp], a.Sync
	}
}

func (s *Shadow) conflict(k Kind, i, warp int, inst int32) *Conflict {
	return &Conflict{Kind: k, Offset: i * s.grain, Warp: warp, Inst: inst}
}

// apart says that two accesses may be those of different lanes.
func apart(a, b uint8) bool { return a != b || a == Many }

func (s *Shadow) laneReads(i int) *laneReads {
	if s.lanes == nil {
		s.lanes = make([]laneReads, len(s.cells))
	}
	return &s.lanes[i]
}

// note adds a read.
func (l *laneReads) note(a *Access) {
	switch {
	case int(l.warp) != a.Warp+1 || l.sync < a.All && l.otherSync < a.All:
		*l = laneReads{warp: uint8(a.Warp + 1), lane: a.Lane, sync: a.Sync, inst: a.Inst}
	case l.lane == a.Lane:
		l.inst, l.sync = a.Inst, a.Sync
	default:
		l.others, l.other, l.otherSync = l.others|lanesOf(a.Lane), a.Inst, a.Sync
	}
}

// apart is the access of another lane of the warp that nothing has brought together with this one since. Lanes that
// write at once in one instruction are another matter.
func (s *Shadow) apart(i int, c *cell, a *Access) (inst int32, ok bool) {
	if int(c.writer) == a.Warp+1 && c.agent == 0 && c.wTurn != a.Turn && apart(c.wLane, a.Lane) &&
		!a.follows(lanesOf(c.wLane), c.wSync) {
		return c.wInst, true
	}
	l := s.laneReads(i)
	switch {
	case int(l.warp) != a.Warp+1:
		return 0, false
	case apart(l.lane, a.Lane) && !a.follows(lanesOf(l.lane), l.sync):
		return l.inst, true
	}
	others := l.others
	if a.Lane != Many {
		others &^= 1 << a.Lane
	}
	return l.other, others != 0 && !a.follows(others, l.otherSync)
}
