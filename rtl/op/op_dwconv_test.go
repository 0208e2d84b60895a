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

// depthwiseImages are the memories of op_dwconv: row c of m holds the taps of channel c.
func depthwiseImages(m *matrix, lanes int) []rtl.Image {
	weights := rtl.Image{Param: "WEIGHTS", Width: lanes * m.wW}
	consts := rtl.Image{Param: "CONSTS", Width: lanes * m.konstW()}
	for c := 0; c < m.out; c += lanes {
		fields := make([]*big.Int, lanes)
		for i := range fields {
			fields[i] = m.konst(c + i)
		}
		consts.Words = append(consts.Words, wideWord(m.konstW(), fields))
		for k := range m.in {
			taps := make([]int64, lanes)
			for i := range taps {
				taps[i] = m.weights[c+i][k]
			}
			weights.Words = append(weights.Words, word(m.wW, taps))
		}
	}
	return []rtl.Image{weights, consts}
}

// TestDepthwise runs op_dwconv; a channel is a row of the matrix, its window the vector.
func TestDepthwise(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(14, 1))
	for i := range 8 {
		g, lanes := drawPool(r, []int{2, 4, 6}, false)
		if i == 0 {
			g.KH, g.KW, g.SH, g.SW, g.PT, g.PL, g.PB, g.PR = 1, 1, 1, 1, 0, 0, 0, 0
		}
		m := &matrix{in: g.KH * g.KW, out: g.C, inW: 6, inSigned: i%3 != 0, wW: 5, biasW: 10, pshW: i % 2,
			cast: num.Cast{Shift: 4, Width: 8, Signed: true, Round: i % 9, Over: i % 3}}
		if i > 5 {
			m.mW, m.zero, m.cast.Shift = 31, 7, 36
		}
		m.fill(r)
		rtltest.Run(t, rtltest.Bench{
			Module: "op_dwconv", Params: append(g.params(rtltest.P("LANES", lanes)), m.numeric()...),
			Images: depthwiseImages(m, lanes),
			In:     []rtltest.Port{{Name: "in", Lanes: lanes, Signed: m.inSigned, Beats: g.H * g.W * g.C / lanes}},
			Out:    []rtltest.Port{{Name: "out", Lanes: lanes}},
			Model: func(in [][]int64) [][]int64 {
				// Windows with channels outermost: the taps of a channel are neighbours.
				windows := g.windows(in[0], 0, g.C)
				var out []int64
				for c := 0; len(windows) > 0; c, windows = (c+1)%g.C, windows[m.in:] {
					out = append(out, m.code(c, m.total(c, m.dot(m.weights[c], windows[:m.in]))))
				}
				return [][]int64{out}
			},
		})
	}
}
