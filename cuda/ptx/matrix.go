// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/tile"
	"lathe/internal/diag"
)

// product computes a matrix product on the rows of registers.
type product func(x *tile.Scratch, d, a, b, c []*lane.Row)

// mmaOp is an mma instruction: its function and the rows of its operands.
type mmaOp struct {
	f          product
	d, a, b, c []int32
}

// products lists the element types of mma and what they need.
func products(k int, satfinite bool, types [4]string) (f product, s tile.Shape, accBits int) {
	is := func(d, a, b, c string) bool { return types == [4]string{d, a, b, c} }
	s.K = k
	small := func(name string, bits int) (signed, ok bool) {
		return name == "s"+string(rune('0'+bits)), name == "s"+string(rune('0'+bits)) || name == "u"+string(rune('0'+bits))
	}
	switch {
	case (k == 8 || k == 16) && !satfinite && (is("f32", "bf16", "bf16", "f32") || is("f32", "f16", "f16", "f32")):
		s.Bits = 16
		return func(x *tile.Scratch, d, a, b, c []*lane.Row) { x.Float(s, types[1] == "bf16", d, a, b, c) }, s, 32
	case (k == 8 || k == 16) && !satfinite && is("f16", "f16", "f16", "f16"):
		s.Bits = 16
		return func(x *tile.Scratch, d, a, b, c []*lane.Row) { x.FloatHalf(s, d, a, b, c) }, s, 16
	case (k == 4 || k == 8) && !satfinite && is("f32", "tf32", "tf32", "f32"):
		s.Bits = 32
		return func(x *tile.Scratch, d, a, b, c []*lane.Row) { x.Tensor32(s, d, a, b, c) }, s, 32
	}
	for _, width := range []int{8, 4} {
		sa, okA := small(types[1], width)
		sb, okB := small(types[2], width)
		if okA && okB && types[0] == "s32" && types[3] == "s32" && (k == 128/width || k == 256/width) {
			s.Bits = width
			return func(_ *tile.Scratch, d, a, b, c []*lane.Row) { tile.Integer(s, sa, sb, satfinite, d, a, b, c) }, s, 32
		}
	}
	return nil, s, 0
}

func buildMMA(d *decoder, mods []string) (bool, error) {
	words := slices.DeleteFunc(slices.Clone(mods), func(m string) bool { return m == "satfinite" })
	shapes := []struct {
		name string
		k    int
	}{{"m16n8k4", 4}, {"m16n8k8", 8}, {"m16n8k16", 16}, {"m16n8k32", 32}, {"m16n8k64", 64}}
	if len(words) != 9 || !slices.Equal(words[:2], []string{"sync", "aligned"}) ||
		words[3] != "row" || words[4] != "col" {
		return false, nil
	}
	for _, sh := range shapes {
		if sh.name != words[2] {
			continue
		}
		f, s, acc := products(sh.k, len(words) < len(mods), [4]string(words[5:]))
		if f == nil {
			return false, nil
		}
		return true, d.mma(f, s, acc)
	}
	return false, nil
}

func (d *decoder) mma(f product, s tile.Shape, acc int) error {
	if err := d.count(4); err != nil {
		return err
	}
	op := &mmaOp{f: f}
	sizes := []int{acc / 8, s.RegsA(), s.RegsB(), acc / 8}
	for i, into := range []*[]int32{&op.d, &op.a, &op.b, &op.c} {
		o := &d.in.Args[i]
		rows, err := d.vector(o, sizes[i], typeB32, i == 0)
		if err != nil {
			return err
		}
		*into = rows
	}
	d.emit(inst{kind: kindRun, together: true, more: op, run: runMMA})
	return nil
}

func runMMA(w *warp, in *inst, mask uint32) *fault {
	if mask != full {
		return newFault(diag.Diverged, w, in, mask, "%s is executed by the lanes %#x: it needs all 32", in.src.Op, mask)
	}
	op := in.more.(*mmaOp)
	var ptrs [16]*lane.Row
	at := 0
	rows := func(list []int32) []*lane.Row {
		from := at
		for _, r := range list {
			ptrs[at] = &w.rows[r]
			at++
		}
		return ptrs[from:at]
	}
	d, a, b, c := rows(op.d), rows(op.a), rows(op.b), rows(op.c)
	op.f(&w.cta.scratch, d, a, b, c)
	return nil
}

