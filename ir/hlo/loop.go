// SPDX-License-Identifier: Apache-2.0

package hlo

import (
	"fmt"
	"maps"
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
	name := fmt.Sprintf("%%%d", b.next)
	b.next++
	loop := b.record("while", carried[1].typ, carried)
	inside := make([]Value, len(carried))
	for i, v := range carried {
		inside[i] = Value{b: b, name: fmt.Sprintf("%%r%s_%d", name[1:], i), typ: v.typ}
		inside[i].number = b.record("while_value", v.typ, carried[i:i+1])
	}
	entry := "    ^bb0(" + declared(inside) + "):\n"
	test := b.region(func() []Value { return []Value{b.Compare(LT, inside[0], end)} })
	made := b.region(func() []Value {
		return append([]Value{b.Add(inside[0], b.Int(I32, 1))}, body(inside[0], inside[1:])...)
	}, typesOf(carried)...)
	if b.err != nil {
		return failed
	}
	fmt.Fprintf(&b.body, "    %s:%d = \"stablehlo.while\"(%s) ({\n%s%s    }, {\n%s%s    }) : (%s) -> (%s)\n", name,
		len(carried), nameList(carried), entry, test, entry, made, typeList(carried), typeList(carried))
	out := make([]Value, len(start))
	for i, v := range start {
		out[i] = Value{b: b, name: fmt.Sprintf("%s#%d", name, i+1), typ: v.typ,
			number: b.record("while_result", v.typ, []Value{{number: loop}})}
	}
	return out
}

// declared are values as a block names them.
func declared(values []Value) string {
	s := make([]string, len(values))
	for i, v := range values {
		s[i] = v.name + ": " + v.typ.String()
	}
	return strings.Join(s, ", ")
}

// region is the text of the operations that write appends, which return what it gives, of the types if any are given.
// Constants that it is the first to name are not seen outside.
func (b *Builder) region(write func() []Value, types ...Type) string {
	outside, known := b.body.String(), maps.Clone(b.consts)
	b.body.Reset()
	values := write()
	if b.sound("while", values...) && len(types) > 0 && typeList(values) != typeList(typed(types)) {
		b.failf("while: a round makes (%s) of (%s)", typeList(values), typeList(typed(types)))
	}
	fmt.Fprintf(&b.body, "      \"stablehlo.return\"(%s) : (%s) -> ()\n", nameList(values), typeList(values))
	text := b.body.String()
	b.body.Reset()
	b.body.WriteString(outside)
	b.consts = known
	return text
}

// typed are values of types, for lists of them.
func typed(types []Type) []Value {
	out := make([]Value, len(types))
	for i, t := range types {
		out[i].typ = t
	}
	return out
}

// Row is the element at a place of an axis, which goes: the place is a scalar of I32 within the axis.
func (b *Builder) Row(x Value, axis int, place Value) Value {
	at, ok := b.places("dynamic_slice", x, axis, place)
	if !ok {
		return Value{}
	}
	dims := append([]int{}, x.typ.Dims...)
	dims[axis] = 1
	v := b.emit("dynamic_slice", Type{x.typ.DType, dims}, "slice_sizes = "+ints(dims), append([]Value{x}, at...)...)
	return b.Reshape(v, append(dims[:axis:axis], dims[axis+1:]...)...)
}

// PutRow is x with row in the place of an axis that Row reads.
func (b *Builder) PutRow(x, row Value, axis int, place Value) Value {
	at, ok := b.places("dynamic_update_slice", x, axis, place)
	if !ok || !b.sound("dynamic_update_slice", row) {
		return Value{}
	}
	dims := append([]int{}, x.typ.Dims...)
	dims[axis] = 1
	row = b.Reshape(row, dims...)
	if row.typ.DType != x.typ.DType {
		return b.failf("dynamic_update_slice: %s into %s", row.typ, x.typ)
	}
	return b.emit("dynamic_update_slice", x.typ, "", append([]Value{x, row}, at...)...)
}

// places are the indices of an element of one axis.
func (b *Builder) places(op string, x Value, axis int, place Value) ([]Value, bool) {
	if !b.sound(op, x, place) {
		return nil, false
	}
	if axis < 0 || axis >= x.typ.Rank() || !place.typ.Equal(TypeOf(I32)) {
		b.failf("%s: place %s of axis %d of %s", op, place.typ, axis, x.typ)
		return nil, false
	}
	at := make([]Value, x.typ.Rank())
	for i := range at {
		at[i] = b.Int(I32, 0)
	}
	at[axis] = place
	return at, true
}
