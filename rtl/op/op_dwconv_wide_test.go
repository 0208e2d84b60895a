// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// wideImages are the memories of op_dwconv_wide.
func wideImages(m *matrix, taps int) []rtl.Image {
	weights := rtl.Image{Param: "WEIGHTS", Width: m.out * taps * m.wW}
	for k := 0; k < m.in; k += taps {
		var fields []int64
		for c := range m.out {
			fields = append(fields, m.weights[c][k:k+taps]...)
		}
		weights.Words = append(weights.Words, word(m.wW, fields))
	}
	fields := make([]*big.Int, m.out)
	for c := range fields {
		fields[c] = m.konst(c)
	}
	consts := rtl.Image{Param: "CONSTS", Width: m.out * m.konstW(), Words: []*big.Int{wideWord(m.konstW(), fields)}}
	return []rtl.Image{weights, consts}
}

// TestDepthwiseWide runs op_dwconv_wide: all channels and several taps at once.
func TestDepthwiseWide(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(16, 1))
	for i := range 8 {
		g := randomGeometry(r, pick(r, []int{1, 2, 4, 6}))
		if i == 0 { // the usual one
			g = geometry{H: 6, W: 5, C: 4, KH: 3, KW: 3, SH: 1, SW: 1, DH: 1, DW: 1, PT: 1, PL: 1, PB: 1, PR: 1}
		}
		stream, all := pick(r, divisors(g.C)), divisors(g.KH*g.KW)
		for len(all) < 2 || !dense(g, stream, g.C*g.KH*g.KW) {
			g = randomGeometry(r, g.C)
			all = divisors(g.KH * g.KW)
		}
		taps := pick(r, all[1:])
		m := &matrix{in: g.KH * g.KW, out: g.C, inW: 6, inSigned: i%3 != 0, wW: 5, biasW: 10, pshW: i % 2,
			cast: num.Cast{Shift: 4, Width: 8, Signed: true, Round: i % 9, Over: i % 3}}
		if i > 5 {
			m.mW, m.zero, m.cast.Shift = 31, 7, 36
		}
		m.fill(r)
		rtltest.Run(t, rtltest.Bench{
			Module: "op_dwconv_wide", Images: wideImages(m, taps),
			Params: append(g.params(rtltest.P("STREAM_LANES", stream), rtltest.P("TAP_LANES", taps)), m.numeric()...),
			In:     []rtltest.Port{{Name: "in", Lanes: stream, Signed: m.inSigned, Beats: g.H * g.W * g.C / stream}},
			Out:    []rtltest.Port{{Name: "out", Lanes: g.C}},
			Model: func(in [][]int64) [][]int64 {
				windows := g.windows(in[0], 0, g.C) // channels outermost: the taps of a channel are neighbours
				var out []int64
				for c := 0; len(windows) > 0; c, windows = (c+1)%g.C, windows[m.in:] {
					out = append(out, m.code(c, m.total(c, m.dot(m.weights[c], windows[:m.in]))))
				}
				return [][]int64{out}
			},
		})
	}
}