// buildMatrix decodes ldmatrix and stmatrix.
func buildMatrix(d *decoder, mods []string) (bool, error) {
	if len(mods) < 6 || !slices.Equal(mods[:3], []string{"sync", "aligned", "m8n8"}) || mods[len(mods)-1] != "b16" {
		return false, nil
	}
	n, ok := map[string]int{"x1": 1, "x2": 2, "x4": 4}[mods[3]]
	rest := mods[4 : len(mods)-1]
	trans := rest[0] == "trans"
	if trans {
		rest = rest[1:]
	}
	if !ok || len(rest) != 1 || rest[0] != "shared" && rest[0] != "shared::cta" {
		return false, nil
	}
	if err := d.count(2); err != nil {
		return true, err
	}
	load := d.in.Op == "ldmatrix"
	regs, at := &d.in.Args[0], &d.in.Args[1]
	if !load {
		regs, at = at, regs
	}
	a := &access{space: spaceShared, fixed: 16, together: true}
	var err error
	if a.rows, err = d.vector(regs, n, typeB32, load); err != nil {
		return true, err
	}
	if err := d.point(a, at); err != nil {
		return true, err
	}
	run := runLoadMatrix
	if !load {
		run = runStoreMatrix
	}
	d.emit(inst{kind: kindRun, together: true, visible: true, mem: a, more: trans, run: run})
	return true, nil
}

// matrixRows finds the rows of 16 bytes that the lanes name: lane 8i+j has row j of matrix i.
func (w *warp) matrixRows(in *inst, mask uint32, write bool) (rows [lane.Width][]byte, f *fault) {
	if mask != full {
		return rows, newFault(diag.Diverged, w, in, mask, "%s is executed by the lanes %#x: it needs all 32", in.src.Op, mask)
	}
	a := in.mem
	base := &w.rows[a.base]
	part := uint32(uint64(1)<<(8*len(a.rows)) - 1)
	if w.cta.watching(spaceShared) {
		if f := w.watch(in, part, base, 16, write); f != nil {
			return rows, f
		}
	}
	for m := part; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		if rows[i], f = w.locate(in, i, base[i]+a.add, spaceShared, 16, write); f != nil {
			return rows, f
		}
	}
	return rows, nil
}

func runLoadMatrix(w *warp, in *inst, mask uint32) *fault {
	rows, f := w.matrixRows(in, mask, false)
	if f != nil {
		return f
	}
	trans := in.more.(bool)
	for k, r := range in.mem.rows {
		d := &w.rows[r]
		for l := range d {
			if !trans {
				d[l] = uint64(binary.LittleEndian.Uint32(rows[8*k+l/4][l%4*4:]))
				continue
			}
			i, j := tile.Transposed(l, 0)
			d[l] = uint64(binary.LittleEndian.Uint16(rows[8*k+i][2*j:])) |
				uint64(binary.LittleEndian.Uint16(rows[8*k+i+1][2*j:]))<<16
		}
	}
	return nil
}

func runStoreMatrix(w *warp, in *inst, mask uint32) *fault {
	rows, f := w.matrixRows(in, mask, true)
	if f != nil {
		return f
	}
	trans := in.more.(bool)
	for k, r := range in.mem.rows {
		for l, v := range w.rows[r] {
			if !trans {
				binary.LittleEndian.PutUint32(rows[8*k+l/4][l%4*4:], uint32(v))
				continue
			}
			i, j := tile.Transposed(l, 0)
			binary.LittleEndian.PutUint16(rows[8*k+i][2*j:], uint16(v))
			binary.LittleEndian.PutUint16(rows[8*k+i+1][2*j:], uint16(v>>16))
		}
	}
	return nil
}
