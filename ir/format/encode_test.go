// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestEncodeFloats holds the quick encoder to the exact one, at ties, limits, zeros, infinities and NaN too.
func TestEncodeFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	inf := float32(math.Inf(1))
	for range 400 {
		f := Fixed{W: 1 + r.IntN(64), Signed: r.IntN(2) == 0, F: r.IntN(60) - 30, Round: Round(r.IntN(9)),
			Over: Over(r.IntN(3))}
		if r.IntN(2) == 0 {
			f.Round, f.Over = RoundEven, Sat
		}
		x := []float32{0, float32(math.Copysign(0, -1)), inf, -inf, float32(math.NaN()), math.MaxFloat32,
			math.SmallestNonzeroFloat32}
		for range 40 {
			ties := float32(math.Ldexp(float64(r.IntN(1<<12)-1<<11)/2, -f.F))
			limit := float32(math.Ldexp(float64(f.Max())+float64(r.IntN(5)-2)/2, -f.F))
			x = append(x, ties, limit, -limit, math.Float32frombits(r.Uint32()))
		}
		codes := make([]int64, len(x))
		f.EncodeFloats(codes, x)
		for i, v := range x {
			if want := f.Encode(FromFloat32(v)); codes[i] != want {
				t.Fatalf("%s of %g is %d, want %d", f, v, codes[i], want)
			}
		}
	}
}
