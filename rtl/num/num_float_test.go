// SPDX-License-Identifier: Apache-2.0

package num

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// floatValue is the value of a code without its sign, in steps of the least.
func floatValue(code int64, m int, hidden bool) int64 {
	field, sig := code>>m, code&(1<<m-1)
	if field == 0 || !hidden {
		return sig << field
	}
	return (sig + 1<<m) << (field - 1)
}

// all is every number of w bits, in frames of n.
func all(w, n int, signed bool) func(*rand.Rand, int, int) []int64 {
	return func(_ *rand.Rand, _, frame int) []int64 {
		out := make([]int64, n)
		for i := range out {
			out[i] = int64(frame*n+i) & (1<<w - 1)
			if signed && out[i] >= 1<<(w-1) {
				out[i] -= 1 << w
			}
		}
		return out
	}
}

func TestFloatDecode(t *testing.T) {
	for _, c := range []struct {
		e, m   int
		hidden bool
		cast   Cast
	}{
		{4, 3, true, Cast{Width: 19, Signed: true}}, {4, 0, true, Cast{Width: 16, Signed: true}},
		{2, 1, true, Cast{Shift: 1, Width: 4, Signed: true}}, {4, 3, true, Cast{Shift: 6, Width: 8, Round: Ceil}},
		{1, 4, true, Cast{Shift: -2, Width: 9, Signed: true, Over: Symmetric}},
		{4, 3, false, Cast{Width: 19, Signed: true}}, {2, 4, false, Cast{Shift: 2, Width: 5, Signed: true}},
	} {
		w := 1 + c.e + c.m
		p := rtltest.P
		rtltest.Run(t, rtltest.Bench{
			Module: "num_float_dec", Frames: 1<<w/8 + 8,
			Params: []rtl.Param{p("LANES", 2), p("E", c.e), p("M", c.m), p("HIDDEN", int01(c.hidden)), p("SHIFT", c.cast.Shift),
				p("OUT_W", c.cast.Width), p("OUT_SIGNED", int01(c.cast.Signed)), p("ROUND", c.cast.Round),
				p("OVER", c.cast.Over), p("BEATS", 4)},
			In:  []rtltest.Port{{Name: "in", Lanes: 2, Beats: 4}},
			Out: []rtltest.Port{{Name: "out", Lanes: 2}},
			Gen: all(w, 8, false),
			Model: func(in [][]int64) [][]int64 {
				out := make([]int64, len(in[0]))
				for i, code := range in[0] {
					v := floatValue(code&(1<<(w-1)-1), c.m, c.hidden)
					if code>>(w-1) != 0 {
						v = -v
					}
					out[i] = c.cast.Of(big.NewInt(v)).Int64()
				}
				return [][]int64{out}
			},
		})
	}
}

func int01(b bool) int {
	if b {
		return 1
	}
	return 0
}

// nearestFloat tries every code for x steps of 2^-shift least steps; of two equally near ones the even code, of equal
// ones the first.
func nearestFloat(x int64, e, m, shift int, negZero, hidden bool) int64 {
	a := max(x, -x) << max(-shift, 0)
	best, least := int64(0), int64(-1)
	for code := range int64(1) << (e + m) {
		v := floatValue(code, m, hidden)
		d := a - v<<max(shift, 0)
		even := code&1 == 0 && v != floatValue(best, m, hidden)
		if d = max(d, -d); least < 0 || d < least || d == least && even {
			best, least = code, d
		}
	}
	if x < 0 && (negZero || best != 0) {
		best |= 1 << (e + m)
	}
	return best
}

func TestFloatEncode(t *testing.T) {
	for _, c := range []struct{ w, signed, e, m, shift, negZero, hidden int }{
		{10, 1, 4, 3, 3, 1, 1}, {10, 1, 4, 0, 2, 0, 1}, {8, 0, 2, 1, 4, 1, 1}, {9, 1, 3, 2, 0, 1, 1}, {6, 1, 4, 3, -5, 1, 1},
		{5, 1, 4, 3, 9, 1, 1}, {7, 0, 3, 0, -1, 0, 1}, {10, 1, 2, 3, 1, 1, 1},
		{10, 1, 4, 3, 3, 1, 0}, {9, 0, 2, 2, 0, 1, 0}, {8, 1, 1, 4, 2, 1, 0}, {6, 1, 3, 2, -4, 1, 0},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			p := rtltest.P
			rtltest.Run(t, rtltest.Bench{
				Module: "num_float_enc", Frames: 1<<c.w/8 + 8,
				Params: []rtl.Param{p("LANES", 2), p("IN_W", c.w), p("IN_SIGNED", c.signed), p("E", c.e), p("M", c.m),
					p("HIDDEN", c.hidden), p("SHIFT", c.shift), p("NEG_ZERO", c.negZero), p("BEATS", 4)},
				In:  []rtltest.Port{{Name: "in", Lanes: 2, Beats: 4, Signed: c.signed != 0}},
				Out: []rtltest.Port{{Name: "out", Lanes: 2}},
				Gen: all(c.w, 8, c.signed != 0),
				Model: func(in [][]int64) [][]int64 {
					out := make([]int64, len(in[0]))
					for i, x := range in[0] {
						out[i] = nearestFloat(x, c.e, c.m, c.shift, c.negZero != 0, c.hidden != 0)
					}
					return [][]int64{out}
				},
			})
		})
	}
}
