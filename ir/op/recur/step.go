// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"strconv"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/composite"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
)

// A step in operations that every engine has. Their formats, where the layer is quantized, are such that it rounds
// where the definition says so, and nowhere else.

// state is what a step hands on: h is what products and readers see, c the state behind it. Both are nil for zeros.
type state struct{ h, c *ir.Node }

// step builds one step; its plan is nil in float graphs.
type step struct {
	*composite.Expansion
	*plan
	prefix string
}

// do is the next part of the step, in format f where the layer is quantized.
func (s *step) do(name string, o *ir.Op, attrs any, f format.Format, args ...*ir.Node) *ir.Node {
	if s.plan == nil {
		f = nil
	}
	return s.DoAs(f, s.prefix+name, o, attrs, args...)
}

// cast is x in format f; in float graphs it is x.
func (s *step) cast(name string, f format.Format, x *ir.Node) *ir.Node {
	if s.plan == nil {
		return x
	}
	return s.do(name, pointwise.Cast, nil, f, x)
}

// formats are those of the plan; of a float graph there are none.
func (s *step) formats() plan {
	if s.plan == nil {
		return plan{}
	}
	return *s.plan
}

// gate cuts the elements of gate k out of a row.
func (s *step) gate(name string, row *ir.Node, k int) *ir.Node {
	if s.Err != nil {
		return s.Of
	}
	a := &move.SliceAttrs{Start: k, Count: hidden(s.Of), Step: s.Of.Args[0].Type.Shape[1] / hidden(s.Of)}
	return s.do(name, move.Slice, a, row.Type.Format, row)
}

// product is r*h, exact; nil for a state of zeros.
func (s *step) product(h *ir.Node) *ir.Node {
	if h == nil {
		return nil
	}
	return s.do("product", sum.Linear, nil, s.formats().product, h, s.Of.Args[1])
}

// sums are x + r*h in format f.
func (s *step) sums(x, product *ir.Node, f format.Format) *ir.Node {
	if product == nil {
		return s.cast("sums", f, x)
	}
	return s.do("sums", pointwise.Add, nil, f, x, product)
}

// sigmoid and tanh are what their tables hold.
func (s *step) sigmoid(name string, x *ir.Node) *ir.Node {
	return s.do(name, curve.Sigmoid, nil, s.formats().sigmoid, x)
}

func (s *step) tanh(name string, x *ir.Node) *ir.Node {
	return s.do(name, curve.Tanh, nil, s.formats().tanh, x)
}

func nextLSTM(s *step, x *ir.Node, last state) state {
	f := s.formats()
	sums := s.sums(x, s.product(last.h), f.gate)
	in := s.sigmoid("input", s.gate("input_sum", sums, 0))
	candidate := s.tanh("candidate", s.gate("candidate_sum", sums, 2))
	out := s.sigmoid("output", s.gate("output_sum", sums, 3))
	var c *ir.Node
	if last.c == nil {
		c = s.do("cell", pointwise.Mul, nil, f.cell, in, candidate)
	} else {
		forget := s.sigmoid("forget", s.gate("forget_sum", sums, 1))
		kept := s.do("kept", pointwise.Mul, nil, f.kept, forget, last.c)
		c = s.do("cell", pointwise.Add, nil, f.cell, kept, s.do("added", pointwise.Mul, nil, f.both, in, candidate))
	}
	seen := s.tanh("seen", s.cast("seen_sum", f.gate, c))
	return state{h: s.do("h", pointwise.Mul, nil, f.h, out, seen), c: c}
}

// behindReset is what the candidate of a GRU reads, where the reset gate stands behind the product.
func (s *step) behindReset(x, sums, product *ir.Node) *ir.Node {
	f := s.formats()
	var back *ir.Node
	if product != nil {
		back = s.gate("candidate_product", product, 2)
	}
	if len(s.Of.Args) > 2 { // so has one with a state before the first row
		if b := s.Of.Args[2]; back == nil {
			back = b
		} else {
			back = s.do("candidate_biased", pointwise.Add, nil, f.biased, back, b)
		}
	}
	own := s.gate("candidate_input", x, 2)
	if back == nil {
		own = s.cast("candidate_sum", f.gate, own)
	} else {
		back = s.do("reset_product", pointwise.Mul, nil, f.reset, s.sigmoid("reset", s.gate("reset_sum", sums, 1)), back)
		own = s.do("candidate_sum", pointwise.Add, nil, f.gate, own, back)
	}
	return own
}

