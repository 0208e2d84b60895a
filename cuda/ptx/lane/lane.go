// SPDX-License-Identifier: Apache-2.0

// Package lane holds the meaning of the PTX instructions that act on each lane of a warp by itself: arithmetic, logic,
// comparisons and conversions, on rows of 32 values. It knows nothing of memory, control flow or other lanes.
//
// A value stands in the low bits of a word and the bits above are zero, whatever its type. Results that PTX leaves
// to the hardware are fixed here: a NaN is 0x7FFFFFFF, 0x7FFF (half precision) or the quiet NaN with all bits set
// (double), as sm_80 and later write them; approximate functions are the correctly rounded value of the function.
package lane

import "strings"

// Width is the number of lanes of a warp.
const Width = 32

// Row is one register of a warp: a value for each lane.
type Row [Width]uint64

// Func computes one row from up to four, for all lanes. The destination may be one of the sources.
type Func func(d, a, b, c, e *Row)

// Op is an instruction that computes a row from rows.
type Op struct {
	Fn  Func
	Dst Type
	Src []Type
}

// Type is the type of an operand.
type Type struct {
	// Kind is 'b', 'u', 's', 'f' (IEEE float), 'h' (bfloat16) or 'p' (predicate).
	Kind byte
	// Bits is the width of a register of that type; for a packed pair both halves count.
	Bits int
	// Pair says that two values of half the width stand side by side.
	Pair bool
}

// ParseType reads the name of a type, such as u32 or bf16x2.
func ParseType(name string) (Type, bool) {
	switch name {
	case "pred":
		return Type{Kind: 'p', Bits: 1}, true
	case "bf16":
		return Type{Kind: 'h', Bits: 16}, true
	case "bf16x2":
		return Type{Kind: 'h', Bits: 32, Pair: true}, true
	case "f16x2":
		return Type{Kind: 'f', Bits: 32, Pair: true}, true
	case "u16x2":
		return Type{Kind: 'u', Bits: 32, Pair: true}, true
	case "s16x2":
		return Type{Kind: 's', Bits: 32, Pair: true}, true
	}
	if len(name) < 2 || !strings.ContainsRune("busf", rune(name[0])) {
		return Type{}, false
	}
	for i, bits := range [...]string{"8", "16", "32", "64", "128"} {
		if name[1:] == bits && !(name[0] == 'f' && (i == 0 || i == 4)) {
			return Type{Kind: name[0], Bits: 8 << i}, true
		}
	}
	return Type{}, false
}

// Mask has ones where a value of the type has bits.
func (t Type) Mask() uint64 {
	if t.Bits >= 64 {
		return ^uint64(0)
	}
	return 1<<t.Bits - 1
}

// Float says that values of the type are floating-point numbers.
func (t Type) Float() bool { return t.Kind == 'f' || t.Kind == 'h' }

// mods are the modifiers of an instruction that are still to be understood, in order.
type mods struct{ list []string }

// has takes the next modifier if it is name.
func (m *mods) has(name string) bool {
	if len(m.list) > 0 && m.list[0] == name {
		m.list = m.list[1:]
		return true
	}
	return false
}

// one takes the next modifier if it is among names; else it returns "".
func (m *mods) one(names ...string) string {
	for _, n := range names {
		if m.has(n) {
			return n
		}
	}
	return ""
}

// typ takes the next modifier, which must be a type.
func (m *mods) typ() Type {
	if len(m.list) == 0 {
		return Type{}
	}
	t, ok := ParseType(m.list[0])
	if ok {
		m.list = m.list[1:]
	}
	return t
}

func (m *mods) done() bool { return len(m.list) == 0 }

// entry is an opcode: how its modifiers are read. A nil Fn of the result says that they are not known.
type entry struct {
	name  string
	forms string
	build func(m *mods) Op
}

// Form is an opcode and the modifiers that it may have, for the documentation.
type Form struct{ Name, Forms string }

// table lists all opcodes of this package.
func table() []entry {
	var all []entry
	for _, part := range [][]entry{integers, logic, floats, conversions, others} {
		all = append(all, part...)
	}
	return all
}

// Forms are all opcodes of this package.
func Forms() []Form {
	var out []Form
	for _, e := range append(table(), entry{name: "setp", forms: compareForms}, entry{name: "testp", forms: testForms}) {
		out = append(out, Form{e.name, e.forms})
	}
	return out
}

// Lookup finds the meaning of an opcode with its modifiers; known says that the opcode itself is one of this package.
func Lookup(op string, modifiers []string) (found Op, known, ok bool) {
	for _, e := range table() {
		if e.name != op {
			continue
		}
		known = true
		m := &mods{list: modifiers}
		if o := e.build(m); o.Fn != nil && m.done() {
			return o, true, true
		}
	}
	return Op{}, known, false
}
