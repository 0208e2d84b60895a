// SPDX-License-Identifier: Apache-2.0

package hlo

import (
	"maps"
	"slices"
	"strings"
)

// Times repeats body n times, at least once: each round gets its number, a scalar of I32, and the values that the round
// before has made, at first those of start, and makes values of the same types. It may read everything outside.
func (b *Builder) Times(n int, start []Value, body func(round Value, now []Value) []Value) []Value {
	failed := make([]Value, len(start))
	if !b.sound("while", start...) {
		return failed
	}
	if n < 1 || len(start) == 0 {
		b.failf("while: %d rounds of %d values", n, len(start))
		return failed
	}
	end := b.Int(I32, int64(n))
	carried := append([]Value{b.Int(I32, 0)}, start...)
	loop := b.emit(KindWhile, TypeOf(I32), Attrs{}, carried...)
	if b.err != nil {
		return failed
	}
	test := b.region(carried, func(inside []Value) []Value { return []Value{b.Compare(LT, inside[0], end)} })
	round := b.region(carried, func(inside []Value) []Value {
		made := append([]Value{b.Add(inside[0], b.Int(I32, 1))}, body(inside[0], inside[1:])...)
		if b.sound("while", made...) && !slices.EqualFunc(made, carried, sameType) {
			b.failf("while: a round makes (%s) of (%s)", typeList(made), typeList(carried))
		}
		return made
	})
	if b.err != nil {
		return failed
	}
	b.p.Ops[loop.number].Regions = []Region{test, round}
	out := make([]Value, len(start))
	for i, v := range start {
		out[i] = b.emit(KindResult, v.typ, Attrs{Index: i + 1}, loop)
	}
	return out
}

func sameType(x, y Value) bool { return x.typ.Equal(y.typ) }

// region holds the operations that write appends, which may read params of the types of like. Constants that it is the
// first to name are not seen outside.
func (b *Builder) region(like []Value, write func(params []Value) []Value) Region {
	known, from := maps.Clone(b.consts), len(b.p.Ops)
	params := make([]Value, len(like))
	for i, v := range like {
		params[i] = b.emit(KindParam, v.typ, Attrs{Index: i})
	}
	results := write(params)
	b.sound("while", results...)
	b.consts = known
	return Region{From: from, To: len(b.p.Ops), Results: numbers(results)}
}

func typeList(values []Value) string {
	s := make([]string, len(values))
	for i, v := range values {
		s[i] = v.typ.String()
	}
	return strings.Join(s, ", ")
}
