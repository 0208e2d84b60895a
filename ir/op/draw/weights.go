// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"math"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
)

// GenWeightType draws a type for weights whose first axis is the output channel: one step for all, a power of two a
// channel, or any real scale.
func GenWeightType(r *rand.Rand, shape []int) ir.Type {
	w := Between(r, 1, 9)
	if Chance(r, 15) {
		w = Between(r, 10, 18)
	}
	a := format.Affine{W: w, Signed: Chance(r, 85)}
	switch k := r.IntN(100); {
	case k < 45:
		spread := Between(r, 0, 6)
		t := ir.Type{Shape: shape, Format: a}
		for range shape[0] {
			t.Scales = append(t.Scales, float32(math.Ldexp(1, -Between(r, 0, spread))))
		}
		if Chance(r, 15) {
			a.Zero = int64(Between(r, -5, 5))
			t.Format = a
		}
		return t
	case k < 53:
		a.Axis, a.Scale = format.PerTensor, float32(math.Ldexp(0.5+r.Float64()/2, Between(r, -6, 2)))
		return ir.Type{Shape: shape, Format: a}
	}
	f := Fixed(r, 9)
	if f.W = w; w == 1 || f.Over > format.Wrap {
		f.Over = format.Sat
	}
	return ir.Type{Shape: shape, Format: f}
}

// GenWeights draws weights; now and then whole rows are zero.
func GenWeights(r *rand.Rand, t ir.Type) *ir.Node {
	codes := Codes(r, t.Format, t.Elems())
	if row := t.Elems() / t.Shape[0]; Chance(r, 25) {
		for c := range t.Shape[0] {
			if Chance(r, 40) {
				clear(codes[c*row : (c+1)*row])
			}
		}
	}
	return Const("w", t, codes)
}

// GenBias draws a bias for products in steps of 2^step: finer, equal or coarser, rarely very coarse.
func GenBias(r *rand.Rand, channels, step int) *ir.Node {
	f := format.Fixed{W: Between(r, 1, 18), F: -step + Between(r, -6, 6), Signed: Chance(r, 80)}
	if Chance(r, 10) {
		f.F = -step + Between(r, -24, 24)
	}
	t := ir.Type{Shape: []int{channels}, Format: f}
	if Chance(r, 15) {
		t.Format = format.Affine{W: f.W, Signed: f.Signed}
		for range channels {
			t.Scales = append(t.Scales, float32(math.Ldexp(1, step+Between(r, -4, 4))))
		}
	}
	return Const("b", t, Codes(r, f, channels))
}

// GenScales draws a positive scale near 2^top for each of n channels, now and then a power of two.
func GenScales(r *rand.Rand, n, top int) []float32 {
	scales := make([]float32, n)
	for i := range scales {
		scales[i] = float32(math.Ldexp(0.5+r.Float64()/2, top-Between(r, 0, 3)))
		if Chance(r, 8) {
			scales[i] = float32(math.Ldexp(1, top))
		}
	}
	return scales
}
