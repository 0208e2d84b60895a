// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/parse"
	"lathe/cuda/ptx/tile"
	"lathe/internal/diag"
)

// groupOp is a wgmma.mma_async instruction.
type groupOp struct {
	e    tile.Elements
	n    int
	d, a []int32 // rows; a is nil where A is in shared memory
	// descA and descB are rows of descriptors; acrossA and acrossB say that rows (columns of B) lie along memory.
	descA, descB     int32
	acrossA, acrossB bool
	// scale is the predicate that says whether the accumulators are added, -1 where constant says it.
	scale    int32
	constant bool
}

// squad is a warpgroup: what its warps have issued, as far as not all of them have.
type squad struct {
	log  []ticket
	from int    // the count of the first of the log
	at   [4]int // how many each has issued
}

// ticket is what the warps of a warpgroup must agree on.
type ticket struct {
	inst  int32
	descs [2]uint64
	add   bool
}

func buildGroup(d *decoder, mods []string) (bool, error) {
	if len(mods) < 3 || mods[1] != "sync" || mods[2] != "aligned" {
		return false, nil
	}
	in := inst{kind: kindRun, together: true, visible: true}
	switch mods[0] {
	case "fence":
		in.run = func(w *warp, _ *inst, _ uint32) *fault { w.flights.fence++; return nil }
	case "commit_group":
		in.run = func(w *warp, _ *inst, _ uint32) *fault {
			w.flights.ends = append(w.flights.ends, w.flights.issued)
			return nil
		}
	case "wait_group":
		if err := d.count(1); err != nil {
			return true, err
		}
		if d.in.Args[0].Kind != parse.KindInt || d.in.Args[0].Val > 1<<16 {
			return true, d.unknown("%s has no number of groups", d.text())
		}
		n := int(d.in.Args[0].Val)
		in.run = func(w *warp, in *inst, _ uint32) *fault { w.waitFlights(in, n); return nil }
	case "mma_async":
		return d.group(mods[3:])
	default:
		return false, nil
	}
	if len(mods) != 3 {
		return false, nil
	}
	d.prog.proxied = true
	d.emit(in)
	return true, nil
}

// group decodes wgmma.mma_async behind its shape: d, a, b, scale-d{, imm-scale-a, imm-scale-b{, trans-a}{, trans-b}}.
func (d *decoder) group(mods []string) (bool, error) {
	words := slices.DeleteFunc(slices.Clone(mods), func(m string) bool { return m == "satfinite" })
	if len(words) != 4 || !strings.HasPrefix(words[0], "m64n") {
		return false, nil
	}
	op := &groupOp{scale: -1}
	op.e.Saturate = len(words) < len(mods)
	columns, depth, _ := strings.Cut(words[0][4:], "k")
	n, err := strconv.Atoi(columns)
	if err != nil || n%8 != 0 || n < 8 || n > tile.MaxN {
		return false, nil
	}
	op.n = n
	switch types := strings.Join(words[1:], "."); types {
	case "f32.bf16.bf16", "f32.f16.f16":
		op.e.Brain = words[2] == "bf16"
	case "s32.s8.s8", "s32.s8.u8", "s32.u8.s8", "s32.u8.u8":
		op.e.Bytes, op.e.SignedA, op.e.SignedB = true, words[2] == "s8", words[3] == "s8"
	default:
		return true, d.unknown("wgmma of %s is not executed, only f32.bf16.bf16, f32.f16.f16 and s32 of {u,s}8", types)
	}
	if depth != map[bool]string{false: "16", true: "32"}[op.e.Bytes] || op.e.Saturate && !op.e.Bytes {
		return false, nil
	}
	if err := d.groupOperands(op); err != nil {
		return true, err
	}
	d.prog.proxied = true
	d.emit(inst{kind: kindRun, together: true, visible: true, more: op, run: runGroup})
	return true, nil
}

