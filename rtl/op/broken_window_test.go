// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl/rtltest"
)

// TestWindowBroken has the benches look at faults in counters, limits and corners of the window generators and pools.
func TestWindowBroken(t *testing.T) {
	t.Parallel()
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	same := geometry{H: 5, W: 4, C: 2, KH: 3, KW: 3, SH: 1, SW: 1, DH: 1, DW: 1, PT: 1, PL: 1, PB: 1, PR: 1}
	valid := geometry{H: 7, W: 4, C: 1, KH: 3, KW: 3, SH: 1, SW: 1, DH: 1, DW: 1}
	over := geometry{H: 2, W: 4, C: 2, KH: 1, KW: 5, SH: 1, SW: 1, DH: 1, DW: 1, PL: 1, PR: 5}
	window := func(g geometry, out int) func() rtltest.Bench {
		return func() rtltest.Bench {
			return rtltest.Bench{
				Module: "op_window",
				Params: g.params(rtltest.P("IN_LANES", g.C), rtltest.P("OUT_LANES", out)),
				In:     []rtltest.Port{{Name: "in", Lanes: g.C, Beats: g.H * g.W}},
				Out:    []rtltest.Port{{Name: "out", Lanes: out}},
				Model:  func(x [][]int64) [][]int64 { return [][]int64{g.windows(x[0], 0, 1)} },
			}
		}
	}
	part, wide := window(same, 2), window(same, 18)
	pool := func() rtltest.Bench {
		g := geometry{H: 5, W: 5, C: 2, KH: 2, KW: 2, SH: 2, SW: 2, DH: 1, DW: 1}
		return rtltest.Bench{
			Module: "op_maxpool",
			Params: g.params(rtltest.P("LANES", 1)),
			In:     []rtltest.Port{{Name: "in", Lanes: 1, Signed: true, Beats: g.H * g.W * g.C}},
			Out:    []rtltest.Port{{Name: "out", Lanes: 1, Signed: true}},
			Model:  func(x [][]int64) [][]int64 { return [][]int64{g.pools(x[0], greatest(-128))} },
		}
	}
	for _, c := range []struct {
		file, old, fault string
		bench            func() rtltest.Bench
	}{
		{"op_window_track.sv", "wr_next == XW'(W - 1)", "wr_next == XW'(W - 2)", part},
		{"op_window_track.sv", "wr_x > need_x", "wr_x >= need_x", part},
		{"op_window_track.sv", "wr_x <= need_x : wr_x < need_x", "wr_x <= need_x : wr_x <= need_x", wide},
		{"op_window_track.sv", "wr_x < need_x : wr_next < need_x", "wr_x < need_x : wr_next <= need_x", wide},
		{"op_window_track.sv", "(OH - 2) * SH - PT", "(OH - 1) * SH - PT", part},
		{"op_window_track.sv", "space_turn <= CW'(NB + FREES_0)", "space_turn <= CW'(NB + FREES_0 + 1)", part},
		{"op_window_track.sv", "BW'(JUMP_BANK)", "BW'(JUMP_BANK + 1)", window(valid, 9)},
		{"op_window_seq.sv", "wr_addr == AW'(DEPTH - 1)", "wr_addr == AW'(DEPTH - 2)", part},
		{"op_window_seq.sv", "$unsigned(y) < YW'(H)", "$unsigned(y) <= YW'(H)", part},
		{"op_window_seq.sv", "e_o ? next_top_addr", "e_o ? top_addr", part},
		{"op_window_seq.sv", "assign run = !word_valid || beat_ready", "assign run = word_valid || beat_ready", part},
		{"op_window_rows.sv", "$unsigned(y) < YW'(H)", "$unsigned(y) <= YW'(H)", wide},
		{"op_window_cols.sv", "$unsigned(x) < CW'(W)", "$unsigned(x) <= CW'(W)", wide},
		{"op_window_cols.sv", "< CW'(AHEAD - 1)", "< CW'(AHEAD)", window(over, 10)},
		{"op_window_cols.sv", "PW'(SEL) - sel[PW-1:0]", "PW'(SEL)", wide},
		{"op_pool_tile.sv", "kx < XW'(KW) && ky < YW'(KH) && ox < XW'(OW)", "kx < XW'(KW) && ky < YW'(KH)", pool},
		{"op_pool_tile.sv", "addr - AW'(CF - 1)", "addr - AW'(CF)", pool},
		{"op_pool_fold.sv", "SIGNED != 0 ? 1 : 0", "SIGNED != 0 ? 0 : 1", pool},
	} {
		broken(t, c.file, c.old, c.fault, c.bench)
	}
}

// TestConvBroken changes the order in which windows meet weights.
func TestConvBroken(t *testing.T) {
	t.Parallel()
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	g := geometry{H: 4, W: 4, C: 2, KH: 3, KW: 2, SH: 1, SW: 1, DH: 1, DW: 1, PT: 1, PL: 0, PB: 1, PR: 1}
	r := rand.New(rand.NewPCG(13, 1))
	m := convMatrix(g, 4, r.Uint64N(1000))
	broken(t, "op_window_wide.sv", "(i%KW)*KH+i/KW", "i", func() rtltest.Bench { return convBench(g, m, 2, 12, 2) })
	valid := geometry{H: 7, W: 4, C: 1, KH: 3, KW: 3, SH: 1, SW: 1, DH: 1, DW: 1}
	broken(t, "op_conv_fed.sv", ".PACE(BUSY)", ".PACE(1)",
		func() rtltest.Bench { return convBench(valid, convMatrix(valid, 4, 3), 1, 9, 1) })
	point := geometry{H: 3, W: 3, C: 8, KH: 1, KW: 1, SH: 1, SW: 1, DH: 1, DW: 1}
	broken(t, "op_conv_fed.sv", "localparam integer GATHER = PLAIN != 0 &&", "localparam integer GATHER = PLAIN == 0 &&",
		func() rtltest.Bench { return convBench(point, convMatrix(point, 6, 3), 1, 4, 2) })
}
