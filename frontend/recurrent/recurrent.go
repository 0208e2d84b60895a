// SPDX-License-Identifier: Apache-2.0

// Package recurrent reads recurrent layers, for all importers: a layer becomes one operation with state where there is
// one that computes it; else it is expanded over time, and each step becomes linear layers and element-wise operations
// of its own, which every engine has. Equations follow the ONNX standard (operators LSTM, GRU
// and RNN); PyTorch's modules are cases of them.
package recurrent

import (
	"strconv"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
)

// MaxSteps bounds the steps of one layer that is expanded, its directions together: each step becomes about 12 nodes.
const MaxSteps = 1 << 12

// TooLong is what a layer over more steps is told, and Shorter what to do.
const (
	TooLong = "goes over %d steps; each is written out, up to %d steps are supported"
	Shorter = "export the model for a shorter sequence, and carry the states from one to the next"
)

// Maker makes nodes for an importer, which keeps the first error: nodes behind it are nil. Part tells a node from the
// others of the operation.
type Maker interface {
	Do(part string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node
	// Now is Do for weights: arguments are constants of any size, and so is the result.
	Now(part string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node
	Const(part string, data *ir.Blob, shape []int) *ir.Node
}

// Kind is a kind of recurrent layer.
type Kind int

// The kinds.
const (
	LSTM Kind = iota
	GRU
	RNN
)

// Function is an activation: it applies itself to x under the name of a part.
type Function func(m Maker, part string, x *ir.Node) *ir.Node

// Unary is the activation by one operation.
func Unary(o *ir.Op, attrs any) Function {
	return func(m Maker, part string, x *ir.Node) *ir.Node { return m.Do(part, o, attrs, x) }
}

// Cell is one direction of one layer. The matrices hold the rows of its gates one below the other, in the order of
// Gates: i, o, f and c (the candidate) of an LSTM, z, r and h (the candidate) of a GRU, h of an RNN.
type Cell struct {
	Kind  Kind
	Gates string
	// Hidden is the number H of rows of a gate, States that of elements of the state S: H without a projection.
	Hidden, States int
	// Input is [gates*H, I], Recurrent [gates*H, S]; the biases are [gates*H] or nil. All are constants.
	Input, Recurrent, InputBias, RecurrentBias *ir.Node
	// Peepholes are the weights [H] of i, o and f, or nil.
	Peepholes [3]*ir.Node
	// Projection [S, H] makes the state of an LSTM of its hidden values, or is nil.
	Projection *ir.Node
	// F serves the gates, G the candidate (F that of an RNN), H the cell of an LSTM.
	F, G, H Function
	// Standard says that these are sigmoid and tanh; of an RNN that F is tanh, or with Relu the other one.
	Standard, Relu bool
	// Clip bounds what activations read to [-Clip, Clip]; 0 does not.
	Clip float32
	// Coupled makes the forget gate 1 - i.
	Coupled bool
	// ResetAfter applies the reset gate of a GRU behind the product with the state (linear_before_reset of ONNX, PyTorch).
	ResetAfter bool
}

// State is what a step hands on, [B,S] and [B,H]. A nil node is all zeros.
type State struct {
	H, C *ir.Node
}

// expansion is one cell on its way into the graph.
type expansion struct {
	Maker
	Cell
	batch  int
	prefix string // of parts: direction and layer
	step   string // prefix and step
	known  map[string]*ir.Node
	xh     *ir.Node // what the gates of the step read: input and state
}

// Run gives the state behind each step, in the order of time, for the inputs xs, each [B,I], and the last state.
// Backward goes from the last step to the first. Lengths, where not nil, are the steps of each element of the batch:
// steps behind them keep the state, and give zeros. Prefix begins the names of parts.
func Run(m Maker, prefix string, c *Cell, xs []*ir.Node, batch int, s State, backward bool, lengths []int) ([]*ir.Node,
	State) {
	e := &expansion{Maker: m, Cell: *c, batch: batch, prefix: prefix, known: map[string]*ir.Node{}}
	if zero(s.H) {
		s.H = nil
	}
	if zero(s.C) {
		s.C = nil
	}
	out := make([]*ir.Node, len(xs))
	for i := range xs {
		t := i
		if backward {
			t = len(xs) - 1 - i
		}
		e.step = prefix + "t" + strconv.Itoa(t) + "."
		s, out[t] = e.masked(t, xs[t], s, lengths)
	}
	return out, s
}

// zero says that a node is a constant of zeros.
func zero(n *ir.Node) bool {
	if n == nil || !n.IsConst() {
		return n == nil
	}
	for _, v := range n.Attrs.(*ir.Const).Data.Floats64() {
		if v != 0 {
			return false
		}
	}
	return true
}

// masked is a step that elements of the batch take whose sequence is not over.
func (e *expansion) masked(t int, x *ir.Node, s State, lengths []int) (next State, out *ir.Node) {
	running := 0
	for _, n := range lengths {
		if t < n {
			running++
		}
	}
	switch {
	case lengths != nil && running == 0:
		return s, e.zeros(e.States)
	case lengths == nil || running == len(lengths):
		next = e.next(x, s)
		return next, next.H
	}
	on := make([]byte, len(lengths))
	for i, n := range lengths {
		if t < n {
			on[i] = 1
		}
	}
	mask := e.Const(e.step+"running", &ir.Blob{DType: ir.B1, Bytes: on}, []int{len(on), 1})
	pick := func(part string, now, before *ir.Node, width int) *ir.Node {
		if before == nil {
			before = e.zeros(width)
		}
		return e.Do(e.step+part, whole.Where, nil, mask, now, before)
	}
	now := e.next(x, s)
	next.H = pick("h_held", now.H, s.H, e.States)
	if e.Kind == LSTM {
		next.C = pick("c_held", now.C, s.C, e.Hidden)
	}
	return next, pick("h_shown", now.H, nil, e.States)
}

func (e *expansion) zeros(width int) *ir.Node {
	return e.Const(e.prefix+"zeros", ir.FloatBlob(make([]float32, e.batch*width)), []int{e.batch, width})
}

// next is the state behind a step.
func (e *expansion) next(x *ir.Node, s State) State {
	switch e.Kind {
	case LSTM:
		return e.lstm(x, s)
	case GRU:
		return State{H: e.gru(x, s.H)}
	}
	return State{H: e.activate("h", e.F, e.sum("h", 'h', x, s.H))}
}

// do names a part by the step.
func (e *expansion) do(part string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	return e.Do(e.step+part, o, attrs, args...)
}

// mul and add leave out what is nil: a product with zeros, a sum with them.
func (e *expansion) mul(part string, a, b *ir.Node) *ir.Node {
	if a == nil || b == nil {
		return nil
	}
	return e.do(part, pointwise.Mul, nil, a, b)
}

func (e *expansion) add(part string, a, b *ir.Node) *ir.Node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return e.do(part, pointwise.Add, nil, a, b)
}

// activate applies a function within the bounds of its argument.
func (e *expansion) activate(part string, f Function, x *ir.Node) *ir.Node {
	if e.Clip > 0 {
		x = e.do(part+"_clipped", pointwise.Clip, &pointwise.ClipAttrs{Min: -e.Clip, Max: e.Clip}, x)
	}
	return f(e, e.step+part, x)
}

// lstm: i, f and o are gates, g is the candidate; c' = f*c + i*g, h' = o*H(c'). Peepholes show the gates the cell.
func (e *expansion) lstm(x *ir.Node, s State) State {
	gate := func(part string, gate rune, peephole *ir.Node, c *ir.Node) *ir.Node {
		y := e.add(part+"_seen", e.sum(part, gate, x, s.H), e.mul(part+"_peephole", c, peephole))
		return e.activate(part, e.F, y)
	}
	i := gate("input", 'i', e.Peepholes[0], s.C)
	var f *ir.Node
	switch {
	case s.C == nil: // nothing to forget
	case e.Coupled:
		f = e.do("forget", pointwise.Sub, nil, e.Const(e.prefix+"one", ir.FloatBlob([]float32{1}), nil), i)
	default:
		f = gate("forget", 'f', e.Peepholes[2], s.C)
	}
	g := e.activate("candidate", e.G, e.sum("candidate", 'c', x, s.H))
	c := e.add("c", e.mul("kept", f, s.C), e.mul("added", i, g))
	o := gate("output", 'o', e.Peepholes[1], c)
	h := e.mul("h", o, e.activate("squashed", e.H, c))
	if e.Projection != nil {
		h = e.do("projected", sum.Linear, nil, h, e.Projection)
	}
	return State{H: h, C: c}
}

// gru: z and r are gates; h' = (1-z)*n + z*h with the candidate n of x and r*h, computed as n + z*(h - n).
func (e *expansion) gru(x, h *ir.Node) *ir.Node {
	z := e.activate("update", e.F, e.sum("update", 'z', x, h))
	var n *ir.Node
	if e.ResetAfter {
		own := e.linear("candidate_input", x, e.rows("candidate_w", e.Input, 'h'), e.rows("candidate_wb", e.InputBias, 'h'))
		back := e.rows("candidate_rb", e.RecurrentBias, 'h')
		if zero(back) {
			back = nil
		}
		if h != nil {
			back = e.linear("candidate_state", h, e.rows("candidate_r", e.Recurrent, 'h'), back)
		}
		if back != nil {
			own = e.add("candidate_sum", own, e.mul("reset_state", e.reset(x, h), back))
		}
		n = e.activate("candidate", e.G, own)
	} else {
		var past *ir.Node
		if h != nil {
			past = e.mul("reset_state", e.reset(x, h), h)
		}
		n = e.activate("candidate", e.G, e.sum("candidate", 'h', x, past))
	}
	if h == nil {
		return e.do("h", pointwise.Sub, nil, n, e.mul("replaced", z, n))
	}
	return e.add("h", n, e.mul("moved", z, e.do("change", pointwise.Sub, nil, h, n)))
}

// reset is the reset gate.
func (e *expansion) reset(x, h *ir.Node) *ir.Node {
	return e.activate("reset", e.F, e.sum("reset", 'r', x, h))
}

// Affine is alpha*x + beta.
func Affine(alpha, beta float32) Function {
	return func(m Maker, part string, x *ir.Node) *ir.Node {
		y := m.Do(part+"_scaled", pointwise.Mul, nil, x, number(m, part+"_alpha", alpha))
		return m.Do(part, pointwise.Add, nil, y, number(m, part+"_beta", beta))
	}
}

// ScaledTanh is alpha*tanh(beta*x).
func ScaledTanh(alpha, beta float32) Function {
	return func(m Maker, part string, x *ir.Node) *ir.Node {
		y := m.Do(part+"_scaled", pointwise.Mul, nil, x, number(m, part+"_beta", beta))
		y = m.Do(part+"_tanh", curve.Tanh, nil, y)
		return m.Do(part, pointwise.Mul, nil, y, number(m, part+"_alpha", alpha))
	}
}

func number(m Maker, part string, v float32) *ir.Node {
	return m.Const(part, ir.FloatBlob([]float32{v}), nil)
}
