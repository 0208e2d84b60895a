// SPDX-License-Identifier: Apache-2.0

package beat

// source offers the beats of all frames without a pause.
type source struct {
	out    *Wire
	left   int // beats that are not offered yet
	counts *Counter
	holds  func(cycle int) bool
	// answered, if not nil, says from which cycle on the next beat may be offered, or that this is not known yet.
	answered func() (from int, ok bool)
}

func (s *source) move() {
	for s.left > 0 && !s.out.has {
		at := s.out.taken + 1
		if s.answered != nil {
			from, ok := s.answered()
			if !ok {
				return
			}
			at = max(at, from)
		}
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
		for _, from := range s.in.net.sources {
			if from.answered != nil { // for this beat, perhaps
				s.in.net.wake(from.out.from)
			}
		}
	}
}

// Lockstep has the only source of a net wait: from frame first on it offers a frame only when all outputs of those
// before have been taken. The net must not have run.
func (n *Net) Lockstep(first int) {
	s := n.sources[0]
	s.answered = func() (from int, ok bool) {
		at := s.counts.had
		if s.out.has || at%s.counts.beats != 0 || at/s.counts.beats < first {
			return 0, true
		}
		for _, k := range n.sinks {
			frames := at / s.counts.beats
			if len(k.counts.Last) < frames {
				return 0, false
			}
			if frames > 0 {
				from = max(from, k.counts.Last[frames-1]+1)
			}
		}
		return from, true
	}
}
