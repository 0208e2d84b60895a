// SPDX-License-Identifier: Apache-2.0

package lane

import (
	"math"
	"slices"
)

var conversions = []entry{
	{"cvt", "{.rn .rz .rm .rp .rni .rzi .rmi .rpi .ftz .sat} between {u,s}{8,16,32,64} f16 bf16 f32 f64", convert},
	{"cvt", "{.rn .rz .relu .satfinite} {f16x2,bf16x2}.f32, .rna.tf32.f32, " +
		".rn.satfinite{.relu} {e4m3x2,e5m2x2}.{f32,f16x2}, .rn{.relu}.f16x2.{e4m3x2,e5m2x2}", convertNarrow},
	{"cvt", ".pack.sat.{u,s}{8,16}.s32{.b32}", convertPack},
}

// word32 says that values are fp32, the only ones that .ftz of a conversion is about.
func (t Type) word32() bool { return t.Kind == 'f' && t.Bits == 32 && !t.Pair }

// numeric says that values of a type can be converted.
func (t Type) numeric() bool {
	return !t.Pair && t.Bits > 0 && t.Bits <= 64 && (t.Kind == 'u' || t.Kind == 's' || t.Float())
}

func convert(m *mods) Op {
	whole := m.one("rni", "rzi", "rmi", "rpi")
	mode, stated := rounding(m)
	var s style
	ftz := m.has("ftz")
	s.relu = m.has("relu")
	if m.has("satfinite") {
		return Op{}
	}
	s.sat = m.has("sat")
	s.t = m.typ()
	from := style{t: m.typ()}
	s.ftz, from.ftz = ftz && s.t.word32(), ftz && from.t.word32()
	s.mode = mode
	if !s.t.numeric() || !from.t.numeric() || stated && !s.t.Float() || whole != "" && !from.t.Float() {
		return Op{}
	}
	f := converter(s, from, whole)
	mask := from.t.Mask()
	return Op{one(s.t.Mask(), func(a uint64) uint64 { return f(a & mask) }), s.t, []Type{from.t}}
}

// converter is the function of one value of type from.t.
func converter(to, from style, whole string) func(a uint64) uint64 {
	switch {
	case !to.t.Float() && !from.t.Float():
		if !to.sat {
			return func(a uint64) uint64 { return uint64(wide(a, from.t)) }
		}
		return func(a uint64) uint64 { return saturate(wide(a, from.t), from.t.Kind == 'u', to.t) }
	case !to.t.Float():
		return func(a uint64) uint64 { return toInteger(integral(from.load(a), whole), to.t, from.t) }
	case !from.t.Float():
		return func(a uint64) uint64 { return to.fromInteger(a, from.t) }
	}
	return func(a uint64) uint64 {
		v := from.load(a)
		if whole != "" {
			v = integral(v, whole)
		}
		return to.store(v)
	}
}

// saturate clamps an integer to the range of a type. big says that v is to be read without sign.
func saturate(v int64, big bool, t Type) uint64 {
	if t.Kind == 'u' {
		if !big && v < 0 {
			return 0
		}
		return min(uint64(v), t.Mask())
	}
	most := int64(t.Mask() >> 1)
	if big && v < 0 || v > most {
		return uint64(most)
	}
	return uint64(max(v, -most-1))
}

// integral rounds to an integer, towards zero where no modifier says otherwise.
func integral(v float64, whole string) float64 {
	switch whole {
	case "rni":
		return math.RoundToEven(v)
	case "rmi":
		return math.Floor(v)
	case "rpi":
		return math.Ceil(v)
	}
	return math.Trunc(v)
}

// toInteger clamps; of NaN it makes 0, or the lowest signed pattern where 64 bits are on either side.
func toInteger(v float64, to, from Type) uint64 {
	if v != v {
		if from.Bits == 64 || to.Bits == 64 {
			return 1 << (to.Bits - 1)
		}
		return 0
	}
	low, high := 0.0, math.Ldexp(1, to.Bits)
	if to.Kind == 's' {
		low, high = -math.Ldexp(1, to.Bits-1), math.Ldexp(1, to.Bits-1)
	}
	switch {
	case v >= high && to.Kind == 's':
		return to.Mask() >> 1
	case v >= high:
		return to.Mask()
	case v <= low:
		return uint64(int64(low))
	case v >= 1<<63:
		return uint64(v)
	}
	return uint64(int64(v))
}

// fromInteger rounds an integer.
func (s style) fromInteger(a uint64, from Type) uint64 {
	v := wide(a, from)
	hi, lo := float64(v>>32)*(1<<32), float64(v&(1<<32-1))
	if from.Kind == 'u' {
		hi = float64(a>>32) * (1 << 32)
	}
	if s.t.Bits < 64 {
		return s.store(sum(hi, lo))
	}
	near := hi + lo
	return s.store(nudge(near, (hi-near)+lo, s.mode))
}

