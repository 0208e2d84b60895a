// SPDX-License-Identifier: Apache-2.0

package beat

// part is a piece of hardware. move goes on with all beats whose cycles follow from what its wires say by now; it is
// called again when one of them changes.
type part interface{ move() }

// Wire is one stream. There is one beat on it at most: offered from cycle at on, until its reader says in which cycle
// it takes it.
type Wire struct {
	net       *Net
	from, to  int // the parts, as numbers; none: -1
	has       bool
	at, taken int // taken is the cycle in which the last beat was taken, -1 before the first
	// ready is the cycle from which the reader would take a beat, where open says that it knows. Only FIFOs say so.
	ready int
	open  bool
	watch []*Counter
}

// Wire makes a wire between no parts.
func (n *Net) Wire() *Wire { return &Wire{net: n, from: -1, to: -1, taken: -1} }

// offer puts a beat on the wire, which is free.
func (w *Wire) offer(at int) {
	w.has, w.at = true, at
	w.net.wake(w.to)
}

// take removes the beat in that cycle.
func (w *Wire) take(cycle int) {
	w.has, w.open, w.taken = false, false, cycle
	for _, c := range w.watch {
		c.note(cycle)
	}
	w.net.wake(w.from)
}

// accept tells the writer from which cycle a beat would be taken.
func (w *Wire) accept(from int) {
	if !w.open {
		w.open, w.ready = true, from
		w.net.wake(w.from)
	}
}

// Full says, behind a run, that there is a beat on the wire that nobody takes.
func (w *Wire) Full() bool { return w.has }

// Watch counts the beats that are taken, so many a frame.
func (w *Wire) Watch(beats int) *Counter {
	c := &Counter{beats: beats}
	w.watch = append(w.watch, c)
	return c
}

// Counter notes the cycles in which the first and the last beat of each frame are taken.
type Counter struct {
	First, Last []int
	beats, had  int
}

// Had is how many beats have been taken.
func (c *Counter) Had() int { return c.had }

func (c *Counter) note(cycle int) {
	if c.had%c.beats == 0 {
		c.First = append(c.First, cycle)
	}
	if c.had++; c.had%c.beats == 0 {
		c.Last = append(c.Last, cycle)
	}
}
