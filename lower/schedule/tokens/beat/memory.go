// SPDX-License-Identifier: Apache-2.0

package beat

import "lathe/rtl"

// memory holds beats of one stream or several that steps read: window generators' rows, keys and queries.
type memory struct {
	stage  *rtl.Stage
	uses   []uses // by step
	stores []store
	// at is the next step, last the cycle of the one before.
	at, last int
	pipe     pipe
}

// uses says what a step of a period needs of each store, and whether it gives a beat.
type uses struct {
	stores []use
	gives  bool
}

// use is what a step of a period needs, and what those before it have freed.
type use struct{ need, freed int32 }

// usesOf lists the uses of one period.
func usesOf(s *rtl.Stage) []uses {
	list, all := make([]uses, s.Period), make([]use, 0, s.Period*len(s.Stores))
	for at := range list {
		for _, m := range s.Stores {
			all = append(all, use{int32(m.Need(at)), int32(m.Freed(at))})
		}
		list[at] = uses{all[len(all)-len(s.Stores):], s.Gives == nil || s.Gives(at)}
	}
	return list
}

// store is the memory of one stream.
type store struct {
	in *Wire
	*rtl.Store
	// written counts the beats taken. writes are the cycles in which those were that steps may still wait for; the first
	// of them has the number base.
	written, base int
	writes        cycles
	begun         int // the beats of the frames before that of the next step
	// rooms say how many beats may have been taken, from which cycle on: the first holds now, each is more than the last.
	rooms []room
}

// room says that from a cycle on so many beats may have been taken.
type room struct{ beats, from int }

func newMemory(stage *rtl.Stage, list []uses, in []*Wire, out *Wire) *memory {
	m := &memory{stage: stage, uses: list, last: -1, pipe: pipe{out: out, regs: stage.Regs}}
	for i := range stage.Stores {
		s := &stage.Stores[i]
		first := room{int(list[0].stores[i].freed) + s.Places, 0}
		m.stores = append(m.stores, store{in: in[i], Store: s, rooms: []room{first}})
	}
	return m
}

func (m *memory) move() {
	m.pipe.settle()
	for m.write() || m.step() {
	}
}

// write takes beats, if there are some and room for them.
func (m *memory) write() (took bool) {
	for i := range m.stores {
		took = m.stores[i].write() || took
	}
	return took
}

func (s *store) write() bool {
	for len(s.rooms) > 1 && s.rooms[0].beats <= s.written {
		s.rooms = s.rooms[1:]
	}
	if !s.in.has || s.rooms[0].beats <= s.written {
		return false
	}
	cycle := max(s.in.at, s.rooms[0].from)
	s.in.take(cycle)
	s.written++
	s.writes.push(cycle)
	return true
}

// step makes the next step, if the beats that it needs are there.
func (m *memory) step() bool {
	cycle, u := m.last+1, &m.uses[m.at]
	for i := range m.stores {
		seen, ok := m.stores[i].seen(int(u.stores[i].need), m.stage.Late)
		if !ok {
			return false
		}
		cycle = max(cycle, seen)
	}
	cycle, ok := m.pipe.free(cycle)
	if !ok {
		return false
	}
	if u.gives {
		m.pipe.enter(cycle, cycle, 1)
	}
	m.last = cycle
	if m.at++; m.at == m.stage.Period {
		m.at = 0
	}
	for i := range m.stores {
		m.stores[i].release(cycle, m.at == 0, int(m.uses[m.at].stores[i].freed))
	}
	return true
}

// seen is the first cycle in which so many beats of the frame are there, if that is known; 0 if one needed them before.
func (s *store) seen(need int, late int) (cycle int, ok bool) {
	if need += s.begun; need > s.written {
		return 0, false
	}
	for s.base < need-1 {
		s.writes.pop()
		s.base++
	}
	if s.base == need-1 {
		cycle = s.writes.first() + 1 + late
	}
	return cycle, true
}

// release notes what a step in that cycle leaves: the next one is of a new frame or not, and so many beats of its frame
// are free.
func (s *store) release(cycle int, next bool, freed int) {
	if next {
		s.begun += s.Frame
	}
	beats := s.begun + freed + s.Places
	if last := s.rooms[len(s.rooms)-1]; beats > last.beats {
		s.rooms = append(s.rooms, room{beats, cycle + 1})
	}
}
