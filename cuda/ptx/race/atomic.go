// SPDX-License-Identifier: Apache-2.0

package race

import "math/bits"

// atomics are accesses to a granule that the cell does not show any more, because atomic ones came after them which
// they need not be ordered with: those could come first in another run. By warp: the last plain write before, plain
// reads, atomic reads, and atomic writes.
type atomics struct {
	write, reads, polls, atoms [32]reader
}

func (s *Shadow) atomicsOf(i int) *atomics {
	if s.atomics[i] == nil {
		s.atomics[i] = new(atomics)
	}
	return s.atomics[i]
}

// ahead is another warp of m that nothing orders before the access, and its instruction; -1 if there is none.
func (a *Access) ahead(m *[32]reader) (int, int32) {
	for w, known := range a.Clock {
		if w != a.Warp && known < m[w].clock {
			return w, m[w].inst
		}
	}
	return -1, 0
}

// readAtomics checks a read of cell i; done says that it is noted as well.
func (s *Shadow) readAtomics(a *Access, i int) (done bool, c *Conflict) {
	if h := s.atomics[i]; h != nil {
		if w, inst := a.ahead(&h.write); w >= 0 {
			return false, s.conflict(ReadAfterWrite, i, w, inst)
		}
		if w, inst := a.ahead(&h.atoms); w >= 0 && !a.Atomic {
			return false, s.conflict(ReadAfterWrite, i, w, inst)
		}
	}
	if a.Atomic {
		s.atomicsOf(i).polls[a.Warp] = reader{a.Clock[a.Warp], a.Inst}
	}
	return a.Atomic, nil
}

// writeAtomics checks a write of cell i.
func (s *Shadow) writeAtomics(a *Access, i int) *Conflict {
	h := s.atomics[i]
	if h == nil {
		return nil
	}
	if w, inst := a.ahead(&h.write); w >= 0 {
		return s.conflict(WriteAfterWrite, i, w, inst)
	}
	if w, inst := a.ahead(&h.reads); w >= 0 {
		return s.conflict(WriteAfterRead, i, w, inst)
	}
	if a.Atomic {
		return nil
	}
	if w, inst := a.ahead(&h.atoms); w >= 0 {
		return s.conflict(WriteAfterWrite, i, w, inst)
	}
	if w, inst := a.ahead(&h.polls); w >= 0 {
		return s.conflict(WriteAfterRead, i, w, inst)
	}
	return nil
}

// keep remembers what the cell says, before an atomic write takes its place.
func (s *Shadow) keep(i int, c *cell) {
	if c.writer == 0 && c.readers == 0 {
		return
	}
	h := s.atomicsOf(i)
	if w := c.writer; w != 0 && c.atomic {
		h.atoms[w-1] = reader{c.wClock, c.wInst}
	} else if w != 0 {
		h.write[w-1] = reader{c.wClock, c.wInst}
	}
	for r := c.readers; r != 0; r &= r - 1 {
		w := bits.TrailingZeros32(r)
		if h.reads[w] = (reader{c.rClock, c.rInst}); s.mixed[i] != nil {
			h.reads[w] = s.mixed[i][w]
		}
	}
}
