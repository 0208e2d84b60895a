// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/ir/format"
)

// randomSum is an exact sum of random weights for operands of width bits.
func randomSum(r *rand.Rand, out, in, width int) *exactSum {
	data := Data{lo: -1 << (width - 1), hi: 1<<(width-1) - 1}
	m := &exactSum{terms: terms{out: out, in: in, data: data}, up: make([]uint, out), exp: -10}
	for range out * in {
		m.weights = append(m.weights, r.Int64N(1<<width)-1<<(width-1))
	}
	for range out {
		m.bias = append(m.bias, big.NewInt(r.Int64N(2000)-1000))
	}
	m.bounds()
	return m
}

// TestKernelsAgree compares the packed and the plain kernel with arithmetic without bounds, at the extremes too.
func TestKernelsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	f := format.Fixed{W: 9, F: 3, Signed: true}
	cases := []struct{ out, in, width int }{{1, 1, 8}, {2, 7, 8}, {5, 64, 8}, {4, 33, 4}, {3, 17, 16}, {2, 9, 24}}
	for _, c := range cases {
		m := randomSum(r, c.out, c.in, c.width)
		m.round = sumRound{to: f, exp: m.exp}
		fast, slow := m.Kernel(), m.bigKernel()
		x, got, want := make([]int64, c.in), make([]int64, c.out), make([]int64, c.out)
		for trial := range 200 {
			for j := range x {
				x[j] = r.Int64N(1<<c.width) - 1<<(c.width-1)
				if trial == 0 || trial == 1 && m.weights[j] > 0 {
					x[j] = -1 << (c.width - 1)
				}
			}
			fast(Input{Ints: x}, got)
			slow(Input{Ints: x}, want)
			for k := range got {
				if got[k] != want[k] {
					t.Fatalf("%+v, trial %d, row %d: %d, exactly %d", c, trial, k, got[k], want[k])
				}
			}
		}
	}
}

// BenchmarkLinear reports multiplications per second of one core on an 8-bit layer of 256 x 256.
func BenchmarkLinear(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	m := randomSum(r, 256, 256, 8)
	m.round = sumRound{to: format.Fixed{W: 8, F: 3, Signed: true}, exp: m.exp}
	k := m.Kernel()
	x, y := make([]int64, m.in), make([]int64, m.out)
	for j := range x {
		x[j] = r.Int64N(256) - 128
	}
	for b.Loop() {
		k(Input{Ints: x}, y)
	}
	b.ReportMetric(float64(m.in*m.out)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
}
