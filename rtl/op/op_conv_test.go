// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// convBench is a bench of op_conv: m has one row of weights for each output channel, over the elements of a window.
func convBench(g geometry, m *matrix, stream, inLanes, outLanes int, more ...rtl.Param) rtltest.Bench {
	return groupBench(g, m, 1, stream, inLanes, outLanes, more...)
}

// groupBench is a bench of op_conv with groups: m has one row of weights for each output channel, over the elements of
// a window that its group reads.
func groupBench(g geometry, m *matrix, groups, stream, inLanes, outLanes int, more ...rtl.Param) rtltest.Bench {
	p := rtltest.P
	params := append(g.params(p("STREAM_LANES", stream), p("IN_LANES", inLanes), p("OC", m.out),
		p("OUT_LANES", outLanes), p("GROUPS", groups)), append(m.numeric(), m.sparse()...)...)
	least, most := bounds(m.inW, m.inSigned)
	return rtltest.Bench{
		Module: "op_conv", Params: append(params, more...), Images: m.images(inLanes, outLanes),
		In:  []rtltest.Port{{Name: "in", Lanes: stream, Signed: m.inSigned, Beats: g.H * g.W * g.C / stream}},
		Out: []rtltest.Port{{Name: "out", Lanes: outLanes}},
		Model: func(in [][]int64) [][]int64 {
			var out []int64
			windows, per := g.windows(in[0], 0, groups), m.out/groups
			for i := 0; len(windows) > 0; i, windows = (i+1)%groups, windows[m.in:] {
				out = append(out, m.apply(windows[:m.in])[i*per:(i+1)*per]...)
			}
			return [][]int64{out}
		},
		Gen: func(r *rand.Rand, port, frame int) []int64 {
			if frame < 4 {
				return nil
			}
			// Worst windows side by side, then noise.
			var x []int64
			for len(x) < g.H*g.W*g.C {
				x = append(x, m.worst(m.weights[r.IntN(m.out)], r.IntN(2) == 0)...)
			}
			for i := range x {
				if r.IntN(4) == 0 {
					x[i] = between(r, least, most)
				}
			}
			return x[:g.H*g.W*g.C]
		},
	}
}

// convMatrix draws weights for oc output channels over a window of g.
func convMatrix(g geometry, oc int, seed uint64) *matrix {
	m := &matrix{in: g.KH * g.KW * g.C, out: oc, inW: 6, inSigned: seed%3 != 0, wW: 5, biasW: 12, pshW: int(seed % 2),
		cast: num.Cast{Shift: 5, Width: 8, Signed: true, Round: int(seed % 9), Over: int(seed % 3)}}
	m.fill(rand.New(rand.NewPCG(11, seed)))
	return m
}

// TestConvUsual are the geometries of real networks at every kind of fold.
func TestConvUsual(t *testing.T) {
	t.Parallel()
	same := geometry{H: 6, W: 5, C: 4, KH: 3, KW: 3, SH: 1, SW: 1, DH: 1, DW: 1, PT: 1, PL: 1, PB: 1, PR: 1}
	half := geometry{H: 6, W: 6, C: 2, KH: 3, KW: 3, SH: 2, SW: 2, DH: 1, DW: 1, PT: 1, PL: 1, PB: 1, PR: 1}
	valid := geometry{H: 6, W: 6, C: 1, KH: 5, KW: 5, SH: 1, SW: 1, DH: 1, DW: 1}
	dilated := geometry{H: 7, W: 6, C: 2, KH: 3, KW: 2, SH: 1, SW: 1, DH: 2, DW: 2, PT: 1, PL: 0, PB: 2, PR: 1}
	point := geometry{H: 3, W: 4, C: 8, KH: 1, KW: 1, SH: 1, SW: 1, DH: 1, DW: 1}
	project := geometry{H: 6, W: 6, C: 4, KH: 1, KW: 1, SH: 2, SW: 2, DH: 1, DW: 1}
	causal := geometry{H: 1, W: 12, C: 4, KH: 1, KW: 3, SH: 1, SW: 1, DH: 1, DW: 2, PL: 4}
	for i, c := range tools.Few(3, []struct {
		g                        geometry
		stream, in, oc, outLanes int
	}{
		{same, 4, 36, 3, 3}, {same, 2, 4, 4, 2}, {same, 4, 12, 6, 3}, {same, 1, 2, 2, 2},
		{half, 2, 18, 4, 4}, {half, 2, 2, 3, 1}, {half, 1, 18, 4, 1},
		{valid, 1, 25, 2, 2}, {valid, 1, 5, 2, 1}, {valid, 1, 1, 2, 2}, {valid, 1, 25, 4, 1},
		{dilated, 2, 2, 4, 4}, {dilated, 1, 12, 2, 2},
		{point, 8, 8, 4, 4}, {point, 2, 4, 6, 2}, {point, 4, 2, 4, 2}, {point, 2, 2, 4, 4}, {point, 1, 8, 6, 2},
		{project, 2, 4, 6, 3}, {project, 4, 2, 4, 4},
		{causal, 4, 12, 4, 4}, {causal, 2, 4, 2, 1},
	}) {
		m := convMatrix(c.g, c.oc, uint64(i))
		rtltest.Run(t, convBench(c.g, m, c.stream, c.in, c.outLanes))
	}
}

