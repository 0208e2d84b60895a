// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math/big"

	"lathe/internal/diag"
)

// Ints views a format as integers: the value of a code is Of(code) * Step, exactly. For affine formats Of is q-Z and
// Step the scale (1 where the scales travel beside the codes); for every other format with a lattice Step is 2^exp.
type Ints struct {
	Lo, Hi int64 // range of Of over the codes that Encode returns
	Step   Exact
	format Format
	exp    int
	zero   int64
	direct bool // Of is the sign-extended code minus zero
}

// AsInts gives the integer view of a scalar format; ok is false where there is none of 63 bits.
func AsInts(f Format) (v Ints, ok bool) {
	switch f := f.(type) {
	case Fixed:
		return Ints{f.Min(), f.Max(), FromInt(1, -f.F), f, -f.F, 0, true}, f.W <= 63
	case Affine:
		q := f.Integers()
		return Ints{q.Min() - f.Zero, q.Max() - f.Zero, FromFloat32(f.scale()), q, 0, f.Zero, true}, true
	}
	exp, _, ok := f.Lattice()
	if !ok {
		return Ints{}, false
	}
	lo, hi := f.Limits()
	v = Ints{Step: FromInt(1, exp), format: f, exp: exp}
	v.Lo, _ = lo.Int64(exp)
	v.Hi, _ = hi.Int64(exp)
	return v, true
}

// Of is the integer of a code; 0 for codes without a finite value.
func (v Ints) Of(code int64) int64 {
	if v.direct {
		return v.format.(Fixed).low(code) - v.zero
	}
	k, _ := v.format.Decode(code).Int64(v.exp)
	return k
}

// maxAbs is the largest |Of|.
func (v Ints) maxAbs() *big.Int {
	lo, hi := big.NewInt(v.Lo), big.NewInt(v.Hi)
	if lo.CmpAbs(hi) > 0 {
		return lo.Abs(lo)
	}
	return hi.Abs(hi)
}

// accMax is the width of two 64-bit limbs without their spare bits; a wider accumulator must be asked for.
const accMax = 126

// DotWidth is the width of a signed accumulator that holds every sum of n products of integers up to maxAbsA and
// maxAbsB: bitlen(n*maxAbsA*maxAbsB) + 1.
func DotWidth(maxAbsA, maxAbsB *big.Int, n int) int {
	p := new(big.Int).Mul(maxAbsA, maxAbsB)
	return p.Mul(p, big.NewInt(int64(n))).BitLen() + 1
}

// AccBits is the width in bits of the exact signed accumulator for n products of values of a and b, in steps of
// 2^exp; for affine formats it counts products of q-Z, and the scales are no part of exp.
func AccBits(n int, a, b Format) (bits, exp int, err error) {
	x, y, err := accOperands(a, b)
	if err != nil {
		return 0, 0, err
	}
	bits = DotWidth(x.maxAbs(), y.maxAbs(), n)
	return bits, x.exp + y.exp, checkAcc(bits, a, b)
}

// AccBitsRows is AccBits for constant operands: rows holds the codes (format w) of the weights of one output each,
// and the width is that of the widest [sum min(w*x), sum max(w*x)] over all rows, x any value of a.
func AccBitsRows(rows [][]int64, w, a Format) (bits, exp int, err error) {
	x, y, err := accOperands(a, w)
	if err != nil {
		return 0, 0, err
	}
	bits = 1
	row := []int64{}
	for _, codes := range rows {
		row = row[:0]
		for _, c := range codes {
			row = append(row, y.Of(c))
		}
		bits = max(bits, SignedBits(RowRange(row, x.Lo, x.Hi)))
	}
	return bits, x.exp + y.exp, checkAcc(bits, a, w)
}

// RowRange is the range of sum_j row[j]*x[j] over all x[j] in [lo, hi].
func RowRange(row []int64, lo, hi int64) (least, most *big.Int) {
	pos, neg := SignedSums(row)
	return SumRange(pos, neg, lo, hi)
}

// SumRange is RowRange, given the SignedSums of the row.
func SumRange(pos, neg *big.Int, lo, hi int64) (least, most *big.Int) {
	l, h, w := big.NewInt(lo), big.NewInt(hi), new(big.Int)
	least = new(big.Int).Mul(pos, l)
	least.Add(least, w.Mul(neg, h))
	most = new(big.Int).Mul(pos, h)
	most.Add(most, w.Mul(neg, l))
	return least, most
}

// SignedSums are the sum of the positive and that of the negative numbers of a row.
func SignedSums(row []int64) (pos, neg *big.Int) {
	pos, neg = new(big.Int), new(big.Int)
	for len(row) > 0 {
		part := row[:min(len(row), 1<<20)]
		row = row[len(part):]
		var p, n, wide int64 // 2^20 numbers of 41 bits cannot overflow
		for _, v := range part {
			s := v >> 63
			n += v & s
			p += v &^ s
			wide |= v ^ s
		}
		if wide>>40 == 0 {
			pos.Add(pos, big.NewInt(p))
			neg.Add(neg, big.NewInt(n))
			continue
		}
		var w big.Int
		for _, v := range part {
			if w.SetInt64(v); v > 0 {
				pos.Add(pos, &w)
			} else {
				neg.Add(neg, &w)
			}
		}
	}
	return pos, neg
}

// SignedBits is the width of the smallest two's complement integer that holds lo and hi.
func SignedBits(lo, hi *big.Int) int {
	n := 1
	for _, v := range []*big.Int{lo, hi} {
		if v.Sign() < 0 {
			v = new(big.Int).Not(v)
		}
		n = max(n, v.BitLen()+1)
	}
	return n
}

func accOperands(a, b Format) (x, y Ints, err error) {
	for _, f := range []Format{a, b} {
		if _, ok := AsInts(f); !ok {
			return x, y, diag.New(codeAcc, "", "%s has no common step of 63 bits and thus no exact accumulator", f).
				WithHint("give an accumulator format such as acc=fixed(48,24)")
		}
	}
	x, _ = AsInts(a)
	y, _ = AsInts(b)
	return x, y, nil
}

func checkAcc(bits int, a, b Format) error {
	if bits <= accMax {
		return nil
	}
	return diag.New(codeAcc, "", "the exact accumulator of %s times %s has %d bits; the limit is %d", a, b, bits, accMax).
		WithHint("give an accumulator format such as acc=fixed(48,24)")
}
