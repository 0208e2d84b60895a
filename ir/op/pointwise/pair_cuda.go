// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
)

// CodeSum is a sum as kernels compute it on the codes x and y of its arguments:
//
//	code = over(Zero + RS(x*Factors[0] + y*Factors[1] + Bias, Shift))
//
// What is rounded stays within 63 bits.
type CodeSum struct {
	Factors [2]int64
	Bias    int64
	Shift   int
	// Result holds the codes as numbers, with rounding and overflow; its F is 0.
	Result format.Fixed
	Zero   int64
}

// SumOfCodes is n as such a sum; ok is false for what is none: other operations, codes that are no integers of one
// step, sums that need more bits.
func SumOfCodes(n *ir.Node) (s CodeSum, ok bool) {
	o := pairOp{pairSum, 1}
	switch n.Op {
	case Add:
	case Sub:
		o.sign = -1
	default:
		return s, false
	}
	result, ok := format.IntegersOf(n.Type.Format)
	p, err := planPair(n, o)
	if !ok || err != nil || arith.OnWhole(n) {
		return s, false
	}
	s.Result, s.Zero = result.Codes, result.Zero
	if p.scale != nil {
		s.Shift = p.scale.Shift[0]
	} else {
		exp, _, _ := n.Type.Format.Lattice()
		s.Shift = exp - p.exp
	}
	most, bias := new(big.Int), new(big.Int)
	for i, side := range p.sides {
		a, ok := format.IntegersOf(n.Args[i].Type.Format)
		if !ok {
			return s, false
		}
		f := side.big(side.zero + 1)
		s.Factors[i] = f.Int64()
		bias.Sub(bias, new(big.Int).Mul(f, big.NewInt(side.zero)))
		most.Add(most, f.Lsh(f.Abs(f), uint(a.Codes.W)))
	}
	s.Bias = bias.Int64()
	return s, most.Add(most, bias.Abs(bias)).BitLen() < 63
}
