// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"fmt"
	"math/bits"
	"strings"

	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/mbarrier"
	"lathe/cuda/ptx/race"
	"lathe/internal/diag"
)

// maxObjects is the number of places of a block that may hold an mbarrier.
const maxObjects = 64

// futileRounds is how often all warps of a block may be told that their phases are not complete, until one is.
const futileRounds = 1 << 10

// object is an mbarrier of a block.
type object struct {
	mbarrier.Barrier
	live         bool
	offset, slot int
	inst         int32
	// before counts the phases of mbarriers that were at this place before.
	before uint32
	// coming is what those that have arrived in this phase know, done what whoever sees it complete learns; used counts,
	// for each warp, its clock when it last used the object.
	coming, done, used []uint32
	comingKnown, known race.Known
	// latest is the copy that has landed last, due the number of phases after which its bytes are there.
	latest *bulk
	due    uint32
}

// objectOp is an instruction on mbarriers.
type objectOp struct {
	verb string // init, inval, expect_tx, complete_tx, arrive, arrive_drop, test_wait, try_wait
	// count is the row of a number: arrivals, bytes, a state or a parity; -1 where there is none.
	count                   int32
	to                      int32 // row of the state, or predicate
	expect, parity, relaxed bool
}

func buildObject(d *decoder, mods []string) (bool, error) {
	if len(mods) < 2 || mods[len(mods)-1] != "b64" {
		return false, nil
	}
	op := &objectOp{verb: mods[0], count: -1}
	a := &access{fixed: mbarrier.Size}
	for _, m := range mods[1 : len(mods)-1] {
		switch m {
		case "shared", "shared::cta", "shared::cluster":
			a.space = spaceShared
		case "expect_tx":
			op.expect = true
		case "parity":
			op.parity = true
		case "relaxed":
			op.relaxed = true
		case "noComplete", "acquire", "release", "cta", "cluster":
		default:
			return false, nil
		}
	}
	if op.verb == "pending_count" {
		return true, d.pendingCount()
	}
	args := map[string][2]int{"init": {0, 2}, "inval": {0, 1}, "expect_tx": {0, 2}, "complete_tx": {0, 2},
		"arrive": {1, 2}, "arrive_drop": {1, 2}, "test_wait": {1, 3}, "try_wait": {1, 3}}
	at, ok := args[op.verb]
	if !ok {
		return false, nil
	}
	if n := len(d.in.Args); n < at[1] || n > 4 {
		return true, d.count(at[1])
	}
	if err := d.point(a, &d.in.Args[at[0]]); err != nil {
		return true, err
	}
	if err := d.objectOperands(op, at[0]); err != nil {
		return true, err
	}
	d.prog.proxied = true
	d.emit(inst{kind: kindRun, visible: true, mem: a, more: op, run: runObject})
	return true, nil
}

// objectOperands reads what stands beside the address, which is that at index at.
func (d *decoder) objectOperands(op *objectOp, at int) (err error) {
	waits := strings.HasSuffix(op.verb, "_wait")
	if len(d.in.Args) > at+1 {
		t := typeU32
		if waits && !op.parity {
			t = typeB64
		}
		if op.count, err = d.source(&d.in.Args[at+1], t, false); err != nil {
			return err
		}
	}
	switch {
	case waits:
		op.to, err = d.predicate(&d.in.Args[0])
	case at == 1:
		op.to, err = d.dest(&d.in.Args[0], 64, false)
	}
	return err
}

func (d *decoder) pendingCount() error {
	if err := d.count(2); err != nil {
		return err
	}
	in := inst{kind: kindLane, fn: func(d, a, _, _, _ *lane.Row) {
		for i := range d {
			d[i] = mbarrier.TokenPending(a[i])
		}
	}}
	var err error
	if in.d, err = d.dest(&d.in.Args[0], 32, false); err == nil {
		in.a, err = d.source(&d.in.Args[1], typeB64, false)
	}
	d.emit(in)
	return err
}

