// SPDX-License-Identifier: Apache-2.0

package recurrent

import (
	"slices"
	"strconv"
	"strings"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
)

// sum is what a gate adds up of input and state: one linear layer over both, so that hardware rounds once.
func (e *expansion) sum(part string, gate rune, x, h *ir.Node) *ir.Node {
	w, bias := e.rows(part+"_w", e.Input, gate), e.bias(part, gate)
	if h == nil {
		return e.linear(part+"_sum", x, w, bias)
	}
	r := e.rows(part+"_r", e.Recurrent, gate)
	if h.IsConst() { // an initial state: its product is a part of the bias
		past := e.Now(e.step+part+"_start", sum.Linear, nil, h, r)
		if e.batch > 1 {
			return e.add(part+"_sum", e.linear(part+"_input", x, w, bias), past)
		}
		past = e.Now(e.step+part+"_start", move.Reshape, &move.ReshapeAttrs{Shape: []int{e.Hidden}}, past)
		if bias != nil {
			past = e.Now(e.step+part+"_bias", pointwise.Add, nil, past, bias)
		}
		return e.linear(part+"_sum", x, w, past)
	}
	joined := e.once(part+"_weights", func(name string) *ir.Node {
		return e.Now(name, move.Concat, &move.ConcatAttrs{Axis: 1}, w, r)
	})
	if e.xh == nil || e.xh.Args[0] != x || e.xh.Args[1] != h { // gates share it
		name := "xh"
		if e.Kind == GRU && gate == 'h' {
			name = part + "_xh"
		}
		e.xh = e.do(name, move.Concat, &move.ConcatAttrs{Axis: 1}, x, h)
	}
	return e.linear(part+"_sum", e.xh, joined, bias)
}

// linear makes a linear layer; the bias may be nil.
func (e *expansion) linear(part string, x, w, bias *ir.Node) *ir.Node {
	if bias == nil {
		return e.do(part, sum.Linear, nil, x, w)
	}
	return e.do(part, sum.Linear, nil, x, w, bias)
}

// once makes a constant that all steps share.
func (e *expansion) once(part string, make func(name string) *ir.Node) *ir.Node {
	n, ok := e.known[part]
	if !ok {
		n = make(e.prefix + part)
		e.known[part] = n
	}
	return n
}

// rows are those of a gate, of a matrix or a vector of all gates; nil of nil.
func (e *expansion) rows(part string, all *ir.Node, gate rune) *ir.Node {
	if all == nil {
		return nil
	}
	return e.once(part, func(name string) *ir.Node {
		a := &move.SliceAttrs{Start: strings.IndexRune(e.Gates, gate) * e.Hidden, Count: e.Hidden, Step: 1}
		return e.Now(name, move.Slice, a, all)
	})
}

// bias is the sum of both biases of a gate, nil without any.
func (e *expansion) bias(part string, gate rune) *ir.Node {
	own, back := e.rows(part+"_wb", e.InputBias, gate), e.rows(part+"_rb", e.RecurrentBias, gate)
	if own == nil || back == nil {
		return either(own, back)
	}
	return e.once(part+"_bias", func(name string) *ir.Node { return e.Now(name, pointwise.Add, nil, own, back) })
}

func either(a, b *ir.Node) *ir.Node {
	if a == nil {
		return b
	}
	return a
}

// Steps cuts a sequence x [T,B,I] (Axis 0) or [B,T,I] (axis 1) into its steps, each [B,I]. Where x joins the steps of a
// layer before it, those are taken as they are.
func Steps(m Maker, x *ir.Node, axis int) []*ir.Node {
	if x == nil {
		return nil
	}
	s := x.Type.Shape
	steps, batch, width := s[axis], s[1-axis], s[2]
	if parts := joined(x, axis == 0 || batch == 1, steps, batch, width); parts != nil {
		return each(m, parts, steps, batch, width)
	}
	out := make([]*ir.Node, steps)
	for t := range out {
		y := m.Do(stepName(t, "x_cut"), move.Slice, &move.SliceAttrs{Axis: axis, Start: t, Count: 1, Step: 1}, x)
		out[t] = m.Do(stepName(t, "x"), move.Reshape, &move.ReshapeAttrs{Shape: []int{batch, width}}, y)
	}
	return out
}

// each makes [B,I] of the parts of each step.
func each(m Maker, parts []*ir.Node, steps, batch, width int) []*ir.Node {
	out, per := make([]*ir.Node, steps), len(parts)/steps
	for t := range out {
		some := slices.Clone(parts[t*per : (t+1)*per])
		for i, p := range some {
			if shape := []int{batch, p.Type.Elems() / batch}; !slices.Equal(shape, p.Type.Shape) {
				some[i] = m.Do(stepName(t, "x_part"+strconv.Itoa(i)), move.Reshape, &move.ReshapeAttrs{Shape: shape}, p)
			}
		}
		if out[t] = some[0]; per > 1 {
			out[t] = m.Do(stepName(t, "x"), move.Concat, &move.ConcatAttrs{Axis: 1}, some...)
		}
	}
	return out
}

// joined are the operands of the concat whose elements x has in the same order, if equal numbers of whole ones make a
// step; else nil.
func joined(x *ir.Node, inTime bool, steps, batch, width int) []*ir.Node {
	for inTime && (x.Op == move.Reshape || x.Op == move.Transpose && move.KeepsOrder(x)) {
		x = x.Args[0]
	}
	if !inTime || x.Op != move.Concat {
		return nil
	}
	for _, d := range x.Type.Shape[:x.Attrs.(*move.ConcatAttrs).Axis] {
		if d != 1 {
			return nil // rows of the operands alternate
		}
	}
	size, parts := x.Args[0].Type.Elems(), len(x.Args)
	for _, a := range x.Args {
		if a.Type.Elems() != size {
			return nil
		}
	}
	if size == 0 || parts%steps != 0 || parts/steps*size != batch*width || parts != steps && batch > 1 {
		return nil
	}
	return x.Args
}

func stepName(t int, part string) string { return "t" + strconv.Itoa(t) + "." + part }

// Joined puts nodes one behind the other along an axis.
func Joined(m Maker, part string, all []*ir.Node, axis int) *ir.Node {
	if len(all) == 1 {
		return all[0]
	}
	return m.Do(part, move.Concat, &move.ConcatAttrs{Axis: axis}, all...)
}
