// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"fmt"
	"math/bits"

	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/race"
	"lathe/internal/diag"
)

// barrier is one of the sixteen of a block.
type barrier struct {
	arrived uint32 // warps
	waiting uint32 // those of them that wait
	threads int    // that are expected; 0 means all that have not ended
	clock   []uint32
	known   race.Known
	// all, any and count are the reductions of bar.red so far.
	all, any bool
	count    uint64
	inst     int32
}

func (b *barrier) what(c *cta) string {
	for i := range c.bars {
		if b == &c.bars[i] {
			return fmt.Sprintf("at barrier %d, where %d warps have arrived,", i, bits.OnesCount32(b.arrived))
		}
	}
	return "for an asynchronous copy"
}

// barOp is what is special of a barrier instruction.
type barOp struct {
	red    string // popc, and, or; "" of plain ones
	arrive bool
	source int32 // predicate of a reduction
	not    uint32
	result int32 // row of popc, or predicate
	ids    int32 // row of the number of the barrier
	counts int32 // row of the number of threads; -1 where it is not stated
}

func buildBar(d *decoder, mods []string) (bool, error) {
	op := barOp{counts: -1}
	words := []string{}
	for _, m := range mods {
		if m != "cta" && m != "aligned" {
			words = append(words, m)
		}
	}
	args := d.in.Args
	switch {
	case len(words) == 2 && words[0] == "warp" && words[1] == "sync":
		return true, d.warpSync()
	case len(words) == 1 && (words[0] == "sync" || words[0] == "arrive"):
		op.arrive = words[0] == "arrive"
	case len(words) == 3 && words[0] == "red" && (words[1] == "popc" && words[2] == "u32" ||
		(words[1] == "and" || words[1] == "or") && words[2] == "pred") && len(args) >= 3:
		op.red = words[1]
		if err := d.reduction(&op); err != nil {
			return true, err
		}
		args = args[1 : len(args)-1]
	default:
		return false, nil
	}
	if len(args) < 1 || len(args) > 2 || op.arrive && len(args) != 2 {
		return true, d.unknown("%s with %d operands", d.text(), len(d.in.Args))
	}
	var err error
	if op.ids, err = d.source(&args[0], typeU32, false); err == nil && len(args) == 2 {
		op.counts, err = d.source(&args[1], typeU32, false)
	}
	d.emit(inst{kind: kindRun, visible: true, together: true, more: &op, run: runBar})
	return true, err
}

func (d *decoder) reduction(op *barOp) error {
	first, last := &d.in.Args[0], &d.in.Args[len(d.in.Args)-1]
	var err error
	if op.source, err = d.predicate(last); err != nil {
		return err
	}
	if last.Not {
		op.not = full
	}
	if op.red == "popc" {
		op.result, err = d.dest(first, 32, false)
	} else {
		op.result, err = d.predicate(first)
	}
	return err
}

func runBar(w *warp, in *inst, mask uint32) *fault {
	op := in.more.(*barOp)
	first := bits.TrailingZeros32(mask)
	id, threads := w.rows[op.ids][first], 0
	if op.counts >= 0 {
		threads = int(w.rows[op.counts][first])
	}
	if id >= uint64(len(w.cta.bars)) || threads%lane.Width != 0 || threads > maxThreads {
		return newFault(diag.BarrierMisuse, w, in, mask, "barrier %d for %d threads", id, threads)
	}
	b := &w.cta.bars[id]
	switch {
	case b.arrived == 0:
		*b = barrier{threads: threads, all: true, clock: b.clock, inst: in.index}
		if b.clock == nil {
			b.clock = make([]uint32, len(w.clock))
		}
		clear(b.clock)
	case w.cta.expected(b.threads) != w.cta.expected(threads):
		return newFault(diag.BarrierMisuse, w, in, mask, "barrier %d is for %d threads here and for %d at %s", id, threads,
			b.threads,
			w.cta.prog.where(b.inst))
	case b.arrived>>w.id&1 == 1:
		return newFault(diag.BarrierMisuse, w, in, mask, "warp %d arrives twice at barrier %d", w.id, id)
	}
	b.arrived |= 1 << w.id
	join32(b.clock, w.clock)
	b.known = b.known.Join(w.story.known)
	if op.red != "" {
		p := (w.preds[op.source] ^ op.not) & mask
		b.all = b.all && p == mask
		b.any = b.any || p != 0
		b.count += uint64(bits.OnesCount32(p))
	}
	if op.arrive {
		w.clock[w.id]++
	} else {
		b.waiting |= 1 << w.id
		w.wait, w.reduces = b, op
	}
	w.cta.complete(b)
	return nil
}

