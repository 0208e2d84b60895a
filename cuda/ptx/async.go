// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"math/bits"
	"slices"

	"lathe/cuda/ptx/parse"
	"lathe/internal/diag"
)

// piece is the copy of one lane.
type piece struct {
	to, from []byte // from may be shorter: the rest becomes zero
	offset   int    // of to, in shared memory
	done     bool
}

func (p *piece) perform() {
	if p.done {
		return
	}
	p.done = true
	n := copy(p.to, p.from)
	clear(p.to[n:])
}

// copyQueue holds the asynchronous copies of a warp that it has not waited for.
type copyQueue struct {
	pieces []piece
	// ends are the numbers of pieces up to the end of each committed group.
	ends []int
}

// land ends the first n pieces.
func (q *copyQueue) land(w *warp, n int) {
	who := w.accessor(nil)
	for i := range q.pieces[:n] {
		p := &q.pieces[i]
		p.perform()
		if w.cta.shadow != nil {
			w.cta.shadow.Land(&who, p.offset, len(p.to))
		}
	}
	q.pieces = append(q.pieces[:0], q.pieces[n:]...)
	for i := range q.ends {
		q.ends[i] -= n
	}
}

// finish performs what is under way when a warp ends.
func (q *copyQueue) finish(w *warp) *fault {
	q.land(w, len(q.pieces))
	q.ends = q.ends[:0]
	return nil
}

// wait leaves at most n groups under way.
func (q *copyQueue) wait(w *warp, n int) {
	if done := len(q.ends) - n; done > 0 {
		q.land(w, q.ends[done-1])
		q.ends = append(q.ends[:0], q.ends[done:]...)
	}
}

// copyOp is what cp.async needs besides its destination.
type copyOp struct {
	src    access
	length int32 // row of the length of the source; -1 where it is that of the copy
	ignore int32 // predicate by which the source is ignored; 0 for none
	n      int
}

// buildCopy decodes cp.async.{ca,cg}.shared.global [dst], [src], n{, length}{, policy} or {, ignore}.
func buildCopy(d *decoder, mods []string) (bool, error) {
	words := slices.DeleteFunc(slices.Clone(mods), func(m string) bool { return len(m) > 4 && m[:4] == "L2::" })
	if len(words) != 4 || words[0] != "async" || words[1] != "ca" && words[1] != "cg" ||
		words[2] != "shared" && words[2] != "shared::cta" || words[3] != "global" {
		return false, nil
	}
	args := d.in.Args
	if len(args) < 3 || len(args) > 5 || args[2].Kind != parse.KindInt {
		return true, d.count(3)
	}
	n := int(args[2].Val)
	if n != 16 && (words[1] == "cg" || n != 4 && n != 8) {
		return true, d.unknown("a copy of %d bytes", n)
	}
	op := &copyOp{src: access{space: spaceGlobal, fixed: n}, length: -1, n: n}
	to := &access{space: spaceShared, fixed: n, flight: true}
	if err := d.point(to, &args[0]); err != nil {
		return true, err
	}
	if err := d.point(&op.src, &args[1]); err != nil {
		return true, err
	}
	if len(args) > 3 {
		var err error
		if args[3].Kind == parse.KindReg && d.typeOf(args[3].Reg).Kind == 'p' {
			op.ignore, err = d.predicate(&args[3])
		} else if !slices.Contains(mods, "L2::cache_hint") || len(args) == 5 {
			op.length, err = d.source(&args[3], typeU32, false)
		}
		if err != nil {
			return true, err
		}
	}
	d.emit(inst{kind: kindRun, visible: true, mem: to, more: op, run: runCopy})
	return true, nil
}

func runCopy(w *warp, in *inst, mask uint32) *fault {
	a, op := in.mem, in.more.(*copyOp)
	to, from := &w.rows[a.base], &w.rows[op.src.base]
	if w.cta.watching(spaceShared) {
		if w.cta.counting {
			w.cta.stats.access(&op.src, mask, from, op.n)
		}
		if f := w.watch(in, mask, to, op.n, true); f != nil {
			return f
		}
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		length := uint64(op.n)
		if op.length >= 0 {
			length = w.rows[op.length][i]
		}
		if op.ignore > 0 && w.preds[op.ignore]>>i&1 == 1 {
			length = 0
		}
		if length > uint64(op.n) {
			return newFault(diag.OutOfBounds, w, in, 1<<i, "a copy of %d bytes from %d bytes", op.n, length)
		}
		p := piece{offset: int(to[i] + a.add - sharedStart)}
		var f *fault
		if p.to, f = w.locate(in, i, to[i]+a.add, spaceShared, op.n, true); f != nil {
			return f
		}
		if p.from, f = w.copySource(in, i, from[i]+op.src.add, op.n, int(length)); f != nil {
			return f
		}
		if w.cta.history != nil {
			read := inst{index: in.index, src: in.src, mem: &op.src}
			if f := w.touch(&read, i, from[i]+op.src.add, p.from, nil); f != nil {
				return f
			}
		}
		if w.cta.now() {
			p.perform()
		}
		w.copies.pieces = append(w.copies.pieces, p)
	}
	return nil
}

// copySource are the bytes that a copy reads; none are looked at where there are none.
func (w *warp) copySource(in *inst, i int, addr uint64, n, length int) ([]byte, *fault) {
	if addr%uint64(n) != 0 {
		return nil, newFault(diag.Misaligned, w, in, 1<<i, "address %#x is not a multiple of %d", addr, n)
	}
	if length == 0 {
		return nil, nil
	}
	return w.bytes(in, i, addr, spaceGlobal, length, false)
}

// buildGroups decodes commit_group, wait_group and wait_all. A group belongs to the warp: all live lanes take part.
func buildGroups(d *decoder, mods []string) (bool, error) {
	if len(mods) != 2 || mods[0] != "async" {
		return false, nil
	}
	in := inst{kind: kindRun, together: true, visible: true}
	switch mods[1] {
	case "commit_group":
		in.run = func(w *warp, _ *inst, _ uint32) *fault {
			w.copies.ends = append(w.copies.ends, len(w.copies.pieces))
			return nil
		}
	case "wait_all":
		in.run = func(w *warp, _ *inst, _ uint32) *fault { return w.copies.finish(w) }
	case "wait_group":
		if err := d.count(1); err != nil {
			return true, err
		}
		if d.in.Args[0].Kind != parse.KindInt || d.in.Args[0].Val > 1<<16 {
			return true, d.unknown("%s has no number of groups", d.text())
		}
		n := int(d.in.Args[0].Val)
		in.run = func(w *warp, _ *inst, _ uint32) *fault { w.copies.wait(w, n); return nil }
	default:
		return false, nil
	}
	d.emit(in)
	return true, nil
}