// object finds the mbarrier at an address, which must have been made, and notes that the warp uses it.
func (w *warp) object(in *inst, i int, addr uint64, sp space) (*object, *fault) {
	off, f := w.objectOffset(in, i, addr, sp)
	if f != nil {
		return nil, f
	}
	c := w.cta
	o := c.objects[off]
	if o == nil || !o.live {
		return nil, newFault(diag.BarrierMisuse, w, in, 1<<i, "there is no mbarrier at offset %d of shared memory", off)
	}
	if c.shadow != nil {
		who := w.accessor(in)
		if c := c.shadow.Meets(&who, off, mbarrier.Size); c != nil {
			return nil, w.conflict(in, i, c)
		}
	}
	o.used[w.id] = w.clock[w.id]
	return o, nil
}

// objectOffset is the offset of an address in shared memory.
func (w *warp) objectOffset(in *inst, i int, addr uint64, sp space) (int, *fault) {
	if sp == spaceGeneric {
		sp, addr = windowOf(addr)
	}
	if sp != spaceShared {
		return 0, newFault(diag.OutOfBounds, w, in, 1<<i, "the address %#x of an mbarrier is not in shared memory", addr)
	}
	_, f := w.locate(in, i, addr, spaceShared, mbarrier.Size, true)
	return int(addr - sharedStart), f
}

func runObject(w *warp, in *inst, mask uint32) *fault {
	a, op := in.mem, in.more.(*objectOp)
	base := w.rows[a.base]
	if strings.HasSuffix(op.verb, "_wait") {
		return w.waitObject(in, op, mask)
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		n := int64(1)
		if op.count >= 0 {
			n = int64(uint32(w.rows[op.count][i]))
		}
		if op.verb == "init" {
			if f := w.makeObject(in, i, base[i]+a.add, n); f != nil {
				return f
			}
			continue
		}
		o, f := w.object(in, i, base[i]+a.add, a.space)
		if f == nil {
			f = w.useObject(in, i, o, n)
		}
		if f != nil {
			return f
		}
	}
	if strings.HasPrefix(op.verb, "arrive") && !op.relaxed {
		w.clock[w.id]++
	}
	return nil
}

// useObject performs all but init and waits, for one lane.
func (w *warp) useObject(in *inst, i int, o *object, n int64) *fault {
	op := in.more.(*objectOp)
	var done bool
	var err error
	switch op.verb {
	case "inval":
		return w.endObject(in, i, o)
	case "expect_tx":
		done, err = o.Expect(n)
	case "complete_tx":
		done, err = o.Expect(-n)
	default:
		if op.expect {
			if done, err = o.Expect(n); err != nil {
				break
			}
			n = 1
		}
		w.rows[op.to][i] = o.Token()
		if !op.relaxed {
			join32(o.coming, w.clock)
			o.comingKnown = o.comingKnown.Join(w.story.known)
		}
		done, err = o.Arrive(n, op.verb == "arrive_drop")
	}
	if err != nil {
		return newFault(diag.BarrierMisuse, w, in, 1<<i, "mbarrier at offset %d of shared memory: %v", o.offset, err)
	}
	if done {
		w.cta.phase(o)
	}
	return nil
}

// makeObject is mbarrier.init.
func (w *warp) makeObject(in *inst, i int, addr uint64, count int64) *fault {
	off, f := w.objectOffset(in, i, addr, in.mem.space)
	if f != nil {
		return f
	}
	c := w.cta
	o := c.objects[off]
	switch {
	case o != nil && o.live:
		return newFault(diag.BarrierMisuse, w, in, 1<<i,
			"the mbarrier at offset %d of shared memory, made at %s, is made again "+
				"without mbarrier.inval: it may be in use", off, c.prog.where(o.inst))
	case o == nil && len(c.objects) == maxObjects:
		return newFault(diag.BarrierMisuse, w, in, 1<<i, "more than %d mbarriers a block are not executed", maxObjects)
	case o == nil:
		n := len(w.clock)
		o = &object{offset: off, slot: len(c.objects), coming: make([]uint32, n), done: make([]uint32, n),
			used: make([]uint32, len(c.warps))}
		c.objects[off] = o
	}
	if c.shadow != nil {
		who := w.accessor(in)
		who.Lane = uint8(i)
		if c := c.shadow.Mark(&who, off, mbarrier.Size); c != nil {
			return w.conflict(in, i, c)
		}
	}
	o.live, o.inst, o.before = true, in.index, o.before+o.Phase
	if err := o.Init(count); err != nil {
		return newFault(diag.BarrierMisuse, w, in, 1<<i, "mbarrier at offset %d of shared memory: %v", off, err)
	}
	return nil
}

