// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// windowBench benches a module whose frames are windows of g: in and out are lanes.
func windowBench(t *testing.T, module string, g geometry, in, out, groups int, pad int64, params []rtl.Param) {
	t.Helper()
	rtltest.Run(t, rtltest.Bench{
		Module: module,
		Params: params,
		In:     []rtltest.Port{{Name: "in", Lanes: in, Beats: g.H * g.W * g.C / in}},
		Out:    []rtltest.Port{{Name: "out", Lanes: out}},
		Model:  func(x [][]int64) [][]int64 { return [][]int64{g.windows(x[0], pad, groups)} },
	})
}

// lineStyle is one kind of line buffers after the other.
func lineStyle(i int) rtl.Param {
	return text("LINE_STYLE", []string{"ultra", "block", "distributed", "auto"}[i%4])
}

// dense reports whether so much leaves for each beat that comes in that back-pressure reaches the input.
func dense(g geometry, in, out int) bool {
	return g.outH()*g.outW()*g.KH*g.KW*in*4 >= g.H*g.W*out
}

func TestWindowSeq(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for i := range tools.Sample(3, 12) {
		g := randomGeometry(r, pick(r, []int{1, 2, 4, 6, 12}))
		groups := pick(r, divisors(g.C))
		out := pick(r, divisors(g.C/groups))
		in := out * pick(r, divisors(g.C/out))
		windowBench(t, "op_window_seq", g, in, out, groups, 5, g.params(rtltest.P("IN_LANES", in),
			rtltest.P("OUT_LANES", out), rtltest.P("E_W", 7), rtltest.P("PAD", 5), rtltest.P("GROUPS", groups),
			lineStyle(i)))
	}
}

func TestWindowRows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 1))
	for i := range tools.Sample(2, 8) {
		g := randomGeometry(r, 2)
		g.KW, g.SW, g.DW, g.PL, g.PR = 1, 1, 1, 0, 0
		windowBench(t, "op_window_rows", g, 2, 2*g.KH, 1, 3, append(g.params()[:2:2], rtltest.P("KH", g.KH),
			rtltest.P("SH", g.SH), rtltest.P("DH", g.DH), rtltest.P("PT", g.PT), rtltest.P("PB", g.PB), rtltest.P("PIXEL", 2),
			rtltest.P("E_W", 5), rtltest.P("PAD", 3), rtltest.P("NB", g.spanH()+g.SH+1), lineStyle(i+i/2)))
	}
}

func TestWindowCols(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	for range tools.Sample(3, 12) {
		g := randomGeometry(r, 3)
		g.H, g.KH, g.SH, g.DH, g.PT, g.PB = 1, 1, 1, 1, 0, 0
		windowBench(t, "op_window_cols", g, 3, 3*g.KW, 1, 6, []rtl.Param{rtltest.P("W", g.W), rtltest.P("KW", g.KW),
			rtltest.P("SW", g.SW), rtltest.P("DW", g.DW), rtltest.P("PL", g.PL), rtltest.P("PR", g.PR),
			rtltest.P("COLUMN", 3), rtltest.P("E_W", 3), rtltest.P("PAD", 6)})
	}
}

func TestWindowWide(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 1))
	for n := 0; n < tools.Sample(2, 8); {
		g := randomGeometry(r, pick(r, []int{1, 2, 3}))
		out := g.C * pick(r, divisors(g.KH*g.KW))
		if !dense(g, g.C, out) {
			continue
		}
		n++
		windowBench(t, "op_window_wide", g, g.C, out, 1, 5,
			g.params(rtltest.P("OUT_LANES", out), rtltest.P("E_W", 7), rtltest.P("PAD", 5), lineStyle(n)))
	}
}

// TestWindow draws from everything that is legal: all lanes, one dimension, a single tap, channel groups.
func TestWindow(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 2))
	for n := 0; n < tools.Sample(3, 24); {
		g := randomGeometry(r, pick(r, []int{1, 2, 4, 6}))
		switch r.IntN(6) {
		case 0:
			g.H, g.KH, g.PT, g.PB = 1, 1, 0, 0
		case 1:
			g.KH, g.KW, g.PT, g.PB, g.PL, g.PR, g.SH, g.SW = 1, 1, 0, 0, 0, 0, 1, 1
		}
		groups, in, out := 1, pick(r, divisors(g.C)), g.C*pick(r, divisors(g.KH*g.KW))
		if r.IntN(2) == 0 {
			groups = pick(r, divisors(g.C))
			out = pick(r, divisors(g.C/groups))
		}
		if out < g.C && in%out != 0 && out%in != 0 || !dense(g, in, out) {
			continue
		}
		n++
		windowBench(t, "op_window", g, in, out, groups, 5, g.params(rtltest.P("IN_LANES", in), rtltest.P("OUT_LANES", out),
			rtltest.P("E_W", 7), rtltest.P("PAD", 5), rtltest.P("GROUPS", groups), rtltest.P("SKID", r.IntN(4)/3)))
	}
}

