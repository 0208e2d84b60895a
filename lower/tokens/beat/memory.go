// SPDX-License-Identifier: Apache-2.0

package beat

import "lathe/rtl"

// memory holds beats that steps read, window generators' rows.
type memory struct {
	in    *Wire
	stage *rtl.Stage
	uses  []use
	// written counts the beats taken. writes are the cycles in which those were that steps may still wait for; the first
	// of them has the number base.
	written, base int
	writes        cycles
	// at is the next step, begun the beats of the frames before it, last the cycle of the step before.
	at, begun, last int
	// rooms say how many beats may have been taken, from which cycle on: the first holds now, each is more than the last.
	rooms []room
	pipe  pipe
}

// use is what a step of a period needs, and what those before it have freed.
type use struct{ need, freed int32 }

// usesOf lists the uses of one period.
func usesOf(s *rtl.Stage) []use {
	list := make([]use, s.Period)
	for at := range list {
		list[at] = use{int32(s.Need(at)), int32(s.Freed(at))}
	}
	return list
}

// room says that from a cycle on so many beats may have been taken.
type room struct{ beats, from int }

func newMemory(stage *rtl.Stage, uses []use, in, out *Wire) *memory {
	return &memory{in: in, stage: stage, uses: uses, last: -1, rooms: []room{{int(uses[0].freed) + stage.N, 0}},
		pipe: pipe{out: out, regs: stage.Regs}}
}

func (m *memory) move() {
	m.pipe.settle()
	for m.write() || m.step() {
	}
}

// write takes a beat, if there is one and room for it.
func (m *memory) write() bool {
	for len(m.rooms) > 1 && m.rooms[0].beats <= m.written {
		m.rooms = m.rooms[1:]
	}
	if !m.in.has || m.rooms[0].beats <= m.written {
		return false
	}
	cycle := max(m.in.at, m.rooms[0].from)
	m.in.take(cycle)
	m.written++
	m.writes.push(cycle)
	return true
}

// step makes the next step, if the beats that it needs are there.
func (m *memory) step() bool {
	need := m.begun + int(m.uses[m.at].need)
	if need > m.written {
		return false
	}
	cycle := m.last + 1
	for m.base < need-1 {
		m.writes.pop()
		m.base++
	}
	if m.base == need-1 {
		seen := m.writes.first() + 1
		if m.stage.Late {
			seen++
		}
		cycle = max(cycle, seen)
	}
	cycle, ok := m.pipe.free(cycle)
	if !ok {
		return false
	}
	m.pipe.enter(cycle, cycle, 1)
	m.last = cycle
	if m.at++; m.at == m.stage.Period {
		m.at, m.begun = 0, m.begun+m.stage.Frame
	}
	beats := m.begun + int(m.uses[m.at].freed) + m.stage.N
	if last := m.rooms[len(m.rooms)-1]; beats > last.beats {
		m.rooms = append(m.rooms, room{beats, cycle + 1})
	}
	return true
}
