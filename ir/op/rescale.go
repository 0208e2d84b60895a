// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
)

// rescale is how exact integers t become codes of a format with a zero point, or whose ratio of scales is no power of
// two:
//
//	y = over(zero + RS(t*mul[c], shift[c]))
//
// One entry of mul and shift stands for all channels; mul is nil where the ratio is a power of two. The pair (mul,
// shift) is the definition: mul is the nearest integer to ratio*2^shift and has factorBits bits, fewer where t is wide.
type rescale struct {
	out   format.Fixed // the codes as numbers, F = 0
	zero  int64
	mul   []int64
	shift []int
}

const (
	// factorBits is the width of factors, productBits that of t*mul with its sign aside, leastFactor the fewest bits that
	// a factor may be cut to for the sake of a wide t.
	factorBits, productBits, leastFactor = 31, 63, 16
	// longestShift bounds what rounds everything away.
	longestShift = 1 << 12
)

// factor is the nearest mul/2^shift to ratio > 0 with a mul of the given bits; a ratio beyond all codes is an error.
func factor(ratio *big.Rat, bits int) (mul int64, shift int, err error) {
	// 2^(low) <= ratio < 2^(low+2)
	low := ratio.Num().BitLen() - ratio.Denom().BitLen() - 1
	shift = bits - 1 - low
	m := scaledRat(ratio, shift)
	if m.BitLen() > bits {
		shift--
		m = scaledRat(ratio, shift)
	}
	if m.BitLen() > bits { // rounded up to a power of two
		m.Rsh(m, 1)
		shift--
	}
	if shift < 0 || shift > longestShift {
		f, _ := ratio.Float64()
		return 0, 0, fmt.Errorf("the steps of sum and result have a ratio of %g", f)
	}
	return m.Int64(), shift, nil
}

// scaledRat is ratio*2^shift, rounded to the nearest integer, ties to even.
func scaledRat(ratio *big.Rat, shift int) *big.Int {
	num, den := new(big.Int).Set(ratio.Num()), new(big.Int).Set(ratio.Denom())
	if shift >= 0 {
		num.Lsh(num, uint(shift))
	} else {
		den.Lsh(den, uint(-shift))
	}
	return format.RoundQuo(num, den, format.RoundEven)
}

// log2 is the exponent of a ratio that is a power of two.
func log2(r *big.Rat) (exp int, ok bool) {
	one := big.NewInt(1)
	n, d := r.Num(), r.Denom()
	if n.Sign() <= 0 || new(big.Int).And(n, new(big.Int).Sub(n, one)).Sign() != 0 ||
		new(big.Int).And(d, new(big.Int).Sub(d, one)).Sign() != 0 {
		return 0, false
	}
	return n.BitLen() - d.BitLen(), true
}

// newRescale plans the way from integers of tBits signed bits, in steps of ratio[c] output steps, to codes of out.
func newRescale(out integers, ratios []*big.Rat, tBits int) (*rescale, error) {
	r := &rescale{out: out.ints, zero: out.zero}
	bits := min(factorBits, productBits-tBits)
	if bits < leastFactor {
		return nil, fmt.Errorf("sums of %d bits leave no room for a factor; up to %d do", tBits, productBits-leastFactor)
	}
	for _, ratio := range ratios {
		m, s, err := factor(ratio, bits)
		if err != nil {
			return nil, err
		}
		r.mul, r.shift = append(r.mul, m), append(r.shift, s)
	}
	return r, nil
}

// at is the index of channel c in mul and shift.
func at(n, c int) int {
	if n == 1 {
		return 0
	}
	return c
}

// code is the result for t in channel c. A product fits 63 bits by plan.
func (r *rescale) code(c int, t int64) int64 {
	if r.mul != nil {
		t *= r.mul[at(len(r.mul), c)]
	}
	n := r.shift[at(len(r.shift), c)]
	if n < 0 {
		return r.codeBig(c, big.NewInt(t))
	}
	return r.out.Requant(format.RS(t, n, r.out.Round)+r.zero, 0)
}

// codeBig is code without bounds, of a t that is multiplied already.
func (r *rescale) codeBig(c int, t *big.Int) int64 {
	q := format.RSBig(t, r.shift[at(len(r.shift), c)], r.out.Round)
	return r.out.RequantBig(q.Add(q, big.NewInt(r.zero)), 0)
}

// channels is r for the channels from, from+1, ... of n.
func (r *rescale) channels(from, n int) *rescale {
	if r == nil {
		return nil
	}
	c := *r
	if len(c.mul) > 1 {
		c.mul = c.mul[from : from+n]
	}
	if len(c.shift) > 1 {
		c.shift = c.shift[from : from+n]
	}
	return &c
}

// print is the StableHLO form for integers v, |v| < 2^bits, with channels on the last axis.
func (r *rescale) print(b *hlo.Builder, n *ir.Node, v hlo.Value, bits int) (hlo.Value, error) {
	dims := v.Type().Dims
	last := len(dims) - 1
	if r.mul != nil {
		m := b.Weight(hlo.FromInt64s(hlo.I64, []int{len(r.mul)}, r.mul))
		if len(r.mul) == 1 {
			m = b.BroadcastInDim(b.Reshape(m), dims, nil)
		} else {
			m = b.Along(m, dims, last)
		}
		v, bits = b.Mul(wide(b, v), m), productBits
	}
	left := 0
	for _, s := range r.shift {
		left = max(left, -s)
	}
	if bits+left > 62 && left > 0 {
		return hlo.Value{}, n.Errorf("L0317", "codes need %d bits before they saturate, StableHLO integers have 63",
			bits+left)
	}
	v = b.RoundShift(v, bits, hlo.Shift{By: r.shift, Axis: last}, uint8(r.out.Round))
	v = b.Add(wide(b, v), b.Int(hlo.I64, r.zero))
	return b.Saturate(v, uint8(r.out.Over), r.out.W, r.out.Signed, carry(n.Type)), b.Err()
}

// common gives the factors at one common shift: a left shift of a factor is no rounding. width is that of the factors,
// 0 if there are none.
func (r *rescale) common() (mul []*big.Int, width, shift int) {
	for i, s := range r.shift {
		if shift = max(shift, s); i == 0 {
			shift = s
		}
	}
	for c, m := range r.mul {
		v := big.NewInt(m)
		mul = append(mul, v.Lsh(v, uint(shift-r.shift[c])))
		width = max(width, v.BitLen())
	}
	return mul, width, shift
}

// hardware says why there is none for r, or gives nil.
func (r *rescale) hardware(n *ir.Node) error {
	if r.out.Round > format.RoundOutward {
		return n.Errorf("L0311", "round=%s has no hardware", r.out.Round)
	}
	if r.zero != int64(int32(r.zero)) {
		return n.Errorf("L0311", "the zero point %d has no hardware: it has more than 32 bits", r.zero)
	}
	if _, width, _ := r.common(); width > 2*factorBits {
		return n.Errorf("L0311", "scales of output channels differ by more than 2^%d, which has no hardware",
			factorBits).WithHint("quantize the weights per tensor, or with scales closer together")
	}
	return nil
}