func (d *decoder) groupOperands(op *groupOp) (err error) {
	args := d.in.Args
	want := 8
	if op.e.Bytes {
		want = 4
	} else if len(args) > 1 && args[1].Kind == parse.KindVector {
		want = 7
	}
	if err := d.count(want); err != nil {
		return err
	}
	if op.d, err = d.vector(&args[0], op.n/2, typeB32, true); err != nil {
		return err
	}
	if args[1].Kind == parse.KindVector {
		op.a, err = d.vector(&args[1], 4, typeB32, false)
	} else {
		op.descA, err = d.source(&args[1], typeB64, false)
	}
	if err != nil {
		return err
	}
	if op.descB, err = d.source(&args[2], typeB64, false); err != nil {
		return err
	}
	if args[3].Kind == parse.KindInt {
		op.constant = args[3].Val != 0
	} else if op.scale, err = d.predicate(&args[3]); err != nil {
		return err
	}
	if op.e.Bytes {
		return nil
	}
	for _, a := range args[4:] {
		if a.Kind != parse.KindInt {
			return d.unknown("%s has no number where a scale or transposition stands", d.text())
		}
	}
	op.e.NegateA, op.e.NegateB = int64(args[4].Val) == -1, int64(args[5].Val) == -1
	op.acrossA, op.acrossB = want == 8 && args[6].Val != 0, args[want-1].Val != 0
	return nil
}

// runGroup issues a product.
func runGroup(w *warp, in *inst, mask uint32) *fault {
	op, q := in.more.(*groupOp), &w.flights
	if mask != full || w.id|3 >= len(w.cta.warps) {
		return newFault(diag.Diverged, w, in, mask, "%s is executed by the lanes %#x: it needs all 32, of four warps",
			in.src.Op, mask)
	}
	f := &flight{op: op, inst: in.index, add: op.constant}
	t := ticket{inst: in.index}
	if op.scale >= 0 {
		p := w.preds[op.scale]
		if f.add = p != 0; p != 0 && p != full {
			return newFault(diag.Diverged, w, in, p, "scale-d differs between the lanes of a warp")
		}
	}
	t.add = f.add
	for i, row := range []int32{op.descA, op.descB} {
		if i == 0 && op.a != nil {
			continue
		}
		v := w.rows[row]
		if v != splat(v[0]) {
			return newFault(diag.Diverged, w, in, mask, "the matrix descriptor differs between the lanes of a warp")
		}
		desc, err := tile.ReadDescriptor(v[0])
		if err != nil {
			return newFault(diag.MatrixDescriptor, w, in, 0, "%v", err)
		}
		*[]*tile.Descriptor{&f.descA, &f.descB}[i], t.descs[i] = desc, v[0]
	}
	for _, check := range []func(*inst, *flight, ticket) *fault{w.agree, w.registers, w.beginReads} {
		if f := check(in, f, t); f != nil {
			return f
		}
	}
	q.issued++
	for _, r := range op.d {
		q.busy[r], q.named[r] = q.issued, q.issued
	}
	for _, r := range op.a {
		q.held[r] = q.issued
	}
	q.list = append(q.list, f)
	if w.cta.now() {
		w.perform(q.issued)
	}
	return nil
}

// agree compares with the other warps of the warpgroup.
func (w *warp) agree(in *inst, _ *flight, t ticket) *fault {
	s := &w.cta.squads[w.id/4]
	rank := w.id % 4
	at := s.at[rank] - s.from
	if at == len(s.log) {
		s.log = append(s.log, t)
	} else if s.log[at] != t {
		return newFault(diag.Diverged, w, in, 0,
			"the warps of a warpgroup differ in their wgmma number %d: another has executed "+
				"%s with descriptors %#x and %#x", s.at[rank], w.cta.prog.where(s.log[at].inst), s.log[at].descs[0],
			s.log[at].descs[1])
	}
	s.at[rank]++
	if done := slices.Min(s.at[:]) - s.from; done > 0 {
		s.log, s.from = slices.Delete(s.log, 0, done), s.from+done
	}
	return nil
}

// uneven is the fault of a warpgroup whose warps have not issued the same number of products.
func (c *cta) uneven() *fault {
	for i := range c.squads {
		s := &c.squads[i]
		if len(s.log) == 0 {
			continue
		}
		w := c.warps[4*i+slices.Index(s.at[:], s.from)]
		return newFault(diag.Diverged, w, &c.prog.insts[s.log[0].inst], 0,
			"warp %d has ended after %d wgmma, other warps of its warpgroup execute more", w.id, s.from)
	}
	return nil
}

