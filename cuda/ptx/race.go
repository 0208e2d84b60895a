// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"bytes"
	"maps"
	"math/bits"
	"slices"

	"lathe/cuda/ptx/global"
	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/race"
	"lathe/internal/diag"
)

// grain is the greatest piece of shared memory that every access of the program covers whole: all are aligned to
// their length.
func (p *program) grain() int {
	least := 16
	for i := range p.insts {
		if a := p.insts[i].mem; a != nil && (a.space == spaceShared || a.space == spaceGeneric) {
			least = min(least, a.bytes())
		}
	}
	return least
}

// bytes is the length of an access of one lane.
func (a *access) bytes() int {
	if a.fixed != 0 {
		return a.fixed
	}
	return a.size * len(a.rows)
}

// watching says that accesses to a space are checked or counted.
func (c *cta) watching(sp space) bool {
	return c.counting && sp <= spaceShared || c.shadow != nil && (sp == spaceShared || sp == spaceGeneric)
}

// watch counts an access of n bytes a lane and checks it against races. flight says that a copy begins.
func (w *warp) watch(in *inst, mask uint32, base *lane.Row, n int, write bool) *fault {
	a := in.mem
	if w.cta.counting {
		w.cta.stats.access(a, mask, base, n)
	}
	if w.cta.shadow == nil || a.space != spaceShared && a.space != spaceGeneric {
		return nil
	}
	who := w.accessor(in)
	if who.Atomic = a.atomic; write {
		w.unfenced |= mask
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		off, ok := w.cta.sharedOffset(a, base[i]+a.add, n)
		if !ok {
			continue // another space, or an address that is an error anyway
		}
		if who.Lane = uint8(i); a.together {
			who.Lane = race.Many
		}
		var c *race.Conflict
		switch {
		case a.flight:
			c = w.cta.shadow.Issue(&who, off, n)
		case write:
			c = w.cta.shadow.Write(&who, off, n)
		default:
			c = w.cta.shadow.Read(&who, off, n)
		}
		if c != nil {
			return w.conflict(in, i, c)
		}
	}
	return nil
}

// accessor is the warp as one who accesses shared memory by an instruction.
func (w *warp) accessor(in *inst) race.Access {
	n := len(w.cta.warps)
	who := race.Access{Warp: w.id, Clock: w.clock[:n], Lane: race.Many, Turn: uint32(w.count), Sync: w.syncs, All: w.all,
		Met: w.met}
	if in != nil {
		who.Inst = in.index
	}
	if len(w.clock) > n {
		who.Fenced, who.Phases = w.clock[n:2*n], w.clock[2*n:]
	}
	return who
}

// sharedOffset is the offset of an address in the shared memory of the block.
func (c *cta) sharedOffset(a *access, addr uint64, n int) (int, bool) {
	if a.space == spaceGeneric {
		if addr-global.SharedBase >= global.LocalBase-global.SharedBase {
			return 0, false
		}
		addr -= global.SharedBase
	}
	off := addr - sharedStart
	return int(off), addr >= sharedStart && off+uint64(n) <= uint64(len(c.shared)) && addr%uint64(n) == 0
}

// conflict is the fault of an access that is not sound.
func (w *warp) conflict(in *inst, i int, c *race.Conflict) *fault {
	p := w.cta.prog
	if c.Kind == race.Unwritten {
		return newFault(diag.SharedUnwritten, w, in, 1<<i, "byte %d of shared memory is read and was never written", c.Offset)
	}
	code, msg := diag.DataRace, ""
	switch c.Kind {
	case race.OverRead:
		return newFault(diag.CopyInFlight, w, in, 1<<i,
			"warp %d writes byte %d of shared memory, which %s is still reading", w.id,
			c.Offset, w.cta.reader(c.Offset))
	case race.Object:
		code, msg = diag.BarrierMisuse,
			"warp %d accesses byte %d of shared memory, which is an mbarrier that warp %d made at %s"
	case race.Unphased:
		code, msg = diag.CopyInFlight,
			"warp %d accesses byte %d of shared memory, into which the copy of warp %d at %s goes, and has "+
				"not waited for its phase"
	case race.Unfenced:
		code, msg = diag.ProxyFence,
			"the asynchronous proxy of warp %d accesses byte %d of shared memory, which warp %d wrote at "+
				"%s: no fence.proxy.async stands in between"
	case race.WithinWarp:
		msg = "a lane of warp %d accesses byte %d of shared memory, which another lane of warp %d accessed at %s: " +
			"no bar.warp.sync and no barrier stands in between"
	case race.InFlight:
		code, msg = diag.CopyInFlight,
			"warp %d reads byte %d of shared memory, into which the copy of warp %d at %s is in flight: "+
				"a wait is missing, or waits for too few groups"
	case race.OverFlight:
		code, msg = diag.CopyInFlight,
			"warp %d writes byte %d of shared memory, into which the copy of warp %d at %s is in flight"
	case race.ReadAfterWrite:
		msg = "warp %d reads byte %d of shared memory, which warp %d wrote at %s: no barrier stands in between"
	case race.WriteAfterWrite:
		msg = "warp %d writes byte %d of shared memory, which warp %d wrote at %s: no barrier stands in between"
	default:
		msg = "warp %d writes byte %d of shared memory, which warp %d read at %s: no barrier stands in between"
	}
	return newFault(code, w, in, 1<<i, msg, w.id, c.Offset, c.Warp, p.where(c.Inst))
}

