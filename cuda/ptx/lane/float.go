// SPDX-License-Identifier: Apache-2.0

package lane

import "math"

var floats = []entry{
	{"add", "{.rn .rz .rm .rp .ftz .sat} f32 f64, {.rn .ftz .sat} f16 f16x2 bf16 bf16x2", arithmetic('+')},
	{"sub", "as add", arithmetic('-')},
	{"mul", "as add", arithmetic('*')},
	{"fma", "as add, {.relu} f16 f16x2 bf16 bf16x2", fused},
	{"mad", "{.rn .rz .rm .rp .ftz .sat} f32 f64", fusedMad},
	{"div", ".rn .rz .rm .rp .approx .full {.ftz} f32, .rn .rz .rm .rp f64", divide},
	{"rcp", ".rn .rz .rm .rp .approx {.ftz} f32, .rn .rz .rm .rp .approx.ftz f64", reciprocal},
	{"sqrt", ".rn .rz .rm .rp .approx {.ftz} f32, .rn .rz .rm .rp f64", root},
	{"min", "{.ftz .NaN .xorsign.abs} f32 f64 f16 f16x2 bf16 bf16x2", smaller},
	{"max", "{.ftz .NaN .xorsign.abs} f32 f64 f16 f16x2 bf16 bf16x2", greater},
	{"neg", "{.ftz} f32 f64 f16 f16x2 bf16 bf16x2", negate},
	{"abs", "{.ftz} f32 f64 f16 f16x2 bf16 bf16x2", magnitude},
	{"copysign", "f32 f64", copySign},
	{"rsqrt", ".approx {.ftz} f32 f64", approx(func(v float64) float64 { return 1 / math.Sqrt(v) })},
	{"ex2", ".approx {.ftz} f32 f16 f16x2 bf16 bf16x2", approx(math.Exp2)},
	{"lg2", ".approx {.ftz} f32", approx(math.Log2)},
	{"sin", ".approx {.ftz} f32", approx(math.Sin)},
	{"cos", ".approx {.ftz} f32", approx(math.Cos)},
	{"tanh", ".approx f32 f16 f16x2 bf16 bf16x2", approx(math.Tanh)},
}

// style is what the modifiers of a floating-point instruction say.
type style struct {
	t              Type
	mode           int
	ftz, sat, relu bool
}

// codec is how values of a type without pairs are read and written.
func (t Type) layout() layout {
	switch {
	case t.Kind == 'h':
		return brain
	case t.Bits == 16 || t.Pair:
		return half
	}
	return single
}

// rounding reads a rounding mode; stated says that there was one.
func rounding(m *mods) (mode int, stated bool) {
	switch m.one("rn", "rz", "rm", "rp") {
	case "rn":
		return nearest, true
	case "rz":
		return toZero, true
	case "rm":
		return down, true
	case "rp":
		return up, true
	}
	return nearest, false
}

func styleOf(m *mods) (style, bool) {
	var s style
	s.mode, _ = rounding(m)
	s.ftz = m.has("ftz")
	s.sat = m.has("sat")
	s.relu = m.has("relu")
	s.t = m.typ()
	ok := s.t.Float() && (s.t.Bits >= 32 && !s.t.Pair || s.mode == nearest)
	return s, ok && !(s.t.Bits == 64 && (s.ftz || s.sat)) && !(s.relu && s.t.Bits != 16 && !s.t.Pair)
}

// load is the value of a code, flushed where subnormals are.
func (s style) load(code uint64) float64 {
	switch {
	case s.t.Bits == 64:
		return math.Float64frombits(code)
	case s.t.Kind == 'f' && s.t.Bits == 32 && !s.t.Pair:
		if s.ftz && code&0x7F800000 == 0 {
			code &= 1 << 31
		}
		return float64(math.Float32frombits(uint32(code)))
	case s.t.Kind == 'h':
		return float64(math.Float32frombits(uint32(code) << 16))
	}
	if s.ftz && code&0x7C00 == 0 {
		code &= 1 << 15
	}
	return half.value(code)
}

// store rounds a result, given as odd where it is not exact.
func (s style) store(v float64) uint64 {
	if s.sat { // NaN becomes +0
		if !(v > 0) {
			v = 0
		} else if v > 1 {
			v = 1
		}
	}
	if s.relu && v <= 0 {
		v = 0
	}
	if s.t.Bits == 64 {
		if v != v {
			return 1<<63 - 1
		}
		return math.Float64bits(v)
	}
	l := s.t.layout()
	code := uint64(0)
	if l == single {
		code = toFloat32(v, s.mode)
	} else {
		code = l.round(v, s.mode)
	}
	if s.ftz && code&l.inf() == 0 {
		code &= 1 << (l.bits - 1)
	}
	return code
}

// each turns a function of codes into one of rows, on both halves of pairs.
func (s style) each(f func(a, b, c uint64) uint64) Func {
	if !s.t.Pair {
		return three(^uint64(0), f)
	}
	return three(^uint64(0), func(a, b, c uint64) uint64 {
		return f(a&0xFFFF, b&0xFFFF, c&0xFFFF) | f(a>>16, b>>16, c>>16)<<16
	})
}