// chunks calls f for all pieces of 16 bytes that a product of the warp reads, with their place in the matrix.
func (w *warp) chunks(f *flight, call func(b bool, r, c int, at uint64)) {
	per := func(d tile.Descriptor, from, n int, across, b bool) {
		if across {
			for k := range 16 {
				for c := from / 8; c < (from+n)/8; c++ {
					call(b, k, c-from/8, d.Chunk(uint64(k), uint64(c), true))
				}
			}
			return
		}
		for r := from; r < from+n; r++ {
			for c := range 2 {
				call(b, r-from, c, d.Chunk(uint64(r), uint64(c), false))
			}
		}
	}
	if f.op.a == nil {
		per(f.descA, w.id%4*tile.GroupRows, tile.GroupRows, f.op.acrossA, false)
	}
	per(f.descB, 0, f.op.n, f.op.acrossB, true)
}

// beginReads checks what a product reads of shared memory.
func (w *warp) beginReads(in *inst, f *flight, _ ticket) *fault {
	var bad *fault
	c := w.cta
	w.chunks(f, func(b bool, _, _ int, at uint64) {
		off := int(at) - sharedStart
		if off < 0 || off+16 > len(c.shared) {
			bad = newFault(diag.OutOfBounds, w, in, 0,
				"matrix %s reads 16 bytes at offset %d of shared memory, which has %d bytes",
				map[bool]string{false: "A", true: "B"}[b], off, len(c.shared))
			return
		}
		if last := len(f.spans) - 1; last >= 0 && f.spans[last][0]+f.spans[last][1] == off {
			f.spans[last][1] += 16
			return
		}
		f.spans = append(f.spans, [2]int{off, 16})
	})
	if bad != nil || c.shadow == nil {
		return bad
	}
	who := w.accessor(in)
	who.Async = true
	for _, s := range f.spans {
		if conflict := c.shadow.Begin(&who, s[0], s[1]); conflict != nil {
			return w.conflict(in, 0, conflict)
		}
	}
	return nil
}

// perform computes the products up to a count, in order.
func (w *warp) perform(upto uint32) {
	q := &w.flights
	for i, f := range q.list {
		if q.over+uint32(i) >= upto {
			return
		}
		if !f.done {
			f.done = true
			w.multiply(f)
		}
	}
}

func (w *warp) multiply(f *flight) {
	c := w.cta
	if c.group == nil {
		c.group = new(tile.Group)
	}
	g := c.group
	g.Begin(f.op.e)
	rows := func(list []int32) []*lane.Row {
		out := make([]*lane.Row, len(list))
		for i, r := range list {
			out[i] = &w.rows[r]
		}
		return out
	}
	if f.op.a != nil {
		g.RegistersA(rows(f.op.a))
	}
	w.chunks(f, func(b bool, r, k int, at uint64) {
		v := c.shared[at-sharedStart:][:16]
		if b {
			g.ChunkB(r, k, f.op.acrossB, v)
		} else {
			g.ChunkA(r, k, f.op.acrossA, v)
		}
	})
	g.Multiply(rows(f.op.d), f.add)
}

// waitFlights leaves at most n groups in flight.
func (w *warp) waitFlights(in *inst, n int) {
	q := &w.flights
	at := len(q.ends) - n - 1
	if at < 0 {
		return
	}
	upto := q.ends[at]
	q.ends = slices.Delete(q.ends, 0, at+1)
	w.perform(upto)
	done := int(upto - q.over)
	if w.cta.shadow != nil {
		who := w.accessor(in)
		for _, f := range q.list[:done] {
			who.Inst = f.inst
			for _, s := range f.spans {
				w.cta.shadow.End(&who, s[0], s[1])
			}
		}
	}
	q.list, q.over = slices.Delete(q.list, 0, done), upto
}

// reader names the instruction of the asynchronous proxy that reads a byte of shared memory.
func (c *cta) reader(off int) string {
	for _, w := range c.warps {
		for _, f := range w.flights.list {
			for _, s := range f.spans {
				if off >= s[0] && off < s[0]+s[1] {
					return fmt.Sprintf("warp %d at %s", w.id, c.prog.where(f.inst))
				}
			}
		}
		for _, b := range w.stores {
			if off >= b.from && off < b.from+b.n && !b.read {
				return fmt.Sprintf("warp %d at %s", w.id, c.prog.where(b.inst))
			}
		}
	}
	return "another instruction"
}
