// SPDX-License-Identifier: Apache-2.0

package lane

import "math/bits"

var integers = []entry{
	{"add", "{.sat} {u,s}{16,32,64}", addInt},
	{"sub", "{.sat} {u,s}{16,32,64}", subInt},
	{"mul", ".lo .hi .wide {u,s}{16,32,64}", mulInt},
	{"mad", ".lo .hi .wide {u,s}{16,32,64}, .hi.sat.s32", madInt},
	{"mul24", ".lo .hi {u,s}32", mul24},
	{"mad24", ".lo .hi {u,s}32", mad24},
	{"div", "{u,s}{16,32,64}", divInt},
	{"rem", "{u,s}{16,32,64}", remInt},
	{"min", "{u,s}{16,32,64}, {u,s}16x2", minInt},
	{"max", "{u,s}{16,32,64}, {u,s}16x2", maxInt},
	{"abs", "s{16,32,64}", absInt},
	{"neg", "s{16,32,64}", negInt},
	{"sad", "{u,s}{16,32,64}", sadInt},
	{"dp4a", "{u,s}32.{u,s}32", dp4a},
	{"dp2a", ".lo .hi {u,s}32.{u,s}32", dp2a},
}

// plain says that a type is an integer of 16, 32 or 64 bits.
func plain(t Type) bool {
	return (t.Kind == 'u' || t.Kind == 's') && t.Bits >= 16 && t.Bits <= 64 && !t.Pair
}

// signed is the value of the low bits of v as a two's complement number.
func signed(v uint64, bits int) int64 { return int64(v<<(64-bits)) >> (64 - bits) }

// wide is the value of v in a type, as 64 bits that keep the sign.
func wide(v uint64, t Type) int64 {
	if t.Kind == 's' {
		return signed(v, t.Bits)
	}
	return int64(v)
}

func same(t Type, n int) []Type {
	s := make([]Type, n)
	for i := range s {
		s[i] = t
	}
	return s
}

// one, two and three make a row function of a scalar one; the results are cut to mask.
func one(mask uint64, f func(a uint64) uint64) Func {
	return func(d, a, _, _, _ *Row) {
		for i := range d {
			d[i] = f(a[i]) & mask
		}
	}
}

func two(mask uint64, f func(a, b uint64) uint64) Func {
	return func(d, a, b, _, _ *Row) {
		for i := range d {
			d[i] = f(a[i], b[i]) & mask
		}
	}
}

func three(mask uint64, f func(a, b, c uint64) uint64) Func {
	return func(d, a, b, c, _ *Row) {
		for i := range d {
			d[i] = f(a[i], b[i], c[i]) & mask
		}
	}
}

func add32(d, a, b, _, _ *Row) {
	for i := range d {
		d[i] = uint64(uint32(a[i]) + uint32(b[i]))
	}
}

