// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// linearBench is a bench of op_linear with the given lanes.
func linearBench(m *matrix, inLanes, outLanes int, more ...rtl.Param) rtltest.Bench {
	p := rtltest.P
	params := append([]rtl.Param{p("IN", m.in), p("OUT", m.out), p("IN_LANES", inLanes), p("OUT_LANES", outLanes)},
		m.numeric()...)
	params = append(params, m.sparse()...)
	return rtltest.Bench{
		Module: "op_linear", Params: append(params, more...), Images: m.images(inLanes, outLanes),
		In:    []rtltest.Port{{Name: "in", Lanes: inLanes, Signed: m.inSigned, Beats: m.in / inLanes}},
		Out:   []rtltest.Port{{Name: "out", Lanes: outLanes}},
		Model: func(in [][]int64) [][]int64 { return [][]int64{m.apply(in[0])} },
		Gen:   m.gen,
		// Enough for the worst inputs of every row.
		Frames: 2*m.out + 20,
	}
}

func text(name, value string) rtl.Param { return rtl.Param{Name: name, Value: `"` + value + `"`} }

// TestLinear covers one and several folds on either side, with and without shifts, and the attributes.
func TestLinear(t *testing.T) {
	for i, c := range []struct {
		m               matrix
		inLanes, outLan int
		more            []rtl.Param
	}{
		{matrix{in: 16, out: 8, inW: 8, inSigned: true, wW: 8, biasW: 16,
			cast: num.Cast{Shift: 10, Width: 8, Signed: true}}, 4, 2,
			nil},
		{matrix{in: 8, out: 6, inW: 8, wW: 6, biasW: 12, cast: num.Cast{Shift: 7, Width: 8}}, 8, 2, nil},
		{matrix{in: 12, out: 3, inW: 4, inSigned: true, wW: 5, biasW: 9,
			cast: num.Cast{Shift: 4, Width: 6, Signed: true}}, 3, 3,
			[]rtl.Param{text("ROM_STYLE", "block"), text("MULT", "dsp")}},
		{matrix{in: 5, out: 4, inW: 6, inSigned: true, wW: 4, biasW: 8,
			cast: num.Cast{Shift: 3, Width: 7, Signed: true}}, 5, 4,
			nil},
		{matrix{in: 7, out: 3, inW: 5, wW: 3, biasW: 6, cast: num.Cast{Shift: 0, Width: 10, Signed: true}}, 1, 1,
			[]rtl.Param{rtltest.P("TREE_PIPE", 2), text("ROM_STYLE", "distributed"), text("MULT", "lut")}},
		{matrix{in: 6, out: 4, inW: 8, inSigned: true, wW: 8, biasW: 20, pshW: 2,
			cast: num.Cast{Shift: 9, Width: 8, Signed: true}},
			2, 2, nil},
		{matrix{in: 3, out: 6, inW: 8, inSigned: true, wW: 7, biasW: 14, pshW: 3,
			cast: num.Cast{Shift: 9, Width: 8}}, 3, 2, nil},
		{matrix{in: 10, out: 3, inW: 3, wW: 2, biasW: 5, pshW: 1,
			cast: num.Cast{Shift: -2, Width: 9, Signed: true}}, 5, 3, nil},
		{matrix{in: 9, out: 5, inW: 16, inSigned: true, wW: 16, biasW: 34,
			cast: num.Cast{Shift: 20, Width: 16, Signed: true}}, 3,
			1, []rtl.Param{rtltest.P("TREE_PIPE", 2)}},
		{matrix{in: 4, out: 1, inW: 1, wW: 1, biasW: 1, pshW: 1, cast: num.Cast{Width: 3, Signed: true}}, 4, 1, nil},
		{matrix{in: 6, out: 4, inW: 8, inSigned: true, wW: 8, biasW: 20, mW: 31, zero: -7,
			cast: num.Cast{Shift: 45, Width: 8, Signed: true}}, 3, 2, nil},
		{matrix{in: 4, out: 6, inW: 8, wW: 8, biasW: 18, pshW: 2, mW: 37, zero: 130,
			cast: num.Cast{Shift: 50, Width: 8}}, 4, 3, nil},
		{matrix{in: 6, out: 3, inW: 4, wW: 4, biasW: 8, zero: 9,
			cast: num.Cast{Shift: 5, Width: 4}}, 2, 1, nil},
		{matrix{in: 12, out: 8, inW: 8, inSigned: true, wW: 8, biasW: 16,
			cast: num.Cast{Shift: 10, Width: 8, Signed: true}}, 4, 4, []rtl.Param{text("MULT", "pack")}},
		{matrix{in: 6, out: 6, inW: 8, wW: 8, biasW: 18, pshW: 2, mW: 37, zero: 130,
			cast: num.Cast{Shift: 50, Width: 8}}, 3, 2, []rtl.Param{text("MULT", "pack")}},
		{matrix{in: 9, out: 6, inW: 8, inE: 4, inNaN: true, wW: 8, wE: 4, biasW: 30,
			cast: num.Cast{Shift: 28, Width: 12, Signed: true}}, 3, 2, nil},
		{matrix{in: 4, out: 4, inW: 6, wW: 6, wE: 3, biasW: 14, pshW: 2,
			cast: num.Cast{Shift: 9, Width: 8, Signed: true}}, 2, 2, []rtl.Param{text("MULT", "lut")}},
		{matrix{in: 5, out: 3, inW: 5, inE: 4, wW: 5, biasW: 14, mW: 16, zero: 3,
			cast: num.Cast{Shift: 30, Width: 8, Signed: true}}, 5, 1, nil},
		{matrix{in: 12, out: 4, inW: 1, inE: -1, wW: 1, wE: -1, biasW: 6,
			cast: num.Cast{Shift: 2, Width: 2, Signed: true}}, 6, 2, nil},
		{matrix{in: 10, out: 4, inW: 4, wW: 1, wE: -1, biasW: 8, mW: 12, zero: 3,
			cast: num.Cast{Shift: 15, Width: 4}}, 5, 4, []rtl.Param{text("MULT", "low")}},
		{matrix{in: 9, out: 4, inW: 1, inE: -1, wW: 6, biasW: 8,
			cast: num.Cast{Shift: 3, Width: 4, Signed: true}}, 3, 1, nil},
		{matrix{in: 8, out: 6, inW: 8, inSigned: true, wW: 2, biasW: 12, pshW: 2,
			cast: num.Cast{Shift: 6, Width: 4, Signed: true}}, 4, 3, []rtl.Param{text("MULT", "low")}},
	} {
		m := c.m
		m.cast.Round, m.cast.Over = i%9, i%3
		m.fill(rand.New(rand.NewPCG(7, uint64(i))))
		rtltest.Run(t, linearBench(&m, c.inLanes, c.outLan, c.more...))
	}
}

