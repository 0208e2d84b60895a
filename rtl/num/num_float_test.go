// SPDX-License-Identifier: Apache-2.0

package num_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
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

// The kinds of floats, as the parameter KIND has them.
const (
	finite = iota
	ieee
	fn
	fnuz
)

// The values of ROUND beyond those of integers: powers of two have thresholds at their geometric means; magnitudes are
// rounded to even, but to no other exponent.
const (
	geometric = 10
	within    = 11
)

// greatest is the greatest code of a finite value.
func greatest(e, m, kind int) int64 {
	return 1<<(e+m) - 1 - map[int]int64{ieee: 1 << m, fn: 1}[kind]
}

// decoded is the value of a code in steps of the least, cast; infinities become the ends of the output.
func decoded(code int64, e, m, kind int, hidden bool, c num.Cast) int64 {
	minus, mag := code>>(e+m)&1 != 0, code&(1<<(e+m)-1)
	v := floatValue(mag, m, hidden)
	switch {
	case kind == ieee && mag == greatest(e, m, kind)+1:
		v, c.Shift = math.MaxInt64, 0
		if c.Over == num.Wrap {
			c.Over = num.Saturate
		}
	case mag > greatest(e, m, kind):
		v = 0
	}
	if minus {
		v = -v
	}
	return c.Of(big.NewInt(v)).Int64()
}

