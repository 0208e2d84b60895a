// SPDX-License-Identifier: Apache-2.0

// Package rows is what softmax makes of a row of integers, in big numbers, straight from its definition.
package rows

import (
	"math"
	"math/big"
)

// Softmax is the softmax of integers x in steps of step, as numbers of 2^-frac before they saturate; live says which
// of them take part, and the others give 0.
func Softmax(x []*big.Int, live []bool, step *big.Rat, frac int) []*big.Int {
	k, p := factor(step)
	var top *big.Int
	for i, v := range x {
		if live[i] && (top == nil || v.Cmp(top) > 0) {
			top = v
		}
	}
	total, terms, out := new(big.Int), make([]*big.Int, len(x)), make([]*big.Int, len(x))
	for i, v := range x {
		if !live[i] {
			continue
		}
		y := new(big.Int).Mul(new(big.Int).Sub(top, v), k)
		short, long := exp2(y.Rsh(y, uint(p-20)))
		terms[i] = short
		total.Add(total, long)
	}
	a := total.BitLen() - 24
	for i, e := range terms {
		if out[i] = new(big.Int); e == nil {
			continue
		}
		r := new(big.Int).Quo(new(big.Int).Lsh(big.NewInt(1), 47), halfUp(total, a))
		out[i] = halfUp(r.Mul(r, e), 39+a-frac)
	}
	return out
}

// halfUp is v/2^n, rounded to the nearest integer, halves up; v is not negative.
func halfUp(v *big.Int, n int) *big.Int {
	if n <= 0 {
		return new(big.Int).Lsh(v, uint(-n))
	}
	half := new(big.Int).Lsh(big.NewInt(1), uint(n-1))
	return half.Rsh(half.Add(half, v), uint(n))
}

// factor is step*log2(e)*2^p, rounded, with the p that gives it 24 bits.
func factor(step *big.Rat) (k *big.Int, p int) {
	ratio, two := new(big.Rat).Quo(step, ln2()), big.NewRat(2, 1)
	for ratio.Cmp(big.NewRat(1<<23, 1)) < 0 {
		ratio.Mul(ratio, two)
		p++
	}
	ratio.Add(ratio, big.NewRat(1, 2))
	if k = new(big.Int).Quo(ratio.Num(), ratio.Denom()); k.BitLen() > 24 {
		return k.Rsh(k, 1), p - 1
	}
	return k, p
}

// ln2 is the sum of 1/(i*2^i).
func ln2() *big.Rat {
	sum := new(big.Rat)
	for i := uint(1); i <= 160; i++ {
		sum.Add(sum, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(int64(i)), i)))
	}
	return sum
}

// exp2 is 2^(-y*2^-20) in 24 and in 32 fraction bits: lines between 256 points of an octave.
func exp2(y *big.Int) (short, long *big.Int) {
	if y.Cmp(big.NewInt(40<<20)) > 0 {
		y = big.NewInt(40 << 20)
	}
	n, f := int(y.Int64()>>20), y.Int64()&(1<<20-1)
	i, rest := f/4096, f%4096
	point := func(i int64) int64 { return int64(math.Floor(math.Exp2(24-float64(i)/256) + 0.5)) }
	g := big.NewInt(point(i) - ((point(i)-point(i+1))*rest+2048)/4096)
	return halfUp(g, n), halfUp(new(big.Int).Lsh(g, 8), n)
}
