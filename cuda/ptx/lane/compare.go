// SPDX-License-Identifier: Apache-2.0

package lane

import "math"

// Cmp compares two rows; bit i of the result is that of lane i.
type Cmp func(a, b *Row) uint32

const (
	compareForms = ".eq .ne .lt .le .gt .ge .lo .ls .hi .hs .equ .neu .ltu .leu .gtu .geu .num .nan " +
		"{.and .or .xor} {.ftz} " +
		"{b,u,s}{16,32,64} f16 bf16 f32 f64"
	testForms = ".finite .infinite .number .notanumber .normal .subnormal f32 f64"
)

var others = []entry{
	{"slct", "{.ftz} {b,u,s,f}{16,32,64}.{s32,f32}", selectSign},
}

// Compare finds the comparison of setp and set: the modifiers are that of the comparison, perhaps ftz, and the type.
func Compare(modifiers []string) (Cmp, Type, bool) {
	if len(modifiers) == 0 {
		return nil, Type{}, false
	}
	m := &mods{list: modifiers[1:]}
	s := style{ftz: m.has("ftz")}
	s.t = m.typ()
	if !m.done() || s.t.Pair || s.t.Bits < 16 || s.t.Bits > 64 {
		return nil, Type{}, false
	}
	name := modifiers[0]
	if s.t.Float() {
		f, ok := floatTest(name)
		return func(a, b *Row) uint32 {
			mask := uint32(0)
			for i := range a {
				if f(s.load(a[i]), s.load(b[i])) {
					mask |= 1 << i
				}
			}
			return mask
		}, s.t, ok
	}
	f := integerTest(name, s.t)
	return f, s.t, f != nil && !s.ftz
}

func floatTest(name string) (func(a, b float64) bool, bool) {
	either := func(a, b float64) bool { return a != a || b != b }
	tests := map[string]func(a, b float64) bool{
		"eq": func(a, b float64) bool { return a == b }, "ne": func(a, b float64) bool { return a < b || a > b },
		"lt": func(a, b float64) bool { return a < b }, "le": func(a, b float64) bool { return a <= b },
		"gt": func(a, b float64) bool { return a > b }, "ge": func(a, b float64) bool { return a >= b },
		"equ": func(a, b float64) bool { return a == b || either(a, b) },
		"neu": func(a, b float64) bool { return a != b },
		"ltu": func(a, b float64) bool { return !(a >= b) }, "leu": func(a, b float64) bool { return !(a > b) },
		"gtu": func(a, b float64) bool { return !(a <= b) }, "geu": func(a, b float64) bool { return !(a < b) },
		"num": func(a, b float64) bool { return !either(a, b) }, "nan": either,
	}
	f, ok := tests[name]
	return f, ok
}

func integerTest(name string, t Type) Cmp {
	switch name {
	case "eq", "ne":
		flip := uint32(0)
		if name == "ne" {
			flip = ^flip
		}
		return func(a, b *Row) uint32 { return equal(a, b) ^ flip }
	case "lo", "ls", "hi", "hs":
		if t.Kind == 's' {
			return nil
		}
		name = map[string]string{"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[name]
	case "lt", "le", "gt", "ge":
	default:
		return nil
	}
	if t.Kind == 'b' {
		return nil
	}
	// Signed order is that without sign after the sign bit has been moved to the top and flipped.
	shift, top := 0, uint64(0)
	if t.Kind == 's' {
		shift, top = 64-t.Bits, 1<<63
	}
	less := func(a, b *Row) uint32 {
		mask := uint32(0)
		for i := range a {
			if a[i]<<shift^top < b[i]<<shift^top {
				mask |= 1 << i
			}
		}
		return mask
	}
	switch name {
	case "lt":
		return less
	case "gt":
		return func(a, b *Row) uint32 { return less(b, a) }
	case "ge":
		return func(a, b *Row) uint32 { return ^less(a, b) }
	}
	return func(a, b *Row) uint32 { return ^less(b, a) }
}

func equal(a, b *Row) uint32 {
	mask := uint32(0)
	for i := range a {
		if a[i] == b[i] {
			mask |= 1 << i
		}
	}
	return mask
}

// Test finds testp: the modifiers are the property and the type.
func Test(modifiers []string) (Cmp, Type, bool) {
	if len(modifiers) != 2 {
		return nil, Type{}, false
	}
	t, ok := ParseType(modifiers[1])
	if !ok || t.Kind != 'f' || t.Pair || t.Bits < 32 {
		return nil, Type{}, false
	}
	s := style{t: t}
	least := math.Ldexp(1, -126)
	if t.Bits == 64 {
		least = math.Ldexp(1, -1022)
	}
	tests := map[string]func(v float64) bool{
		"finite":     func(v float64) bool { return v-v == 0 },
		"infinite":   func(v float64) bool { return math.IsInf(v, 0) },
		"number":     func(v float64) bool { return v == v },
		"notanumber": func(v float64) bool { return v != v },
		"normal":     func(v float64) bool { return v-v == 0 && (v == 0 || math.Abs(v) >= least) },
		"subnormal":  func(v float64) bool { return v != 0 && math.Abs(v) < least },
	}
	f, ok := tests[modifiers[0]]
	return func(a, _ *Row) uint32 {
		mask := uint32(0)
		for i := range a {
			if f(s.load(a[i])) {
				mask |= 1 << i
			}
		}
		return mask
	}, t, ok
}

func selectSign(m *mods) Op {
	s := style{ftz: m.has("ftz")}
	t := m.typ()
	s.t = m.typ()
	if t.Pair || t.Bits < 16 || t.Bits > 64 || s.t != s32 && s.t != (Type{Kind: 'f', Bits: 32}) {
		return Op{}
	}
	return Op{three(t.Mask(), func(a, b, c uint64) uint64 {
		if s.t == s32 && signed(c, 32) >= 0 || s.t != s32 && s.load(c) >= 0 {
			return a
		}
		return b
	}), t, []Type{t, t, s.t}}
}
