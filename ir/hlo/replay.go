// SPDX-License-Identifier: Apache-2.0

package hlo

import (
	"maps"
	"slices"
)

// Expand writes out what StableHLO does not have: each requantize becomes the integer operations that it stands for,
// and each through the value that it has. A program without such operations is returned as it is. Large tables of
// shifts become weights, so that a run of the expanded program passes the weights of that one.
func (p *Program) Expand() *Program {
	marked := func(o Operation) bool { return o.Kind == KindRequantize || o.Kind == KindThrough }
	if !slices.ContainsFunc(p.Ops, marked) {
		return p
	}
	r := replay{p: p, b: New(p.Name), values: make([]Value, len(p.Ops))}
	r.each = func(o *Operation, args []Value) Value {
		switch o.Kind {
		case KindRequantize:
			return o.Attrs.Requantize.expand(r.b, args[0])
		case KindThrough:
			return args[0]
		}
		return r.b.emit(o.Kind, o.Type, o.Attrs, args...)
	}
	return r.program()
}

// replay builds a program again, operation by operation.
type replay struct {
	p      *Program
	b      *Builder
	values []Value // by their numbers in p
	// each gives what an operation gives, with new operands. Arguments, constants and regions are copied without it.
	each func(o *Operation, args []Value) Value
}

// program is the new program; nil after a mistake, which the builder holds.
func (r *replay) program() *Program {
	r.run(0, len(r.p.Ops))
	r.b.p.Places = r.p.Places
	r.b.Return(r.at(r.p.Results)...)
	return r.b.Program()
}

func (r *replay) at(numbers []int) []Value {
	out := make([]Value, len(numbers))
	for i, n := range numbers {
		out[i] = r.values[n]
	}
	return out
}

// run builds operations from..to-1.
func (r *replay) run(from, to int) {
	b := r.b
	for n := from; n < to; n++ {
		o := &r.p.Ops[n]
		b.p.Places = r.p.Places[:max(o.Place, len(b.p.Places))]
		switch o.Kind {
		case KindInput:
			in := r.p.Inputs[o.Attrs.Index]
			r.values[n] = b.Arg(in.Name, o.Type)
			made := &b.p.Inputs[len(b.p.Inputs)-1]
			made.Becomes, made.Split = in.Becomes, in.Split
		case KindWeight:
			r.values[n] = b.Weight(r.p.Weights[o.Attrs.Index].Data)
		case KindConstant:
			r.values[n] = b.constant(o.Type, o.Attrs.Value)
		case KindParam, KindResult:
			r.values[n] = b.emit(o.Kind, o.Type, o.Attrs, r.at(o.Operands)...)
		case KindWhile:
			n = r.loop(n)
		default:
			r.values[n] = r.each(o, r.at(o.Operands))
		}
	}
}

// loop builds operation n with its regions, and returns the number of the last operation in them.
func (r *replay) loop(n int) int {
	o := &r.p.Ops[n]
	v := r.b.emit(o.Kind, o.Type, o.Attrs, r.at(o.Operands)...)
	r.values[n] = v
	var regions []Region
	for _, g := range o.Regions {
		regions = append(regions, r.region(g))
		n = g.To - 1
	}
	if v.b != nil {
		r.b.p.Ops[v.number].Regions = regions
	}
	return n
}

// region builds a region; constants that it is the first to name are not seen outside.
func (r *replay) region(g Region) Region {
	known, from := maps.Clone(r.b.consts), len(r.b.p.Ops)
	r.run(g.From, g.To)
	r.b.consts = known
	return Region{From: from, To: len(r.b.p.Ops), Results: numbers(r.at(g.Results))}
}
