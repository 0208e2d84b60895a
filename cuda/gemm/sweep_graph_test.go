// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"lathe/cuda/gemm"
	"lathe/ir/format"
)

// TestFixedSweep and TestAffineSweep compare layers of random formats with Op.Eval and with the StableHLO of the op.
func TestFixedSweep(t *testing.T) {
	sweep(t, func(t *testing.T, r *rand.Rand, seed uint64) int {
		c := gemm.TilesInt8[r.IntN(len(gemm.TilesInt8))]
		m, n, k := extent(r, c)
		m, n, k = max(m, 1), max(n, 1), max(k, 1)
		x := format.Fixed{W: 8, F: r.IntN(14) - 3, Signed: r.IntN(2) == 0}
		w := format.Fixed{W: 8, F: r.IntN(14) - 3, Signed: true}
		y := drawCodes(r)
		// The sums have a deviation of about 2^13*sqrt(k) units of 2^-(x.F+w.F); most codes stay in range.
		y.F = x.F + w.F - 13 - int(math.Log2(float64(k)))/2 + y.W - 4 + r.IntN(5)
		graphOnKernel(t, linearGraph(m, n, k, seed, x, w, y, nil), c, seed)
		return m * n
	})
}

func TestAffineSweep(t *testing.T) {
	sweep(t, func(t *testing.T, r *rand.Rand, seed uint64) int {
		c := gemm.TilesInt8[r.IntN(len(gemm.TilesInt8))]
		m, n, k := extent(r, c)
		m, n, k = max(m, 1), max(n, 1), max(k, 1)
		scale := func() float32 { return float32(math.Exp(r.Float64()*4 - 6)) }
		x := format.Affine{W: 8, Signed: r.IntN(2) == 0, Scale: scale(), Axis: format.PerTensor}
		w := format.Affine{W: 8, Signed: true, Scale: scale(), Axis: format.PerTensor}
		y := format.Affine{W: 8, Signed: r.IntN(2) == 0, Axis: format.PerTensor}
		y.Scale = x.Scale * w.Scale * float32(64*math.Sqrt(float64(k))*(0.5+2*r.Float64()))
		var scales []float32
		if r.IntN(3) > 0 { // a scale a channel
			w.Scale, w.Axis, scales = 0, 0, make([]float32, n)
			for i := range scales {
				scales[i] = y.Scale / x.Scale / float32(64*math.Sqrt(float64(k))*(0.5+2*r.Float64()))
			}
		}
		zero := func(signed bool) int64 { return int64(r.IntN(256)) - map[bool]int64{true: 128}[signed] }
		x.Zero, y.Zero = zero(x.Signed), zero(y.Signed)
		graphOnKernel(t, linearGraph(m, n, k, seed, x, w, y, scales), c, seed)
		return m * n
	})
}
