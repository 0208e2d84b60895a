// SPDX-License-Identifier: Apache-2.0

package beat

// widen is stream_widen: beats gather in the register that is its output. While that waits to be taken, there is room
// for one beat more.
type widen struct {
	in, out  *Wire
	n, count int
	from     int // the first cycle in which the next beat may be taken
}

func (w *widen) move() {
	for {
		if w.count == 1 {
			if w.out.has {
				return
			}
			w.from = max(w.from, w.out.taken+1)
		}
		if !w.in.has {
			return
		}
		cycle := max(w.in.at, w.from)
		w.in.take(cycle)
		w.from = cycle + 1
		if w.count++; w.count == w.n {
			w.count = 0
			w.out.offer(w.from)
		}
	}
}

// narrow is stream_narrow without its skid.
type narrow struct {
	in, out *Wire
	n       int
	left    int // parts of the beat in hand that have not left
	from    int // as in widen
}

func (w *narrow) move() {
	for {
		if w.left > 0 {
			if w.out.has {
				return
			}
			w.from = w.out.taken
			if w.left--; w.left > 0 {
				w.out.offer(w.from + 1)
				continue
			}
		}
		if !w.in.has {
			return
		}
		cycle := max(w.in.at, w.from)
		w.in.take(cycle)
		w.left = w.n
		w.out.offer(cycle + 1)
	}
}
