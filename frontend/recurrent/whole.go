// SPDX-License-Identifier: Apache-2.0

package recurrent

import (
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/recur"
	"lathe/ir/op/sum"
)

// Layers that one operation computes are not written out: the product of the inputs is a linear layer over all steps,
// and the operation keeps the state. Hardware then has each weight once.

// Whole says that an operation computes the cell over one sequence that begins with s: gates of sigmoid and tanh,
// states of zeros, nothing beside.
func (c *Cell) Whole(batch int, s State, lengths []int) bool {
	plain := c.Standard && c.Projection == nil && c.Clip == 0 && !c.Coupled && c.Peepholes == [3]*ir.Node{}
	return plain && batch == 1 && lengths == nil && zero(s.H) && zero(s.C) && c.States == c.Hidden &&
		(c.Kind != GRU || c.ResetAfter)
}

// operation is that of the kind, with its gates as those of a cell are named.
func (c *Cell) operation() (o *ir.Op, gates string) {
	switch c.Kind {
	case LSTM:
		return recur.LSTM, "ifco"
	case GRU:
		return recur.GRU, "zrh"
	}
	return recur.RNN, "h"
}

// Layer is one direction of a layer that is Whole, over the rows x [T,I]: its states, in the order in which it makes
// them.
func Layer(m Maker, prefix string, c *Cell, x *ir.Node, backward bool) *States {
	e := &expansion{Maker: m, Cell: *c, batch: 1, prefix: prefix, step: prefix, known: map[string]*ir.Node{}}
	o, gates := c.operation()
	w, r := e.stacked("w", e.Input, gates), e.stacked("r", e.Recurrent, gates)
	var biases, rest []*ir.Node
	for _, g := range gates {
		own, back := e.rows(string(g)+"_wb", e.InputBias, g), e.rows(string(g)+"_rb", e.RecurrentBias, g)
		if c.Kind == GRU && g == 'h' && !zero(back) {
			rest, back = append(rest, back), nil
		}
		switch {
		case own == nil && back == nil:
			own = m.Const(prefix+"none", ir.FloatBlob(make([]float32, c.Hidden)), []int{c.Hidden})
		case own != nil && back != nil:
			own = m.Now(prefix+string(g)+"_bias", pointwise.Add, nil, own, back)
		}
		biases = append(biases, either(own, back))
	}
	s := &States{e: e, backward: backward}
	sums := e.do("gates", sum.Linear, nil, s.turned("turned", x), w, e.unitByUnit("bias", biases))
	s.made = e.do("states", o, &recur.Attrs{Relu: c.Relu}, append([]*ir.Node{sums, r}, rest...)...)
	return s
}

// States are those of all steps of a layer.
type States struct {
	e        *expansion
	made     *ir.Node // [T,H]
	backward bool
}

func (s *States) turned(part string, x *ir.Node) *ir.Node {
	if !s.backward {
		return x
	}
	return s.e.do(part, move.Reverse, &move.ReverseAttrs{}, x)
}

// All are the states [T,H] in the order of time.
func (s *States) All() *ir.Node { return s.turned("turned_back", s.made) }

// Last is the state [1,H] that is made last.
func (s *States) Last() *ir.Node {
	if s.made == nil {
		return nil
	}
	return s.e.do("end", move.Slice, &move.SliceAttrs{Start: s.made.Type.Shape[0] - 1, Count: 1, Step: 1}, s.made)
}

// stacked are the rows of a matrix, unit after unit in place of gate after gate.
func (e *expansion) stacked(part string, all *ir.Node, gates string) *ir.Node {
	var parts []*ir.Node
	for _, g := range gates {
		parts = append(parts, e.rows(string(g)+"_"+part, all, g))
	}
	return e.unitByUnit(part, parts)
}

// unitByUnit joins constants of a row a unit, so that the rows of a unit are neighbours.
func (e *expansion) unitByUnit(part string, all []*ir.Node) *ir.Node {
	if len(all) == 1 || all[0] == nil {
		return all[0]
	}
	shape := all[0].Type.Shape
	split := append([]int{shape[0], 1}, shape[1:]...)
	for i, n := range all {
		all[i] = e.Now(e.prefix+part+"_rows", move.Reshape, &move.ReshapeAttrs{Shape: split}, n)
	}
	joined := e.Now(e.prefix+part+"_units", move.Concat, &move.ConcatAttrs{Axis: 1}, all...)
	whole := append([]int{shape[0] * len(all)}, shape[1:]...)
	return e.Now(e.prefix+part, move.Reshape, &move.ReshapeAttrs{Shape: whole}, joined)
}