func add64(d, a, b, _, _ *Row) {
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func clamp(v, lo, hi int64) uint64 { return uint64(min(max(v, lo), hi)) }

func addInt(m *mods) Op {
	sat := m.has("sat")
	t := m.typ()
	switch {
	case t.Kind == 'u' && t.Pair || t.Kind == 's' && t.Pair:
		return Op{pairs(func(a, b uint64) uint64 { return a + b }), t, same(t, 2)}
	case !plain(t) || sat && (t != Type{Kind: 's', Bits: 32}):
		return Op{}
	case sat:
		return Op{two(t.Mask(), func(a, b uint64) uint64 {
			return clamp(signed(a, 32)+signed(b, 32), -1<<31, 1<<31-1)
		}), t, same(t, 2)}
	case t.Bits == 32:
		return Op{add32, t, same(t, 2)}
	case t.Bits == 64:
		return Op{add64, t, same(t, 2)}
	}
	return Op{two(t.Mask(), func(a, b uint64) uint64 { return a + b }), t, same(t, 2)}
}

// pairs acts on both halves of 32 bits.
func pairs(f func(a, b uint64) uint64) Func {
	return two(1<<32-1, func(a, b uint64) uint64 {
		return f(a&0xFFFF, b&0xFFFF)&0xFFFF | f(a>>16, b>>16)<<16
	})
}

func subInt(m *mods) Op {
	sat := m.has("sat")
	t := m.typ()
	if !plain(t) || sat && (t != Type{Kind: 's', Bits: 32}) {
		return Op{}
	}
	if sat {
		return Op{two(t.Mask(), func(a, b uint64) uint64 {
			return clamp(signed(a, 32)-signed(b, 32), -1<<31, 1<<31-1)
		}), t, same(t, 2)}
	}
	return Op{two(t.Mask(), func(a, b uint64) uint64 { return a - b }), t, same(t, 2)}
}

// product is the function of mul and mad before the sum, with the type of the sum.
func product(m *mods) (f func(a, b uint64) uint64, in, out Type, sat bool) {
	part := m.one("lo", "hi", "wide")
	sat = part == "hi" && m.has("sat")
	t := m.typ()
	if !plain(t) || sat && (t != s32) || part == "" || part == "wide" && t.Bits == 64 {
		return nil, t, t, sat
	}
	switch {
	case part == "lo":
		return func(a, b uint64) uint64 { return a * b }, t, t, sat
	case part == "wide":
		return func(a, b uint64) uint64 { return uint64(wide(a, t) * wide(b, t)) }, t,
			Type{Kind: t.Kind, Bits: 2 * t.Bits}, sat
	case t.Bits < 64:
		return func(a, b uint64) uint64 { return uint64(wide(a, t)*wide(b, t)) >> t.Bits }, t, t, sat
	case t.Kind == 'u':
		return func(a, b uint64) uint64 { hi, _ := bits.Mul64(a, b); return hi }, t, t, sat
	}
	return mulhi64, t, t, sat
}

// mulhi64 is the upper half of the signed product.
func mulhi64(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	if int64(a) < 0 {
		hi -= b
	}
	if int64(b) < 0 {
		hi -= a
	}
	return hi
}

func mulInt(m *mods) Op {
	f, in, out, sat := product(m)
	if f == nil || sat {
		return Op{}
	}
	return Op{two(out.Mask(), f), out, same(in, 2)}
}

func madInt(m *mods) Op {
	f, in, out, sat := product(m)
	if f == nil {
		return Op{}
	}
	src := []Type{in, in, out}
	if sat {
		return Op{three(out.Mask(), func(a, b, c uint64) uint64 {
			return clamp(signed(f(a, b), 32)+signed(c, 32), -1<<31, 1<<31-1)
		}), out, src}
	}
	if in.Bits == 32 && out.Bits == 32 && in.Kind != 0 {
		return Op{three(1<<32-1, func(a, b, c uint64) uint64 { return f(a, b) + c }), out, src}
	}
	return Op{three(out.Mask(), func(a, b, c uint64) uint64 { return f(a, b) + c }), out, src}
}

func product24(m *mods) (func(a, b uint64) uint64, Type) {
	part := m.one("lo", "hi")
	t := m.typ()
	if part == "" || !plain(t) || t.Bits != 32 {
		return nil, t
	}
	shift := 0
	if part == "hi" {
		shift = 16
	}
	in := Type{Kind: t.Kind, Bits: 24}
	return func(a, b uint64) uint64 {
		return uint64(wide(a&in.Mask(), in)*wide(b&in.Mask(), in)) >> shift
	}, t
}

func mul24(m *mods) Op {
	f, t := product24(m)
	if f == nil {
		return Op{}
	}
	return Op{two(t.Mask(), f), t, same(t, 2)}
}

func mad24(m *mods) Op {
	f, t := product24(m)
	if f == nil {
		return Op{}
	}
	return Op{three(t.Mask(), func(a, b, c uint64) uint64 { return f(a, b) + c }), t, same(t, 3)}
}

// quotient is the division of PTX: towards zero; by zero it is all ones, as the hardware gives it, though PTX leaves
// it open.
func quotient(a, b uint64, t Type) uint64 {
	switch {
	case b == 0:
		return ^uint64(0)
	case t.Kind == 'u':
		return a / b
	}
	x, y := signed(a, t.Bits), signed(b, t.Bits)
	if y == -1 {
		return uint64(-x)
	}
	return uint64(x / y)
}

func divInt(m *mods) Op {
	t := m.typ()
	if !plain(t) {
		return Op{}
	}
	return Op{two(t.Mask(), func(a, b uint64) uint64 { return quotient(a, b, t) }), t, same(t, 2)}
}

func remInt(m *mods) Op {
	t := m.typ()
	if !plain(t) {
		return Op{}
	}
	return Op{two(t.Mask(), func(a, b uint64) uint64 {
		if b == 0 {
			return a
		}
		return a - quotient(a, b, t)*b
	}), t, same(t, 2)}
}

// choose is min (less true) or max.
func choose(m *mods, less bool) Op {
	t := m.typ()
	one := t
	one.Bits, one.Pair = 16, false
	pick := func(a, b uint64, t Type) uint64 {
		before := a < b
		if t.Kind == 's' {
			before = signed(a, t.Bits) < signed(b, t.Bits)
		}
		if before == less {
			return a
		}
		return b
	}
	switch {
	case t.Pair && !t.Float():
		return Op{pairs(func(a, b uint64) uint64 { return pick(a, b, one) }), t, same(t, 2)}
	case plain(t):
		return Op{two(t.Mask(), func(a, b uint64) uint64 { return pick(a, b, t) }), t, same(t, 2)}
	}
	return Op{}
}

func minInt(m *mods) Op { return choose(m, true) }
func maxInt(m *mods) Op { return choose(m, false) }

func absInt(m *mods) Op {
	t := m.typ()
	if !plain(t) || t.Kind != 's' {
		return Op{}
	}
	return Op{one(t.Mask(), func(a uint64) uint64 {
		if v := signed(a, t.Bits); v < 0 {
			return uint64(-v)
		}
		return a
	}), t, same(t, 1)}
}

func negInt(m *mods) Op {
	t := m.typ()
	if !plain(t) || t.Kind != 's' {
		return Op{}
	}
	return Op{one(t.Mask(), func(a uint64) uint64 { return -a }), t, same(t, 1)}
}

func sadInt(m *mods) Op {
	t := m.typ()
	if !plain(t) {
		return Op{}
	}
	return Op{three(t.Mask(), func(a, b, c uint64) uint64 {
		less := a < b
		if t.Kind == 's' {
			less = signed(a, t.Bits) < signed(b, t.Bits)
		}
		if less {
			return c + b - a
		}
		return c + a - b
	}), t, same(t, 3)}
}

func dp4a(m *mods) Op {
	ta, tb := m.typ(), m.typ()
	if !plain(ta) || !plain(tb) || ta.Bits != 32 || tb.Bits != 32 {
		return Op{}
	}
	at := func(v uint64, i int, t Type) int64 { return wide(v>>(8*i)&0xFF, Type{Kind: t.Kind, Bits: 8}) }
	out := Type{Kind: 's', Bits: 32}
	return Op{three(1<<32-1, func(a, b, c uint64) uint64 {
		for i := range 4 {
			c += uint64(at(a, i, ta) * at(b, i, tb))
		}
		return c
	}), out, []Type{ta, tb, out}}
}

func dp2a(m *mods) Op {
	part := m.one("lo", "hi")
	ta, tb := m.typ(), m.typ()
	if part == "" || !plain(ta) || !plain(tb) || ta.Bits != 32 || tb.Bits != 32 {
		return Op{}
	}
	shift := 0
	if part == "hi" {
		shift = 16
	}
	out := Type{Kind: 's', Bits: 32}
	return Op{three(1<<32-1, func(a, b, c uint64) uint64 {
		for i := range 2 {
			x := wide(a>>(16*i)&0xFFFF, Type{Kind: ta.Kind, Bits: 16})
			y := wide(b>>(shift+8*i)&0xFF, Type{Kind: tb.Kind, Bits: 8})
			c += uint64(x * y)
		}
		return c
	}), out, []Type{ta, tb, out}}
}