// overwritten checks behind a store that every lane finds what it wrote: two lanes that write different values to one
// byte leave it to chance which of them stays.
func (w *warp) overwritten(in *inst, mask uint32, base *lane.Row) *fault {
	a := in.mem
	var want [32]byte
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		n := a.size * len(a.rows)
		v, f := w.locate(in, i, base[i]+a.add, a.space, n, false)
		if f != nil {
			return f
		}
		for k, r := range a.rows {
			putBytes(want[k*a.size:][:a.size], w.rows[r][i])
		}
		if !bytes.Equal(v, want[:n]) {
			return newFault(diag.LanesConflict, w, in, 1<<i, "two lanes write different values to address %#x", base[i]+a.add)
		}
	}
	return nil
}

// access counts the passes through the banks of shared memory, or the sectors of global memory.
func (s *Stats) access(a *access, mask uint32, base *lane.Row, n int) {
	sp := a.space
	if sp == spaceGeneric {
		sp, _ = windowOf(base[bits.TrailingZeros32(mask)] + a.add)
	}
	switch sp {
	case spaceShared:
		s.SharedAccesses++
		lanes := lane.Width / max(1, n/4) // a pass serves 128 bytes
		for at := 0; at < lane.Width; at += lanes {
			part := mask >> at & uint32(uint64(1)<<lanes-1) << at
			if part != 0 {
				s.SharedIdeal++
				s.SharedCycles += passes(part, base, a.add, n)
			}
		}
	case spaceGlobal:
		s.GlobalAccesses++
		seen := map[uint64]bool{}
		for m := mask; m != 0; m &= m - 1 {
			addr := base[bits.TrailingZeros32(m)] + a.add
			seen[addr/32] = true
			seen[(addr+uint64(n)-1)/32] = true
		}
		s.Sectors += int64(len(seen))
		s.SectorsIdeal += int64(bits.OnesCount32(mask)*n+31) / 32
	}
}

// passes is the greatest number of different words that lanes of a pass want from one of the 32 banks.
func passes(mask uint32, base *lane.Row, add uint64, n int) int64 {
	var first [32]uint64 // word + 1 of each bank
	var more []uint64
	for m := mask; m != 0; m &= m - 1 {
		addr := base[bits.TrailingZeros32(m)] + add
		for w := addr / 4; w <= (addr+uint64(n)-1)/4; w++ {
			switch first[w%32] {
			case 0:
				first[w%32] = w + 1
			case w + 1:
			default:
				more = append(more, w)
			}
		}
	}
	if len(more) == 0 {
		return 1
	}
	slices.Sort(more)
	var counts [32]int64
	most := int64(0)
	for _, w := range slices.Compact(more) {
		counts[w%32]++
		most = max(most, counts[w%32])
	}
	return 1 + most
}

// story is what a warp knows of other blocks, and what it says of its own.
type story struct {
	// known is what happened before the warp, heard what its next fence adds, told what its atomic writes tell.
	known, heard, told race.Known
}

// orders says whether modifiers let an access learn of other blocks, and tell them.
func orders(mods []string) (acquire, release bool) {
	for _, m := range mods {
		acquire = acquire || m == "acquire" || m == "acq_rel" || m == "sc"
		release = release || m == "release" || m == "acq_rel" || m == "sc"
	}
	return acquire && !slices.Contains(mods, "cta"), release && !slices.Contains(mods, "cta")
}