// TestLinearKept has weights for a few of so many neighbours: with and without a register in front of multipliers, in
// cascades, as codes of floats, in one beat.
func TestLinearKept(t *testing.T) {
	cast := num.Cast{Shift: 8, Width: 8, Signed: true}
	for i, c := range []struct {
		m               matrix
		inLanes, outLan int
		more            []rtl.Param
	}{
		{matrix{in: 16, out: 4, inW: 8, inSigned: true, wW: 8, biasW: 14, keep: 2, of: 4, cast: cast}, 8, 2, nil},
		{matrix{in: 16, out: 4, inW: 7, wW: 6, biasW: 14, pshW: 2, keep: 1, of: 4, cast: cast}, 4, 1, nil},
		{matrix{in: 8, out: 6, inW: 3, wW: 4, biasW: 8, keep: 1, of: 2, cast: num.Cast{Shift: 3, Width: 5}}, 8, 3,
			[]rtl.Param{text("MULT", "lut")}},
		{matrix{in: 24, out: 3, inW: 8, inSigned: true, wW: 8, biasW: 14, mW: 12, zero: 3, keep: 3, of: 8,
			cast: num.Cast{Shift: 19, Width: 8, Signed: true}}, 8, 3, []rtl.Param{rtltest.P("TREE_PIPE", 2)}},
		{matrix{in: 16, out: 4, inW: 8, wW: 8, biasW: 16, keep: 5, of: 8, cast: cast}, 16, 2,
			[]rtl.Param{text("MULT", "chain")}},
		{matrix{in: 8, out: 4, inW: 8, inE: 4, inNaN: true, wW: 8, wE: 4, biasW: 30, keep: 2, of: 4,
			cast: num.Cast{Shift: 28, Width: 12, Signed: true}}, 4, 2, nil},
		{matrix{in: 12, out: 4, inW: 8, inSigned: true, wW: 3, biasW: 10, keep: 2, of: 3, cast: num.Cast{Shift: 4, Width: 8,
			Signed: true}}, 6, 2, []rtl.Param{text("MULT", "low")}},
	} {
		m := c.m
		m.fill(rand.New(rand.NewPCG(27, uint64(i))))
		rtltest.Run(t, linearBench(&m, c.inLanes, c.outLan, c.more...))
	}
}