func TestFloatDecode(t *testing.T) {
	cases := []struct {
		e, m, kind int
		hidden     bool
		cast       num.Cast
	}{
		{4, 3, finite, true, num.Cast{Width: 19, Signed: true}}, {4, 0, finite, true, num.Cast{Width: 16, Signed: true}},
		{4, 3, finite, true, num.Cast{Shift: 6, Width: 8, Round: num.Ceil}},
		{4, 3, finite, false, num.Cast{Width: 19, Signed: true}},
		{4, 3, fn, true, num.Cast{Width: 19, Signed: true}}, {4, 3, fnuz, true, num.Cast{Shift: 3, Width: 12, Signed: true}},
		{5, 2, ieee, true, num.Cast{Width: 40, Signed: true}},
		{3, 2, ieee, true, num.Cast{Shift: 2, Width: 5, Signed: true, Over: num.Wrap}},
		{3, 2, ieee, true, num.Cast{Width: 7, Over: num.Symmetric}},
		{2, 1, finite, true, num.Cast{Shift: 1, Width: 4, Signed: true}},
		{1, 4, finite, true, num.Cast{Shift: -2, Width: 9, Signed: true, Over: num.Symmetric}},
		{2, 4, finite, false, num.Cast{Shift: 2, Width: 5, Signed: true}},
		{3, 0, fn, true, num.Cast{Width: 9, Signed: true}}, {2, 3, ieee, true, num.Cast{Width: 1, Signed: true}},
		{3, 3, ieee, true, num.Cast{Shift: 2, Width: 6, Signed: true, Over: num.Symmetric}},
		{2, 2, ieee, true, num.Cast{Width: 6, Signed: true, Over: num.Wrap + 1 + 2*9}},
		{2, 2, ieee, true, num.Cast{Width: 6, Signed: true, Over: num.Wrap + 2 + 2*9}},
	}
	for _, c := range tools.Few(3, cases) {
		w := 1 + c.e + c.m
		p := rtltest.P
		rtltest.Run(t, rtltest.Bench{
			Module: "num_float_dec", Frames: 1<<w/8 + 8,
			Params: []rtl.Param{p("LANES", 2), p("E", c.e), p("M", c.m), p("HIDDEN", int01(c.hidden)), p("KIND", c.kind),
				p("SHIFT", c.cast.Shift), p("OUT_W", c.cast.Width), p("OUT_SIGNED", int01(c.cast.Signed)),
				p("ROUND", c.cast.Round), p("OVER", c.cast.Over), p("BEATS", 4)},
			In:  []rtltest.Port{{Name: "in", Lanes: 2, Beats: 4}},
			Out: []rtltest.Port{{Name: "out", Lanes: 2}},
			Gen: all(w, 8, false),
			Model: func(in [][]int64) [][]int64 {
				out := make([]int64, len(in[0]))
				for i, code := range in[0] {
					out[i] = decoded(code, c.e, c.m, c.kind, c.hidden, c.cast)
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

// encoder is a case of num_float_enc.
type encoder struct{ w, signed, e, m, shift, negZero, hidden, kind, round, over int }

// values are those of all finite codes in steps of the least, and behind them the one that would follow; of several
// codes of one value the first.
func (c encoder) values() (v, codes []int64) {
	last := greatest(c.e, c.m, c.kind)
	for code := range last + 2 {
		x := floatValue(code, c.m, c.hidden != 0)
		if c.hidden == 0 && code == last+1 {
			x = 2*v[len(v)-1] - v[len(v)-2]
		}
		if at, is := slices.BinarySearch(v, x); !is {
			v, codes = slices.Insert(v, at, x), slices.Insert(codes, at, code)
		}
	}
	return v, codes
}

// of rounds x steps of 2^-shift least steps to a code by a search, and applies the overflow rule.
func (c encoder) of(x int64, v, codes []int64) int64 {
	neg, last := x < 0, len(v)-1
	a, up := max(x, -x)<<max(-c.shift, 0), max(c.shift, 0)
	i := last
	if a < v[last]<<up {
		for i = 0; v[i+1]<<up <= a; i++ {
		}
		lo, hi := v[i]<<up, v[i+1]<<up
		over, tie, some := 2*a > lo+hi, 2*a == lo+hi, a > lo
		if [...]bool{num.Even: over || tie && codes[i]&1 != 0, num.Away: over || tie, num.Up: over || tie && !neg,
			num.Down: over || tie && neg, num.HalfZero: over, num.Floor: some && neg,
			num.Ceil: some && !neg, num.Zero: false, num.Outward: some,
			geometric: lo > 0 && a*a > lo*hi || lo == 0 && over,
			within:    (over || tie && codes[i]&1 != 0) && codes[i]&(1<<c.m-1) != 1<<c.m-1}[c.round] {
			i++
		}
		code, below := codes[i], c.round == within && c.hidden == 0 && a == lo
		if below && code>>c.m > 0 && code&(1<<c.m-1) == 1<<(c.m-1) {
			return int64(int01(neg))<<(c.e+c.m) | (code>>c.m<<c.m - 1) // a power of two
		}
	}
	sign := int64(int01(neg)) << (c.e + c.m)
	switch {
	case i < last && codes[i] == 0 && c.negZero == 0:
		return 0
	case i < last:
		return sign | codes[i]
	case c.over == 0:
		return sign | codes[last-1]
	case c.kind == ieee:
		return sign | codes[last]
	case c.kind == fn:
		return codes[last]
	}
	return 1 << (c.e + c.m)
}

func TestFloatEncode(t *testing.T) {
	cases := []encoder{
		{10, 1, 4, 3, 3, 1, 1, 0, 0, 0}, {10, 1, 4, 0, 2, 0, 1, 0, 0, 0}, {8, 0, 2, 1, 4, 1, 1, 0, 0, 0},
		{6, 1, 4, 3, -5, 1, 1, 0, 0, 0}, {5, 1, 4, 3, 9, 1, 1, 0, 0, 0}, {10, 1, 4, 3, 3, 1, 0, 0, 0, 0},
		{6, 1, 3, 2, -4, 1, 0, 0, 0, 0}, {10, 1, 3, 2, 1, 1, 1, ieee, 0, 1}, {10, 1, 3, 2, 1, 1, 1, ieee, num.Away, 0},
		{10, 1, 3, 2, 2, 1, 1, fn, num.Up, 1}, {10, 1, 3, 2, 0, 0, 1, fnuz, num.Down, 1},
		{10, 1, 4, 0, 1, 0, 1, 0, geometric, 0},
		{9, 1, 3, 0, 1, 1, 1, fn, num.Outward, 1}, {9, 1, 2, 3, 2, 1, 0, 0, num.Floor, 0},
		{10, 1, 4, 3, 3, 1, 1, 0, within, 0}, {10, 1, 3, 3, 1, 1, 0, 0, within, 0},
		{9, 1, 3, 2, 0, 1, 1, 0, 0, 0}, {7, 0, 3, 0, -1, 0, 1, 0, 0, 0}, {10, 1, 2, 3, 1, 1, 1, 0, 0, 0},
		{9, 0, 2, 2, 0, 1, 0, 0, 0, 0}, {8, 1, 1, 4, 2, 1, 0, 0, 0, 0}, {9, 0, 3, 2, 0, 0, 1, fnuz, num.HalfZero, 0},
		{9, 1, 5, 0, -3, 0, 1, 0, geometric, 0}, {10, 1, 3, 0, 3, 0, 1, 0, num.Outward, 0},
		{8, 1, 3, 0, 1, 0, 1, 0, within, 0}, {9, 1, 2, 2, 3, 1, 0, 0, within, 0},
	}
	for round := range num.Outward + 1 {
		cases = append(cases, encoder{9, 1, 3, 2, 2, 1, 1, fn, round, 0}, encoder{9, 1, 2, 3, 2, 1, 0, 0, round, 0})
	}
	for _, c := range tools.Few(6, cases) {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			p := rtltest.P
			v, codes := c.values()
			rtltest.Run(t, rtltest.Bench{
				Module: "num_float_enc", Frames: 1<<c.w/8 + 8,
				Params: []rtl.Param{p("LANES", 2), p("IN_W", c.w), p("IN_SIGNED", c.signed), p("E", c.e), p("M", c.m),
					p("HIDDEN", c.hidden), p("SHIFT", c.shift), p("NEG_ZERO", c.negZero), p("KIND", c.kind), p("ROUND", c.round),
					p("OVER", c.over), p("BEATS", 4)},
				In:  []rtltest.Port{{Name: "in", Lanes: 2, Beats: 4, Signed: c.signed != 0}},
				Out: []rtltest.Port{{Name: "out", Lanes: 2}},
				Gen: all(c.w, 8, c.signed != 0),
				Model: func(in [][]int64) [][]int64 {
					out := make([]int64, len(in[0]))
					for i, x := range in[0] {
						out[i] = c.of(x, v, codes)
					}
					return [][]int64{out}
				},
			})
		})
	}
}
