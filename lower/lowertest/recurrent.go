// SPDX-License-Identifier: Apache-2.0

package lowertest

import (
	"fmt"
	"testing"

	"lathe/frontend/recurrent"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
)

// Recurrent builds a layer of the given kind over 2 to 5 steps, written out in time: in one direction or in both. A
// linear layer reads the last states, or those of all steps.
func Recurrent(t testing.TB, seed uint64, kind recurrent.Kind) *ir.Graph {
	b := New(t, seed)
	steps, inputs, hidden := 2+b.r.IntN(4), 1+b.r.IntN(3), 1+b.r.IntN(4)
	x := b.Input("x", 1, steps*inputs)
	var xs, ends []*ir.Node
	for s := range steps {
		xs = append(xs, b.Add(move.Slice, fmt.Sprint("x", s), &move.SliceAttrs{Axis: 1, Start: s * inputs, Count: inputs,
			Step: 1}, x))
	}
	sigmoid, tanh := recurrent.Unary(curve.Sigmoid, nil), recurrent.Unary(curve.Tanh, nil)
	cell := &recurrent.Cell{Kind: kind, Gates: map[recurrent.Kind]string{recurrent.LSTM: "iofc", recurrent.GRU: "zrh",
		recurrent.RNN: "h"}[kind], Hidden: hidden, States: hidden, F: sigmoid, G: tanh, H: tanh, ResetAfter: b.r.IntN(2) == 0}
	if kind == recurrent.RNN {
		cell.F = tanh
	}
	all := b.r.IntN(2) == 0
	for d := range 1 + b.r.IntN(2) {
		rows := len(cell.Gates) * hidden
		cell.Input, cell.Recurrent = b.Random(1, rows, inputs), b.Random(1, rows, hidden)
		cell.InputBias = b.Random(1, rows)
		out, last := recurrent.Run(maker{b}, fmt.Sprint("d", d, "."), cell, xs, 1, recurrent.State{}, d == 1, nil)
		if !all {
			out = []*ir.Node{last.H}
		}
		ends = append(ends, out...)
	}
	if len(ends) > 1 {
		ends = []*ir.Node{b.Add(move.Concat, "ends", &move.ConcatAttrs{Axis: 1}, ends...)}
	}
	return b.Done(b.Linear("last", ends[0], 1+b.r.IntN(4), true))
}

// maker is a builder as expansions want it.
type maker struct{ b *Builder }

func (m maker) Do(part string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	m.b.t.Helper()
	return m.b.Add(o, m.b.g.FreshName(part), attrs, args...)
}

func (m maker) Now(part string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	m.b.t.Helper()
	return m.Do(part, o, attrs, args...)
}

func (m maker) Const(_ string, data *ir.Blob, shape []int) *ir.Node {
	return m.b.Const(shape, data.Floats()...)
}
