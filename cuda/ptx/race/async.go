// SPDX-License-Identifier: Apache-2.0

package race

// special is what is wrong with an access where the cell has to do with the asynchronous proxy, or the access is made
// by it; 0 if nothing is. Whether a warp knows of the write by barriers is left to the caller.
func (a *Access) special(c *cell) Kind {
	switch {
	case c.object:
		return Object
	case c.reading != 0 && !a.reads:
		return OverRead
	case c.agent != 0:
		if a.Phases[c.agent-1] < c.wClock {
			return Unphased
		}
	case a.Async && c.writer != 0 && a.Fenced[c.writer-1] < c.wClock:
		if u := int(c.writer) - 1; u == a.Warp || a.Clock[u] >= c.wClock { // else there is not even a barrier
			return Unfenced
		}
	}
	return 0
}

// Begin notes that the asynchronous proxy begins to read n bytes.
func (s *Shadow) Begin(a *Access, off, n int) *Conflict {
	from, to := s.span(off, n)
	a.reads = true
	for i := from; i < to; i++ {
		c := &s.cells[i]
		u := int(c.writer) - 1
		switch {
		case u < 0:
			return &Conflict{Kind: Unwritten, Offset: i * s.grain}
		case c.flight:
			return s.conflict(InFlight, i, u, c.wInst)
		}
		if k := a.special(c); k != 0 {
			return s.conflict(k, i, u, c.wInst)
		}
		if c.agent == 0 && u != a.Warp && a.Clock[u] < c.wClock {
			return s.conflict(ReadAfterWrite, i, u, c.wInst)
		}
		if len(s.atomics) > 0 {
			if _, c := s.readAtomics(a, i); c != nil {
				return c
			}
		}
		c.reading++
	}
	return nil
}

// End notes that a read that has begun is over: the warp knows that, and others from it.
func (s *Shadow) End(a *Access, off, n int) {
	from, to := s.span(off, n)
	for i := from; i < to; i++ {
		c := &s.cells[i]
		c.reading--
		s.note(i, c, a, a.Clock[a.Warp])
	}
}

// Arrive ends a bulk copy: its bytes are there for all that have seen so many phases of an mbarrier complete.
func (s *Shadow) Arrive(off, n, barrier int, phase uint32) {
	from, to := s.span(off, n)
	for i := from; i < to; i++ {
		c := &s.cells[i]
		c.flight, c.agent, c.wClock = false, uint8(barrier+1), phase
	}
}

// Mark notes that a warp makes an mbarrier of n bytes.
func (s *Shadow) Mark(a *Access, off, n int) *Conflict {
	c := s.write(a, off, n, false)
	from, to := s.span(off, n)
	for i := from; i < to && c == nil; i++ {
		s.cells[i].object = true
	}
	return c
}

// Unmark makes plain bytes of an mbarrier.
func (s *Shadow) Unmark(off, n int) {
	from, to := s.span(off, n)
	for i := from; i < to; i++ {
		s.cells[i].object = false
	}
}

// Meets looks whether a warp knows that an mbarrier has been made.
func (s *Shadow) Meets(a *Access, off, n int) *Conflict {
	from, to := s.span(off, n)
	for i := from; i < to; i++ {
		c := &s.cells[i]
		if u := int(c.writer) - 1; c.object && u != a.Warp && a.Clock[u] < c.wClock {
			return s.conflict(ReadAfterWrite, i, u, c.wInst)
		}
	}
	return nil
}
