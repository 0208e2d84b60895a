// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
)

// factoredPair says that an operation of two operands becomes codes by factors: where a ratio between the steps of
// operands and result is no power of two, and all of them are integers with one step.
func factoredPair(n *ir.Node) bool {
	if n.Type.IsFloat() || slowPairs()[n.Op] == nil {
		return false
	}
	affine := false
	for _, t := range []ir.Type{n.Args[0].Type, n.Args[1].Type, n.Type} {
		switch f := t.Format.(type) {
		case format.Affine:
			affine = affine || f.Axis < 0
		case format.Fixed:
		default:
			return false
		}
	}
	if !affine {
		return false
	}
	for _, r := range pairRatios(n) {
		if !isPower(r) {
			return true
		}
	}
	return false
}

// pairRatios are the steps of both operands, or of their product, in steps of the result.
func pairRatios(n *ir.Node) []*big.Rat {
	a, b, y := stepOf(n.Args[0].Type, 0), stepOf(n.Args[1].Type, 0), stepOf(n.Type, 0)
	if n.Op == pointwise.Mul {
		return []*big.Rat{new(big.Rat).Quo(new(big.Rat).Mul(a, b), y)}
	}
	return []*big.Rat{new(big.Rat).Quo(a, y), new(big.Rat).Quo(b, y)}
}

// slowPair evaluates zero + round(t/2^sh), t of operands times their factors, as real values of the codes. The factors
// are the ratios times 2^sh, rounded to even, with sh such that the greatest has as many bits as fit.
func slowPair(n *ir.Node, args []value) []*big.Rat {
	ratios := pairRatios(n)
	bits := make([]int, 2)
	for i, a := range n.Args {
		for _, code := range []int64{codeRange(a.Type.Format).Min(), codeRange(a.Type.Format).Max()} {
			q := new(big.Rat).Quo(decodeOne(a.Type, 0, code), stepOf(a.Type, 0)).Num()
			if q.Sign() < 0 {
				q.Not(q)
			}
			bits[i] = max(bits[i], q.BitLen()+1)
		}
	}
	width := min(31, 62-max(bits[0], bits[1]))
	greatest := ratios[0]
	if n.Op == pointwise.Mul {
		width = min(31, 63-bits[0]-bits[1])
	} else {
		greatest = largest(ratios[0], ratios[1])
	}
	sh := 0
	for new(big.Rat).Mul(greatest, power(sh)).Cmp(power(width-1)) < 0 {
		sh++
	}
	for new(big.Rat).Mul(greatest, power(sh)).Cmp(power(width)) >= 0 {
		sh--
	}
	if round(new(big.Rat).Mul(greatest, power(sh)), format.RoundEven).BitLen() > width {
		sh--
	}
	var factors []*big.Rat
	for _, r := range ratios {
		m := round(new(big.Rat).Mul(r, power(sh)), format.RoundEven)
		factors = append(factors, new(big.Rat).Mul(new(big.Rat).SetInt(m), power(-sh)))
	}
	f, out, mode := slowPairs()[n.Op], stepOf(n.Type, 0), format.Rounding(n.Type.Format)
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		var v [2]*big.Rat
		for k, a := range n.Args {
			v[k] = new(big.Rat).Quo(repeat(args[k], i), stepOf(a.Type, 0))
			if len(factors) == 2 {
				v[k].Mul(v[k], factors[k])
			}
		}
		t := f(new(big.Rat), v[0], v[1])
		if len(factors) == 1 {
			t.Mul(t, factors[0])
		}
		return t.Mul(new(big.Rat).SetInt(round(t, mode)), out)
	})
}

// slowMove is the meaning of operations that move elements, index by index of the result.
func slowMove(n *ir.Node, args []value) []*big.Rat {
	x := args[0]
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		from := append([]int(nil), i...)
		switch a := n.Attrs.(type) {
		case *move.ConcatAttrs:
			for _, part := range args {
				if size := part.shape[a.Axis]; from[a.Axis] >= size {
					from[a.Axis] -= size
					continue
				}
				return part.at(from...)
			}
		case *move.SliceAttrs:
			from[a.Axis] = a.Start + i[a.Axis]*a.Step
		case *move.PadAttrs:
			if a.Each {
				turn := a.Before + 1 + a.After
				if i[a.Axis]%turn != a.Before {
					return new(big.Rat).SetFloat64(float64(a.Value))
				}
				from[a.Axis] /= turn
				return x.at(from...)
			}
			from[a.Axis] -= a.Before
			if k := from[a.Axis]; k < 0 || k >= x.shape[a.Axis] {
				return new(big.Rat).SetFloat64(float64(a.Value))
			}
		case *move.RepeatAttrs:
			return repeat(x, i)
		case *move.StretchAttrs:
			place := round(big.NewRat(int64(i[a.Axis]*a.Step+a.Start), int64(a.Of)), format.RoundFloor).Int64()
			from[a.Axis] = int(min(max(place, 0), int64(x.shape[a.Axis]-1)))
		}
		return x.at(from...)
	})
}