// TestLinearFour has four products of few bits in a DSP, of data with and without signs.
func TestLinearFour(t *testing.T) {
	signed := matrix{in: 12, out: 8, inW: 4, inSigned: true, wW: 4, biasW: 10, pshW: 2,
		cast: num.Cast{Shift: 5, Width: 4, Signed: true}}
	plain := matrix{in: 9, out: 8, inW: 4, wW: 4, biasW: 10, cast: num.Cast{Shift: 6, Width: 4}}
	signed.fill(rand.New(rand.NewPCG(9, 1)))
	plain.fill(rand.New(rand.NewPCG(9, 2)))
	rtltest.Run(t, linearBench(&signed, 6, 4, text("MULT", "pack")))
	rtltest.Run(t, linearBench(&plain, 3, 8, text("MULT", "pack")))
}

// TestLinearChain covers one and several elements to a register of a cascade, and several cascades, with and without a
// register between their sums.
func TestLinearChain(t *testing.T) {
	for i, c := range []struct {
		m               matrix
		inLanes, outLan int
	}{
		{matrix{in: 6, out: 4, inW: 8, inSigned: true, wW: 8, biasW: 16,
			cast: num.Cast{Shift: 9, Width: 8, Signed: true}}, 1, 2},
		{matrix{in: 6, out: 4, inW: 8, wW: 8, biasW: 20, pshW: 2, cast: num.Cast{Shift: 9, Width: 8, Signed: true}},
			3, 2},
		{matrix{in: 16, out: 2, inW: 8, inSigned: true, wW: 8, biasW: 18, mW: 16, zero: 3,
			cast: num.Cast{Shift: 29, Width: 8, Signed: true}}, 8, 2},
		{matrix{in: 22, out: 2, inW: 6, wW: 17, biasW: 20, cast: num.Cast{Shift: 14, Width: 9, Signed: true}}, 11, 1},
		{matrix{in: 38, out: 2, inW: 8, inSigned: true, wW: 8, biasW: 18, pshW: 1, mW: 14, zero: -3,
			cast: num.Cast{Shift: 29, Width: 8, Signed: true}}, 19, 1},
		{matrix{in: 66, out: 4, inW: 5, inSigned: true, wW: 5, biasW: 12, mW: 12,
			cast: num.Cast{Shift: 20, Width: 8, Signed: true}}, 66, 2},
	} {
		m := c.m
		m.cast.Round, m.cast.Over = i%9, i%3
		m.fill(rand.New(rand.NewPCG(17, uint64(i))))
		rtltest.Run(t, linearBench(&m, c.inLanes, c.outLan, text("MULT", "chain")))
	}
}

// TestLinearPairs has two products in a DSP that also sums, with cascades as long as the weights let them be: one and
// several, of one DSP and of six, with sums of the least and the most that fit.
func TestLinearPairs(t *testing.T) {
	for i, c := range []struct {
		m               matrix
		inLanes, outLan int
		long            int
	}{
		{matrix{in: 6, out: 4, inW: 8, inSigned: true, wW: 8, biasW: 16,
			cast: num.Cast{Shift: 9, Width: 8, Signed: true}}, 1, 2, 1},
		{matrix{in: 6, out: 4, inW: 8, wW: 8, biasW: 20, pshW: 2, cast: num.Cast{Shift: 9, Width: 8, Signed: true}},
			3, 2, 4},
		{matrix{in: 16, out: 4, inW: 8, inSigned: true, wW: 8, biasW: 18, mW: 16, zero: 3,
			cast: num.Cast{Shift: 29, Width: 8, Signed: true}}, 8, 4, 6},
		{matrix{in: 18, out: 2, inW: 6, inSigned: true, wW: 8, biasW: 18, cast: num.Cast{Shift: 9, Width: 9, Signed: true}},
			6, 2, 6},
		{matrix{in: 26, out: 2, inW: 8, wW: 8, biasW: 18, pshW: 1, mW: 14, zero: -3,
			cast: num.Cast{Shift: 29, Width: 8, Signed: true}}, 13, 2, 4},
		{matrix{in: 14, out: 4, inW: 5, inSigned: true, wW: 10, biasW: 12, mW: 12,
			cast: num.Cast{Shift: 20, Width: 8, Signed: true}}, 14, 2, 2},
		{matrix{in: 3, out: 4, inW: 4, wW: 4, biasW: 9, cast: num.Cast{Shift: 4, Width: 6}}, 3, 4, 3},
		{matrix{in: 4, out: 2, inW: 6, wW: 10, biasW: 12, cast: num.Cast{Shift: 9, Width: 8, Signed: true}}, 2, 2, 1},
	} {
		m := c.m
		m.cast.Round, m.cast.Over = i%9, i%3
		m.fill(rand.New(rand.NewPCG(19, uint64(i))))
		rtltest.Run(t, linearBench(&m, c.inLanes, c.outLan, text("MULT", "pack"), rtltest.P("LONG", c.long)))
	}
}

