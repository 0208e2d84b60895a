// SPDX-License-Identifier: Apache-2.0

package hlo

import (
	"fmt"
	"reflect"
	"slices"
)

// Verify looks for the first mistake in a program: an operation whose operands, attributes, regions or result do not
// fit its kind, or that reads what it cannot see. It is a *diag.Error with code L0810 at the place of the operation, or
// nil.
func (p *Program) Verify() error {
	r := replay{p: p, b: New(p.Name), values: make([]Value, len(p.Ops))}
	s := scopes{p: p, seen: make([]bool, len(p.Ops))}
	if n, msg := s.check(); msg != "" {
		if n < len(p.Ops) {
			r.b.p.Places = p.Places[:min(max(p.Ops[n].Place, 0), len(p.Places))]
			msg = p.Ops[n].Kind.String() + ": " + msg
		}
		r.b.failf("operation %d: %s", n, msg)
		return r.b.Err()
	}
	r.each = func(o *Operation, args []Value) Value {
		before := len(r.b.p.Ops)
		v := r.b.apply(o, args)
		if r.b.err != nil {
			return v
		}
		made := &r.b.p.Ops[len(r.b.p.Ops)-1]
		if len(r.b.p.Ops) != before+1 || made.Kind != o.Kind || !made.Type.Equal(o.Type) ||
			!slices.Equal(made.Operands, numbers(args)) || !reflect.DeepEqual(made.Attrs, o.Attrs) {
			return r.b.failf("%s: %+v gives %s, not %s", o.Kind, o.Attrs, v.typ, o.Type)
		}
		return v
	}
	r.program()
	return r.b.Err()
}

// apply writes an operation that is neither source nor region by the method of its kind.
func (b *Builder) apply(o *Operation, args []Value) Value {
	a := &o.Attrs
	switch kinds[o.Kind].class {
	case double:
		return b.binary(o.Kind, args[0], args[1])
	case doubleOfBits:
		return b.bitwise(o.Kind, args[0], args[1])
	case single:
		return b.unary(o.Kind, args[0])
	case singleOfBits:
		return b.bits(o.Kind, args[0])
	case singleFloat:
		return b.float(o.Kind, args[0])
	}
	switch o.Kind {
	case KindIota:
		return b.Iota(o.Type, one(a.Axes))
	case KindCompare:
		return b.Compare(a.Dir, args[0], args[1])
	case KindSelect:
		return b.Select(args[0], args[1], args[2])
	case KindConvert:
		return b.Convert(args[0], o.Type.DType)
	case KindBitcast:
		return b.Bitcast(args[0], o.Type.DType)
	case KindRequantize:
		return b.Requant(args[0], a.Requantize)
	case KindThrough:
		return b.Through(args[0], args[1])
	case KindDot:
		return b.marked(b.DotGeneral(args[0], args[1], a.Dot, o.Type.DType), a.Exact)
	case KindConvolution:
		return b.marked(b.Convolution(args[0], args[1], a.Conv, o.Type.DType), a.Exact)
	case KindReduce:
		return b.reduce(a.Reducer, args[0], args[1], a.Axes)
	case KindReduceWindow:
		return b.reduceWindow(a.Reducer, args[0], args[1], a.Window)
	case KindGather:
		return b.TakeI(args[0], args[1])
	case KindScatter:
		return b.ScatterRows(a.Reducer, args[0], args[1], args[2])
	case KindSort:
		return b.sort(args[0], args[1], one(a.Axes), a.Dir)
	}
	return b.applyMove(o, args)
}

// applyMove is apply for what only moves elements.
func (b *Builder) applyMove(o *Operation, args []Value) Value {
	a, x := &o.Attrs, args[0]
	switch o.Kind {
	case KindReshape:
		return b.Reshape(x, o.Type.Dims...)
	case KindTranspose:
		return b.Transpose(x, a.Axes...)
	case KindBroadcast:
		return b.BroadcastInDim(x, o.Type.Dims, a.Axes)
	case KindSlice:
		return b.Slice(x, a.Start, a.Limit, a.Stride)
	case KindConcatenate:
		return b.Concat(one(a.Axes), args...)
	case KindPad:
		return b.Pad(x, args[1], a.Low, a.High, a.Inner)
	case KindReverse:
		return b.Reverse(x, a.Axes...)
	case KindDynamicSlice:
		return b.dynamic(o, o.Type, args, args[1:])
	case KindDynamicUpdate:
		if len(args) > 1 && x.typ.Equal(o.Type) {
			return b.dynamic(o, args[1].typ, args, args[2:])
		}
	}
	return b.failf("%s of %s cannot be written", o.Kind, x.typ)
}

