// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"math/bits"
	"slices"

	"lathe/cuda/ptx/parse"
	"lathe/cuda/ptx/race"
	"lathe/internal/diag"
)

// issue begins a copy: it takes place now, or later.
func (w *warp) issue(in *inst, op *bulkOp, b *bulk) *fault {
	c := w.cta
	if c.counting {
		c.stats.GlobalAccesses++
		c.stats.SectorsIdeal += int64(b.n+31) / 32
	}
	if c.shadow != nil {
		who := w.accessor(in)
		who.Async, who.Lane = true, uint8(b.lane)
		var conflict *race.Conflict
		if op.store {
			for _, r := range b.runs {
				if conflict = c.shadow.Begin(&who, r.at, r.n); conflict != nil {
					break
				}
			}
		} else {
			conflict = c.shadow.Issue(&who, b.from, b.n)
		}
		if conflict != nil {
			return w.conflict(in, b.lane, conflict)
		}
	}
	if op.store {
		w.stores = append(w.stores, b)
		if c.now() {
			b.move(c)
		}
		return nil
	}
	c.flying = append(c.flying, b)
	if c.now() {
		return c.land(len(c.flying) - 1)
	}
	return nil
}

// now says whether an asynchronous operation that is issued takes place at once.
func (c *cta) now() bool {
	switch c.m.opt.Copies {
	case Lazy:
		return false
	case Anytime:
		return c.draw()%2 == 0
	}
	return true
}

// draw is the next number of the block's sequence.
func (c *cta) draw() uint64 {
	c.rng += 0x9E3779B97F4A7C15
	z := c.rng
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// move moves the bytes of a copy.
func (b *bulk) move(c *cta) {
	if b.done {
		return
	}
	b.done = true
	for _, r := range b.runs {
		near := c.shared[r.at:][:r.n]
		switch {
		case b.o == nil:
			copy(r.far, near)
		case r.far != nil:
			copy(near, r.far)
		case b.fill != nil:
			b.fill.Fill(near)
		default:
			clear(near)
		}
	}
}

// land ends copy i of those that fly to shared memory: its bytes are there, and counted.
func (c *cta) land(i int) *fault {
	b := c.flying[i]
	c.flying = slices.Delete(c.flying, i, i+1)
	b.move(c)
	if c.shadow != nil {
		c.shadow.Arrive(b.from, b.n, b.o.slot, b.o.before+b.o.Phase+1)
	}
	b.o.latest, b.o.due = b, b.o.before+b.o.Phase+1
	done, err := b.o.Expect(-int64(b.n))
	if err != nil {
		return newFault(diag.BarrierMisuse, b.warp, &c.prog.insts[b.inst], 1<<b.lane,
			"mbarrier at offset %d of shared memory: %v",
			b.o.offset, err)
	}
	if done {
		c.phase(b.o)
	}
	return nil
}

// bulkGroups decodes cp.async.bulk.commit_group and wait_group{.read}, which each thread has for itself.
func (d *decoder) bulkGroups(mods []string) error {
	in := inst{kind: kindRun, visible: true}
	switch {
	case mods[0] == "commit_group" && len(mods) == 1:
		in.run = func(w *warp, _ *inst, mask uint32) *fault { w.commitStores(mask); return nil }
	case mods[0] == "wait_group" && (len(mods) == 1 || mods[1] == "read"):
		if err := d.count(1); err != nil {
			return err
		}
		if d.in.Args[0].Kind != parse.KindInt || d.in.Args[0].Val > 1<<16 {
			return d.unknown("%s has no number of groups", d.text())
		}
		n, read := int(d.in.Args[0].Val), len(mods) == 2
		in.run = func(w *warp, in *inst, mask uint32) *fault { w.waitStores(in, mask, n, read); return nil }
	default:
		return d.unknown("the interpreter does not execute the modifiers of %s", d.text())
	}
	d.emit(in)
	return nil
}

// commitStores makes a group of what each lane has issued.
func (w *warp) commitStores(mask uint32) {
	for _, b := range w.stores {
		if b.group < 0 && mask>>b.lane&1 == 1 {
			b.group = w.groups[b.lane]
		}
	}
	for m := mask; m != 0; m &= m - 1 {
		w.groups[bits.TrailingZeros32(m)]++
	}
}

// waitStores leaves at most n groups of each lane under way; read says that their sources are all that is waited for.
func (w *warp) waitStores(in *inst, mask uint32, n int, read bool) {
	w.stores = slices.DeleteFunc(w.stores, func(b *bulk) bool {
		if mask>>b.lane&1 == 0 || b.group < 0 || b.group >= w.groups[b.lane]-n {
			return false
		}
		b.move(w.cta)
		if !b.read && w.cta.shadow != nil {
			who := w.accessor(in)
			who.Inst, who.Lane = b.inst, uint8(b.lane)
			for _, r := range b.runs {
				w.cta.shadow.End(&who, r.at, r.n)
			}
		}
		b.read = true
		return !read
	})
}

// leaveStores ends the copies of a warp that ends, which must not have a wgmma in flight either.
func (w *warp) leaveStores() *fault {
	if q := w.flights.list; w.cta.races && len(q) > 0 {
		return newFault(diag.CopyInFlight, w, &w.cta.prog.insts[q[0].inst], 0,
			"the warp ends, and this wgmma may still read shared memory: wait_group is missing, or waits for too few groups")
	}
	for _, b := range w.stores {
		if w.cta.races && !b.read {
			return newFault(diag.CopyInFlight, w, &w.cta.prog.insts[b.inst], 1<<b.lane,
				"the thread ends, and this copy may still read shared memory: wait_group is missing, or waits for too few groups")
		}
		b.move(w.cta)
	}
	w.stores = w.stores[:0]
	return nil
}

// finish looks at what a block leaves behind.
func (c *cta) finish(last *warp) *fault {
	in := &c.prog.insts[len(c.prog.insts)-1]
	for len(c.flying) > 0 {
		if c.races {
			return c.unawaited(c.flying[0])
		}
		if f := c.land(0); f != nil {
			return f
		}
	}
	var all []*object
	for _, o := range c.objects {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *object) int { return a.slot - b.slot })
	for _, o := range all {
		if f := c.leftover(o, last, in, 0); f != nil {
			return f
		}
		seen := func(w *warp) bool { return w.clock[2*len(c.warps)+o.slot] >= o.due }
		if b := o.latest; b != nil && c.races && !slices.ContainsFunc(c.warps, seen) {
			return c.unawaited(b)
		}
	}
	return c.uneven()
}

// unawaited is the fault of a copy to shared memory that may outlive the block.
func (c *cta) unawaited(b *bulk) *fault {
	return newFault(diag.CopyInFlight, b.warp, &c.prog.insts[b.inst], 1<<b.lane,
		"the block ends, and this copy into its shared memory may be in flight: nobody has waited for its phase")
}
