// SPDX-License-Identifier: Apache-2.0

// Package recur holds the recurrent layers, lstm, gru and rnn, as operations with state.
package recur

import (
	"fmt"
	"math"

	"lathe/ir"
	"lathe/ir/format"
)

// Attrs are the attributes of a recurrent layer.
type Attrs struct {
	// Gate is the format of what sigmoid and tanh read, and Cell that of the state of lstm and gru, as texts; both are
	// empty in float graphs.
	Gate, Cell string
	// Relu gives rnn that function in place of tanh.
	Relu bool
	// Before has gru apply its reset gate before the product.
	Before bool
	// Cells has lstm show its state: rows [2*H] hold h and c of each unit, in the format Cell, and Hidden is the format of
	// h, which products read.
	Cells  bool
	Hidden string
}

// kind is what layers differ in.
type kind struct {
	// gates are the rows of a hidden unit, in the order in which they stand in the stream and in the weights.
	gates int
	// cell says that there is a state of its own format, with so many integer bits by default; bias that argument 2 may be
	// a bias of the candidate's product; relu that the layer has the function relu.
	cell, bias, relu bool
	whole            int
	// first is the argument that, if it is there, holds the states before the first row: h, of a layer with a cell c
	// alone, as gru has it, or both.
	first  int
	number int // KIND of op_recur
	next   func(s *step, x *ir.Node, last state) state
}

var (
	lstm = &kind{gates: 4, cell: true, whole: 4, first: 2, next: nextLSTM}
	gru  = &kind{gates: 3, cell: true, bias: true, first: 3, number: 1, next: nextGRU}
	rnn  = &kind{gates: 1, relu: true, first: 2, number: 2, next: nextRNN}
)

// LSTM reads gates x [T,4*H] of which element 4*j+k is that of gate k of unit j, in the order i, f, g, o, and the
// recurrent weights r [4*H,H], whose rows stand in the same order (Hochreiter and Schmidhuber, 1997; Gers, 2000):
//
//	p = x[t] + r*h;  c = sigmoid(p_f)*c + sigmoid(p_i)*tanh(p_g);  h = sigmoid(p_o)*tanh(c);  y[t] = h
//
// The states begin with zeros, or with constants h [H] and c [H], arguments 2 and 3. Quantized, those are rounded to
// the formats of h and c, p is rounded to Gate, and so is the c that tanh reads; c is rounded to Cell, h to the result
// format, once each. Of a Gate of W bits sigmoid makes ufixed(W,W) and tanh fixed(W,W-1).
var LSTM = layer("lstm", "long short-term memory over rows of gates, with recurrent weights", 4, lstm)

// GRU reads gates x [T,3*H] in the order z, r, n, recurrent weights r [3*H,H], and a bias b [H] of the candidate, which
// may be missing where nothing follows (Cho, 2014; the reset gate behind the product, as PyTorch has it):
//
//	p = x[t] + r*h, in n without x;  n = tanh(x_n + sigmoid(p_r)*(p_n + b));  s = n + sigmoid(p_z)*(s - n);  y[t] = s
//
// Before, there is no b: m = sigmoid(p_r)*s, n = tanh(x_n + r*m), and quantized m is rounded to the result format.
//
// The state s begins with zeros, or with a constant [H], argument 3. Quantized, s has the format Cell, and products
// read y, which is s rounded to the result format; what tanh reads is rounded once.
var GRU = layer("gru", "gated recurrent unit over rows of gates, reset behind the product of the state", 4, gru)

// RNN is h = tanh(x[t] + r*h), or relu in place of tanh: x [T,H], r [H,H]; h begins with zeros, or with a constant [H],
// argument 2. Quantized, what tanh reads is rounded to
// Gate, what relu reads is exact.
var RNN = layer("rnn", "h = tanh(x + r*h), or relu, over rows x", 3, rnn)

// Begins says that argument i of n is a state before the first row.
func Begins(n *ir.Node, i int) bool { return i >= kindOf(n).first }

// kindOf is that of a node whose operation is one of these.
func kindOf(n *ir.Node) *kind {
	switch n.Op.Name {
	case "lstm":
		return lstm
	case "gru":
		return gru
	}
	return rnn
}

func layer(name, doc string, most int, k *kind) *ir.Op {
	return &ir.Op{
		Name: name, Doc: doc, Attrs: Attrs{}, Arity: [2]int{2, most},
		Traits: ir.Traits{RoundsOnce: true, Reads16: true},
		Infer:  k.infer,
		Eval:   k.eval,
		Expand: k.expand,
		HLO:    k.print,
		RTL:    k.unit,
		Lanes:  k.lanes,
		Legal:  k.legal,
		MACs:   func(n *ir.Node) int { return n.Args[1].Type.Elems() * n.Args[0].Type.Shape[0] },
		Bounds: k.bounds,
		Gen:    k.draw,
	}
}

