// SPDX-License-Identifier: Apache-2.0

package tokens

// fork is stream_fork.
type fork struct {
	in     *wire
	out    []*wire
	active bool // the beat at the input is offered on all branches
	// blocked counts, for each branch, the cycles in which it alone held up the others.
	blocked []int
}

func (f *fork) move() {
	for f.in.has {
		if !f.active {
			f.active = true
			for _, w := range f.out {
				w.offer(f.in.at)
			}
		}
		slow, last, second := 0, f.in.at, f.in.at
		for i, w := range f.out {
			switch {
			case w.has:
				return
			case w.taken > last:
				slow, last, second = i, w.taken, last
			default:
				second = max(second, w.taken)
			}
		}
		f.blocked[slow] += last - second
		f.active = false
		f.in.take(last)
	}
}

// link is a FIFO that is not there: two wires that are one.
type link struct {
	in, out *wire
	active  bool
}

func (l *link) move() {
	for l.in.has {
		if !l.active {
			l.active = true
			l.out.offer(l.in.at)
		}
		if l.out.has {
			return
		}
		l.active = false
		l.in.take(l.out.taken)
	}
}