// TestLinearLane benches a lane on its own as a pipeline, and a pair of them: one beat a vector, operands and constants
// side by side.
func TestLinearLane(t *testing.T) {
	for i, pshW := range []int{0, 2, 0, 2} {
		for lanes, module := range []string{1: "op_linear_lane", 2: "op_linear_shared"} {
			if lanes == 0 {
				continue
			}
			m := matrix{in: 3, out: lanes, inW: 6, inSigned: true, wW: 5, biasW: 10, pshW: pshW,
				cast: num.Cast{Shift: 4, Width: 6, Signed: true}}
			if i > 1 {
				m.mW, m.zero, m.cast.Shift = 16, 3, 21
			}
			m.fill(rand.New(rand.NewPCG(9, uint64(pshW))))
			weights, konst := new(big.Int), new(big.Int)
			for p := lanes - 1; p >= 0; p-- {
				weights.Lsh(weights, uint(m.in*m.wW)).Or(weights, word(m.wW, m.weights[p]))
				konst.Lsh(konst, uint(m.konstW())).Or(konst, m.konst(p))
			}
			p := rtltest.P
			rtltest.Run(t, rtltest.Bench{
				Module: module, Pipeline: true,
				Params: append(m.numeric(), p("IN_LANES", m.in), p("ONE_BEAT", 1)),
				In:     []rtltest.Port{{Name: "x", Lanes: m.in, Signed: true}},
				Out:    []rtltest.Port{{Name: "y", Lanes: lanes}},
				Ties: []rtl.Param{{Name: "w", Value: fmt.Sprintf("%d'h%x", lanes*m.in*m.wW, weights)},
					{Name: "first", Value: "1'b1"}, {Name: "valid", Value: "1'b1"},
					{Name: "konst", Value: fmt.Sprintf("%d'h%x", lanes*m.konstW(), konst)}},
				Model: func(in [][]int64) [][]int64 { return [][]int64{m.apply(in[0])} },
				Gen:   m.gen,
			})
		}
	}
}

// TestLinearBroken has the bench look at faults that a bench without stalls, worst rows or several vectors would miss.
func TestLinearBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	for _, c := range []struct{ file, old, fault string }{
		{"op_linear_fed.sv", "fresh_q ? x_new", "!fresh_q ? x_new"},
		{"op_linear_fed.sv", "|| !(en ? done[TAIL-1] : done[TAIL])", "|| !done[TAIL]"},
		{"op_linear_meet.sv", "if (en) begin", "begin"},
		{"op_linear_meet.sv", "x[k%KEPT/KEEP", "x[(KEPT-1-k%KEPT)/KEEP"},
		{"op_linear_walk.sv", "assign step = (!fresh || valid) && ready;", "assign step = (fresh || valid) && ready;"},
		{"op_linear_lane.sv", "if (en && valid) acc", "if (valid) acc"},
		{"num_chain.sv", "wire take = en && valid;", "wire take = en || valid;"},
		{"num_chain.sv", "WAIT > 1 ? WAIT - 1 : 0", "0"},
		{"num_chain_pair.sv", "{~p[SHIFT-1], p[SHIFT-2:0]}", "p[SHIFT-1:0]"},
		{"num_chain_pair.sv", "(BEHIND > 0 || valid)", "(BEHIND > 0 || valid || !first)"},
		{"num_dsp_two.sv", "in_q[23:0] + so_far[23:0] + front[23:0]", "in_q[23:0] + so_far[23:0]"},
		{"op_linear_shared.sv", "{konst[KW+:BIAS_W], konst[0+:BIAS_W]}", "{konst[0+:BIAS_W], konst[KW+:BIAS_W]}"},
		{"op_linear_lane.sv", "wire signed [BIAS_W-1:0] bias =", "wire [BIAS_W-1:0] bias ="},
	} {
		broken(t, c.file, c.old, c.fault, func() rtltest.Bench {
			m := matrix{in: 6, out: 4, inW: 5, inSigned: true, wW: 4, biasW: 8,
				cast: num.Cast{Shift: 5, Width: 5, Signed: true}}
			m.fill(rand.New(rand.NewPCG(8, 8)))
			switch c.file {
			case "num_chain.sv":
				return linearBench(&m, 2, 2, text("MULT", "chain"))
			case "num_chain_pair.sv", "num_dsp_two.sv", "op_linear_shared.sv":
				return linearBench(&m, 3, 2, text("MULT", "pack"), rtltest.P("LONG", 2))
			}
			if c.file == "op_linear_meet.sv" {
				m = matrix{in: 8, out: 4, inW: 5, wW: 5, biasW: 8, keep: 1, of: 4, cast: num.Cast{Shift: 5, Width: 5}}
				m.fill(rand.New(rand.NewPCG(8, 8)))
				return linearBench(&m, 8, 2)
			}
			return linearBench(&m, 2, 2)
		})
	}
}
