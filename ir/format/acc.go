// SPDX-License-Identifier: Apache-2.0

package format

import "math/big"

// SumRange is the range of sum_j row[j]*x[j] over all x[j] in [lo, hi], given the SignedSums of the row.
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
