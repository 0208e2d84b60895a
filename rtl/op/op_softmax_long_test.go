// SPDX-License-Identifier: Apache-2.0

//go:build long

package op_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"lathe/rtl/rtltest"
)

// anySoftmax draws a point of each kind, with frames of about a thousand elements.
func anySoftmax(r *rand.Rand) softmax {
	lanes := []int{1, 1, 1, 2, 3, 4, 8}[r.IntN(7)]
	s := softmax{lanes: lanes, n: lanes * (1 + r.IntN(1+r.IntN(1+240/lanes))), signed: r.IntN(2), base2: r.IntN(4) == 0,
		inW: []int{8, 16, 1 + r.IntN(16)}[r.IntN(3)], outSigned: r.IntN(2)}
	s.scale = math.Exp2(-float64(r.IntN(s.inW+2))) * (1 + r.Float64())
	if r.IntN(2) == 0 {
		s.scale = math.Exp2(-float64(r.IntN(s.inW + 2)))
	}
	s.outW = []int{8, 16, 2 + r.IntN(16)}[r.IntN(3)]
	s.fo = min(s.outW, 16)
	if r.IntN(3) == 0 {
		s.fo = r.IntN(17)
	}
	s.rows = 1 + r.IntN(1+800/s.n)
	if r.IntN(3) == 0 {
		s.live = 1 + r.IntN(s.n)
	}
	if s.heads = 1; r.IntN(3) == 0 {
		s.causal, s.heads, s.offset = 1, 1+r.IntN(3), r.IntN(s.n+4)-3
	}
	return s
}

// TestSoftmaxRandom benches points of all kinds, more than a million elements of rows of each module.
func TestSoftmaxRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 8))
		s := anySoftmax(r)
		b := s.bench()
		if seed%2 == 1 {
			s.live = 0
			b = s.masked()
		}
		b.Frames, b.Seed = max(8, 40_000/(s.rows*s.n)), seed
		rtltest.Run(t, b)
	}
}

// TestSoftmaxExpRandom benches powers of many factors and differences.
func TestSoftmaxExpRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		s := anySoftmax(rand.New(rand.NewPCG(seed, 9)))
		s.powers(t, int(seed%2), 100_000)
	}
}