// op is the instruction with n sources whose value, rounded to odd, is f.
func (s style) op(n int, f func(a, b, c float64) float64) Op {
	return Op{s.each(func(a, b, c uint64) uint64 {
		return s.store(f(s.load(a), s.load(b), s.load(c)))
	}), s.t, same(s.t, n)}
}

func arithmetic(sign byte) func(m *mods) Op {
	return func(m *mods) Op {
		s, ok := styleOf(m)
		if !ok || s.relu {
			return Op{}
		}
		plain := s.mode == nearest && !s.ftz && !s.sat
		switch {
		case s.t.Bits == 64 && !plain:
			return directed64(s, sign)
		case s.t == (Type{Kind: 'f', Bits: 32}) && plain:
			return Op{single32(sign), s.t, same(s.t, 2)}
		}
		switch sign {
		case '+':
			return s.op(2, func(a, b, _ float64) float64 { return s.inexact(a, b) })
		case '-':
			return s.op(2, func(a, b, _ float64) float64 { return s.inexact(a, -b) })
		}
		// The product of two numbers of at most 24 bits is exact; that of doubles is rounded once.
		return s.op(2, func(a, b, _ float64) float64 { return a * b })
	}
}

// inexact is a sum rounded once more: to odd where a narrower format follows.
func (s style) inexact(a, b float64) float64 {
	if s.t.Bits == 64 {
		return a + b
	}
	return s.zero(sum(a, b), a, b)
}

// zero gives a sum that is zero its sign: a + -a is -0 where rounding goes down.
func (s style) zero(v, a, b float64) float64 {
	if v == 0 && s.mode == down && (a != 0 || math.Signbit(a) || math.Signbit(b)) {
		return math.Copysign(0, -1)
	}
	return v
}

// single32 is the hot case: f32, to nearest.
func single32(sign byte) Func {
	get := func(v uint64) float32 { return math.Float32frombits(uint32(v)) }
	put := func(v float32) uint64 {
		if v != v {
			return 0x7FFFFFFF
		}
		return uint64(math.Float32bits(v))
	}
	switch sign {
	case '+':
		return func(d, a, b, _, _ *Row) {
			for i := range d {
				d[i] = put(get(a[i]) + get(b[i]))
			}
		}
	case '-':
		return func(d, a, b, _, _ *Row) {
			for i := range d {
				d[i] = put(get(a[i]) - get(b[i]))
			}
		}
	}
	return func(d, a, b, _, _ *Row) {
		for i := range d {
			d[i] = put(get(a[i]) * get(b[i]))
		}
	}
}

func fused(m *mods) Op {
	s, ok := styleOf(m)
	switch {
	case !ok:
		return Op{}
	case s.t.Bits == 64 && s.mode != nearest:
		return directed64(s, 'f')
	case s.t.Bits == 64:
		return s.op(3, math.FMA)
	case s.t.Kind == 'h' && !s.relu && !s.ftz && !s.sat && s.t.Pair:
		return Op{brainPairs, s.t, same(s.t, 3)}
	case s.t == (Type{Kind: 'f', Bits: 32}) && s.mode == nearest && !s.ftz && !s.sat:
		return Op{singleFused, s.t, same(s.t, 3)}
	}
	return s.op(3, func(a, b, c float64) float64 { return s.zero(sum(a*b, c), a*b, c) })
}

func fusedMad(m *mods) Op {
	s, ok := styleOf(m)
	if !ok || s.t.Bits < 32 || s.t.Pair || s.relu {
		return Op{}
	}
	if s.t.Bits == 64 {
		if s.mode != nearest {
			return directed64(s, 'f')
		}
		return s.op(3, math.FMA)
	}
	return s.op(3, func(a, b, c float64) float64 { return s.zero(sum(a*b, c), a*b, c) })
}

func singleFused(d, a, b, c, _ *Row) {
	for i := range d {
		x, y, z := math.Float32frombits(uint32(a[i])), math.Float32frombits(uint32(b[i])), math.Float32frombits(uint32(c[i]))
		p := float64(x) * float64(y)
		v := p + float64(z)
		// Rounding twice can only be wrong where the double lies on the middle between two singles.
		if math.Float64bits(v)&(1<<28-1) == 0 || v != v {
			d[i] = toFloat32(sum(p, float64(z)), nearest)
			continue
		}
		d[i] = uint64(math.Float32bits(float32(v)))
	}
}

func brainPairs(d, a, b, c, _ *Row) {
	for i := range d {
		d[i] = brainFused(a[i]&0xFFFF, b[i]&0xFFFF, c[i]&0xFFFF) | brainFused(a[i]>>16, b[i]>>16, c[i]>>16)<<16
	}
}

// brainFused is a*b+c in bfloat16 with one rounding.
func brainFused(a, b, c uint64) uint64 {
	p := float64(math.Float32frombits(uint32(a)<<16)) * float64(math.Float32frombits(uint32(b)<<16))
	z := float64(math.Float32frombits(uint32(c) << 16))
	v := math.Float64bits(p + z)
	const drop = 52 - 7
	if e := v >> 52 & 0x7FF; e-(1023-126) > 253 || v&(1<<drop-1) == 1<<(drop-1) {
		return brain.round(sum(p, z), nearest)
	}
	code := (v&(1<<63-1) + (1<<(drop-1) - 1) + v>>drop&1) >> drop
	return v>>63<<15 | (code - (1023-127)<<7)
}
