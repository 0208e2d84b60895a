// SPDX-License-Identifier: Apache-2.0

package beat

import (
	"slices"

	"lathe/rtl"
)

// mark is a step that is not plain: it takes or gives a beat, or does not wait for room.
type mark struct {
	at int
	rtl.Step
}

// marksOf lists the marks of one period.
func marksOf(s *rtl.Stage) (marks []mark) {
	for at := range s.Period {
		if step := s.Step(at); step.Take != 0 || step.Give || step.Free {
			marks = append(marks, mark{at, step})
		}
	}
	return marks
}

// steps makes a fixed sequence of steps a frame, which take beats of its inputs and give some.
type steps struct {
	in     []*Wire
	out    *Wire
	period int
	marks  []mark
	// next is the coming mark; plain steps lie before it. last is the cycle of the last mark.
	next, plain, last int
	pipe              pipe
	burst             int // beats that leave for a step that gives
	// asks says that without registers the beat of the coming mark is on the output.
	asks bool
}

func newSteps(s *rtl.Stage, marks []mark, in []*Wire, out *Wire) *steps {
	p := &steps{in: in, out: out, period: s.Period, marks: marks, last: -1, pipe: pipe{out: out, regs: s.Regs},
		burst: max(s.Burst, 1)}
	if len(marks) > 0 {
		p.plain = marks[0].at
	}
	return p
}

// waits says that some step gives nothing and waits for room at an output without registers.
func (s *steps) waits() bool {
	plain := len(s.marks) < s.period
	return s.pipe.regs == 0 && (plain || slices.ContainsFunc(s.marks, func(m mark) bool { return !m.Give && !m.Free }))
}

func (s *steps) move() {
	s.pipe.settle()
	for len(s.marks) > 0 {
		m := &s.marks[s.next]
		var ok bool
		if s.pipe.regs > 0 {
			ok = s.register(m)
		} else {
			ok = s.pass(m)
		}
		if !ok {
			return
		}
		if s.next++; s.next == len(s.marks) {
			s.next, s.plain = 0, s.period-m.at-1+s.marks[0].at
		} else {
			s.plain = s.marks[s.next].at - m.at - 1
		}
	}
}

// arrive is the first cycle, at least the given one, in which all beats that m takes are there.
func (s *steps) arrive(m *mark, cycle int) (at int, ok bool) {
	for i, w := range s.in {
		if m.Take>>i&1 == 1 {
			if !w.has {
				return 0, false
			}
			cycle = max(cycle, w.at)
		}
	}
	return cycle, true
}

func (s *steps) finish(m *mark, cycle int) bool {
	for i, w := range s.in {
		if m.Take>>i&1 == 1 {
			w.take(cycle)
		}
	}
	s.last = cycle
	return true
}

// register makes the step m in front of registers.
func (s *steps) register(m *mark) bool {
	cycle, ok := s.pipe.after(s.last+1, s.plain)
	if !ok {
		return false
	}
	if cycle, ok = s.arrive(m, cycle); !ok {
		return false
	}
	if cycle, ok = s.pipe.free(cycle); !ok {
		return false
	}
	if m.Give {
		s.pipe.enter(cycle, cycle, s.burst)
	}
	return s.finish(m, cycle)
}

// pass makes the step m without registers: its beat is offered as soon as those that it takes are, and they are taken
// when it is.
func (s *steps) pass(m *mark) bool {
	if s.asks {
		if s.out.has {
			return false
		}
		s.asks = false
		return s.finish(m, s.out.taken)
	}
	cycle := s.last + 1
	waits := s.plain > 0 || !m.Give && !m.Free
	if waits && !s.out.open {
		return false
	}
	if waits {
		cycle = max(cycle, s.out.ready)
	}
	cycle, ok := s.arrive(m, cycle+s.plain)
	if !ok {
		return false
	}
	if !m.Give {
		return s.finish(m, cycle)
	}
	s.asks = true
	s.out.offer(cycle)
	return false // the reader may have taken it, and then calls
}