// endObject is mbarrier.inval: all that have used the object must be known to have done so.
func (w *warp) endObject(in *inst, i int, o *object) *fault {
	for u, t := range o.used {
		if u != w.id && w.clock[u] < t && w.cta.races {
			return newFault(diag.DataRace, w, in, 1<<i,
				"warp %d ends the mbarrier at offset %d of shared memory, which warp %d "+
					"uses: no barrier stands in between", w.id, o.offset, u)
		}
	}
	if f := w.cta.leftover(o, w, in, 1<<i); f != nil {
		return f
	}
	o.live = false
	if w.cta.shadow != nil {
		w.cta.shadow.Unmark(o.offset, mbarrier.Size)
	}
	return nil
}

// leftover is the fault of an mbarrier whose bytes do not come out even at its end.
func (c *cta) leftover(o *object, w *warp, in *inst, mask uint32) *fault {
	if o.Bytes == 0 || !o.live {
		return nil
	}
	return newFault(diag.BarrierMisuse, w, in, mask,
		"the mbarrier at offset %d of shared memory, made at %s, ends wrong: %s",
		o.offset, c.prog.where(o.inst), o.String())
}

// phase is called when a phase is complete.
func (c *cta) phase(o *object) {
	join32(o.done, o.coming)
	o.known = o.known.Join(o.comingKnown)
	o.comingKnown = nil
	clear(o.coming)
	o.done[2*len(c.warps)+o.slot] = o.before + o.Phase
	c.futile = 0
	for _, w := range c.warps {
		if w.polls == o {
			w.polls = nil
		}
	}
}

// waitObject is test_wait and try_wait. The warp rests until the phase is complete; where nothing else can go on, it is
// told that the phase is not.
func (w *warp) waitObject(in *inst, op *objectOp, mask uint32) *fault {
	a := in.mem
	base := w.rows[a.base]
	yes := uint32(0)
	var open *object
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		o, f := w.object(in, i, base[i]+a.add, a.space)
		if f != nil {
			return f
		}
		v := w.rows[op.count][i]
		done := false
		if op.parity {
			if v > 1 {
				return newFault(diag.BarrierMisuse, w, in, 1<<i, "a phase of parity %d", v)
			}
			done = o.Parity(v)
		} else {
			var err error
			if done, err = o.Done(v); err != nil {
				return newFault(diag.BarrierMisuse, w, in, 1<<i, "mbarrier at offset %d of shared memory: %v", o.offset, err)
			}
		}
		if !done {
			open = o
			continue
		}
		yes |= 1 << i
		if !op.relaxed {
			join32(w.clock, o.done)
			w.story.known = w.story.known.Join(o.known)
		}
	}
	if open != nil && !w.toldNo {
		w.polls = open
		return nil
	}
	w.toldNo = false
	w.preds[op.to] = w.preds[op.to]&^mask | yes
	return nil
}

// unstick lets a block go on in which no warp can: a copy that is under way lands, or those that wait for a phase are
// told that it is not complete. False is a deadlock.
func (c *cta) unstick() (more bool, f *fault) {
	if len(c.flying) > 0 {
		return true, c.land(0)
	}
	if c.futile++; c.futile > futileRounds {
		return false, nil
	}
	for _, w := range c.warps {
		if w.polls != nil {
			w.polls, w.toldNo, more = nil, true, true
		}
	}
	return more, nil
}

// rests says what a warp that waits for a phase waits for.
func (o *object) rests() string {
	return fmt.Sprintf("for the mbarrier at offset %d of shared memory, whose %s,", o.offset, o.String())
}
