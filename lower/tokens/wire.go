// SPDX-License-Identifier: Apache-2.0

package tokens

// part is a piece of hardware. move goes on with all beats whose cycles follow from what its wires say by now; it is
// called again when one of them changes.
type part interface{ move() }

// wire is one stream. There is one beat on it at most: offered from cycle at on, until its reader says in which cycle
// it takes it.
type wire struct {
	net       *net
	from, to  int // the parts, as numbers; none: -1
	has       bool
	at, taken int // taken is the cycle in which the last beat was taken, -1 before the first
	// ready is the cycle from which the reader would take a beat, where open says that it knows. Only FIFOs say so.
	ready int
	open  bool
	watch []*counter
}

func (n *net) wire() *wire { return &wire{net: n, from: -1, to: -1, taken: -1} }

// offer puts a beat on the wire, which is free.
func (w *wire) offer(at int) {
	w.has, w.at = true, at
	w.net.wake(w.to)
}

// take removes the beat in that cycle.
func (w *wire) take(cycle int) {
	w.has, w.open, w.taken = false, false, cycle
	for _, c := range w.watch {
		c.note(cycle)
	}
	w.net.wake(w.from)
}

// accept tells the writer from which cycle a beat would be taken.
func (w *wire) accept(from int) {
	if !w.open {
		w.open, w.ready = true, from
		w.net.wake(w.from)
	}
}

// counter notes the cycles of the first and the last beat of every frame.
type counter struct {
	beats, had  int
	first, last []int
}

func (c *counter) note(cycle int) {
	if c.had%c.beats == 0 {
		c.first = append(c.first, cycle)
	}
	if c.had++; c.had%c.beats == 0 {
		c.last = append(c.last, cycle)
	}
}