// TestWindowUsual are the geometries of real networks; what they need must not depend on a lucky draw.
func TestWindowUsual(t *testing.T) {
	t.Parallel()
	same := geometry{H: 8, W: 8, C: 4, KH: 3, KW: 3, SH: 1, SW: 1, DH: 1, DW: 1, PT: 1, PL: 1, PB: 1, PR: 1}
	half := geometry{H: 8, W: 8, C: 4, KH: 3, KW: 3, SH: 2, SW: 2, DH: 1, DW: 1, PT: 1, PL: 1, PB: 1, PR: 1}
	valid := geometry{H: 9, W: 7, C: 2, KH: 5, KW: 5, SH: 1, SW: 1, DH: 1, DW: 1}
	causal := geometry{H: 1, W: 20, C: 4, KH: 1, KW: 3, SH: 1, SW: 1, DH: 1, DW: 2, PL: 4}
	for i, p := range []struct {
		g       geometry
		in, out int
	}{{same, 4, 36}, {same, 4, 12}, {same, 2, 4}, {half, 4, 36}, {half, 1, 2}, {valid, 2, 50}, {valid, 2, 10},
		{valid, 1, 1}, {causal, 4, 12}, {causal, 4, 4}} {
		windowBench(t, "op_window", p.g, p.in, p.out, 1, 0, p.g.params(rtltest.P("IN_LANES", p.in),
			rtltest.P("OUT_LANES", p.out), lineStyle(i)))
	}
}

// TestIllegal builds each module with parameters that it must refuse; the missing module's name is the message.
func TestIllegal(t *testing.T) {
	t.Parallel()
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	p := rtltest.P
	for _, c := range []struct {
		module string
		params []rtl.Param
		want   string
	}{
		{"op_window", []rtl.Param{p("C", 6), p("IN_LANES", 4), p("OUT_LANES", 6)}, "IN_LANES_and_GROUPS_must_divide_C"},
		{"op_window", []rtl.Param{p("OUT_LANES", 3)}, "OUT_LANES_must_divide_the_channels_of_a_group"},
		{"op_window", []rtl.Param{p("OUT_LANES", 8)}, "must_be_C_times_a_divisor"},
		{"op_window", []rtl.Param{p("C", 6), p("IN_LANES", 2), p("OUT_LANES", 3)}, "must_divide_the_other"},
		{"op_window", []rtl.Param{p("KH", 11)}, "the_window_must_not_exceed"},
		{"op_window", []rtl.Param{p("PL", -1)}, "padding_must_not_be_negative"},
		{"op_window", []rtl.Param{p("DW", 0)}, "must_be_positive"},
		{"op_window_wide", []rtl.Param{p("OUT_LANES", 16)}, "OUT_LANES_must_be_C_times"},
		{"op_window_rows", []rtl.Param{p("NB", 2)}, "NB_must_be_at_least"},
		{"op_pool_tile", []rtl.Param{p("KH", 3)}, "must_neither_overlap"},
		{"op_pool_tile", []rtl.Param{p("LANES", 3)}, "must_neither_overlap"},
		{"op_conv", []rtl.Param{p("OUT_LANES", 3)}, "OUT_LANES_must_divide_OUT"},
		{"op_conv", []rtl.Param{p("GROUPS", 2)}, "IN_LANES_must_divide_IN"},
		{"op_conv", []rtl.Param{p("GROUPS", 2), p("IN_LANES", 2), p("OC", 5), p("OUT_LANES", 1)},
			"GROUPS_must_divide_C_and_OC"},
	} {
		b := rtltest.Bench{Module: c.module, Params: c.params, Model: func(x [][]int64) [][]int64 { return x }}
		err := b.Check(t.Context(), tools.CacheDir(t))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: error %v, want one with %q", c.module, c.params, err, c.want)
		}
	}
}
