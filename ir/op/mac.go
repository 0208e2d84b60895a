// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
)

// mac is the integer plan of a weighted sum with constant weights, shared by linear and conv and by all engines:
//
//	t[c] = (sum_j x[j]*w[c][j]) << psh[c] + bias[c]        value t*2^exp
//	y[c] = over(RS(t[c], shift))                            for a fixed result with shift = -F-exp
type mac struct {
	out, in int     // rows and terms of a row
	weights []int64 // row-major, out x in; nil: in codesAt, and row reads them
	codesAt *ir.Blob
	psh     []uint
	bias    []*big.Int
	exp     int
	dotBits int // signed bits that hold every partial sum of any row
	tBits   int // signed bits that hold every t
	lowBits int // signed bits that hold every sum of a subset of terms: the order of addition is free

	// Where a scale is no power of two, or a zero point is not 0:
	res   *rescale   // from t to the code; nil: RS(t, shift) as above
	codes *integers  // of x: x[j] is q - zero; nil: x[j] are lattice integers
	ratio []*big.Rat // the step of t[c] in steps of the result
}

// planMAC reads weights (first axis: output channels) and bias (nil: none) of node n, whose argument 0 has type x.
func planMAC(n *ir.Node) (*mac, error) {
	if realMAC(n) {
		return planReal(n)
	}
	x := n.Args[0].Type
	xexp, ok := step(x)
	if !ok {
		return nil, n.Errorf("L0308", "%s takes formats with a common step, not %s", n.Op.Name, x.Format)
	}
	w, err := constLattice(n, 1)
	if err != nil {
		return nil, err
	}
	shape := n.Args[1].Type.Shape
	m := &mac{out: shape[0], in: product(shape[1:]), weights: w.Ints}
	if len(w.Exps) > 1 && w.Axis != 0 {
		return nil, n.Errorf("L0308", "weight scales run along axis %d, output channels are axis 0", w.Axis)
	}
	return m, m.meet(n, xexp, w)
}

// meet completes the plan with the bias of n, the common step and the widths, for data of step 2^xexp and weights w.
func (m *mac) meet(n *ir.Node, xexp int, w *ir.Lattice) error {
	bias, err := m.biasLattice(n, xexp+w.Exp(0))
	if err != nil {
		return err
	}
	m.align(xexp, w, bias)
	m.bounds(latticeRange(n.Args[0].Type.Format))
	return nil
}

// biasLattice is the bias of n, or zeros of step 2^exp.
func (m *mac) biasLattice(n *ir.Node, exp int) (*ir.Lattice, error) {
	if len(n.Args) > 2 {
		return constLattice(n, 2)
	}
	return &ir.Lattice{Ints: make([]int64, m.out), Exps: []int{exp}}, nil
}

// constLattice reads a constant argument as integers.
func constLattice(n *ir.Node, i int) (*ir.Lattice, error) {
	t, err := constArg(n, i)
	if err != nil {
		return nil, err
	}
	l, err := t.Lattice()
	if err != nil {
		return nil, n.Errorf("L0308", "%s: %v", n.Args[i].Name, err)
	}
	return l, nil
}

// align chooses the common exponent and moves products and bias to it.
func (m *mac) align(xexp int, w, bias *ir.Lattice) {
	m.exp = xexp + w.Exp(0)
	for c := range m.out {
		m.exp = min(m.exp, xexp+w.Exp(c))
		if bias.Ints[c] != 0 {
			m.exp = min(m.exp, bias.Exp(c))
		}
	}
	m.psh, m.bias = make([]uint, m.out), make([]*big.Int, m.out)
	for c := range m.out {
		m.psh[c] = uint(xexp + w.Exp(c) - m.exp)
		m.bias[c] = big.NewInt(bias.Ints[c])
		if bias.Ints[c] != 0 {
			m.bias[c].Lsh(m.bias[c], uint(bias.Exp(c)-m.exp))
		}
	}
}

// bounds finds the widths from the actual weights: a row's sum lies in [sum min(w*x), sum max(w*x)].
func (m *mac) bounds(xlo, xhi *big.Int) {
	m.dotBits, m.tBits, m.lowBits = 1, 1, 1
	absMax := new(big.Int).Abs(xlo)
	if xhi.CmpAbs(absMax) > 0 {
		absMax.Abs(xhi)
	}
	var buf []int64
	for c := range m.out {
		row := m.row(c, &buf)
		pos, neg := format.SignedSums(row)
		lo, hi := format.SumRange(pos, neg, xlo.Int64(), xhi.Int64())
		m.dotBits = max(m.dotBits, format.SignedBits(lo, hi))
		total := pos.Sub(pos, neg)
		m.lowBits = max(m.lowBits, signedBits(total.Mul(total, absMax)))
		for _, v := range []*big.Int{lo, hi} {
			v.Lsh(v, m.psh[c])
			m.tBits = max(m.tBits, signedBits(v))
			m.tBits = max(m.tBits, signedBits(v.Add(v, m.bias[c])))
		}
		m.tBits = max(m.tBits, signedBits(m.bias[c]))
	}
}

// signedBits is the width of the shortest two's complement number that holds v.
func signedBits(v *big.Int) int { return format.SignedBits(v, v) }

// bias64 returns the bias as int64 values; every one fits when tBits <= 63.
func (m *mac) bias64() []int64 {
	out := make([]int64, len(m.bias))
	for i, b := range m.bias {
		out[i] = b.Int64()
	}
	return out
}
