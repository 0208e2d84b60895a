// SPDX-License-Identifier: Apache-2.0

package arith

import (
	"fmt"
	"math/big"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
)

// Rescale is how exact integers t become codes of a format with a zero point, or whose ratio of scales is no power of
// two:
//
//	y = over(zero + RS(t*mul[c], shift[c]))
//
// One entry of mul and shift stands for all channels; mul is nil where the ratio is a power of two. The pair (mul,
// shift) is the definition: mul is the nearest integer to ratio*2^shift and has FactorBits bits, fewer where t is wide.
type Rescale struct {
	Out   format.Fixed // the codes as numbers, F = 0
	Zero  int64
	Mul   []int64
	Shift []int
}

const (
	// FactorBits is the width of factors, ProductBits that of t*mul with its sign aside, LeastFactor the fewest bits that
	// a factor may be cut to for the sake of a wide t.
	FactorBits, ProductBits, LeastFactor = 31, 63, 16
	// longestShift bounds what rounds everything away.
	longestShift = 1 << 12
)

// Factor is the nearest mul/2^shift to ratio > 0 with a mul of the given bits; a ratio beyond all codes is an error.
func Factor(ratio *big.Rat, bits int) (mul int64, shift int, err error) {
	// 2^(low) <= ratio < 2^(low+2)
	low := ratio.Num().BitLen() - ratio.Denom().BitLen() - 1
	shift = bits - 1 - low
	m := Scaled(ratio, shift)
	if m.BitLen() > bits {
		shift--
		m = Scaled(ratio, shift)
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

// Scaled is ratio*2^shift, rounded to the nearest integer, ties to even.
func Scaled(ratio *big.Rat, shift int) *big.Int {
	num, den := new(big.Int).Set(ratio.Num()), new(big.Int).Set(ratio.Denom())
	if shift >= 0 {
		num.Lsh(num, uint(shift))
	} else {
		den.Lsh(den, uint(-shift))
	}
	return format.RoundQuo(num, den, format.RoundEven)
}

// Log2 is the exponent of a ratio that is a power of two.
func Log2(r *big.Rat) (exp int, ok bool) {
	one := big.NewInt(1)
	n, d := r.Num(), r.Denom()
	if n.Sign() <= 0 || new(big.Int).And(n, new(big.Int).Sub(n, one)).Sign() != 0 ||
		new(big.Int).And(d, new(big.Int).Sub(d, one)).Sign() != 0 {
		return 0, false
	}
	return n.BitLen() - d.BitLen(), true
}

// NewRescale plans the way from integers of tBits signed bits, in steps of ratio[c] output steps, to codes of out.
func NewRescale(out format.Integers, ratios []*big.Rat, tBits int) (*Rescale, error) {
	r := &Rescale{Out: out.Codes, Zero: out.Zero}
	bits := min(FactorBits, ProductBits-tBits)
	if bits < LeastFactor {
		return nil, fmt.Errorf("sums of %d bits leave no room for a factor; up to %d do: give data_in or weights fewer bits",
			tBits, ProductBits-LeastFactor)
	}
	for _, ratio := range ratios {
		m, s, err := Factor(ratio, bits)
		if err != nil {
			return nil, err
		}
		r.Mul, r.Shift = append(r.Mul, m), append(r.Shift, s)
	}
	return r, nil
}

// At is the index of channel c in mul and shift.
func At(n, c int) int {
	if n == 1 {
		return 0
	}
	return c
}

// Code is the result for t in channel c. A product fits 63 bits by plan.
func (r *Rescale) Code(c int, t int64) int64 {
	if r.Mul != nil {
		t *= r.Mul[At(len(r.Mul), c)]
	}
	n := r.Shift[At(len(r.Shift), c)]
	if n < 0 {
		return r.CodeBig(c, big.NewInt(t))
	}
	return r.Out.Requant(format.RS(t, n, r.Out.Round)+r.Zero, 0)
}

// CodeBig is code without bounds, of a t that is multiplied already.
func (r *Rescale) CodeBig(c int, t *big.Int) int64 {
	q := format.RSBig(t, r.Shift[At(len(r.Shift), c)], r.Out.Round)
	return r.Out.RequantBig(q.Add(q, big.NewInt(r.Zero)), 0)
}

// Channels is r for the channels from, from+1, ... of n.
func (r *Rescale) Channels(from, n int) *Rescale {
	if r == nil {
		return nil
	}
	c := *r
	if len(c.Mul) > 1 {
		c.Mul = c.Mul[from : from+n]
	}
	if len(c.Shift) > 1 {
		c.Shift = c.Shift[from : from+n]
	}
	return &c
}

// Common gives the factors at one common shift: a left shift of a factor is no rounding. width is that of the factors,
// 0 if there are none.
func (r *Rescale) Common() (mul []*big.Int, width, shift int) {
	for i, s := range r.Shift {
		if shift = max(shift, s); i == 0 {
			shift = s
		}
	}
	for c, m := range r.Mul {
		v := big.NewInt(m)
		mul = append(mul, v.Lsh(v, uint(shift-r.Shift[c])))
		width = max(width, v.BitLen())
	}
	return mul, width, shift
}

// CheckHardware says why there is none for r, or gives nil.
func (r *Rescale) CheckHardware(n *ir.Node) error {
	if r.Out.Round > format.RoundOutward {
		return n.Errorf(diag.NoHardwareForm, "round=%s has no hardware", r.Out.Round)
	}
	if r.Zero != int64(int32(r.Zero)) {
		return n.Errorf(diag.NoHardwareForm, "the zero point %d has no hardware: it has more than 32 bits", r.Zero)
	}
	if _, width, _ := r.Common(); width > 2*FactorBits {
		return n.Errorf(diag.NoHardwareForm, "scales of output channels differ by more than 2^%d, which has no hardware",
			FactorBits).WithHint("quantize the weights per tensor, or with scales closer together")
	}
	return nil
}
