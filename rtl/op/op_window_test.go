// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math/rand/v2"
	"testing"

	"lathe/rtl"
	"lathe/rtl/rtltest"
)

func TestWindowSeq(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 6 {
		g := randomGeometry(r, pick(r, []int{1, 2, 4, 6, 12}))
		groups := pick(r, divisors(g.C))
		out := pick(r, divisors(g.C/groups))
		in := out * pick(r, divisors(g.C/out))
		rtltest.Run(t, rtltest.Bench{
			Module: "op_window_seq",
			Params: g.params(rtltest.P("IN_LANES", in), rtltest.P("OUT_LANES", out), rtltest.P("E_W", 7),
				rtltest.P("PAD", 5), rtltest.P("GROUPS", groups)),
			In:    []rtltest.Port{{Name: "in", Lanes: in, Beats: g.H * g.W * g.C / in}},
			Out:   []rtltest.Port{{Name: "out", Lanes: out}},
			Model: func(x [][]int64) [][]int64 { return [][]int64{g.windows(x[0], 5, groups)} },
		})
	}
}

func TestWindowRows(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 6 {
		g := randomGeometry(r, 2)
		g.KW, g.SW, g.DW, g.PL, g.PR = 1, 1, 1, 0, 0
		rtltest.Run(t, rtltest.Bench{
			Module: "op_window_rows",
			Params: append(g.params()[:2:2], rtltest.P("KH", g.KH), rtltest.P("SH", g.SH), rtltest.P("DH", g.DH),
				rtltest.P("PT", g.PT), rtltest.P("PB", g.PB), rtltest.P("PIXEL", 2), rtltest.P("E_W", 5), rtltest.P("PAD", 3),
				rtltest.P("NB", g.spanH()+g.SH+1)),
			In:    []rtltest.Port{{Name: "in", Lanes: 2, Beats: g.H * g.W}},
			Out:   []rtltest.Port{{Name: "out", Lanes: 2 * g.KH}},
			Model: func(x [][]int64) [][]int64 { return [][]int64{g.windows(x[0], 3, 1)} },
		})
	}
}

func TestWindowCols(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 10 {
		g := randomGeometry(r, 3)
		g.H, g.KH, g.SH, g.DH, g.PT, g.PB = 1, 1, 1, 1, 0, 0
		rtltest.Run(t, rtltest.Bench{
			Module: "op_window_cols",
			Params: []rtl.Param{rtltest.P("W", g.W), rtltest.P("KW", g.KW), rtltest.P("SW", g.SW), rtltest.P("DW", g.DW),
				rtltest.P("PL", g.PL), rtltest.P("PR", g.PR), rtltest.P("COLUMN", 3), rtltest.P("E_W", 3), rtltest.P("PAD", 6)},
			In:    []rtltest.Port{{Name: "in", Lanes: 3, Beats: g.W}},
			Out:   []rtltest.Port{{Name: "out", Lanes: 3 * g.KW}},
			Model: func(x [][]int64) [][]int64 { return [][]int64{g.windows(x[0], 6, 1)} },
		})
	}
}
