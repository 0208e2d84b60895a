// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"slices"

	"lathe/cuda/ptx/parse"
	"lathe/cuda/ptx/tile"
	"lathe/internal/diag"
)

// flight is one wgmma of a warp, issued and not waited for.
type flight struct {
	op           *groupOp
	inst         int32
	descA, descB tile.Descriptor
	add, done    bool
	spans        [][2]int // of shared memory that it reads: offset and length
}

// flights are what a warp has issued.
type flights struct {
	list []*flight
	// issued counts all, over those that have been waited for; ends are the counts at each commit.
	issued, over uint32
	ends         []uint32
	// By row: the last flight that the accumulator in it depends on, the last that has it for an accumulator, or for a
	// part of A, and the fence behind which it was written last.
	busy, named, held, dirty []uint32
	fence                    uint32
}

// uses are the registers that an instruction reads and writes; rename says that it only moves one to another.
type uses struct {
	reads, writes []int32
	rename        bool
}

// registers demands that those of a product were fenced since they were written, and that A is not in flight.
func (w *warp) registers(in *inst, f *flight, _ ticket) *fault {
	q := &w.flights
	if q.fence == 1 {
		return newFault(diag.WgmmaRegister, w, in, 0, "the first wgmma of the warp: no wgmma.fence stands before it")
	}
	for i, list := range [][]int32{f.op.d, f.op.a} {
		for k, r := range list {
			if q.dirty[r] == q.fence {
				return newFault(diag.WgmmaRegister, w, in, 0,
					"register %d of %s was written before: no wgmma.fence stands in between", k,
					[]string{"the accumulators", "A"}[i])
			}
			if n := q.named[r]; i == 0 && n > q.over && !q.list[n-q.over-1].op.like(f.op) {
				return newFault(diag.WgmmaRegister, w, in, 0,
					"register %d of the accumulators is one of the wgmma at %s, which is in flight "+
						"and has another shape", k, w.cta.prog.where(q.list[n-q.over-1].inst))
			}
			if i == 1 && q.busy[r] > q.over {
				return newFault(diag.WgmmaRegister, w, in, 0, "register %d of A is an accumulator in flight", k)
			}
		}
	}
	return nil
}

// like says that two products have accumulators of one shape, so that the second may follow at once.
func (op *groupOp) like(o *groupOp) bool { return op.n == o.n && op.e.Bytes == o.e.Bytes }

// guard says whether an instruction uses registers that are in flight. One that is only moved to another is taken as
// renamed, as ptxas does it: what was in flight stays so under both names.
func (w *warp) guard(in *inst) bool {
	u, q := in.uses, &w.flights
	if _, count := w.clash(in); count != 0 {
		return true
	}
	for _, r := range u.reads {
		if q.busy[r] > q.over {
			w.perform(q.busy[r])
		}
	}
	for _, r := range u.writes {
		if u.rename {
			q.busy[r], q.dirty[r] = q.busy[u.reads[0]], q.dirty[u.reads[0]]
		} else {
			q.busy[r], q.dirty[r] = 0, q.fence
		}
	}
	return false
}

// clash is what an instruction does to a register in flight, and the number of the flight; 0 for none.
func (w *warp) clash(in *inst) (does string, count uint32) {
	u, q := in.uses, &w.flights
	moves := false
	for _, r := range u.reads {
		if q.busy[r] > q.over && !u.rename {
			return "reads an accumulator of", q.busy[r]
		}
		moves = moves || q.busy[r] > q.over
	}
	for _, r := range u.writes {
		switch {
		case q.named[r] > q.over && !moves:
			return "writes an accumulator of", q.named[r]
		case q.held[r] > q.over:
			return "writes a register that holds A of", q.held[r]
		}
	}
	return "", 0
}

// inFlight is the fault of what guard has found.
func (w *warp) inFlight(in *inst, mask uint32) *fault {
	does, count := w.clash(in)
	f := w.flights.list[count-w.flights.over-1]
	return newFault(diag.WgmmaRegister, w, in, mask,
		"%s %s the wgmma at %s, which is in flight: a wgmma.wait_group is missing, or "+
			"waits for too few groups", in.src.Op, does, w.cta.prog.where(f.inst))
}

// operands are the registers that d.in reads and writes, but for predicates.
func (d *decoder) operands() *uses {
	u := &uses{}
	var walk func(o *parse.Operand, write bool)
	walk = func(o *parse.Operand, write bool) {
		for i := range o.Elems {
			walk(&o.Elems[i], write && o.Kind != parse.KindAddr)
		}
		if o.Kind != parse.KindReg && o.Kind != parse.KindAddr || o.Reg < 0 || d.rows[o.Reg] < 0 {
			return
		}
		if write && o.Kind == parse.KindReg {
			u.writes = append(u.writes, d.rows[o.Reg])
		} else {
			u.reads = append(u.reads, d.rows[o.Reg])
		}
	}
	none := []string{"st", "red", "stmatrix", "cp", "bar", "barrier", "wgmma", "prefetch", "fence", "brx", "nanosleep"}
	for i := range d.in.Args {
		walk(&d.in.Args[i], i == 0 && !slices.Contains(none, d.in.Op))
	}
	u.rename = d.in.Op == "mov" && len(d.in.Args) == 2 && len(u.writes) == 1 && len(d.in.Args[0].Elems) == 0 &&
		len(d.in.Args[1].Elems) == 0
	if u.rename && len(u.reads) == 0 {
		u.reads = []int32{0} // a constant: never in flight, never written
	}
	return u
}

// flightRegisters leaves uses only where registers of wgmma, or what they are renamed to, are concerned.
func (p *program) flightRegisters() {
	tracked := make([]bool, len(p.init))
	for i := range p.insts {
		if op, ok := p.insts[i].more.(*groupOp); ok {
			p.insts[i].uses = nil
			for _, r := range append(slices.Clone(op.d), op.a...) {
				tracked[r] = true
			}
		}
	}
	for again := true; again; {
		again = false
		for i := range p.insts {
			u := p.insts[i].uses
			if u == nil || !u.rename || u.reads[0] == 0 {
				continue
			}
			if a, b := &tracked[u.reads[0]], &tracked[u.writes[0]]; *a != *b {
				*a, *b, again = true, true, true
			}
		}
	}
	for i := range p.insts {
		if u := p.insts[i].uses; u != nil && !slices.ContainsFunc(append(slices.Clone(u.reads), u.writes...),
			func(r int32) bool { return tracked[r] }) {
			p.insts[i].uses = nil
		}
	}
}

// reset makes the flights of a warp ready for its next block.
func (q *flights) reset(rows int) {
	if q.busy == nil {
		q.busy, q.named = make([]uint32, rows), make([]uint32, rows)
		q.held, q.dirty = make([]uint32, rows), make([]uint32, rows)
	}
	for _, list := range [][]uint32{q.busy, q.named, q.held, q.dirty} {
		clear(list)
	}
	*q = flights{busy: q.busy, named: q.named, held: q.held, dirty: q.dirty, fence: 1}
}
