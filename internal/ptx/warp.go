// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"math"
	"math/bits"

	"lathe/internal/ptx/lane"
)

const full = math.MaxUint32

// warp is the state of 32 threads.
type warp struct {
	cta  *cta
	id   int
	rows []lane.Row
	// preds are the predicates, a bit a lane.
	preds []uint32
	carry uint32 // the flag of add.cc, a bit a lane
	// live are the lanes that have not ended, active those at pc. The others stand at pcs, of which next is the lowest.
	live, active uint32
	pc, next     int32
	pcs          [lane.Width]int32
	tmp          lane.Row
	local        []byte // of all lanes, one after the other
	wait         *barrier
	copies       copyQueue
	clock        []uint32 // of each warp, what this one knows to have happened (race detector)
	count        int64
}

// turn says what ended a turn.
type turn int

const (
	turnOver turn = iota // something visible was done
	turnWait             // the warp waits
	turnDone             // all lanes have ended
)

const never = math.MaxInt32

// turnLimit is the number of instructions after which a turn is over even if nothing visible was done.
const turnLimit = 1 << 20

// run executes instructions until other warps may notice. A fault ends the launch.
func (w *warp) run() (turn, *fault) {
	insts := w.cta.prog.insts
	for stop := w.count + turnLimit; ; {
		if w.count >= stop {
			return turnOver, nil
		}
		in := &insts[w.pc]
		w.count++
		mask := w.active
		if in.guard >= 0 {
			mask &= w.preds[in.guard] ^ in.unless
		}
		if w.cta.counting {
			w.cta.stats.note(w, in, mask)
		}
		switch in.kind {
		case kindLane:
			w.laneOp(in, mask)
		case kindCompare:
			w.preds[in.d] = w.preds[in.d]&^mask | in.cmp(&w.rows[in.a], &w.rows[in.b])&mask
		case kindSelect:
			w.selp(in, mask)
		case kindBranch:
			if mask != 0 {
				w.branch(in.target, mask)
				continue
			}
		case kindExit:
			if mask != 0 {
				if w.exit(mask) {
					return turnDone, nil
				}
				continue
			}
		default:
			if mask == 0 {
				break
			}
			if in.together && mask != w.live {
				return turnOver, w.divergent(in, mask)
			}
			if f := in.run(w, in, mask); f != nil {
				return turnOver, f
			}
			if in.visible {
				w.advance()
				if w.wait != nil {
					return turnWait, nil
				}
				return turnOver, nil
			}
		}
		w.pc++
		if w.pc >= w.next {
			w.regroup()
		}
	}
}

func (w *warp) advance() {
	w.pc++
	if w.pc >= w.next {
		w.regroup()
	}
}

func (w *warp) laneOp(in *inst, mask uint32) {
	r := w.rows
	if mask == full {
		in.fn(&r[in.d], &r[in.a], &r[in.b], &r[in.c], &r[in.e])
		return
	}
	if mask == 0 {
		return
	}
	in.fn(&w.tmp, &r[in.a], &r[in.b], &r[in.c], &r[in.e])
	merge(&r[in.d], &w.tmp, mask)
}

// merge copies the lanes of mask.
func merge(d, s *lane.Row, mask uint32) {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		d[i] = s[i]
	}
}

func (w *warp) selp(in *inst, mask uint32) {
	d, a, b, p := &w.rows[in.d], &w.rows[in.a], &w.rows[in.b], w.preds[in.c]
	for i := range d {
		if mask>>i&1 == 0 {
			continue
		}
		if p>>i&1 == 1 {
			d[i] = a[i]
		} else {
			d[i] = b[i]
		}
	}
}

// branch sends the lanes of mask to target, and the other active ones to the next instruction.
func (w *warp) branch(target int32, mask uint32) {
	if mask == w.active {
		w.pc = target
		if w.pc >= w.next {
			w.regroup()
		}
		return
	}
	w.cta.stats.Divergent++
	for m := mask; m != 0; m &= m - 1 {
		w.pcs[bits.TrailingZeros32(m)] = target
	}
	w.active &^= mask
	if target < w.next {
		w.next = target
	}
	w.advance()
}

// regroup picks the lanes with the lowest counter, after the active ones have moved on to pc.
func (w *warp) regroup() {
	for m := w.active; m != 0; m &= m - 1 {
		w.pcs[bits.TrailingZeros32(m)] = w.pc
	}
	low, next := int32(never), int32(never)
	active := uint32(0)
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		switch pc := w.pcs[i]; {
		case pc < low:
			low, next, active = pc, low, 1<<i
		case pc == low:
			active |= 1 << i
		case pc < next:
			next = pc
		}
	}
	w.pc, w.next, w.active = low, next, active
}

// exit ends lanes; it says whether that was the end of the warp.
func (w *warp) exit(mask uint32) bool {
	w.live &^= mask
	w.active &^= mask
	if w.live == 0 {
		return true
	}
	if w.active != 0 {
		w.pc++
		if w.pc < w.next {
			return false
		}
	}
	w.regroup()
	return false
}

// divergent is the fault of a collective that some live lanes do not execute.
func (w *warp) divergent(in *inst, mask uint32) *fault {
	return newFault("L0966", w, in, mask, "%s is executed by the lanes %#x of the live lanes %#x: the warp has diverged",
		in.src.Op, mask, w.live)
}
