// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"math/big"

	"lathe/golden/ref"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/draw"
	"lathe/ir/op/norm"
)

// slowCodeNorm is layer_norm or rms_norm of codes, by its definition in integers of any size.
func slowCodeNorm(n *ir.Node, args []value, rms bool) []*big.Rat {
	a, shape := n.Attrs.(*norm.Attrs), n.Type.Shape
	axis := (a.Axis + len(shape)) % len(shape)
	step := stepOf(n.Args[0].Type, 0)
	count := 1
	for _, d := range shape[axis:] {
		count *= d
	}
	gain, bias := make([]*big.Int, count), make([]*big.Int, count)
	fg, fb := 0, 0
	at := 0
	each(shape[axis:], func(i []int) {
		gain[at], bias[at] = big.NewInt(1), new(big.Int)
		if len(args) > 1 {
			gain[at], fg = codeOf(n.Args[1].Type, repeat(args[1], i))
		}
		if len(args) > 2 {
			bias[at], fb = codeOf(n.Args[2].Type, repeat(args[2], i))
		}
		at++
	})
	lo, hi := spanOf(n.Args[0].Type)
	root := newSlowRoot(widthOf(lo, hi), int64(count), real32(a.Eps), step)
	var out []*big.Rat
	for from := 0; from < len(args[0].x); from += count {
		var row []*big.Int
		for _, v := range args[0].x[from : from+count] {
			row = append(row, ratio(v, step).Num())
		}
		for i, z := range root.row(row, rms) {
			y := new(big.Int).Mul(z, gain[i])
			y.Add(y, new(big.Int).Lsh(bias[i], uint(16+fg-fb)))
			out = append(out, product(new(big.Rat).SetInt(y), power(-16-fg)))
		}
	}
	return out
}

// codeOf is the integer and the fraction bits of a value of a fixed type.
func codeOf(t ir.Type, v *big.Rat) (*big.Int, int) {
	step, frac := stepOf(t, 0), 0
	for ; step.Cmp(power(-frac)) < 0; frac++ {
	}
	for ; step.Cmp(power(-frac)) > 0; frac-- {
	}
	return ratio(v, step).Num(), frac
}

// slowRoot is what rows of count codes have in common: h, and the constant of eps.
type slowRoot struct {
	count *big.Int
	h     int
	eps   *big.Int
}

// newSlowRoot is for codes of w bits, sign included.
func newSlowRoot(w int, count int64, eps, step *big.Rat) *slowRoot {
	s := &slowRoot{count: big.NewInt(count), h: 20}
	steps := ratio(eps, product(step, step))
	square := new(big.Rat).SetInt64(count * count)
	most := product(square, plus(power(2*w-2), new(big.Rat).SetInt(round(steps, format.RoundCeil))))
	for ; product(most, power(s.h)).Cmp(power(63)) >= 0; s.h -= 2 {
	}
	s.eps = round(product(product(square, steps), power(s.h)), format.RoundEven)
	return s
}

// row is z of one row, in units of 2^-16.
func (s *slowRoot) row(x []*big.Int, rms bool) []*big.Int {
	sum, q := new(big.Int), new(big.Int)
	for _, v := range x {
		q.Add(q, new(big.Int).Mul(v, v))
		if !rms {
			sum.Add(sum, v)
		}
	}
	q.Mul(q, s.count)
	q.Sub(q, new(big.Int).Mul(sum, sum))
	r, k := slowRsqrt(q.Add(q.Lsh(q, uint(s.h)), s.eps))
	var z []*big.Int
	for _, v := range x {
		d := new(big.Int).Mul(s.count, v)
		d.Mul(d.Sub(d, sum), r)
		z = append(z, round(product(new(big.Rat).SetInt(d), power(s.h/2-15-k)), format.RoundEven))
	}
	return z
}

// slowRsqrt is r and k with 1/sqrt(v) = r*2^(-31-k), of 21 bits; 0 for 0.
func slowRsqrt(v *big.Int) (r *big.Int, k int) {
	if v.Sign() == 0 {
		return new(big.Int), 0
	}
	k = int(round(big.NewRat(int64(v.BitLen()-23), 2), format.RoundFloor).Int64())
	short := round(product(new(big.Rat).SetInt(v), power(-2*k)), format.RoundFloor)
	q := round(ratio(power(62), new(big.Rat).SetInt(short)), format.RoundFloor)
	r = new(big.Int).Sqrt(q)
	if rest := new(big.Int).Sub(q, new(big.Int).Mul(r, r)); rest.Cmp(r) > 0 {
		r.Add(r, big.NewInt(1))
	}
	return r, k
}

// Roots are norms, each with its sample, whose roots are decided by one unit: floor(2^62/V) is r*(r+1), where r is the
// nearest root and r+1 that of one unit more; those of the ends of the range of V; and rows of one element whose z lies
// in the middle of two. All bits of z show.
func Roots() (graphs []*ir.Graph, samples ref.Sample) {
	least, most := int64(1)<<22, int64(1)<<24
	all := []int64{least, least + 1, most - 2, most - 1}
	for r := int64(1) << 19; r < 1<<20; r++ {
		if v := int64(1<<62) / (r * (r + 1)); v < most && int64(1<<62)/v == r*(r+1) {
			all = append(all, v)
		}
	}
	add := func(eps float32, codes []int64, shape ...int) {
		x := draw.Input("x", ir.Type{Shape: shape, Format: format.Fixed{W: 4, Signed: true}})
		y := ir.Type{Format: format.Fixed{W: 24, F: 16, Signed: true}}
		graphs = append(graphs, draw.Graph(norm.RMSNorm, &norm.Attrs{Axis: -1, Eps: eps}, y, x))
		sample := ir.NewTensor(x.Type)
		copy(sample.Codes, codes)
		samples = append(samples, sample)
	}
	for _, v := range all { // a 1 and zeros: (n*1)<<20 is 2^30, and the term of eps is the rest of v*2^8
		add(float32(v-least)/(1<<32), []int64{1}, 1024)
	}
	add(1<<34, []int64{-7, -5, -3, -1, 1, 3, 5, 7}, 8, 1) // V is 2^54 and a little, z = x*2^20/2^21
	return graphs, samples
}
