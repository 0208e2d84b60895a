// SPDX-License-Identifier: Apache-2.0

package beat

// Unlimited is the places of a FIFO without an end.
const Unlimited = int(^uint(0) >> 1)

// BlockRAM is the depth beyond which stream_fifo is a memory with two registers behind it.
const BlockRAM = 64

// fifo is stream_fifo; with one or two places it is a stream_skid, which moves as a FIFO of two; with registers in
// front of the places it is stream_credit.
type fifo struct {
	in, out *Wire
	places  int
	// held are the cycles in which the beats came that are in neither the registers nor the output; freed those in which
	// places became free that no beat has taken since. No beat has ever taken the fresh places.
	held, freed cycles
	fresh       int
	offered     bool
	// late says that the FIFO has the registers of a block RAM. A beat came into the first one in cycle read; moved is
	// when the one before went on to the second.
	late, reads bool
	read, moved int
	regs        int   // cycles from the input to the places
	load        *Load // nil where nobody asks
}

func newFifo(in, out *Wire, places int, late bool) *fifo {
	if places == 1 {
		places = 2
	}
	return &fifo{in: in, out: out, places: places, fresh: places, late: late, moved: -1}
}

func newCredit(in, out *Wire, regs, places int) *fifo {
	return &fifo{in: in, out: out, places: places, fresh: places, moved: -1, regs: regs}
}

func (f *fifo) move() {
	for {
		moves := f.leave()
		if f.in.has && (f.fresh > 0 || f.freed.len() > 0) {
			cycle := max(f.in.at, f.room())
			f.in.take(cycle)
			f.held.push(cycle + f.regs)
			f.load.enter(cycle)
			moves = true
		}
		if !moves {
			break
		}
	}
	switch {
	case f.fresh > 0:
		f.in.accept(0)
	case f.freed.len() > 0:
		f.in.accept(f.freed.first() + 1)
	}
}

// room takes a place and is the cycle from which it is free.
func (f *fifo) room() int {
	if f.fresh > 0 {
		if f.places != Unlimited {
			f.fresh--
		}
		return 0
	}
	return f.freed.pop() + 1
}

func (f *fifo) free(cycle int) {
	if f.places != Unlimited {
		f.freed.push(cycle)
	}
}

// leave brings a beat a step nearer to the output.
func (f *fifo) leave() bool {
	if f.offered && !f.out.has {
		f.offered = false
		f.load.leave(f.out.taken)
		if !f.late {
			f.free(f.out.taken)
		}
	}
	switch {
	case f.reads && !f.offered:
		f.moved, f.reads, f.offered = max(f.read+1, f.out.taken), false, true
		f.out.offer(f.moved + 1)
	case f.held.len() == 0:
		return false
	case f.late && !f.reads:
		f.read, f.reads = max(f.held.pop()+1, f.moved), true
		f.free(f.read)
	case !f.late && !f.offered:
		f.offered = true
		f.out.offer(max(f.held.pop(), f.out.taken) + 1)
	default:
		return false
	}
	return true
}

// Load counts the beats in a FIFO as stream_fifo does.
type Load struct {
	// Most is the greatest number of beats at once.
	Most      int
	ins, outs cycles
	held      int
}

func (l *Load) enter(cycle int) {
	if l != nil {
		l.ins.push(cycle)
		l.count(false)
	}
}

func (l *Load) leave(cycle int) {
	if l != nil {
		l.outs.push(cycle)
		l.count(false)
	}
}

// count goes on in the order of cycles as far as both sides are known; at the end of a run they are.
func (l *Load) count(end bool) {
	for l.ins.len() > 0 && (end || l.outs.len() > 0) {
		if l.outs.len() > 0 && l.outs.first() <= l.ins.first() {
			l.outs.pop()
			l.held--
			continue
		}
		l.ins.pop()
		l.held++
		l.Most = max(l.Most, l.held)
	}
}
