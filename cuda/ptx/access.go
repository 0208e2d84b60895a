// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"lathe/cuda/ptx/global"
	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/parse"
	"lathe/internal/diag"
)

// space is where an address points.
type space uint8

const (
	spaceGeneric space = iota
	spaceGlobal
	spaceShared
	spaceLocal
	spaceParam
)

var (
	typeU32 = lane.Type{Kind: 'u', Bits: 32}
	typeB32 = lane.Type{Kind: 'b', Bits: 32}
	typeB64 = lane.Type{Kind: 'b', Bits: 64}
)

// sharedStart is the first address of shared memory in its own space; what lies below belongs to the system.
const sharedStart = 1024

// access is what a load or store does with an address.
type access struct {
	space space
	base  int32  // row of the base
	add   uint64 // constant
	size  int    // bytes of one element
	rows  []int32
	// sign spreads the sign of a loaded element over bits of the register.
	sign bool
	bits int
	// atomic says that two such accesses are no race; acquire and release what they do to others. reads says of an atomic
	// write that it reads too, nc of a read that it may give what was there before the launch.
	atomic, acquire, release, reads, nc bool
	// fixed is the length of accesses that are no loads or stores of registers; flight says that it is a copy that begins.
	fixed  int
	flight bool
	// together says that all lanes make the access for each other.
	together bool
}

// hints are modifiers that change nothing here.
func hint(m string) bool {
	return strings.Contains(m, "::") || slices.Contains([]string{"volatile", "relaxed", "acquire", "release",
		"acq_rel", "sc", "weak", "cta", "cluster", "gpu", "sys", "mmio", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc",
		"unified", "uni"}, m)
}

// ordering are the hints that make an access one of synchronisation.
func ordering(mods []string) bool {
	return slices.ContainsFunc(mods, func(m string) bool {
		return slices.Contains([]string{"volatile", "relaxed", "acquire", "release", "acq_rel", "sc", "mmio"}, m)
	})
}

// accessMods reads space, vector length and type.
func accessMods(mods []string) (a access, t lane.Type, n int, ok bool) {
	n, a.atomic, a.nc = 1, ordering(mods), slices.Contains(mods, "nc")
	a.acquire, a.release = orders(mods)
	for i, m := range mods {
		switch m {
		case "global", "const":
			a.space = spaceGlobal
		case "shared", "shared::cta", "shared::cluster":
			a.space = spaceShared
		case "local":
			a.space = spaceLocal
		case "param", "param::entry", "param::func":
			a.space = spaceParam
		case "v2", "v4", "v8":
			n = int(m[1] - '0')
		default:
			if i == len(mods)-1 {
				t, ok = lane.ParseType(m)
			} else if !hint(m) {
				return a, t, n, false
			}
		}
	}
	return a, t, n, ok && t.Kind != 'p' && !t.Pair && t.Bits <= 64 && t.Bits*n <= 256
}

// point fills in the base of an address operand. The space of parameters is that of the variable that it names.
func (d *decoder) point(a *access, o *parse.Operand) error {
	if o.Kind != parse.KindAddr {
		return d.unknown("%s has no address in brackets", d.text())
	}
	switch {
	case o.Reg >= 0:
		t := d.typeOf(o.Reg)
		if t.Kind == 'p' || t.Bits != 64 && !(t.Bits == 32 && a.space != spaceGeneric) {
			return d.unknown("the address %s has %d bits", d.fn.Regs[o.Reg].Name, t.Bits)
		}
		a.base, a.add = d.row(o.Reg), o.Val
	case o.Name == "":
		a.base = d.constant(o.Val)
	default:
		if p, ok := d.vars[o.Name]; ok && (a.space == spaceParam || a.space == spaceGeneric) {
			a.space = p.space
		}
		var err error
		a.base, err = d.address(o.Name, o.Val)
		return err
	}
	return nil
}

