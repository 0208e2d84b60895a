// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"math"
	"math/big"

	"lathe/ir/format"
)

// blockDots are the exact sums of products of the blocks of a row of x and a row of w, both of k elements.
func blockDots(x, w []byte) []int64 {
	out := make([]int64, ceil(len(x), 32))
	for i, v := range x {
		out[i/32] += int64(int8(v)) * int64(int8(w[i]))
	}
	return out
}

// sumWide is the sum of dots[b] * 2^(xs[b]+ws[b]-266), exact and rounded once to a float of `digits` bits whose least
// number is 2^low: 24 and -149 for fp32, 8 and -133 for bf16. A scale of 255 makes it NaN.
func sumWide(dots []int64, xs, ws []byte, digits, low int) float64 {
	const bias = 266
	sum := new(big.Int)
	for b, p := range dots {
		if xs[b] == 255 || ws[b] == 255 {
			return math.NaN()
		}
		term := big.NewInt(p)
		sum.Add(sum, term.Lsh(term, uint(xs[b])+uint(ws[b])))
	}
	drop := max(sum.BitLen()-digits, low+bias)
	q := format.RSBig(sum, drop, format.RoundEven)
	v, _ := new(big.Float).SetInt(q).Float64() // has few digits: exact
	v = math.Ldexp(v, drop-bias)
	if math.Abs(v) >= math.Ldexp(1, 128) {
		v = math.Inf(sum.Sign())
	}
	if v == 0 && sum.Sign() < 0 {
		v = math.Copysign(0, -1)
	}
	return v
}

// sumBlocks is the fp32 sum of blocks in their order, each entering by one fused multiply-add.
func sumBlocks(dots []int64, xs, ws []byte) float64 {
	acc := float32(0)
	for b, p := range dots {
		if xs[b] == 255 || ws[b] == 255 {
			return math.NaN()
		}
		acc = addRounded(math.Ldexp(float64(p), int(xs[b])+int(ws[b])-266), acc)
	}
	return float64(acc)
}

// addRounded is a + b rounded once to fp32. The sum in float64 is rounded to odd first, by the error of the addition
// (Knuth, The Art of Computer Programming, volume 2, section 4.2.2), so that the second rounding sees the side.
func addRounded(a float64, acc float32) float32 {
	b := float64(acc)
	s := a + b
	if math.IsInf(b, 0) || math.IsNaN(b) || s == 0 {
		return float32(s)
	}
	t := s - a
	err := (a - (s - t)) + (b - t)
	if u := math.Float64bits(s); err != 0 && u&1 == 0 {
		if (err > 0) == (s > 0) {
			u++
		} else {
			u--
		}
		s = math.Float64frombits(u)
	}
	return float32(s)
}