// buildFence decodes membar and fence. Those of a block or a proxy tell other blocks nothing.
func buildFence(d *decoder, mods []string) (bool, error) {
	far := !slices.Contains(mods, "cta") && !slices.ContainsFunc(mods, func(m string) bool {
		return len(m) > 4 && m[:5] == "proxy"
	})
	async := len(mods) > 1 && mods[0] == "proxy" && mods[1] == "async" && !slices.Contains(mods, "global")
	d.emit(inst{kind: kindRun, run: func(w *warp, _ *inst, mask uint32) *fault {
		if async {
			w.fence(mask)
		}
		if far && w.cta.history != nil {
			w.release()
			w.story.known, w.story.heard = w.story.known.Join(w.story.heard), nil
		}
		return nil
	}})
	return true, nil
}

// fence makes visible to the asynchronous proxy what the warp knows that others have written, and, once all of its
// lanes that wrote take part, what it has written itself.
func (w *warp) fence(mask uint32) {
	n := len(w.cta.warps)
	if len(w.clock) == n {
		return
	}
	own := w.clock[n+w.id]
	join32(w.clock[n:2*n], w.clock[:n])
	if w.unfenced&^mask != 0 {
		w.clock[n+w.id] = own
		return
	}
	w.unfenced = 0
	w.clock[w.id]++
}

// release lets later atomic writes of the warp tell all that has happened before.
func (w *warp) release() {
	now := maps.Clone(w.story.known)
	if now == nil {
		now = race.Known{}
	}
	now[w.cta.index] = slices.Clone(w.clock[:len(w.cta.warps)])
	w.story.told = now
	w.clock[w.id]++
}

// touch checks an access of one lane to global memory, v being the bytes that are there. With a write, `next` are those
// that will be: who writes what is there already disturbs nobody.
func (w *warp) touch(in *inst, i int, addr uint64, v, next []byte) *fault {
	g, a := w.cta.history, in.mem
	who := race.GridAccess{Warp: w.id, Block: w.cta.index, Clock: w.clock, Known: w.story.known, Inst: in.index,
		Atomic: a.atomic}
	if a.atomic {
		w.hear(a, addr, next != nil)
		who.Known = w.story.known
	}
	for k := range v {
		at := addr + uint64(k)
		if next != nil && next[k] == v[k] && !a.atomic {
			continue
		}
		if a.nc {
			if c := g.Touched(at); c != nil {
				return w.unordered(in, i, at, c, "reads by .nc")
			}
			continue
		}
		if c := g.Earlier(&who, at); c != nil {
			return w.unordered(in, i, at, c, map[bool]string{false: "reads", true: "writes"}[next != nil])
		}
		if next != nil {
			g.Write(&who, at)
		}
	}
	return nil
}

// hear is what an atomic access learns and tells.
func (w *warp) hear(a *access, addr uint64, writes bool) {
	g := w.cta.history
	if a.reads || !writes {
		heard := g.Hear(addr)
		if a.acquire {
			w.story.known = w.story.known.Join(heard)
		} else {
			w.story.heard = w.story.heard.Join(heard)
		}
	}
	if writes {
		if a.release {
			w.release()
		}
		g.Tell(addr, w.story.told, a.reads)
	}
}

// unordered is the fault of an access to global memory that an earlier write does not precede.
func (w *warp) unordered(in *inst, i int, addr uint64, c *race.GridConflict, does string) *fault {
	what, off := "global memory", addr
	if b := w.cta.mem.Find(addr); b != nil {
		what, off = b.Name, addr-b.Base
	}
	p := w.cta.prog
	if in.mem.nc {
		return newFault(diag.DataRace, w, in, 1<<i,
			"warp %d of block %d %s byte %d of %s, which warp %d of block %d wrote in "+
				"this launch at %s: it may find what was there before", w.id, w.cta.index, does, off, what, c.Warp, c.Block,
			p.where(c.Inst))
	}
	return newFault(diag.DataRace, w, in, 1<<i,
		"warp %d of block %d %s byte %d of %s, which warp %d of block %d wrote at %s: "+
			"no barrier, and no fence with atomic accesses, stands in between", w.id, w.cta.index, does, off, what, c.Warp,
		c.Block, p.where(c.Inst))
}
