// SPDX-License-Identifier: Apache-2.0

package beat

// Fork is stream_fork.
type Fork struct {
	In     *Wire
	Out    []*Wire
	active bool // the beat at the input is offered on all branches
	// Blocked counts, for each branch, the cycles in which it alone held up the others.
	Blocked []int
}

func (f *Fork) move() {
	for f.In.has {
		if !f.active {
			f.active = true
			for _, w := range f.Out {
				w.offer(f.In.at)
			}
		}
		slow, last, second := 0, f.In.at, f.In.at
		for i, w := range f.Out {
			switch {
			case w.has:
				return
			case w.taken > last:
				slow, last, second = i, w.taken, last
			default:
				second = max(second, w.taken)
			}
		}
		f.Blocked[slow] += last - second
		f.active = false
		f.In.take(last)
	}
}

// link is a FIFO that is not there: two wires that are one.
type link struct {
	in, out *Wire
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
