// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"fmt"
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
)

// Risk says how far integer factors are from the real ratios of scales that they stand for.
type Risk struct {
	// Factors is the factor, or how many there are.
	Factors string
	// Channels have sums that may round to a neighbour of what the real ratio gives, of Of channels; none: the factors
	// are as good as the ratios for every sum that can occur.
	Channels, Of int
	// From is the least magnitude of such a sum.
	From *big.Int
}

// String is the answer in words.
func (r Risk) String() string {
	if r.Channels == 0 {
		return "exact: no sum that can occur rounds otherwise by the real ratio"
	}
	return fmt.Sprintf("%d of %d channels: sums from %d on may lie between the real ratio and the factor, and round to a "+
		"neighbour", r.Channels, r.Of, r.From)
}

// FactorRisk compares the factors of a weighted sum with the real ratios; false where there are none.
func FactorRisk(n *ir.Node) (Risk, bool) {
	if !n.Op.Traits.Weighted || !KindsOf(n).factors() {
		return Risk{}, false
	}
	m, err := planFactors(n)
	if err != nil || m.round.res.Mul == nil {
		return Risk{}, false
	}
	res := m.round.res
	risk := Risk{Of: m.out, Factors: fmt.Sprintf("%d factors", m.out)}
	bound := new(big.Int).Lsh(big.NewInt(1), uint(m.tBits-1))
	same := true
	for c, r := range m.ratio {
		mul, shift := res.Mul[c], res.Shift[c]
		same = same && mul == res.Mul[0] && shift == res.Shift[0]
		factor := new(big.Rat).Mul(new(big.Rat).SetInt64(mul), arith.TwoTo(-shift))
		if q := firstBetween(r, factor, res.Out.Round); q != nil && q.Cmp(bound) <= 0 {
			if risk.Channels++; risk.From == nil || q.Cmp(risk.From) < 0 {
				risk.From = q
			}
		}
	}
	if same {
		risk.Factors = fmt.Sprintf("%d/2^%d", res.Mul[0], res.Shift[0])
	}
	return risk, true
}

// firstBetween is a lower bound for the |t| at which a rounding boundary lies between t*a and t*b, ends included; nil
// where a equals b. With boundaries at k (at k+1/2 in the nearest modes) that is a fraction k/t between a and b (2a and
// 2b), and the one with the least denominator is found by continued fractions.
func firstBetween(a, b *big.Rat, mode format.Round) *big.Int {
	if a.Cmp(b) == 0 {
		return nil
	}
	if mode <= format.RoundHalfZero {
		a, b = new(big.Rat).Mul(a, arith.TwoTo(1)), new(big.Rat).Mul(b, arith.TwoTo(1))
	}
	if a.Cmp(b) > 0 {
		a, b = b, a
	}
	return simplest(a, b).Denom()
}

// simplest is the fraction in [lo, hi], 0 < lo < hi, with the least denominator (Stern and Brocot).
func simplest(lo, hi *big.Rat) *big.Rat {
	whole := new(big.Int).Quo(lo.Num(), lo.Denom())
	floor := new(big.Rat).SetInt(whole)
	if floor.Cmp(lo) == 0 {
		return floor
	}
	if next := new(big.Rat).Add(floor, new(big.Rat).SetInt64(1)); next.Cmp(hi) <= 0 {
		return next
	}
	rest := simplest(new(big.Rat).Inv(new(big.Rat).Sub(hi, floor)), new(big.Rat).Inv(new(big.Rat).Sub(lo, floor)))
	return floor.Add(floor, rest.Inv(rest))
}
