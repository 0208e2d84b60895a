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
	// Inst is an index that Conflict gives back.
	Inst int32
	// Atomic accesses do not conflict with each other.
	Atomic bool
}

// cell is the history of a granule.
type cell struct {
	writer  uint8 // warp + 1; 0 where nothing was written
	flight  bool
	atomic  bool
	wClock  uint32
	wInst   int32
	readers uint32 // warps that have read since
	rClock  uint32 // clock of all readers
	rInst   int32
}

// Shadow is the history of a block's shared memory.
type Shadow struct {
	grain int
	cells []cell
	// mixed holds the clocks of readers that differ, by cell.
	mixed map[int]*[32]uint32
}

// New makes the shadow of size bytes, in granules: every access must begin and end at multiples of grain.
func New(size, grain int) *Shadow {
	return &Shadow{grain: grain, cells: make([]cell, (size+grain-1)/grain), mixed: map[int]*[32]uint32{}}
}

// Reset forgets everything.
func (s *Shadow) Reset() {
	clear(s.cells)
	clear(s.mixed)
}

func (s *Shadow) span(off, n int) (from, to int) {
	return off / s.grain, min((off+n+s.grain-1)/s.grain, len(s.cells))
}

// Read notes a read of n bytes.
func (s *Shadow) Read(a *Access, off, n int) *Conflict {
	from, to := s.span(off, n)
	own := a.Clock[a.Warp]
	for i := from; i < to; i++ {
		c := &s.cells[i]
		u := int(c.writer) - 1
		switch {
		case u < 0:
			return &Conflict{Kind: Unwritten, Offset: i * s.grain}
		case c.flight:
			return s.conflict(InFlight, i, u, c.wInst)
		case u != a.Warp && a.Clock[u] < c.wClock && !(a.Atomic && c.atomic):
			return s.conflict(ReadAfterWrite, i, u, c.wInst)
		}
		if c.readers == 0 || c.rClock == own {
			c.readers |= 1 << a.Warp
			c.rClock, c.rInst = own, a.Inst
			if s.mixed[i] == nil {
				continue
			}
		}
		s.mix(i, c, a, own)
	}
	return nil
}

// mix notes a read where earlier readers had other clocks.
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
		m = new([32]uint32)
		for r := c.readers; r != 0; r &= r - 1 {
			m[bits.TrailingZeros32(r)] = c.rClock
		}
		s.mixed[i] = m
	}
	m[a.Warp] = own
	c.readers |= 1 << a.Warp
	c.rInst = a.Inst
}

// Write notes a write of n bytes.
func (s *Shadow) Write(a *Access, off, n int) *Conflict { return s.write(a, off, n, false) }

// Issue notes that an asynchronous copy to n bytes has begun.
func (s *Shadow) Issue(a *Access, off, n int) *Conflict { return s.write(a, off, n, true) }

func (s *Shadow) write(a *Access, off, n int, flight bool) *Conflict {
	from, to := s.span(off, n)
	own := a.Clock[a.Warp]
	for i := from; i < to; i++ {
		c := &s.cells[i]
		u := int(c.writer) - 1
		switch {
		case c.flight:
			return s.conflict(OverFlight, i, u, c.wInst)
		case u >= 0 && u != a.Warp && a.Clock[u] < c.wClock && !(a.Atomic && c.atomic):
			return s.conflict(WriteAfterWrite, i, u, c.wInst)
		}
		if others := c.readers &^ (1 << a.Warp); others != 0 {
			if w := s.unmet(i, c, a, others); w >= 0 {
				return s.conflict(WriteAfterRead, i, w, c.rInst)
			}
		}
		if c.readers != 0 && len(s.mixed) > 0 {
			delete(s.mixed, i)
		}
		*c = cell{writer: uint8(a.Warp + 1), flight: flight, atomic: a.Atomic, wClock: own, wInst: a.Inst}
	}
	return nil
}

// unmet is a reader that nothing orders before the access; -1 if there is none.
func (s *Shadow) unmet(i int, c *cell, a *Access, others uint32) int {
	var m *[32]uint32
	if len(s.mixed) > 0 {
		m = s.mixed[i]
	}
	for r := others; r != 0; r &= r - 1 {
		w := bits.TrailingZeros32(r)
		clock := c.rClock
		if m != nil {
			clock = m[w]
		}
		if a.Clock[w] < clock {
			return w
		}
	}
	return -1
}

// Land ends an asynchronous copy: from now on its bytes are what the warp wrote.
func (s *Shadow) Land(a *Access, off, n int) {
	from, to := s.span(off, n)
	for i := from; i < to; i++ {
		s.cells[i].flight = false
		s.cells[i].wClock = a.Clock[a.Warp]
	}
}

func (s *Shadow) conflict(k Kind, i, warp int, inst int32) *Conflict {
	return &Conflict{Kind: k, Offset: i * s.grain, Warp: warp, Inst: inst}
}
