// SPDX-License-Identifier: Apache-2.0

// Package rows is what softmax and its logarithm make of a row of integers, in big numbers, straight from their
// definitions.
package rows

import (
	"math"
	"math/big"
	"sync"
)

// Softmax is the softmax of integers x in steps of step, as numbers of 2^-frac before they saturate; live says which
// of them take part, and the others give 0.
func Softmax(x []*big.Int, live []bool, step *big.Rat, frac int) []*big.Int {
	var seen []*big.Int
	for i, v := range x {
		if live[i] {
			seen = append(seen, v)
		}
	}
	terms, total := powers(seen, step)
	a, out := total.BitLen()-24, make([]*big.Int, len(x))
	for i := range x {
		if out[i] = new(big.Int); !live[i] {
			continue
		}
		r := new(big.Int).Quo(new(big.Int).Lsh(big.NewInt(1), 47), halfUp(total, a))
		out[i], terms = halfUp(r.Mul(r, terms[0]), 39+a-frac), terms[1:]
	}
	return out
}

// LogSoftmax is the logarithm of the softmax of integers x in steps of step, as numbers of 2^-24 before it is rounded.
func LogSoftmax(x []*big.Int, step *big.Rat) (out []*big.Int) {
	_, total := powers(x, step)
	log, top := logarithm(total), greatest(x)
	m, p := factor(step)
	for _, v := range x {
		far := new(big.Int).Sub(top, v)
		far.Lsh(far.Mul(far, m), 24)
		out = append(out, new(big.Int).Neg(far.Add(far.Rsh(far, uint(p)), log)))
	}
	return out
}

// logarithm is that of total*2^-32: octaves, and lines between 512 points of one.
func logarithm(total *big.Int) *big.Int {
	a := total.BitLen() - 24
	d := halfUp(total, a).Int64()
	octaves := int64(a - 9)
	if d == 1<<24 {
		d, octaves = d/2, octaves+1
	}
	f := d - 1<<23
	i, rest := f>>14, f&(1<<14-1)
	point := func(i int64) int64 { return int64(math.Floor(math.Ldexp(math.Log1p(float64(i)/512), 24) + 0.5)) }
	scaled := new(big.Rat).Mul(ln2(), new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 41)))
	long := halfUp(new(big.Int).Quo(scaled.Num(), scaled.Denom()), 1)
	y := halfUp(long.Mul(long, big.NewInt(octaves)), 16)
	rise := halfUp(big.NewInt((point(i+1)-point(i))*rest), 14)
	return y.Add(y, rise.Add(rise, big.NewInt(point(i))))
}

// greatest is the greatest of x; nil for none.
func greatest(x []*big.Int) (top *big.Int) {
	for _, v := range x {
		if top == nil || v.Cmp(top) > 0 {
			top = v
		}
	}
	return top
}

// powers are 2^-y of the distances from the greatest of x, in 24 fraction bits, and their sum in 32.
func powers(x []*big.Int, step *big.Rat) (terms []*big.Int, total *big.Int) {
	k, p := factor(new(big.Rat).Mul(step, log2e()))
	top := greatest(x)
	total = new(big.Int)
	for _, v := range x {
		y := new(big.Int).Mul(new(big.Int).Sub(top, v), k)
		short, long := exp2(y.Rsh(y, uint(p-20)))
		terms = append(terms, short)
		total.Add(total, long)
	}
	return terms, total
}

// halfUp is v/2^n, rounded to the nearest integer, halves up; v is not negative.
func halfUp(v *big.Int, n int) *big.Int {
	if n <= 0 {
		return new(big.Int).Lsh(v, uint(-n))
	}
	half := new(big.Int).Lsh(big.NewInt(1), uint(n-1))
	return half.Rsh(half.Add(half, v), uint(n))
}

// log2e is log2(e) in 400 fraction bits.
var log2e = sync.OnceValue(func() *big.Rat {
	unit := new(big.Int).Lsh(big.NewInt(1), 400)
	ratio := new(big.Rat).Quo(new(big.Rat).SetInt(unit), ln2())
	return new(big.Rat).SetFrac(ratio.Num().Quo(ratio.Num(), ratio.Denom()), unit)
})

// factor is ratio*2^p, rounded, with the p that gives it 24 bits.
func factor(ratio *big.Rat) (k *big.Int, p int) {
	ratio, two := new(big.Rat).Set(ratio), big.NewRat(2, 1)
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
var ln2 = sync.OnceValue(func() *big.Rat {
	sum := new(big.Rat)
	for i := uint(1); i <= 160; i++ {
		sum.Add(sum, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(int64(i)), i)))
	}
	return sum
})

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