// TestConvKept has weights for two of four neighbouring channels.
func TestConvKept(t *testing.T) {
	t.Parallel()
	g := geometry{H: 5, W: 4, C: 4, KH: 3, KW: 2, SH: 1, SW: 1, DH: 1, DW: 1, PT: 1, PL: 1, PB: 1, PR: 1}
	for i, lanes := range [][3]int{{2, 4, 2}, {4, 12, 4}} {
		m := &matrix{in: g.KH * g.KW * g.C, out: 4, inW: 6, wW: 5, biasW: 12, pshW: i, keep: 2, of: 4,
			cast: num.Cast{Shift: 5, Width: 8, Signed: true}}
		m.fill(rand.New(rand.NewPCG(13, uint64(i))))
		rtltest.Run(t, convBench(g, m, lanes[0], lanes[1], lanes[2]))
	}
}

// drawConv draws a geometry, folds and lanes.
func drawConv(r *rand.Rand) rtltest.Bench {
	for {
		g := randomGeometry(r, pick(r, []int{1, 2, 4}))
		stream, inLanes := pick(r, divisors(g.C)), pick(r, divisors(g.C))
		if r.IntN(2) == 0 {
			inLanes = g.C * pick(r, divisors(g.KH*g.KW))
		}
		oc := pick(r, []int{1, 2, 4, 6})
		outLanes := pick(r, divisors(oc))
		whole := inLanes >= g.C || stream%inLanes == 0 || inLanes%stream == 0
		if whole && dense(g, stream, inLanes) && g.H*g.W*g.C*outLanes <= 6*g.outH()*g.outW()*oc*stream {
			return convBench(g, convMatrix(g, oc, r.Uint64N(1000)), stream, inLanes, outLanes)
		}
	}
}

func TestConv(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(12, 1))
	for range tools.Sample(3, 16) {
		rtltest.Run(t, drawConv(r))
	}
}

// TestConvGroups has groups of several channels, and channels that make several outputs each.
func TestConvGroups(t *testing.T) {
	t.Parallel()
	same := geometry{H: 5, W: 4, C: 6, KH: 3, KW: 3, SH: 1, SW: 1, DH: 1, DW: 1, PT: 1, PL: 1, PB: 1, PR: 1}
	point := geometry{H: 3, W: 4, C: 8, KH: 1, KW: 1, SH: 1, SW: 1, DH: 1, DW: 1}
	line := geometry{H: 1, W: 9, C: 4, KH: 1, KW: 3, SH: 1, SW: 2, DH: 1, DW: 1, PL: 1, PR: 0}
	for i, c := range tools.Few(3, []struct {
		g                                geometry
		groups, stream, in, oc, outLanes int
	}{
		{same, 2, 3, 3, 4, 2}, {same, 3, 2, 1, 6, 1}, {same, 6, 6, 1, 12, 2}, {same, 2, 1, 3, 8, 2}, {same, 3, 6, 2, 3, 1},
		{point, 2, 4, 4, 4, 1}, {point, 4, 1, 2, 4, 1}, {point, 2, 2, 4, 8, 2}, {point, 4, 4, 1, 4, 1},
		{point, 8, 2, 1, 16, 1},
		{line, 2, 2, 2, 6, 3}, {line, 4, 1, 1, 8, 2},
	}) {
		m := convMatrix(c.g, c.oc, uint64(i))
		m = &matrix{in: m.in / c.groups, out: m.out, inW: m.inW, inSigned: m.inSigned, wW: m.wW, biasW: m.biasW,
			pshW: m.pshW, cast: m.cast}
		m.fill(rand.New(rand.NewPCG(12, uint64(i))))
		rtltest.Run(t, groupBench(c.g, m, c.groups, c.stream, c.in, c.outLanes))
	}
}

// TestWalkBroken starts the weights of every group anew.
func TestWalkBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	broken(t, "op_linear_walk.sv", "sf_last && row_last ?", "sf_last && nf_last ?", func() rtltest.Bench {
		g := geometry{H: 3, W: 4, C: 4, KH: 1, KW: 1, SH: 1, SW: 1, DH: 1, DW: 1}
		m := &matrix{in: 2, out: 4, inW: 6, inSigned: true, wW: 5, biasW: 10,
			cast: num.Cast{Shift: 3, Width: 8, Signed: true}}
		m.fill(rand.New(rand.NewPCG(1, 2)))
		return groupBench(g, m, 2, 2, 2, 1)
	})
}