// dynamic is an operation on a part of its first operand, at places that are scalars of I32.
func (b *Builder) dynamic(o *Operation, part Type, args, places []Value) Value {
	x := args[0].typ
	bad := part.DType != x.DType || part.Rank() != x.Rank() || len(places) != x.Rank()
	for i := 0; !bad && i < x.Rank(); i++ {
		bad = part.Dims[i] > x.Dims[i] || !places[i].typ.Equal(TypeOf(I32))
	}
	if bad {
		return b.failf("%s: %s of %s at %d places", o.Kind, part, x, len(places))
	}
	return b.emit(o.Kind, o.Type, Attrs{}, args...)
}

// marked is a sum of products, marked as exact if it is.
func (b *Builder) marked(v Value, exact bool) Value {
	if exact {
		return v.exact()
	}
	return v
}

// one is the axis of kinds that have just one; -1 if there are others.
func one(axes []int) int {
	if len(axes) == 1 {
		return axes[0]
	}
	return -1
}

// scopes checks what does not depend on the kind of an operation: which values it sees, and that its fields are those
// of its kind.
type scopes struct {
	p       *Program
	seen    []bool // values that the operation at hand may read
	inputs  int
	weights int
}

// check gives the number of an operation and what is wrong with it, "" where nothing is.
func (s *scopes) check() (int, string) {
	if n, msg := s.run(0, len(s.p.Ops)); msg != "" {
		return n, msg
	}
	switch {
	case s.inputs != len(s.p.Inputs) || s.weights != len(s.p.Weights):
		return len(s.p.Ops), fmt.Sprintf("%d inputs and %d weights for %d and %d arguments", s.inputs, s.weights,
			len(s.p.Inputs), len(s.p.Weights))
	case len(s.p.Results) == 0:
		return len(s.p.Ops), "program returns nothing"
	}
	if msg := s.visible(s.p.Results); msg != "" {
		return len(s.p.Ops), msg
	}
	return len(s.p.Ops), s.p.donations()
}

// run checks operations from..to-1.
func (s *scopes) run(from, to int) (int, string) {
	place := 0
	for n := from; n < to; n++ {
		o := &s.p.Ops[n]
		if msg := s.one(n, o); msg != "" {
			return n, msg
		}
		if o.Place < place || o.Place > len(s.p.Places) {
			return n, fmt.Sprintf("place %d of %d, behind %d", o.Place, len(s.p.Places), place)
		}
		place = o.Place
		s.seen[n] = true
		if o.Kind != KindWhile {
			continue
		}
		last, at, msg := s.loop(n, to)
		if msg != "" {
			return at, msg
		}
		n = last
	}
	return to, ""
}

// one checks an operation without its regions.
func (s *scopes) one(n int, o *Operation) string {
	if o.Kind == KindInvalid || o.Kind >= NumKinds {
		return fmt.Sprintf("unknown kind %d", o.Kind)
	}
	row := kinds[o.Kind]
	if count := len(o.Operands); row.arity != count && (row.arity != anyArity || count == 0) {
		return fmt.Sprintf("%d operands", count)
	}
	if msg := s.visible(o.Operands); msg != "" {
		return msg
	}
	if msg := o.Type.Check(); msg != "" {
		return msg
	}
	if f := o.filled() &^ row.attrs; f != 0 {
		return fmt.Sprintf("attributes %+v are not those of the kind", o.Attrs)
	}
	switch o.Kind {
	case KindInput:
		s.inputs++
		return source(o, s.inputs, s.p.Inputs)
	case KindWeight:
		s.weights++
		if msg := source(o, s.weights, s.p.Weights); msg != "" {
			return msg
		}
		if data := s.p.Weights[o.Attrs.Index].Data; data.Check() != "" || !data.Type.Equal(o.Type) {
			return fmt.Sprintf("data %s of a weight %s", data.Type, o.Type)
		}
	case KindConstant:
		v := o.Attrs.Value
		if v.Check() != "" || !v.Type.Equal(o.Type) && !v.Type.Equal(TypeOf(o.Type.DType)) {
			return fmt.Sprintf("value %s of a constant %s", v.Type, o.Type)
		}
	case KindParam:
		return "outside of the beginning of a region"
	case KindResult:
		of := &s.p.Ops[o.Operands[0]]
		i := o.Attrs.Index
		if of.Kind != KindSort && of.Kind != KindWhile || i < 1 || i >= len(of.Operands) ||
			!s.p.Ops[of.Operands[i]].Type.Equal(o.Type) {
			return fmt.Sprintf("result %d of %s is not %s", i, of.Kind, o.Type)
		}
	}
	return ""
}