// expected is a number of threads at a barrier, where 0 stands for the whole block.
func (c *cta) expected(threads int) int {
	if threads == 0 {
		return len(c.warps) * lane.Width
	}
	return threads
}

// join32 is the maximum, element by element.
func join32(into, from []uint32) {
	for i, v := range from {
		into[i] = max(into[i], v)
	}
}

// complete releases a barrier at which all have arrived.
func (c *cta) complete(b *barrier) {
	want := b.threads / lane.Width
	if b.threads == 0 {
		for _, w := range c.warps {
			if w.live != 0 {
				want++
			}
		}
	}
	if b.arrived == 0 || bits.OnesCount32(b.arrived) < want {
		return
	}
	for m := b.waiting; m != 0; m &= m - 1 {
		w := c.warps[bits.TrailingZeros32(m)]
		w.wait = nil
		w.together(w.live)
		join32(w.clock, b.clock)
		w.story.known = w.story.known.Join(b.known)
		w.clock[w.id]++
		w.reduced(b)
	}
	b.arrived, b.waiting = 0, 0
}

// reduced stores the result of bar.red, at which all live lanes of a warp have waited.
func (w *warp) reduced(b *barrier) {
	op := w.reduces
	switch op.red {
	case "":
		return
	case "popc":
		for i := range lane.Width {
			if w.active>>i&1 == 1 {
				w.rows[op.result][i] = b.count
			}
		}
		return
	}
	w.preds[op.result] &^= w.active
	if op.red == "and" && b.all || op.red == "or" && b.any {
		w.preds[op.result] |= w.active
	}
}

// ended is called when all lanes of a warp have ended: barriers do not wait for it any more.
func (c *cta) ended(w *warp) *fault {
	for i := range c.bars {
		if c.bars[i].threads == 0 {
			c.complete(&c.bars[i])
		}
	}
	if f := w.leaveStores(); f != nil {
		return f
	}
	return w.copies.finish(w)
}

// warpSync decodes bar.warp.sync: all live lanes of the mask must be there.
func (d *decoder) warpSync() error {
	if err := d.count(1); err != nil {
		return err
	}
	at, err := d.source(&d.in.Args[0], typeU32, false)
	if err != nil {
		return err
	}
	d.emit(inst{kind: kindRun, a: at, run: func(w *warp, in *inst, mask uint32) *fault {
		return w.meet(in, mask, in.a, func(w *warp, _ *inst, group uint32) *fault {
			w.together(group)
			return nil
		})
	}})
	return nil
}

// together notes that lanes have waited for each other.
func (w *warp) together(group uint32) {
	w.syncs++
	if group == w.live {
		w.all = w.syncs
	} else if w.cta.shadow != nil && w.cta.shadow.Lanes {
		if w.met == nil {
			w.met = new(race.Met)
		}
		w.met.Join(group, w.syncs)
	}
}

// meet runs a .sync instruction once for each group of lanes: those that one mask names. A mask names the lanes that
// execute the instruction with it, and of the others none that lives.
func (w *warp) meet(in *inst, mask uint32, row int32, run func(w *warp, in *inst, group uint32) *fault) *fault {
	for left := mask; left != 0; {
		named, group := uint32(w.rows[row][bits.TrailingZeros32(left)]), uint32(0)
		for m := left; m != 0; m &= m - 1 {
			if i := bits.TrailingZeros32(m); uint32(w.rows[row][i]) == named {
				group |= 1 << i
			}
		}
		away := named & w.live &^ group
		switch {
		case group&^named != 0:
			i := bits.TrailingZeros32(group &^ named)
			return newFault(diag.Diverged, w, in, 1<<i, "the mask %#x does not name lane %d, which executes %s", named, i,
				in.src.Op)
		case away&^mask != 0:
			return newFault(diag.Diverged, w, in, group,
				"the mask %#x names the lanes %#x, which are elsewhere: the warp has diverged", named, away&^mask)
		case away != 0:
			return newFault(diag.Diverged, w, in, group, "the mask %#x names the lanes %#x, whose masks are others", named, away)
		}
		if f := run(w, in, group); f != nil {
			return f
		}
		left &^= group
	}
	return nil
}
