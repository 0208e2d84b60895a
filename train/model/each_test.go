// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/format"
	"lathe/ir/hlo"
)

// TestNarrow compares values and gradients of channels that lose places with their formulas, with a sign and without.
func TestNarrow(t *testing.T) {
	const rows, channels = 40, 6
	r := rand.New(rand.NewPCG(3, 1))
	for _, all := range []format.Fixed{{W: 6, F: 3}, {W: 6, F: 3, Signed: true},
		{W: 6, F: 3, Signed: true, Over: format.Sym, Round: format.RoundFloor}, {W: 6, F: 3, Over: format.Sym}} {
		e := &Each{Bits: []int{6, 4, 0, 3, 5, 1}, Step: 0.125, all: all}
		places := []float32{0, 1.4, 2, 3, -0.7, 0.6}
		x := make([]float32, rows*channels)
		for i := range x {
			x[i] = float32(math.Round(r.NormFloat64()*256) / 64)
		}
		b := hlo.New("main")
		v, d := b.Arg("x", hlo.TypeOf(hlo.F32, rows, channels)), b.Arg("places", hlo.TypeOf(hlo.F32, channels))
		y := (&Forward{b: b}).narrow(e, v, d)
		through := b.Ops()[y.Number()].Operands[1]
		b.Return(y, b.Made(through), e.Width(b, d))
		got := pjrttest.Run(t, b, hlo.FromFloat32s([]int{rows, channels}, x), hlo.FromFloat32s([]int{channels}, places))
		for i, v := range x {
			c := i % channels
			drop, bits := Places(places[c]), e.Bits[c]
			f, whole := all, all
			f.W, f.F, whole.W = bits-drop, all.F-drop, bits
			want, inside := 0.0, 0.0
			if f.W > 0 {
				want = f.Decode(f.Encode(format.FromFloat32(v))).Float64()
			}
			if whole.W > 0 {
				lo, hi := whole.Limits()
				inside = min(max(float64(v), lo.Float64()), hi.Float64())
			}
			if y := got[0].Float64s()[i]; y != want {
				t.Errorf("%s: %g in channel %d is %g, not %g", all, v, c, y, want)
			}
			// What the gradient goes through: x within the codes, less ln 2 times what rounding takes off for each place.
			source := inside - math.Ln2*(inside-want)*math.Max(float64(places[c]), 0)
			if s := got[1].Float64s()[i]; math.Abs(s-source) > 1e-5 {
				t.Errorf("%s: %g in channel %d has the source %g, not %g", all, v, c, s, source)
			}
		}
		for c, w := range got[2].Float64s() {
			if want := math.Max(float64(e.Bits[c])-math.Max(float64(places[c]), 0), 0); math.Abs(w-want) > 1e-6 {
				t.Errorf("channel %d has %g bits, not %g", c, w, want)
			}
		}
	}
}
