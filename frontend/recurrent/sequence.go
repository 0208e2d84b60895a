// SPDX-License-Identifier: Apache-2.0

package recurrent

import (
	"fmt"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/recur"
	"lathe/ir/op/sum"
)

// Layers that one operation computes are not written out: the product of the inputs is a linear layer over all steps,
// and the operation keeps the state. Hardware then has each weight once.

// lacks is the first thing that the operations with a state do not have, of the cell over so many sequences of such
// lengths that begin with s; "" for none.
func (c *Cell) lacks(batch int, s State, lengths []int) string {
	for _, part := range []struct {
		there bool
		what  string
	}{
		{batch != 1, "it goes over several sequences at once"}, {lengths != nil, "its sequences have lengths"},
		{!constant(s.H) || !constant(s.C), "its first state is computed"},
		{c.resetsBefore() && !zero(s.H), "its reset gate stands before the product, and its first state is not zero"},
		{c.Projection != nil || c.States != c.Hidden, "it projects its results"},
		{c.Peepholes != [3]*ir.Node{}, "it has peepholes"}, {c.Clip != 0, "it clips what functions read"},
		{c.Coupled, "its gates are coupled"},
		{!c.Standard, "its functions are others than sigmoid and tanh"},
	} {
		if part.there {
			return part.what
		}
	}
	return ""
}

// WrittenOut says that no operation computes the cell so, and notes it where that takes several steps: each becomes
// nodes.
func (c *Cell) WrittenOut(o *ir.Origin, name string, steps, batch int, s State, lengths []int) bool {
	why := c.lacks(batch, s, lengths)
	if why != "" && steps > 1 {
		o.Notes = append(o.Notes, fmt.Sprintf("layer %q is written out in time, as %d steps with hardware of their own, "+
			"since %s; PJRT takes minutes for a hundred such steps", name, steps, why))
	}
	return why != ""
}

// resetsBefore says that the reset gate of a GRU stands before the product.
func (c *Cell) resetsBefore() bool { return c.Kind == GRU && !c.ResetAfter }

// constant says that a state is known, as that is of which nothing is said: zeros.
func constant(n *ir.Node) bool { return n == nil || n.IsConst() }

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

// Layer is one direction of a layer that is not WrittenOut, over the rows x [T,I], from the state first on: its states,
// in the order in which it makes them. Cells says that States.LastCell will be asked for.
func Layer(m Maker, prefix string, c *Cell, x *ir.Node, first State, backward, cells bool) *States {
	e := &expansion{Maker: m, Cell: *c, batch: 1, prefix: prefix, step: prefix, known: map[string]*ir.Node{}}
	o, gates := c.operation()
	w, r := e.stacked("w", e.Input, gates), e.stacked("r", e.Recurrent, gates)
	var biases, rest []*ir.Node
	for _, g := range gates {
		own, back := e.rows(string(g)+"_wb", e.InputBias, g), e.rows(string(g)+"_rb", e.RecurrentBias, g)
		if c.Kind == GRU && c.ResetAfter && g == 'h' && !zero(back) {
			rest, back = append(rest, back), nil
		}
		switch {
		case own == nil && back == nil:
			own = e.zeroVector("none")
		case own != nil && back != nil:
			own = m.Now(prefix+string(g)+"_bias", pointwise.Add, nil, own, back)
		}
		biases = append(biases, either(own, back))
	}
	if !zero(first.H) || !zero(first.C) {
		if c.Kind == GRU && rest == nil {
			rest = append(rest, e.zeroVector("no_bias"))
		}
		rest = append(rest, e.vector("h_first", first.H))
		if c.Kind == LSTM {
			rest = append(rest, e.vector("c_first", first.C))
		}
	}
	s := &States{e: e, backward: backward, cells: cells}
	sums := e.do("gates", sum.Linear, nil, s.turned("turned", x), w, e.unitByUnit("bias", biases))
	s.made = e.do("states", o, &recur.Attrs{Relu: c.Relu, Cells: cells, Before: c.resetsBefore()},
		append([]*ir.Node{sums, r}, rest...)...)
	return s
}

// zeroVector are zeros [H].
func (e *expansion) zeroVector(part string) *ir.Node {
	return e.Const(e.prefix+part, ir.FloatBlob(make([]float32, e.Hidden)), []int{e.Hidden})
}

// vector is a constant state [1,H] as [H]; nil is zeros.
func (e *expansion) vector(part string, n *ir.Node) *ir.Node {
	if n == nil {
		return e.zeroVector(part)
	}
	return e.Now(e.prefix+part, move.Reshape, &move.ReshapeAttrs{Shape: []int{e.Hidden}}, n)
}

// States are those of all steps of a layer.
type States struct {
	e        *expansion
	made     *ir.Node // [T,H], with cells [T,2*H]
	last     *ir.Node // of the rows of made
	backward bool
	cells    bool
}

// half are h of all units of a row, or c.
func (s *States) half(part string, rows *ir.Node, which int) *ir.Node {
	if !s.cells || rows == nil {
		return rows
	}
	a := &move.SliceAttrs{Axis: 1, Start: which, Count: s.e.Hidden, Step: 2}
	return s.e.do(part, move.Slice, a, rows)
}

func (s *States) turned(part string, x *ir.Node) *ir.Node {
	if !s.backward {
		return x
	}
	return s.e.do(part, move.Reverse, &move.ReverseAttrs{}, x)
}

// All are the states [T,H] in the order of time.
func (s *States) All() *ir.Node { return s.turned("turned_back", s.half("all_h", s.made, 0)) }

// Last is the state [1,H] that is made last.
func (s *States) Last() *ir.Node { return s.half("end_h", s.end(), 0) }

// LastCell is the cell [1,H] that is made last.
func (s *States) LastCell() *ir.Node { return s.half("end_c", s.end(), 1) }

// end is the last row.
func (s *States) end() *ir.Node {
	if s.made == nil || s.last != nil {
		return s.last
	}
	s.last = s.e.do("end", move.Slice, &move.SliceAttrs{Start: s.made.Type.Shape[0] - 1, Count: 1, Step: 1}, s.made)
	return s.last
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
	laid := append([]int{shape[0] * len(all)}, shape[1:]...)
	return e.Now(e.prefix+part, move.Reshape, &move.ReshapeAttrs{Shape: laid}, joined)
}
