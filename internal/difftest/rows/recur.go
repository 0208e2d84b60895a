// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"math/big"
	"slices"
)

// Layer is a recurrent layer, by its equations: each gate, state and result passes through a rounding of its own.
type Layer struct {
	// Kind is "lstm", "gru" or "rnn"; Relu is the function of the latter, in place of tanh.
	Kind string
	Relu bool
	// Before says that a GRU resets the state before its product.
	Before bool
	// H and C are the states before the first row; nil for zeros.
	H, C []*big.Rat
	// X is a row of gates a step, unit after unit, R a row of weights a gate, B a summand a unit (GRU; nil for none).
	X, R [][]*big.Rat
	B    []*big.Rat
	// Gate rounds what functions read, Cell a state, Out a result; Sigmoid and Tanh are rounded functions, Last that of an
	// RNN.
	Gate, Cell, Out, Sigmoid, Tanh, Last func(*big.Rat) *big.Rat
}

// Rows are the results h, a row a step, and the states c behind each.
func (l *Layer) Rows() (out, states [][]*big.Rat) {
	size := len(l.R[0])
	h, c := l.H, l.C
	if h == nil {
		h, c = zeros(size), zeros(size)
	}
	c = slices.Clone(c)
	for _, x := range l.X {
		next, past := make([]*big.Rat, size), h
		if l.Before {
			past = make([]*big.Rat, size)
			for j := range past {
				past[j] = l.Out(mul(l.Sigmoid(l.gate(3*j+1, x, h)), c[j]))
			}
		}
		for j := range next {
			switch l.Kind {
			case "lstm":
				next[j] = l.lstm(j, x, h, c)
			case "gru":
				next[j] = l.gru(j, x, h, past, c)
			default:
				next[j] = l.rnn(j, x, h)
			}
		}
		h = next
		out, states = append(out, h), append(states, slices.Clone(c))
	}
	return out, states
}

func zeros(n int) []*big.Rat {
	out := make([]*big.Rat, n)
	for i := range out {
		out[i] = new(big.Rat)
	}
	return out
}

// past is the product of h with a row of weights.
func (l *Layer) past(row int, h []*big.Rat) *big.Rat {
	y := new(big.Rat)
	for i, v := range h {
		y.Add(y, mul(l.R[row][i], v))
	}
	return y
}

func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
func sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

// gate is the rounded sum of one gate.
func (l *Layer) gate(row int, x, h []*big.Rat) *big.Rat { return l.Gate(add(x[row], l.past(row, h))) }

// lstm gives h of unit j, and puts the next cell in place of the last.
func (l *Layer) lstm(j int, x, h, c []*big.Rat) *big.Rat {
	i, f := l.Sigmoid(l.gate(4*j, x, h)), l.Sigmoid(l.gate(4*j+1, x, h))
	g, o := l.Tanh(l.gate(4*j+2, x, h)), l.Sigmoid(l.gate(4*j+3, x, h))
	c[j] = l.Cell(add(mul(f, c[j]), mul(i, g)))
	return l.Out(mul(o, l.Tanh(l.Gate(c[j]))))
}

// gru is (1-z)*n + z*c; past is what the candidate's product reads.
func (l *Layer) gru(j int, x, h, past, c []*big.Rat) *big.Rat {
	z, r := l.Sigmoid(l.gate(3*j, x, h)), l.Sigmoid(l.gate(3*j+1, x, h))
	back := l.past(3*j+2, past)
	if l.Before {
		r = big.NewRat(1, 1)
	}
	if l.B != nil {
		back = add(back, l.B[j])
	}
	n := l.Tanh(l.Gate(add(x[3*j+2], mul(r, back))))
	c[j] = l.Cell(add(mul(sub(big.NewRat(1, 1), z), n), mul(z, c[j])))
	return l.Out(c[j])
}

func (l *Layer) rnn(j int, x, h []*big.Rat) *big.Rat {
	sum := add(x[j], l.past(j, h))
	switch {
	case !l.Relu:
		return l.Last(l.Gate(sum))
	case sum.Sign() < 0:
		return new(big.Rat)
	}
	return l.Out(sum)
}