// convertNarrow packs two values, or makes a narrow one.
func convertNarrow(m *mods) Op {
	s := style{}
	if m.has("rna") {
		if m.has("tf32") && m.has("f32") {
			tf := layout{bits: 19, mant: 10, bias: 127}
			return Op{one(1<<32-1, func(a uint64) uint64 {
				return tf.round(float64(math.Float32frombits(uint32(a))), tiesAway) << 13
			}), Type{Kind: 'b', Bits: 32}, []Type{{Kind: 'f', Bits: 32}}}
		}
		return Op{}
	}
	mode, stated := rounding(m)
	s.mode, s.relu = mode, m.has("relu")
	finite := m.has("satfinite")
	s.relu = m.has("relu") || s.relu
	if !stated || mode > toZero || len(m.list) != 2 {
		return Op{}
	}
	if i := slices.IndexFunc(tiny[:], func(t small) bool { return t.name == m.list[0] || t.name == m.list[1] }); i >= 0 {
		return tiny[i].convert(m, s, finite)
	}
	s.t = m.typ()
	from := m.typ()
	if !s.t.Pair || !s.t.Float() || (from != Type{Kind: 'f', Bits: 32}) {
		return Op{}
	}
	l := s.t.layout()
	put := func(a uint64) uint64 {
		code := s.store(float64(math.Float32frombits(uint32(a))))
		if finite && code&(1<<15-1) == l.inf() {
			code--
		}
		return code
	}
	return Op{two(1<<32-1, func(a, b uint64) uint64 { return put(a)<<16 | put(b) }), s.t, same(from, 2)}
}

// small is a format of eight bits.
type small struct {
	name string
	layout
	// top is the greatest finite magnitude.
	top uint64
}

var tiny = [...]small{
	{"e4m3x2", layout{bits: 8, mant: 3, bias: 7}, 0x7E},
	{"e5m2x2", layout{bits: 8, mant: 2, bias: 15}, 0x7B},
}

func (t small) code(v float64, relu bool) uint64 {
	if relu && v <= 0 {
		v = 0
	}
	if v != v {
		return 0x7F
	}
	l := t.layout
	l.bits++ // e4m3 has numbers where others have infinities
	c := l.round(math.Abs(v), nearest)
	c = min(c, t.top)
	if math.Signbit(v) {
		c |= 0x80
	}
	return c
}

func (t small) value(c uint64) float64 {
	if t.name == "e4m3x2" && c&0x7F == 0x7F {
		return math.NaN()
	}
	if t.name == "e5m2x2" {
		return t.layout.value(c)
	}
	l := t.layout
	l.bits++
	v := l.value(c & 0x7F)
	if c&0x80 != 0 {
		v = -v
	}
	return v
}

func (t small) convert(m *mods, s style, finite bool) Op {
	b16 := Type{Kind: 'b', Bits: 16}
	pair := Type{Kind: 'f', Bits: 32, Pair: true}
	switch {
	case m.list[1] == t.name && m.list[0] == "f16x2" && !finite:
		m.list = nil
		return Op{one(1<<32-1, func(a uint64) uint64 {
			s.t = pair
			return s.store(t.value(a&0xFF)) | s.store(t.value(a>>8&0xFF))<<16
		}), pair, []Type{b16}}
	case m.list[1] == "f32" && finite:
		m.list = nil
		f32 := Type{Kind: 'f', Bits: 32}
		get := func(a uint64) float64 { return float64(math.Float32frombits(uint32(a))) }
		return Op{two(1<<16-1, func(a, b uint64) uint64 {
			return t.code(get(a), s.relu)<<8 | t.code(get(b), s.relu)
		}), b16, same(f32, 2)}
	case m.list[1] == "f16x2" && finite:
		m.list = nil
		return Op{one(1<<16-1, func(a uint64) uint64 {
			return t.code(half.value(a>>16), s.relu)<<8 | t.code(half.value(a&0xFFFF), s.relu)
		}), b16, []Type{pair}}
	}
	return Op{}
}

// convertPack clamps two integers and puts them side by side, before the low bits of a third.
func convertPack(m *mods) Op {
	if !m.has("pack") || !m.has("sat") {
		return Op{}
	}
	t, from := m.typ(), m.typ()
	if t.Pair || t.Kind != 'u' && t.Kind != 's' || t.Bits > 16 || from != s32 {
		return Op{}
	}
	put := func(a uint64) uint64 { return saturate(signed(a, 32), false, t) & t.Mask() }
	out := Type{Kind: 'b', Bits: 32}
	if !m.has("b32") {
		if t.Bits != 16 {
			return Op{}
		}
		return Op{two(1<<32-1, func(a, b uint64) uint64 { return put(a)<<16 | put(b) }), out, same(from, 2)}
	}
	return Op{three(1<<32-1, func(a, b, c uint64) uint64 {
		return put(a)<<t.Bits | put(b) | c<<(2*t.Bits)
	}), out, []Type{from, from, out}}
}
