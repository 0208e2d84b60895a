// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"encoding/binary"
	"math/bits"
)

// locate turns an address of any space into bytes. n is the length of the access, which must be aligned to it.
func (w *warp) locate(in *inst, lane int, addr uint64, sp space, n int, write bool) ([]byte, *fault) {
	if addr&uint64(n-1) != 0 {
		return nil, newFault("L0965", w, in, 1<<lane, "address %#x is no multiple of %d", addr, n)
	}
	if sp == spaceGeneric {
		sp, addr = windowOf(addr)
	}
	c := w.cta
	switch sp {
	case spaceGlobal:
		b := c.cache[in.index]
		if b == nil || addr-b.base >= b.size {
			if b = c.mem.find(addr); b == nil {
				return nil, newFault("L0964", w, in, 1<<lane, "address %#x of global memory: %s", addr, c.mem.nearest(addr))
			}
			c.cache[in.index] = b
		}
		off := addr - b.base
		if b.size-off < uint64(n) {
			return nil, newFault("L0964", w, in, 1<<lane, "%d bytes at offset %d of %s, which has %d", n, off, b.name, b.size)
		}
		return b.view(off, n, write), nil
	case spaceShared:
		if addr < sharedStart || addr-sharedStart > uint64(len(c.shared)) || uint64(len(c.shared))-(addr-sharedStart) < uint64(n) {
			return nil, newFault("L0964", w, in, 1<<lane, "%d bytes at offset %d of shared memory, which has %d bytes", n,
				int64(addr)-sharedStart, len(c.shared))
		}
		return c.shared[addr-sharedStart:][:n:n], nil
	case spaceLocal:
		size := uint64(c.prog.local)
		if addr > size || size-addr < uint64(n) {
			return nil, newFault("L0964", w, in, 1<<lane, "%d bytes at offset %d of local memory, which has %d bytes", n, addr, size)
		}
		return w.local[uint64(lane)*size+addr:][:n:n], nil
	}
	if size := uint64(len(c.params)); write || addr > size || size-addr < uint64(n) {
		return nil, newFault("L0964", w, in, 1<<lane, "%d bytes at offset %d of the parameters, which have %d bytes", n, addr,
			len(c.params))
	}
	return c.params[addr:][:n:n], nil
}

// windowOf parts generic addresses.
func windowOf(addr uint64) (space, uint64) {
	switch {
	case addr-sharedBase >= windowSize:
		return spaceGlobal, addr
	case addr < localBase:
		return spaceShared, addr - sharedBase
	case addr < paramBase:
		return spaceLocal, addr - localBase
	}
	return spaceParam, addr - paramBase
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
		for k, r := range a.rows {
			putBytes(v[k*a.size:][:a.size], w.rows[r][i])
		}
	}
	return nil
}
