// SPDX-License-Identifier: Apache-2.0

package beat

// widen is stream_widen: beats gather in one register, and move on to a second one together.
type widen struct {
	in, out  *Wire
	n, count int
	from     int // the first cycle in which the next beat may be taken
	whole    int // the cycle in which the gathered beats became n, where count is n
}

func (w *widen) move() {
	for {
		if w.count == w.n {
			if w.out.has {
				return
			}
			w.from, w.count = max(w.whole, w.out.taken)+1, 0
			w.out.offer(w.from)
		}
		if !w.in.has {
			return
		}
		w.whole = max(w.in.at, w.from)
		w.in.take(w.whole)
		w.from = w.whole + 1
		w.count++
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
