// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"math/bits"
	"slices"
	"strings"

	"lathe/cuda/ptx/mbarrier"
	"lathe/cuda/ptx/parse"
	"lathe/cuda/ptx/tensor"
	"lathe/internal/diag"
)

// run is a part of a bulk copy: bytes of shared memory at an offset, and those of global memory, nil outside of a
// tensor.
type run struct {
	at, n int
	far   []byte
}

// bulk is a bulk copy under way.
type bulk struct {
	warp *warp
	lane int
	inst int32
	// from and n say which shared memory it touches, runs what goes where.
	from, n int
	runs    []run
	fill    *tensor.Map // how bytes outside are filled; nil for zeros
	// o counts the bytes of a copy to shared memory. A copy to global memory has none: it belongs to a group of its
	// thread, -1 before its commit.
	o     *object
	group int
	// done says that the bytes have been moved, read that the thread may overwrite its source.
	done, read bool
}

// bulkOp is an instruction that copies in bulk.
type bulkOp struct {
	store bool
	rank  int // of tensor copies; 0 of those of plain bytes
	// shared, far and object are the operands: in shared memory, in global memory or a tensor map, an mbarrier.
	shared, far, object access
	size                int32 // row of the length of plain copies
	at                  []int32
}

// refused are modifiers that are known and not executed.
var refused = []string{"multicast::cluster", "im2col", "im2col::w", "im2col_no_offs", "tile::gather4", "tile::scatter4",
	"cp_mask", "cta_group::1", "cta_group::2"}

// buildBulk decodes cp.async.bulk and its groups.
func buildBulk(d *decoder, mods []string) (bool, error) {
	if len(mods) < 3 || mods[0] != "async" || mods[1] != "bulk" {
		return false, nil
	}
	d.prog.proxied = true
	switch mods[2] {
	case "commit_group", "wait_group":
		return true, d.bulkGroups(mods[2:])
	case "prefetch":
		return buildNothing(d, nil)
	}
	op, words := &bulkOp{}, []string{}
	for _, m := range mods[2:] {
		rank, isRank := map[string]int{"1d": 1, "2d": 2, "3d": 3, "4d": 4, "5d": 5}[m]
		switch {
		case slices.Contains(refused, m):
			return true, d.unknown("%s is not executed: copies are of one block and of plain boxes", m)
		case isRank:
			op.rank = rank
		case m == "tile" || m == "tensor" && op.rank == 0 || m == "L2::cache_hint":
		default:
			words = append(words, m)
		}
	}
	op.store = slices.Equal(words, []string{"global", "shared::cta", "bulk_group"})
	load := len(words) == 3 && strings.HasPrefix(words[0], "shared::c") && words[1] == "global" &&
		words[2] == "mbarrier::complete_tx::bytes"
	if !op.store && !load || (op.rank > 0) != slices.Contains(mods, "tensor") {
		return false, nil
	}
	return true, d.bulk(op)
}

// bulk reads the operands: [dst], [src], size{, [mbar]}, or with a tensor [dst], [map, {x, y}], [mbar] and
// [map, {x, y}], [src].
func (d *decoder) bulk(op *bulkOp) error {
	args := d.in.Args
	near, far, want := 0, 1, 3
	if op.store {
		near, far = 1, 0
	}
	if op.rank == 0 && !op.store {
		want = 4
	}
	if op.rank > 0 && op.store {
		want = 2
	}
	if slices.Contains(d.in.Mods, "L2::cache_hint") {
		want++
	}
	if err := d.count(want); err != nil {
		return err
	}
	op.shared = access{space: spaceShared, fixed: 16}
	if err := d.point(&op.shared, &args[near]); err != nil {
		return err
	}
	op.far = access{space: spaceGlobal, fixed: 16}
	if op.rank > 0 {
		op.far.space = spaceGeneric
		if err := d.coordinates(op, &args[far]); err != nil {
			return err
		}
	}
	if err := d.point(&op.far, &args[far]); err != nil {
		return err
	}
	at := 2
	if op.rank == 0 {
		var err error
		if op.size, err = d.source(&args[2], typeU32, false); err != nil {
			return err
		}
		at = 3
	}
	if !op.store {
		op.object = access{space: spaceShared, fixed: mbarrier.Size}
		if err := d.point(&op.object, &args[at]); err != nil {
			return err
		}
	}
	d.emit(inst{kind: kindRun, visible: true, mem: &op.shared, more: op, run: runBulk})
	return nil
}

// coordinates reads those of a box behind the address of its map.
func (d *decoder) coordinates(op *bulkOp, o *parse.Operand) error {
	if o.Kind != parse.KindAddr || len(o.Elems) != 1 || o.Elems[0].Kind != parse.KindVector ||
		len(o.Elems[0].Elems) != op.rank {
		return d.unknown("%s without %d coordinates", d.text(), op.rank)
	}
	for i := range o.Elems[0].Elems {
		row, err := d.source(&o.Elems[0].Elems[i], typeB32, false)
		if err != nil {
			return err
		}
		op.at = append(op.at, row)
	}
	return nil
}

