// SPDX-License-Identifier: Apache-2.0

package lane

import "math/bits"

var logic = []entry{
	{"and", "b{16,32,64}", bitwise(func(d, a, b, _, _ *Row) {
		for i := range d {
			d[i] = a[i] & b[i]
		}
	})},
	{"or", "b{16,32,64}", bitwise(func(d, a, b, _, _ *Row) {
		for i := range d {
			d[i] = a[i] | b[i]
		}
	})},
	{"xor", "b{16,32,64}", bitwise(func(d, a, b, _, _ *Row) {
		for i := range d {
			d[i] = a[i] ^ b[i]
		}
	})},
	{"not", "b{16,32,64}", notBits},
	{"cnot", "b{16,32,64}", cnotBits},
	{"shl", "b{16,32,64}", shiftLeft},
	{"shr", "{b,u,s}{16,32,64}", shiftRight},
	{"shf", ".l .r .clamp .wrap b32", funnel},
	{"lop3", "b32", lop3},
	{"prmt", "b32 {.f4e .b4e .rc8 .ecl .ecr .rc16}", permute},
	{"bfe", "{u,s}{32,64}", extract},
	{"bfi", "b{32,64}", insert},
	{"bfind", "{.shiftamt} {u,s}{32,64}", find},
	{"clz", "b{32,64}", leading},
	{"popc", "b{32,64}", population},
	{"brev", "b{32,64}", reverse},
	{"szext", ".clamp .wrap {u,s}32", extend},
	{"bmsk", ".clamp .wrap b32", maskBits},
	{"fns", "b32", nthSet},
}

func (t Type) raw() bool { return t.Kind == 'b' && t.Bits >= 16 && t.Bits <= 64 }

var u32, s32 = Type{Kind: 'u', Bits: 32}, Type{Kind: 's', Bits: 32}

func bitwise(f Func) func(m *mods) Op {
	return func(m *mods) Op {
		t := m.typ()
		if !t.raw() {
			return Op{}
		}
		return Op{f, t, same(t, 2)}
	}
}

func notBits(m *mods) Op {
	t := m.typ()
	if !t.raw() {
		return Op{}
	}
	return Op{one(t.Mask(), func(a uint64) uint64 { return ^a }), t, same(t, 1)}
}

func cnotBits(m *mods) Op {
	t := m.typ()
	if !t.raw() {
		return Op{}
	}
	return Op{one(t.Mask(), func(a uint64) uint64 {
		if a == 0 {
			return 1
		}
		return 0
	}), t, same(t, 1)}
}

// shiftLeft gives zero for amounts of the width and more; Go's shifts do so at 64.
func shiftLeft(m *mods) Op {
	t := m.typ()
	if !t.raw() {
		return Op{}
	}
	mask := t.Mask()
	return Op{func(d, a, b, _, _ *Row) {
		for i := range d {
			d[i] = a[i] << b[i] & mask
		}
	}, t, []Type{t, u32}}
}

func shiftRight(m *mods) Op {
	t := m.typ()
	if !t.raw() && !plain(t) {
		return Op{}
	}
	if t.Kind == 's' {
		return Op{two(t.Mask(), func(a, b uint64) uint64 { return uint64(signed(a, t.Bits) >> b) }), t, []Type{t, u32}}
	}
	return Op{func(d, a, b, _, _ *Row) {
		for i := range d {
			d[i] = a[i] >> b[i]
		}
	}, t, []Type{t, u32}}
}

// funnel shifts the 64 bits b:a.
func funnel(m *mods) Op {
	dir, mode := m.one("l", "r"), m.one("clamp", "wrap")
	t := m.typ()
	if dir == "" || mode == "" || t.Kind != 'b' || t.Bits != 32 {
		return Op{}
	}
	return Op{three(1<<32-1, func(a, b, c uint64) uint64 {
		n := c & 31
		if mode == "clamp" {
			n = min(c, 32)
		}
		both := b<<32 | a
		if dir == "l" {
			return both << n >> 32
		}
		return both >> n
	}), t, []Type{t, t, u32}}
}

// lop3 looks three bits up in the truth table that stands as last operand.
func lop3(m *mods) Op {
	t := m.typ()
	if t.Kind != 'b' || t.Bits != 32 {
		return Op{}
	}
	return Op{func(d, a, b, c, e *Row) {
		for i := range d {
			d[i] = uint64(Table3(uint32(a[i]), uint32(b[i]), uint32(c[i]), uint8(e[i])))
		}
	}, t, []Type{t, t, t, u32}}
}

// Table3 is the function of three bits whose truth table is lut, for all bits of a, b and c.
func Table3(a, b, c uint32, lut uint8) uint32 {
	r := uint32(0)
	for k := range 8 {
		if lut>>k&1 == 0 {
			continue
		}
		x, y, z := a, b, c
		if k&4 == 0 {
			x = ^a
		}
		if k&2 == 0 {
			y = ^b
		}
		if k&1 == 0 {
			z = ^c
		}
		r |= x & y & z
	}
	return r
}

// modes of prmt: the selector of each byte by the low two bits of c.
var modes = map[string][4]uint16{
	"f4e":  {0x3210, 0x4321, 0x5432, 0x6543},
	"b4e":  {0x5670, 0x6701, 0x7012, 0x0123},
	"rc8":  {0x0000, 0x1111, 0x2222, 0x3333},
	"ecl":  {0x3210, 0x3211, 0x3222, 0x3333},
	"ecr":  {0x0000, 0x1110, 0x2210, 0x3210},
	"rc16": {0x1010, 0x3232, 0x1010, 0x3232},
}