// source checks an argument, the count-th of its list.
func source(o *Operation, count int, list []Argument) string {
	if i := o.Attrs.Index; i != count-1 || i >= len(list) || !list[i].Type.Equal(o.Type) {
		return fmt.Sprintf("argument %d of %d as %s", i, len(list), o.Type)
	}
	return ""
}

// visible says which of the values cannot be read here.
func (s *scopes) visible(values []int) string {
	for _, v := range values {
		if v < 0 || v >= len(s.seen) || !s.seen[v] {
			return fmt.Sprintf("reads %d, which it does not see", v)
		}
	}
	return ""
}

// loop checks the regions of while n, which end before to: a test, and a round that makes what it is entered with. It
// returns the number of the last operation in them, or the place and the text of a mistake.
func (s *scopes) loop(n, to int) (last, at int, msg string) {
	o := &s.p.Ops[n]
	if len(o.Regions) != 2 || !o.Type.Equal(s.p.Ops[o.Operands[0]].Type) {
		return n, n, fmt.Sprintf("%d regions, result %s", len(o.Regions), o.Type)
	}
	last = n
	for i, g := range o.Regions {
		if g.From != last+1 || g.To < g.From+len(o.Operands) || g.To > to {
			return n, n, fmt.Sprintf("region %d..%d behind %d", g.From, g.To, last)
		}
		if msg := s.enter(o, g); msg != "" {
			return n, n, msg
		}
		if at, msg := s.run(g.From+len(o.Operands), g.To); msg != "" {
			return n, at, msg
		}
		if msg := s.leave(o, g, i == 0); msg != "" {
			return n, n, msg
		}
		for k := g.From; k < g.To; k++ {
			s.seen[k] = false
		}
		last = g.To - 1
	}
	return last, n, ""
}

// enter demands that a region begins with the params that the operation fills.
func (s *scopes) enter(o *Operation, g Region) string {
	for i, v := range o.Operands {
		p := &s.p.Ops[g.From+i]
		if p.Kind != KindParam || p.Attrs.Index != i || len(p.Operands) > 0 || !p.Type.Equal(s.p.Ops[v].Type) ||
			p.filled()&^hasIndex != 0 || p.Place != o.Place {
			return fmt.Sprintf("region has %s of %s in the place of param %d", p.Kind, p.Type, i)
		}
		s.seen[g.From+i] = true
	}
	return ""
}

// leave demands that a region gives a truth value, if it is the test, or else what the next round is entered with.
func (s *scopes) leave(o *Operation, g Region, test bool) string {
	if msg := s.visible(g.Results); msg != "" {
		return msg
	}
	var want, got []Type
	for _, v := range g.Results {
		got = append(got, s.p.Ops[v].Type)
	}
	for _, v := range o.Operands {
		want = append(want, s.p.Ops[v].Type)
	}
	if test {
		want = []Type{TypeOf(I1)}
	}
	if !slices.EqualFunc(got, want, Type.Equal) {
		return fmt.Sprintf("a region gives %v, not %v", got, want)
	}
	return ""
}

// filled are the fields that are not zero.
func (o *Operation) filled() fields {
	a := &o.Attrs
	var out fields
	for f, set := range map[fields]bool{
		hasIndex: a.Index != 0, hasValue: a.Value.Data != nil || a.Value.Type.DType != "", hasAxes: a.Axes != nil,
		hasStart: a.Start != nil || a.Limit != nil || a.Stride != nil,
		hasLow:   a.Low != nil || a.High != nil || a.Inner != nil, hasDir: a.Dir != "", hasReducer: a.Reducer != "",
		hasWindow: !reflect.ValueOf(a.Window).IsZero(), hasDot: !reflect.ValueOf(a.Dot).IsZero(),
		hasConv: !reflect.ValueOf(a.Conv).IsZero(), hasExact: a.Exact,
		hasRequantize: !reflect.ValueOf(a.Requantize).IsZero(), hasRegions: len(o.Regions) > 0,
	} {
		if set {
			out |= f
		}
	}
	return out
}
