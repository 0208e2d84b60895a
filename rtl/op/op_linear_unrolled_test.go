// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

func unrolledBench(m *matrix, more ...rtl.Param) rtltest.Bench {
	p := rtltest.P
	params := append([]rtl.Param{p("IN", m.in), p("OUT", m.out)}, m.numeric()...)
	params = append(params, m.literals()...)
	return rtltest.Bench{
		Module: "op_linear_unrolled", Params: append(params, more...),
		In:     []rtltest.Port{{Name: "in", Lanes: m.in, Signed: m.inSigned}},
		Out:    []rtltest.Port{{Name: "out", Lanes: m.out}},
		Model:  func(in [][]int64) [][]int64 { return [][]int64{m.apply(in[0])} },
		Gen:    m.gen,
		Frames: 2*m.out + 200,
	}
}

// TestLinearUnrolled covers one and two digits a weight, signed and unsigned inputs, shifts, and both pipelines.
func TestLinearUnrolled(t *testing.T) {
	for i, c := range []struct {
		m    matrix
		pipe int
	}{
		{matrix{in: 8, out: 6, inW: 8, inSigned: true, wW: 8, biasW: 16,
			cast: num.Cast{Shift: 9, Width: 8, Signed: true}}, 2},
		{matrix{in: 5, out: 5, inW: 4, wW: 6, biasW: 10, pshW: 2, cast: num.Cast{Shift: 7, Width: 8}}, 1},
		{matrix{in: 3, out: 7, inW: 6, inSigned: true, wW: 9, biasW: 12,
			cast: num.Cast{Shift: 5, Width: 9, Signed: true}}, 2},
		{matrix{in: 4, out: 6, inW: 10, wW: 16, biasW: 30, pshW: 3,
			cast: num.Cast{Shift: 18, Width: 12, Signed: true}}, 2},
		{matrix{in: 1, out: 1, inW: 3, inSigned: true, wW: 3, biasW: 4,
			cast: num.Cast{Shift: 2, Width: 4, Signed: true}}, 2},
		{matrix{in: 6, out: 4, inW: 1, wW: 1, biasW: 2, pshW: 1,
			cast: num.Cast{Shift: -1, Width: 5, Signed: true}}, 1},
		{matrix{in: 7, out: 4, inW: 5, inSigned: true, wW: 2, biasW: 6,
			cast: num.Cast{Shift: 1, Width: 5, Signed: true}}, 2},
		{matrix{in: 2, out: 9, inW: 7, inSigned: true, wW: 18, biasW: 20,
			cast: num.Cast{Shift: 12, Width: 11, Signed: true}}, 1},
		{matrix{in: 3, out: 5, inW: 6, inSigned: true, wW: 7, biasW: 14, mW: 31, zero: 12,
			cast: num.Cast{Shift: 40, Width: 8, Signed: true}}, 2},
		{matrix{in: 2, out: 3, inW: 5, wW: 4, biasW: 9, pshW: 2, mW: 35, zero: -3,
			cast: num.Cast{Shift: 42, Width: 6, Signed: true}}, 1},
	} {
		m := c.m
		m.cast.Round, m.cast.Over = 2*i%9, i%3
		m.fill(rand.New(rand.NewPCG(11, uint64(i))))
		rtltest.Run(t, unrolledBench(&m, rtltest.P("PIPE", c.pipe)))
	}
}

// TestLinearUnrolledEveryWeight multiplies by every constant of 8 bits: each is a weight of its own row.
func TestLinearUnrolledEveryWeight(t *testing.T) {
	m := matrix{in: 1, out: 256, inW: 5, inSigned: true, wW: 8, biasW: 2, cast: num.Cast{Width: 13, Signed: true}}
	for o := range m.out {
		m.weights = append(m.weights, []int64{int64(o) - 128})
	}
	m.bias, m.psh = make([]int64, m.out), make([]int, m.out)
	m.measure()
	b := unrolledBench(&m)
	b.Frames = 100
	rtltest.Run(t, b)
}

// TestLinearColumn and TestLinearRow bench the halves as pipelines of their own.
func TestLinearColumn(t *testing.T) {
	weights := []int64{-8, -7, 0, 3, 5, 7, 6, -1}
	rtltest.Run(t, rtltest.Bench{
		Module: "op_linear_column", Pipeline: true,
		Params: []rtl.Param{rtltest.P("OUT", len(weights)), rtltest.P("IN_W", 6), rtltest.P("W_W", 4),
			{Name: "WEIGHTS", Value: "32'h" + word(4, weights).Text(16)}},
		In:  []rtltest.Port{{Name: "x", Signed: true}},
		Out: []rtltest.Port{{Name: "terms", Lanes: len(weights)}},
		Model: func(in [][]int64) [][]int64 {
			var terms []int64
			for _, w := range weights {
				debt := int64(0)
				if w < 0 {
					debt = w & -w
				}
				terms = append(terms, in[0][0]*w-debt)
			}
			return [][]int64{terms}
		},
	})
}

func TestLinearRow(t *testing.T) {
	c := num.Cast{Shift: 3, Width: 7, Signed: true}
	m := matrix{in: 5, out: 1, inW: 6, inSigned: true, wW: 2, weights: [][]int64{{1, 1, 1, 1, 1}}, bias: []int64{-37},
		psh: []int{2}, cast: c}
	m.measure()
	rtltest.Run(t, rtltest.Bench{
		Module: "op_linear_row", Pipeline: true,
		Params: []rtl.Param{rtltest.P("N", m.in), rtltest.P("TERM_W", m.inW), rtltest.P("T_W", 12),
			rtltest.P("SHIFT", c.Shift), rtltest.P("OUT_W", c.Width), rtltest.P("PSH", 2), {Name: "BIAS", Value: "-12'sd37"}},
		In:    []rtltest.Port{{Name: "terms", Lanes: m.in, Signed: true}},
		Out:   []rtltest.Port{{Name: "y"}},
		Model: func(in [][]int64) [][]int64 { return [][]int64{m.apply(in[0])} },
	})
}

func TestLinearUnrolledBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	for _, c := range []struct{ file, old, fault string }{
		{"op_linear_unrolled.sv", "(T_W'(debt(", "(T_W'(~debt("},
		{"op_linear_unrolled.sv", "assign en = out_room || !done;", "assign en = out_room || done;"},
		{"op_linear_column.sv", ".SUB(1)", ".SUB(0)"},
	} {
		broken(t, c.file, c.old, c.fault, func() rtltest.Bench {
			m := matrix{in: 6, out: 4, inW: 5, inSigned: true, wW: 4, biasW: 8,
				cast: num.Cast{Shift: 5, Width: 5, Signed: true}}
			m.fill(rand.New(rand.NewPCG(8, 8)))
			return unrolledBench(&m)
		})
	}
}
