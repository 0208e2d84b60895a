// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"math/big"
)

// Kernel picks the fastest exact arithmetic for the proven widths.
func (m *exactSum) Kernel() Kernel {
	if m.tBits > 62 || m.lowBits > 62 {
		return m.held().bigKernel()
	}
	enc, bias := m.round.encoder(), m.bias64()
	if k := m.rowKernel(enc, bias); k != nil {
		return k
	}
	m = m.held()
	if m.lowBits > 31 {
		return func(x Input, out []int64) {
			for c := range m.out {
				out[c] = enc(c, dot(m.weights[c*m.in:(c+1)*m.in], x.Ints)<<m.up[c]+bias[c])
			}
		}
	}
	pairs := m.packTwo()
	return func(x Input, out []int64) {
		for c := 0; c+1 < m.out; c += 2 {
			lo, hi := split(dot(pairs[c/2*m.in:(c/2+1)*m.in], x.Ints))
			out[c] = enc(c, lo<<m.up[c]+bias[c])
			out[c+1] = enc(c+1, hi<<m.up[c+1]+bias[c+1])
		}
		if c := m.out - 1; m.out&1 == 1 {
			out[c] = enc(c, dot(m.weights[c*m.in:], x.Ints)<<m.up[c]+bias[c])
		}
	}
}

// packTwo puts two rows into one word, w[c] + w[c+1]*2^32: one multiplication then serves both rows. Sums of either
// row fit 32 signed bits, so split recovers them exactly.
func (m *exactSum) packTwo() []int64 {
	pairs := make([]int64, m.out/2*m.in)
	for c := 0; c+1 < m.out; c += 2 {
		for j := range m.in {
			pairs[c/2*m.in+j] = m.weights[c*m.in+j] + m.weights[(c+1)*m.in+j]<<32
		}
	}
	return pairs
}

// split undoes lo + hi*2^32 for 32-bit signed lo and hi.
func split(s int64) (lo, hi int64) {
	lo = int64(int32(s))
	return lo, (s - lo) >> 32
}

// dot is the sum of products, modulo 2^64. Four sums keep the multiplier busy.
func dot(w, x []int64) int64 {
	var s0, s1, s2, s3 int64
	x = x[:len(w)]
	for len(w) >= 4 && len(x) >= 4 {
		s0 += w[0] * x[0]
		s1 += w[1] * x[1]
		s2 += w[2] * x[2]
		s3 += w[3] * x[3]
		w, x = w[4:], x[4:]
	}
	for i, v := range w {
		s0 += v * x[i]
	}
	return s0 + s1 + s2 + s3
}

// Groups computes rows in n equal runs, with all weights held: each serves many rows of data.
func (m *exactSum) Groups(n int) []Kernel {
	held := m.held()
	kernels, rows := make([]Kernel, n), m.out/n
	for i := range kernels {
		from, to := i*rows, (i+1)*rows
		p := *held
		p.out, p.weights = rows, held.weights[from*m.in:to*m.in]
		p.up, p.bias, p.round = m.up[from:to], m.bias[from:to], m.round.rows(from, rows)
		kernels[i] = p.Kernel()
	}
	return kernels
}

// bigKernel is the arithmetic without bounds.
func (m *exactSum) bigKernel() Kernel {
	return func(x Input, out []int64) {
		var p, a, b big.Int
		for c := range m.out {
			sum := new(big.Int)
			for j, v := range x.Ints[:m.in] {
				sum.Add(sum, p.Mul(a.SetInt64(v), b.SetInt64(m.weights[c*m.in+j])))
			}
			sum.Lsh(sum, m.up[c])
			sum.Add(sum, m.bias[c])
			out[c] = m.round.codeBig(c, sum)
		}
	}
}
