// SPDX-License-Identifier: Apache-2.0

package beat

// source offers the beats of all frames without a pause.
type source struct {
	out    *Wire
	left   int // beats that are not offered yet
	counts *Counter
	holds  func(cycle int) bool
}

func (s *source) move() {
	for s.left > 0 && !s.out.has {
		at := s.out.taken + 1
		for s.holds != nil && s.holds(at) {
			at++
		}
		s.left--
		s.out.offer(at)
	}
}

// sink takes every beat.
type sink struct {
	in     *Wire
	counts *Counter
	holds  func(cycle int) bool
}

func (s *sink) move() {
	if s.holds == nil {
		s.in.accept(0)
	}
	for s.in.has {
		at := s.in.at
		for s.holds != nil && s.holds(at) {
			at++
		}
		s.in.take(at)
	}
}