// infer checks that rows of gates, weights and bias fit.
func (k *kind) infer(n *ir.Node) ([]int, error) {
	x, r := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	if len(x) != 2 || x[0] < 1 {
		return nil, fmt.Errorf("%s is not steps x gates", ir.ShapeString(x))
	}
	if len(r) != 2 || r[1] < 1 || r[0] != k.gates*r[1] || x[1] != r[0] {
		return nil, fmt.Errorf("recurrent weights %s do not fit rows of %d gates: %s has %d rows a hidden unit",
			ir.ShapeString(r), x[1], n.Op.Name, k.gates)
	}
	for i, a := range n.Args[2:] {
		if b := a.Type.Shape; len(b) != 1 || b[0] != r[1] {
			what := "state"
			if i+2 < k.first {
				what = "bias"
			}
			return nil, fmt.Errorf("%s %s does not fit %d hidden units", what, ir.ShapeString(b), r[1])
		}
	}
	if len(n.Args) > k.first {
		if k == lstm && len(n.Args) != 4 {
			return nil, fmt.Errorf("lstm begins with both h and c, or with zeros")
		}
		for _, a := range n.Args[k.first:] {
			if !a.IsConst() {
				return nil, fmt.Errorf("%s begins with a constant state; %q is computed", n.Op.Name, a.Name)
			}
		}
	}
	a := n.Attrs.(*Attrs)
	if a.Before && (k != gru || len(n.Args) > 2) {
		return nil, fmt.Errorf("a reset before the product is for gru, without a bias and from a state of zeros")
	}
	if a.Relu && !k.relu {
		return nil, fmt.Errorf("%s has no relu", n.Op.Name)
	}
	if !a.Cells {
		return []int{x[0], r[1]}, nil
	}
	if k != lstm {
		return nil, fmt.Errorf("%s shows no cells", n.Op.Name)
	}
	return []int{x[0], 2 * r[1]}, nil
}

// hidden is the number of hidden units.
func hidden(n *ir.Node) int { return n.Args[1].Type.Shape[1] }

// ShowsCells says that rows of results hold the state of n too.
func ShowsCells(n *ir.Node) bool { return n.Attrs.(*Attrs).Cells }

// each is the number of elements of a hidden unit in a row of results.
func each(n *ir.Node) int { return n.Type.Shape[1] / hidden(n) }

// GateBits are the integer bits of what functions read, by default.
const GateBits = 3

// CellBits are those of the state of n, by default, or what the state before the first row has.
func CellBits(n *ir.Node) int {
	k := kindOf(n)
	most, err := k.mostFirst(n)
	if err != nil || !k.cell {
		return k.whole
	}
	_, e := math.Frexp(most)
	return max(k.whole, min(e, mostCellBits))
}

// mostFirst is the largest magnitude of the states before the first row, of lstm that of c.
func (k *kind) mostFirst(n *ir.Node) (most float64, err error) {
	if len(n.Args) <= k.first {
		return 0, nil
	}
	t, err := n.Args[len(n.Args)-1].Value()
	if err != nil {
		return 0, err
	}
	values, err := t.Decode()
	for _, x := range values {
		most = max(most, math.Abs(x))
	}
	return most, err
}

// mostCellBits bounds them, as far as states are what makes them.
const mostCellBits = 12

// Defaults are the attributes of a quantized n whose data have w bits: functions read 12 bits, by tables, and the state
// has 16, where data have up to 8; else 16, by parabolas, and 24. Gates saturate at -8 and 8, where sigmoid and tanh
// are within 2^-11 of their limits. The state of gru lies between -1 and 1. That of lstm grows by less than 1 a step,
// and saturates at -16 and 16, where tanh has long done so: no samples are needed to know a range.
func Defaults(n *ir.Node, w int) *Attrs {
	a, k := *n.Attrs.(*Attrs), kindOf(n)
	gate, cell := format.Fixed{W: 12, F: 8, Signed: true}, format.Fixed{W: 16, Signed: true}
	if w > 8 {
		gate, cell = format.Fixed{W: 16, F: 12, Signed: true}, format.Fixed{W: 24, Signed: true}
	}
	if a.Cells {
		h := min(w, cell.W-CellBits(n))
		a.Hidden = format.Fixed{W: h, F: h - 1, Signed: true}.String()
	}
	if cell.F = cell.W - 1 - CellBits(n); k.cell {
		a.Cell = cell.String()
	}
	if !a.Relu {
		a.Gate = gate.String()
	}
	return &a
}