func runBulk(w *warp, in *inst, mask uint32) *fault {
	op := in.more.(*bulkOp)
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		b := &bulk{warp: w, lane: i, inst: in.index, group: -1}
		if !op.store {
			var f *fault
			if b.o, f = w.object(in, i, w.rows[op.object.base][i]+op.object.add, spaceShared); f != nil {
				return f
			}
		}
		lay := w.layPlain
		if op.rank > 0 {
			lay = w.layBox
		}
		if f := lay(in, op, b); f != nil {
			return f
		}
		if f := w.issue(in, op, b); f != nil {
			return f
		}
	}
	return nil
}

// layPlain finds what a copy of plain bytes touches.
func (w *warp) layPlain(in *inst, op *bulkOp, b *bulk) *fault {
	i := b.lane
	near, far, n := w.rows[op.shared.base][i]+op.shared.add, w.rows[op.far.base][i]+op.far.add, w.rows[op.size][i]
	switch {
	case n == 0 || n%16 != 0:
		return newFault(diag.Misaligned, w, in, 1<<i, "a bulk copy of %d bytes, not a multiple of 16", n)
	case near%16 != 0 || far%16 != 0:
		return newFault(diag.Misaligned, w, in, 1<<i, "a bulk copy between addresses %#x and %#x, not multiples of 16",
			near, far)
	}
	if _, f := w.bytes(in, i, near, spaceShared, int(n), !op.store); f != nil {
		return f
	}
	b.from, b.n = int(near-sharedStart), int(n)
	return w.pieces(in, b, b.from, far, int(n), op.store)
}

// layBox finds what a copy of a box touches.
func (w *warp) layBox(in *inst, op *bulkOp, b *bulk) *fault {
	i := b.lane
	fail := func(msg string, args ...any) *fault {
		return newFault(diag.MatrixDescriptor, w, in, 1<<i, msg, args...)
	}
	at := w.rows[op.far.base][i] + op.far.add
	text, f := w.bytes(in, i, at, spaceGeneric, tensor.Size, false)
	if f != nil {
		return f
	}
	m, err := tensor.Decode(text)
	near := w.rows[op.shared.base][i] + op.shared.add
	switch {
	case at%tensor.Align != 0:
		return fail("the tensor map lies at %#x, not at a multiple of %d", at, tensor.Align)
	case err != nil:
		return fail("the tensor map at %#x: %v", at, err)
	case len(m.Dims) != op.rank:
		return fail("the tensor map has %d dimensions, the instruction %d", len(m.Dims), op.rank)
	case near%128 != 0:
		return fail("the box lies at address %#x of shared memory, not at a multiple of 128", near)
	}
	if b.fill = m; !m.NaN {
		b.fill = nil
	}
	if _, f := w.bytes(in, i, near, spaceShared, int(m.Bytes()), !op.store); f != nil {
		return f
	}
	start := make([]int64, op.rank)
	for k, row := range op.at {
		start[k] = int64(int32(w.rows[row][i]))
	}
	b.from, b.n = int(near-sharedStart), int(m.Bytes())
	m.Pieces(start, func(p tensor.Piece) {
		if f == nil {
			f = w.boxRun(in, b, m, near, p, op.store)
		}
	})
	return f
}

// boxRun adds a run of a box, in parts of 16 bytes where a swizzle moves them.
func (w *warp) boxRun(in *inst, b *bulk, m *tensor.Map, near uint64, p tensor.Piece, store bool) *fault {
	for p.Bytes > 0 {
		n := p.Bytes
		if m.Swizzle != tensor.None {
			n = min(n, 16-p.At%16)
		}
		at := int(m.Swizzle.At(near+uint64(p.At)) - sharedStart)
		switch {
		case !p.Outside:
			if f := w.pieces(in, b, at, p.Address, int(n), store); f != nil {
				return f
			}
		case !store:
			b.runs = append(b.runs, run{at: at, n: int(n)})
		}
		p.At, p.Address, p.Bytes = p.At+n, p.Address+uint64(n), p.Bytes-n
	}
	return nil
}

// pieces adds a run that lies in global memory, cut where the pages of sparse buffers end.
func (w *warp) pieces(in *inst, b *bulk, at int, addr uint64, n int, store bool) *fault {
	for n > 0 {
		part := n
		if buf := w.cta.mem.Find(addr); buf != nil {
			part = min(n, buf.Page(addr))
		}
		v, f := w.bytes(in, b.lane, addr, spaceGlobal, part, store)
		if f != nil {
			return f
		}
		if w.cta.history != nil {
			far := inst{index: in.index, src: in.src, mem: &access{space: spaceGlobal, fixed: part}}
			var next []byte
			if store {
				next = w.cta.shared[at:][:part]
			}
			if f := w.touch(&far, b.lane, addr, v, next); f != nil {
				return f
			}
		}
		if w.cta.counting {
			w.cta.stats.Sectors += int64((addr+uint64(part)-1)/32 - addr/32 + 1)
		}
		b.runs = append(b.runs, run{at: at, n: part, far: v})
		at, addr, n = at+part, addr+uint64(part), n-part
	}
	return nil
}
