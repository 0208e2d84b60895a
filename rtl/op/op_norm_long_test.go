// SPDX-License-Identifier: Apache-2.0

//go:build long

package op_test

import (
	"math/rand/v2"
	"testing"

	"lathe/rtl/rtltest"
)

// TestNormLong compares a million outputs with the definition, under every pair of stalls: rows of 1 to 768 elements,
// 8 and 16 bits, with and without a mean, gamma and beta.
func TestNormLong(t *testing.T) {
	for i, n := range []int{1, 2, 8, 16, 31, 48, 192, 192, 768} {
		for k := range 4 {
			m := norm{n: n, rows: 1 + i%3, lanes: 1, in: fixed8, f: 4, eps: []float32{1e-5, 1e-12, 1e-6}[(i+k)%3],
				rms: k%2 == 1, fo: 5, out: fixed8}
			if n%4 == 0 {
				m.lanes = 1 << ((i + k) % 3)
			}
			if k > 1 {
				m.in, m.f, m.fo, m.out = fixed16, 10+i%3, 12, fixed16
			}
			if i%3 != 1 {
				m.gainW, m.gainF, m.biasW, m.biasF = m.in.width, m.in.width-2, m.in.width, m.fo
			}
			m.fill(rand.New(rand.NewPCG(45, uint64(4*i+k))))
			m.frames = max(16, 30000/(m.rows*n))
			rtltest.Run(t, m.bench())
		}
	}
}