func permute(m *mods) Op {
	t := m.typ()
	if t.Kind != 'b' || t.Bits != 32 {
		return Op{}
	}
	mode := m.one("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
	table := modes[mode]
	return Op{func(d, a, b, c, _ *Row) {
		for i := range d {
			sel := uint16(c[i])
			if mode != "" {
				sel = table[sel&3]
			}
			d[i] = uint64(bytesOf(b[i]<<32|a[i], sel))
		}
	}, t, []Type{t, t, u32}}
}

// bytesOf picks four of the eight bytes of v; bit 3 of a selector spreads the byte's sign.
func bytesOf(v uint64, sel uint16) uint32 {
	r := uint32(v>>(sel&7*8)&0xFF) | uint32(v>>(sel>>4&7*8)&0xFF)<<8 |
		uint32(v>>(sel>>8&7*8)&0xFF)<<16 | uint32(v>>(sel>>12&7*8)&0xFF)<<24
	if sel&0x8888 == 0 {
		return r
	}
	for k := range 4 {
		if sel>>(4*k)&8 != 0 {
			r = r&^(0xFF<<(8*k)) | uint32(uint8(int8(r>>(8*k))>>7))<<(8*k)
		}
	}
	return r
}

func extract(m *mods) Op {
	t := m.typ()
	if !plain(t) || t.Bits < 32 {
		return Op{}
	}
	return Op{three(t.Mask(), func(a, b, c uint64) uint64 {
		pos, n := b&0xFF, c&0xFF
		if n == 0 {
			return 0
		}
		field := uint64(wide(a, t)>>pos) & (1<<n - 1)
		if t.Kind == 'u' {
			return a >> pos & (1<<n - 1)
		}
		if top := min(pos+n-1, uint64(t.Bits)-1); a>>top&1 == 1 {
			field |= ^uint64(0) << n
		}
		return field
	}), t, []Type{t, u32, u32}}
}

func insert(m *mods) Op {
	t := m.typ()
	if !t.raw() || t.Bits < 32 {
		return Op{}
	}
	mask := t.Mask()
	return Op{func(d, a, b, c, e *Row) {
		for i := range d {
			pos, n := c[i]&0xFF, e[i]&0xFF
			field := (uint64(1)<<n - 1) << pos & mask
			d[i] = b[i]&^field | a[i]<<pos&field
		}
	}, t, []Type{t, t, u32, u32}}
}

// find gives the place of the first bit that is not the sign, all ones if there is none.
func find(m *mods) Op {
	shift := m.has("shiftamt")
	t := m.typ()
	if !plain(t) || t.Bits < 32 {
		return Op{}
	}
	return Op{one(1<<32-1, func(a uint64) uint64 {
		if t.Kind == 's' && a>>(t.Bits-1)&1 == 1 {
			a = ^a & t.Mask()
		}
		n := bits.Len64(a) - 1
		if shift && n >= 0 {
			n = t.Bits - 1 - n
		}
		return uint64(n)
	}), u32, same(t, 1)}
}

func counting(m *mods, f func(a uint64, n int) int) Op {
	t := m.typ()
	if !t.raw() || t.Bits < 32 {
		return Op{}
	}
	return Op{one(1<<32-1, func(a uint64) uint64 { return uint64(f(a, t.Bits)) }), u32, same(t, 1)}
}

func leading(m *mods) Op {
	return counting(m, func(a uint64, n int) int { return bits.LeadingZeros64(a) - 64 + n })
}

func population(m *mods) Op {
	return counting(m, func(a uint64, _ int) int { return bits.OnesCount64(a) })
}

func reverse(m *mods) Op {
	t := m.typ()
	if !t.raw() || t.Bits < 32 {
		return Op{}
	}
	return Op{one(t.Mask(), func(a uint64) uint64 { return bits.Reverse64(a) >> (64 - t.Bits) }), t, same(t, 1)}
}

// extend keeps the low b bits of a, with their sign for s32.
func extend(m *mods) Op {
	mode := m.one("clamp", "wrap")
	t := m.typ()
	if mode == "" || !plain(t) || t.Bits != 32 {
		return Op{}
	}
	return Op{two(t.Mask(), func(a, b uint64) uint64 {
		n := int(b & 31)
		if mode == "clamp" {
			n = int(min(b, 32))
		}
		switch {
		case n == 0:
			return 0
		case t.Kind == 's':
			return uint64(signed(a, n))
		}
		return a & (1<<n - 1)
	}), t, []Type{t, u32}}
}

func maskBits(m *mods) Op {
	mode := m.one("clamp", "wrap")
	t := m.typ()
	if mode == "" || t.Kind != 'b' || t.Bits != 32 {
		return Op{}
	}
	return Op{two(t.Mask(), func(a, b uint64) uint64 {
		if mode == "wrap" {
			a, b = a&31, b&31
		}
		return (uint64(1)<<b - 1) << a
	}), t, same(u32, 2)}
}

// nthSet is the place of the c-th set bit of a, counted from bit b upwards (c > 0) or downwards (c < 0).
func nthSet(m *mods) Op {
	t := m.typ()
	if t.Kind != 'b' || t.Bits != 32 {
		return Op{}
	}
	return Op{three(1<<32-1, func(a, b, c uint64) uint64 {
		step, left := 1, signed(c, 32)
		switch {
		case left == 0 && b < 32 && a>>b&1 == 1:
			return b
		case left == 0:
			return 1<<32 - 1
		case left < 0:
			step, left = -1, -left
		}
		for at := int64(b); at >= 0 && at < 32; at += int64(step) {
			if a>>at&1 == 1 {
				if left--; left == 0 {
					return uint64(at)
				}
			}
		}
		return 1<<32 - 1
	}), u32, []Type{t, u32, s32}}
}
