// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/ir"
	"lathe/ir/format"
)

// Codes is a linear node over integers as hardware and kernels compute it on the codes q of its argument:
//
//	t = (sum_j q[j]*w[c][j]) << Up[c] + Bias[c]      code = over(Zero + RS(t*Mul[c], Shift[c]))
type Codes struct {
	Out, In int
	// Weights are row-major.
	Weights  []int64
	Channels []CodesChannel
	// Result holds the codes as numbers, with rounding and overflow; its F is 0.
	Result format.Fixed
	Zero   int64
}

// CodesChannel is an output channel; a Shift below 1 shifts left.
type CodesChannel struct {
	Bias, Mul int64
	Shift     int
	Up        uint
}

// LinearCodes is the plan of a quantized linear node whose sums are exact. Errors are those of PlanSum, L0310, and
// L0308 where sums do not fit 63 bits or are not exact.
func LinearCodes(n *ir.Node) (*Codes, error) {
	p, err := PlanSum(n)
	if err != nil {
		return nil, err
	}
	m, exact := p.(*exactSum)
	if !exact {
		return nil, n.Errorf("L0308", "sums over blocks are not computed on codes alone")
	}
	return m.onCodes(n)
}

// onCodes is the plan for the codes of the data.
func (m *exactSum) onCodes(n *ir.Node) (*Codes, error) {
	if m.data.ints.W == 0 {
		_, err := fixedOf(n, n.Args[0].Type)
		return nil, err
	}
	m = m.raw()
	if m.tBits > 63 {
		return nil, n.Errorf("L0308", "sums need %d bits, integers have 63", m.tBits)
	}
	c := &Codes{Out: m.out, In: m.in}
	var buf []int64
	for row := range m.out {
		c.Weights = append(c.Weights, m.row(row, &buf)...)
	}
	var err error
	if c.Result, c.Zero, err = m.round.result(n); err != nil {
		return nil, err
	}
	for i, b := range m.bias64() {
		one := CodesChannel{Bias: b, Up: m.up[i]}
		one.Mul, one.Shift = m.round.step(i)
		c.Channels = append(c.Channels, one)
	}
	return c, nil
}