// vector are the rows of {a, b} or of a single register.
func (d *decoder) vector(o *parse.Operand, n int, t lane.Type, write bool) ([]int32, error) {
	elems := []parse.Operand{*o}
	if n > 1 {
		if o.Kind != parse.KindVector || len(o.Elems) != n {
			return nil, d.unknown("%s has no %d registers in braces", d.text(), n)
		}
		elems = o.Elems
	} else if o.Kind == parse.KindVector && len(o.Elems) == 1 {
		elems = o.Elems
	}
	rows := make([]int32, len(elems))
	for i := range elems {
		var err error
		if write {
			rows[i], err = d.dest(&elems[i], t.Bits, true)
		} else {
			rows[i], err = d.source(&elems[i], t, true)
		}
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func buildLoad(d *decoder, mods []string) (bool, error) {
	a, t, n, ok := accessMods(mods)
	if !ok {
		return false, nil
	}
	if len(d.in.Args) != 2 && !(len(d.in.Args) == 3 && slices.Contains(mods, "L2::cache_hint")) {
		return true, d.count(2)
	}
	rows, err := d.vector(&d.in.Args[0], n, t, true)
	if err != nil {
		return true, err
	}
	if err := d.point(&a, &d.in.Args[1]); err != nil {
		return true, err
	}
	a.rows, a.size = rows, t.Bits/8
	first := &d.in.Args[0]
	if first.Kind == parse.KindVector {
		first = &first.Elems[0]
	}
	if a.bits = d.width(first); t.Kind == 's' && a.bits > t.Bits {
		a.sign = true
	}
	d.prog.ordered = d.prog.ordered || a.atomic && a.space < spaceShared
	d.emit(inst{kind: kindRun, visible: a.space <= spaceShared, mem: &a, run: runLoad})
	return true, nil
}

func buildStore(d *decoder, mods []string) (bool, error) {
	a, t, n, ok := accessMods(mods)
	if !ok {
		return false, nil
	}
	if len(d.in.Args) != 2 && !(len(d.in.Args) == 3 && slices.Contains(mods, "L2::cache_hint")) {
		return true, d.count(2)
	}
	rows, err := d.vector(&d.in.Args[1], n, t, false)
	if err != nil {
		return true, err
	}
	if err := d.point(&a, &d.in.Args[0]); err != nil {
		return true, err
	}
	if a.space == spaceParam {
		return true, d.unknown("%s writes a parameter of the kernel", d.text())
	}
	a.rows, a.size = rows, t.Bits/8
	d.prog.ordered = d.prog.ordered || a.atomic && a.space < spaceShared
	d.emit(inst{kind: kindRun, visible: a.space <= spaceShared, mem: &a, run: runStore})
	return true, nil
}

// locate turns an address of any space into bytes. n is the length of the access, which must be aligned to it.
func (w *warp) locate(in *inst, lane int, addr uint64, sp space, n int, write bool) ([]byte, *fault) {
	if addr&uint64(n-1) != 0 {
		return nil, newFault(diag.Misaligned, w, in, 1<<lane, "address %#x is not a multiple of %d", addr, n)
	}
	return w.bytes(in, lane, addr, sp, n, write)
}

// bytes is locate for any length, without a look at the alignment.
func (w *warp) bytes(in *inst, lane int, addr uint64, sp space, n int, write bool) ([]byte, *fault) {
	if sp == spaceGeneric {
		sp, addr = windowOf(addr)
	}
	c := w.cta
	switch sp {
	case spaceGlobal:
		b := c.cache[in.index]
		if b == nil || addr-b.Base >= b.Size {
			if b = c.mem.Find(addr); b == nil {
				return nil, newFault(diag.OutOfBounds, w, in, 1<<lane, "address %#x of global memory: %s", addr,
					c.mem.Nearest(addr))
			}
			c.cache[in.index] = b
		}
		off := addr - b.Base
		if b.Size-off < uint64(n) {
			return nil, newFault(diag.OutOfBounds, w, in, 1<<lane, "%d bytes at offset %d of %s, which has %d", n, off, b.Name,
				b.Size)
		}
		return b.View(off, n, write), nil
	case spaceShared:
		size, off := uint64(len(c.shared)), addr-sharedStart
		if addr < sharedStart || off > size || size-off < uint64(n) {
			return nil, newFault(diag.OutOfBounds, w, in, 1<<lane, "%d bytes at offset %d of shared memory, which has %d bytes",
				n, int64(off), size)
		}
		return c.shared[off:][:n:n], nil
	case spaceLocal:
		size := uint64(c.prog.local)
		if addr > size || size-addr < uint64(n) {
			return nil, newFault(diag.OutOfBounds, w, in, 1<<lane, "%d bytes at offset %d of local memory, which has %d bytes",
				n, addr, size)
		}
		return w.local[uint64(lane)*size+addr:][:n:n], nil
	}
	if size := uint64(len(c.params)); write || addr > size || size-addr < uint64(n) {
		return nil, newFault(diag.OutOfBounds, w, in, 1<<lane, "%d bytes at offset %d of the parameters, which have %d bytes",
			n, addr, size)
	}
	return c.params[addr:][:n:n], nil
}

// windowOf parts generic addresses.
func windowOf(addr uint64) (space, uint64) {
	switch {
	case addr-global.SharedBase >= global.WindowSize:
		return spaceGlobal, addr
	case addr < global.LocalBase:
		return spaceShared, addr - global.SharedBase
	case addr < global.ParamBase:
		return spaceLocal, addr - global.LocalBase
	}
	return spaceParam, addr - global.ParamBase
}

func getBytes(v []byte) uint64 {
	switch len(v) {
	case 1:
		return uint64(v[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(v))
	case 4:
		return uint64(binary.LittleEndian.Uint32(v))
	}
	return binary.LittleEndian.Uint64(v)
}

func putBytes(v []byte, x uint64) {
	switch len(v) {
	case 1:
		v[0] = byte(x)
	case 2:
		binary.LittleEndian.PutUint16(v, uint16(x))
	case 4:
		binary.LittleEndian.PutUint32(v, uint32(x))
	default:
		binary.LittleEndian.PutUint64(v, x)
	}
}

// global says that an address of the access is one of global memory.
func (a *access) global(addr uint64) bool {
	sp := a.space
	if sp == spaceGeneric {
		sp, _ = windowOf(addr)
	}
	return sp == spaceGlobal
}

func runLoad(w *warp, in *inst, mask uint32) *fault {
	a := in.mem
	n := a.size * len(a.rows)
	base := w.rows[a.base] // a copy: a destination may be the base
	if w.cta.watching(a.space) {
		if f := w.watch(in, mask, &base, n, false); f != nil {
			return f
		}
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		v, f := w.locate(in, i, base[i]+a.add, a.space, n, false)
		if f != nil {
			return f
		}
		if w.cta.history != nil && a.global(base[i]+a.add) {
			if f := w.touch(in, i, base[i]+a.add, v, nil); f != nil {
				return f
			}
		}
		for k, r := range a.rows {
			x := getBytes(v[k*a.size:][:a.size])
			if a.sign {
				x = uint64(int64(x<<(64-8*a.size))>>(64-8*a.size)) & (1<<a.bits - 1)
			}
			w.rows[r][i] = x
		}
	}
	return nil
}

func runStore(w *warp, in *inst, mask uint32) *fault {
	a := in.mem
	n := a.size * len(a.rows)
	base := &w.rows[a.base]
	if w.cta.watching(a.space) {
		if f := w.watch(in, mask, base, n, true); f != nil {
			return f
		}
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		v, f := w.locate(in, i, base[i]+a.add, a.space, n, true)
		if f != nil {
			return f
		}
		if w.cta.history != nil && a.global(base[i]+a.add) {
			var next [32]byte
			for k, r := range a.rows {
				putBytes(next[k*a.size:][:a.size], w.rows[r][i])
			}
			if f := w.touch(in, i, base[i]+a.add, v, next[:n]); f != nil {
				return f
			}
		}
		for k, r := range a.rows {
			putBytes(v[k*a.size:][:a.size], w.rows[r][i])
		}
	}
	if w.cta.races && mask&(mask-1) != 0 {
		return w.overwritten(in, mask, base)
	}
	return nil
}
