// SPDX-License-Identifier: Apache-2.0

package beat

// pipe is a row of registers that move together: in every cycle in which the last one is empty or taken.
type pipe struct {
	out  *Wire
	regs int
	// beats are those behind the one that is offered: the cycle in which each would reach the last register if none of
	// those before it were held up.
	beats   cycles
	offered bool
	// held is how many cycles all beats that have left were held up in the last register. stops are those intervals of it
	// that the cycle of the next beat in may still lie before or in.
	held  int
	stops []stop
}

// stop is an interval of cycles in which a row of registers does not move: from the first to the one before the last.
type stop struct{ from, to int }

// settle offers what has reached the last register.
func (p *pipe) settle() {
	for {
		if p.offered && !p.out.has {
			p.offered = false
			if from, to := p.out.at, p.out.taken; to > from {
				p.held += to - from
				p.stops = append(p.stops, stop{from, to})
			}
		}
		if p.offered || p.beats.len() == 0 {
			return
		}
		p.offered = true
		p.out.offer(p.beats.pop() + p.held)
	}
}

// unknown says that the row might stand still in a cycle: its last beat has no cycle yet in which it leaves.
func (p *pipe) unknown(cycle int) bool { return p.offered && p.out.at <= cycle }

// free is the first cycle from the given one on in which the row moves, if that is known.
func (p *pipe) free(cycle int) (at int, ok bool) {
	for _, s := range p.stops {
		if s.from <= cycle && cycle < s.to {
			cycle = s.to
		}
	}
	return cycle, !p.unknown(cycle)
}

// after is the cycle behind count moves of the row, of which the first may be in the given cycle, if that is known.
func (p *pipe) after(cycle, count int) (at int, ok bool) {
	if count == 0 {
		return cycle, true
	}
	at = cycle + count
	for _, s := range p.stops {
		if s.from < at && s.to > cycle {
			at += s.to - max(s.from, cycle)
		}
	}
	return at, !p.unknown(at - 1)
}

// enter puts beats into the row, the first in a cycle in which it moves, the others in the next moves. Nothing more is
// asked of cycles up to passed.
func (p *pipe) enter(cycle, passed, beats int) {
	done := 0
	for done < len(p.stops) && p.stops[done].to <= passed {
		done++
	}
	p.stops = append(p.stops[:0], p.stops[done:]...)
	before := p.held
	for _, s := range p.stops {
		if s.from > cycle {
			before -= s.to - s.from
		}
	}
	for i := range beats {
		p.beats.push(cycle + p.regs - before + i)
	}
	p.settle()
}