// beforeReset is the same where it stands before the product, of the state c.
func (s *step) beforeReset(x, sums, c *ir.Node) *ir.Node {
	f, own := s.formats(), s.gate("candidate_input", x, 2)
	if c == nil {
		return s.cast("candidate_sum", f.gate, own)
	}
	reset := s.sigmoid("reset", s.gate("reset_sum", sums, 1))
	kept := s.do("reset_state", pointwise.Mul, nil, f.h, reset, c)
	all := s.do("reset_products", sum.Linear, nil, f.product, kept, s.Of.Args[1])
	return s.do("candidate_sum", pointwise.Add, nil, f.gate, own, s.gate("candidate_product", all, 2))
}

func nextGRU(s *step, x *ir.Node, last state) state {
	f := s.formats()
	product := s.product(last.h)
	sums := s.sums(x, product, f.gate)
	update := s.sigmoid("update", s.gate("update_sum", sums, 0))
	var own *ir.Node
	if s.Of.Attrs.(*Attrs).Before {
		own = s.beforeReset(x, sums, last.c)
	} else {
		own = s.behindReset(x, sums, product)
	}
	n := s.tanh("candidate", own)
	var c *ir.Node
	if last.c == nil {
		c = s.do("state", pointwise.Sub, nil, f.cell, n, s.do("replaced", pointwise.Mul, nil, f.both, update, n))
	} else {
		change := s.do("change", pointwise.Sub, nil, f.change, last.c, n)
		c = s.do("state", pointwise.Add, nil, f.cell, n, s.do("moved", pointwise.Mul, nil, f.moved, update, change))
	}
	return state{h: s.cast("h", f.h, c), c: c}
}

func nextRNN(s *step, x *ir.Node, last state) state {
	f := s.formats()
	if s.Of.Attrs.(*Attrs).Relu {
		return state{h: s.do("h", pointwise.Relu, nil, f.out, s.sums(x, s.product(last.h), f.sum))}
	}
	return state{h: s.do("h", curve.Tanh, nil, f.out, s.sums(x, s.product(last.h), f.gate))}
}

// shown is what a row of results has of a state.
func (s *step) shown(of state) *ir.Node {
	if s.Err != nil || !s.Of.Attrs.(*Attrs).Cells {
		return of.h
	}
	f, size := s.formats().out, hidden(s.Of)
	column := func(name string, x *ir.Node) *ir.Node {
		return s.do(name, move.Reshape, &move.ReshapeAttrs{Shape: []int{size, 1}}, f, s.cast(name+"_cast", f, x))
	}
	both := s.do("both", move.Concat, &move.ConcatAttrs{Axis: 1}, f, column("h_shown", of.h), column("c_shown", of.c))
	return s.do("shown", move.Reshape, &move.ReshapeAttrs{Shape: []int{2 * size}}, f, both)
}

// expand writes the layer out in time.
func (k *kind) expand(n *ir.Node) ([]*ir.Node, error) {
	s, err := k.begin(n)
	if err != nil {
		return nil, err
	}
	x, last := n.Args[0], k.constants(s)
	rows := make([]*ir.Node, 0, x.Type.Shape[0])
	for t := range x.Type.Shape[0] {
		s.prefix = "t" + strconv.Itoa(t) + "."
		cut := s.do("x_cut", move.Slice, &move.SliceAttrs{Start: t, Count: 1, Step: 1}, x.Type.Format, x)
		row := s.do("x", move.Reshape, &move.ReshapeAttrs{Shape: x.Type.Shape[1:]}, x.Type.Format, cut)
		last = k.next(s, row, last)
		rows = append(rows, s.do("y", move.Reshape, &move.ReshapeAttrs{Shape: []int{1, n.Type.Shape[1]}}, n.Type.Format,
			s.shown(last)))
	}
	if s.prefix = ""; len(rows) > 1 {
		s.do("y", move.Concat, &move.ConcatAttrs{}, n.Type.Format, rows...)
	}
	return s.Done()
}

// begin plans the expansion of n.
func (k *kind) begin(n *ir.Node) (*step, error) {
	s := &step{Expansion: composite.Expand(n)}
	if n.Type.IsFloat() {
		return s, nil
	}
	var err error
	if s.plan, err = k.planned(n); err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	return s, nil
}
