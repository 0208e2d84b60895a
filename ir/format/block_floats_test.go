// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFloatBlocks holds blocks of float64 to the exact definition: ties, zeros of either sign, values of all sizes, NaN
// and infinities, and every code.
func TestFloatBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, text := range []string{"mxint8", "mxint(5,8,round=away)", "mxfp8", "mxfp(e5m2,8)", "mxfp6", "mxfp4",
		"mxfp(e3m2,8,round=ceil)", "bfp(8,8,8)", "bfp(8,8,8,dialect=mase)", "mxint(6,8,dialect=mase)",
		"bfp(4,8,3)", "bminifloat(4,3,8,8)", "bminifloat(3,0,8,5)", "blog(5,8,6)",
		"blog(4,8,8,round=log)", "mxfp(float(5,10),8)", "mxint(4,8,round=stochastic)"} {
		b := parseBlock(t, text)
		for n := range 400 {
			x, exact := make([]float64, 8), make([]Exact, 8)
			base := r.IntN(300) - 150
			if n%8 == 0 {
				base = r.IntN(2100) - 1080
			}
			for i := range x {
				x[i] = math.Ldexp(float64(r.IntN(1<<r.IntN(14))-r.IntN(1<<r.IntN(9))), base-r.IntN(12))
				switch r.IntN(40) {
				case 0:
					x[i] = math.Copysign(0, -1)
				case 1:
					x[i] = math.Nextafter(x[i], 1)
				}
			}
			if n%50 == 0 {
				x[r.IntN(8)] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)]
			}
			for i, v := range x {
				exact[i] = FromFloat64(v)
			}
			want, got := make([]int64, 8), make([]int64, 8)
			scale := b.EncodeBlock(exact, want)
			if s := EncodeFloatBlock(b, x, got); s != scale || !slices.Equal(got, want) {
				t.Fatalf("%s of %v: %d, %x, want %d, %x", text, x, s, got, scale, want)
			}
		}
		for _, scale := range []int64{0, 1, 1<<b.ScaleWidth() - 1, 1 << (b.ScaleWidth() - 1)} {
			codes := codes(b)
			exact, got := make([]Exact, len(codes)), make([]float64, len(codes))
			b.DecodeBlock(codes, scale, exact)
			DecodeFloatBlock(b, codes, scale, got)
			for i, v := range exact {
				if w := v.Float64(); math.Float64bits(got[i]) != math.Float64bits(w) && w == w || w != w && got[i] == got[i] {
					t.Fatalf("%s: code %x of scale %d is %v, want %v", text, codes[i], scale, got[i], w)
				}
			}
		}
	}
}
