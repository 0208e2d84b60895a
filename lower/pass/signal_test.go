// SPDX-License-Identifier: Apache-2.0

package pass

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSignal holds the sums, joined in any cut, against two passes over all values.
func TestSignal(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		channels, rows, samples := 1+r.IntN(4), 1+r.IntN(3), 2+r.IntN(5)
		var all Signal
		parts := make([]Signal, 2)
		var values [][]float64
		noise := 0.0
		for i := range samples {
			x, y := make([]float64, channels*rows), make([]float64, channels*rows)
			for k := range x {
				x[k] = 1e6*float64(k%channels) + r.NormFloat64()
				y[k] = x[k] + 0.1*r.NormFloat64()
				noise += (x[k] - y[k]) * (x[k] - y[k])
			}
			all.Add(x, y, channels)
			parts[i*2/samples].Add(x, y, channels)
			values = append(values, x)
		}
		parts[0].Join(&parts[1])
		want := 0.0
		for c := range channels {
			mean, n := 0.0, float64(rows*samples)
			each := func(do func(float64)) {
				for _, x := range values {
					for k := c; k < len(x); k += channels {
						do(x[k])
					}
				}
			}
			each(func(v float64) { mean += v / n })
			each(func(v float64) { want += (v - mean) * (v - mean) * n / (n - 1) })
		}
		for _, s := range []*Signal{&all, &parts[0]} {
			if got := s.Power(); math.Abs(got-want) > 1e-6*want || math.Abs(s.Noise-noise) > 1e-9*noise {
				t.Errorf("seed %d: power %g, want %g; noise %g, want %g", seed, got, want, s.Noise, noise)
			}
		}
	}
}

// TestSignalOfConstants: what never changes is no signal at all, whatever its size; single values are compared with
// each other, and one alone with 0.
func TestSignalOfConstants(t *testing.T) {
	var constant, single, number, odd Signal
	for range 7 {
		constant.Add([]float64{0.1, 1e9}, []float64{0.2, 1e9}, 2)
	}
	if got := constant.Decibels(); !math.IsInf(got, -1) || constant.Spread() != 0 || constant.Offset() != 1e9 {
		t.Errorf("constants: %g dB, spread %g, offset %g", got, constant.Spread(), constant.Offset())
	}
	single.Add([]float64{1, 3}, []float64{1, 3}, 2)
	if got := single.Power(); got != 4 || !math.IsInf(single.Decibels(), 1) {
		t.Errorf("one sample: power %g", got)
	}
	number.Add([]float64{3}, []float64{2}, 1)
	if got := number.Power(); got != 9 || number.Noise != 1 || number.Peak != 3 {
		t.Errorf("one number: power %g", got)
	}
	odd.Add([]float64{math.NaN(), 1, math.Inf(1), 3}, []float64{0, 1, 0, 3}, 1)
	if got := odd.Power(); got != 4 || odd.Noise != 0 {
		t.Errorf("beside NaN and infinities: power %g, noise %g", got, odd.Noise)
	}
}
