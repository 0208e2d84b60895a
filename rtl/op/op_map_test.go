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

// format is the format of an element-wise operation's argument.
type format struct {
	width  int
	signed bool
}

// mapBench benches an element-wise module: f maps a code; cast fills the parameters of the result's format.
func mapBench(module string, lanes int, in format, cast num.Cast, f func(x int64) int64,
	more ...rtl.Param) rtltest.Bench {
	p := rtltest.P
	params := []rtl.Param{p("LANES", lanes), p("IN_W", in.width), p("IN_SIGNED", flag(in.signed)), p("SHIFT", cast.Shift),
		p("OUT_W", cast.Width), p("OUT_SIGNED", flag(cast.Signed)), p("ROUND", cast.Round), p("OVER", cast.Over),
		p("BEATS", 3)}
	return rtltest.Bench{
		Module: module, Params: append(params, more...),
		In:  []rtltest.Port{{Name: "in", Lanes: lanes, Signed: in.signed, Beats: 3}},
		Out: []rtltest.Port{{Name: "out", Lanes: lanes}},
		Model: func(in [][]int64) [][]int64 {
			out := make([]int64, len(in[0]))
			for i, x := range in[0] {
				out[i] = f(x)
			}
			return [][]int64{out}
		},
	}
}

// mapPoints are formats and casts that every element-wise module is tried with: to fewer bits, to more, signs mixed.
var mapPoints = []struct {
	lanes int
	in    format
	cast  num.Cast
}{
	{4, format{8, true}, num.Cast{Shift: 3, Width: 5, Signed: true, Round: num.Even}},
	{3, format{6, false}, num.Cast{Shift: 2, Width: 3, Round: num.Ceil, Over: num.Wrap}},
	{1, format{9, true}, num.Cast{Shift: -2, Width: 8, Round: num.Away}},
	{2, format{5, false}, num.Cast{Shift: 0, Width: 4, Signed: true, Round: num.Outward, Over: num.Symmetric}},
	{2, format{16, true}, num.Cast{Shift: 9, Width: 6, Signed: true, Round: num.Floor, Over: num.Symmetric}},
}

func TestCast(t *testing.T) {
	for _, c := range mapPoints {
		rtltest.Run(t, mapBench("op_cast", c.lanes, c.in, c.cast,
			func(x int64) int64 { return c.cast.Of(big.NewInt(x)).Int64() }))
	}
}

func TestRelu(t *testing.T) {
	for _, c := range mapPoints {
		rtltest.Run(t, mapBench("op_relu", c.lanes, c.in, c.cast,
			func(x int64) int64 { return c.cast.Of(big.NewInt(max(x, 0))).Int64() }))
	}
}

func TestLeakyRelu(t *testing.T) {
	for i, c := range mapPoints {
		// 0.01 and 0.2 as float32, a power of two, a negative and a large slope.
		sig := []int{10737418, 13421773, 1, -5, 3}[i]
		exp := []int{-30, -26, -4, -3, 2}[i]
		rtltest.Run(t, mapBench("op_leaky_relu", c.lanes, c.in, c.cast, func(x int64) int64 {
			if x >= 0 {
				return c.cast.Of(big.NewInt(x)).Int64()
			}
			scaled := c.cast
			scaled.Shift -= exp
			return scaled.Of(new(big.Int).Mul(big.NewInt(x), big.NewInt(int64(sig)))).Int64()
		}, rtltest.P("ALPHA_SIG", sig), rtltest.P("ALPHA_EXP", exp)))
	}
}

func TestClip(t *testing.T) {
	for i, c := range mapPoints {
		least, most := bounds(c.in.width, c.in.signed)
		low := []int64{least / 2, 0, least, 3, -500}[i]
		high := []int64{most / 3, most - 3, most, 3, 700}[i]
		codeLow, codeHigh := int64(i), int64(2*i+1)
		literal := func(name string, width int, v int64) rtl.Param {
			return rtl.Param{Name: name, Value: fmt.Sprintf("%d'h%x", width, word(width, []int64{v}))}
		}
		rtltest.Run(t, mapBench("op_clip", c.lanes, c.in, c.cast, func(x int64) int64 {
			switch {
			case x > high:
				return codeHigh
			case x < low:
				return codeLow
			}
			return c.cast.Of(big.NewInt(x)).Int64()
		}, literal("XLO", c.in.width, low), literal("XHI", c.in.width, high), literal("CODE_LO", c.cast.Width, codeLow),
			literal("CODE_HI", c.cast.Width, codeHigh)))
	}
}

func TestTable(t *testing.T) {
	for i, c := range []struct{ lanes, inW, outW int }{{1, 1, 3}, {3, 5, 8}, {2, 8, 33}, {4, 11, 6}} {
		r := rand.New(rand.NewPCG(21, uint64(i)))
		im := rtl.Image{Param: "IMAGE", Width: c.outW}
		for range 1 << c.inW {
			im.Words = append(im.Words, big.NewInt(r.Int64N(1<<c.outW)))
		}
		p := rtltest.P
		rtltest.Run(t, rtltest.Bench{
			Module: "op_table", Params: []rtl.Param{p("LANES", c.lanes), p("IN_W", c.inW), p("OUT_W", c.outW), p("BEATS", 2),
				text("ROM_STYLE", []string{"auto", "distributed", "block"}[i%3])},
			Images: []rtl.Image{im},
			In:     []rtltest.Port{{Name: "in", Lanes: c.lanes, Beats: 2}},
			Out:    []rtltest.Port{{Name: "out", Lanes: c.lanes}},
			BigModel: func(in [][]*big.Int) [][]*big.Int {
				out := make([]*big.Int, len(in[0]))
				for i, x := range in[0] {
					out[i] = im.Words[x.Int64()]
				}
				return [][]*big.Int{out}
			},
		})
	}
}

// scaleBench has one weight a channel: the matrix is diagonal, its row c times x[c].
func scaleBench(m *matrix, lanes, pixels int, more ...rtl.Param) rtltest.Bench {
	p := rtltest.P
	params := append([]rtl.Param{p("C", m.out), p("LANES", lanes), p("BEATS", pixels*m.out/lanes)}, m.numeric()...)
	return rtltest.Bench{
		Module: "op_scale", Params: append(params, more...), Images: m.images(1, lanes),
		In:  []rtltest.Port{{Name: "in", Lanes: lanes, Signed: m.inSigned, Beats: pixels * m.out / lanes}},
		Out: []rtltest.Port{{Name: "out", Lanes: lanes}},
		Model: func(in [][]int64) [][]int64 {
			y := make([]int64, len(in[0]))
			for i, x := range in[0] {
				c := i % m.out
				y[i] = m.code(c, m.total(c, m.dot(m.weights[c], []int64{x})))
			}
			return [][]int64{y}
		},
	}
}

func TestScale(t *testing.T) {
	for i, c := range []struct {
		m             matrix
		lanes, pixels int
		mult          string
	}{
		{matrix{out: 6, inW: 8, inSigned: true, wW: 8, biasW: 16,
			cast: num.Cast{Shift: 7, Width: 8, Signed: true}}, 2, 3, "auto"},
		{matrix{out: 4, inW: 8, wW: 8, biasW: 16, mW: 33, zero: -100,
			cast: num.Cast{Shift: 40, Width: 8, Signed: true}}, 2, 3, "auto"},
		{matrix{out: 4, inW: 5, wW: 6, biasW: 8, cast: num.Cast{Shift: 4, Width: 6}}, 4, 2, "dsp"},
		{matrix{out: 5, inW: 7, inSigned: true, wW: 9, biasW: 10, pshW: 2,
			cast: num.Cast{Shift: 6, Width: 9, Signed: true}}, 1, 1,
			"lut"},
		{matrix{out: 1, inW: 4, wW: 2, biasW: 4, pshW: 1,
			cast: num.Cast{Shift: -1, Width: 8, Signed: true}}, 1, 4, "auto"},
	} {
		m := c.m
		m.in = 1
		m.cast.Round, m.cast.Over = (4+i)%9, (2+i)%3
		m.fill(rand.New(rand.NewPCG(31, uint64(i))))
		rtltest.Run(t, scaleBench(&m, c.lanes, c.pixels, text("MULT", c.mult)))
	}
}

func TestPRelu(t *testing.T) {
	for i, c := range mapPoints {
		slopes := make([]int64, c.lanes*(1+i%3))
		for k := range slopes {
			slopes[k] = int64(k*5%16) - 8
		}
		image := rtl.Image{Param: "SLOPES", Width: c.lanes * 4}
		for f := 0; f < len(slopes); f += c.lanes {
			image.Words = append(image.Words, word(4, slopes[f:f+c.lanes]))
		}
		b := mapBench("op_prelu", c.lanes, c.in, c.cast, nil, rtltest.P("C", len(slopes)), rtltest.P("W_W", 4),
			rtltest.P("ONE", i%3))
		beats := len(slopes) / c.lanes
		b.Params[8], b.In[0].Beats, b.Images = rtltest.P("BEATS", 2*beats), 2*beats, []rtl.Image{image}
		b.Model = func(in [][]int64) [][]int64 {
			y := make([]int64, len(in[0]))
			for k, x := range in[0] {
				if x < 0 {
					x *= slopes[k%len(slopes)]
				} else {
					x <<= i % 3
				}
				y[k] = c.cast.Of(big.NewInt(x)).Int64()
			}
			return [][]int64{y}
		}
		rtltest.Run(t, b)
	}
}

func TestMapBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	c := mapPoints[0]
	broken(t, "op_relu.sv", "IN_SIGNED != 0 &&", "IN_SIGNED == 0 &&", func() rtltest.Bench {
		return mapBench("op_relu", c.lanes, c.in, c.cast, func(x int64) int64 {
			return c.cast.Of(big.NewInt(max(x, 0))).Int64()
		})
	})
	scale := func() rtltest.Bench {
		m := matrix{in: 1, out: 4, inW: 5, inSigned: true, wW: 4, biasW: 6, cast: num.Cast{Shift: 3, Width: 6, Signed: true}}
		m.fill(rand.New(rand.NewPCG(1, 1)))
		return scaleBench(&m, 2, 2)
	}
	broken(t, "op_scale.sv", "fold   <= AW'(0);", "", scale)
	broken(t, "op_scale.sv", "if (in_valid) fold", "fold", scale)
}

// TestThreshold has thresholds within and beyond the range of the elements, of one sign and of both.
func TestThreshold(t *testing.T) {
	for i, c := range []struct{ c, lanes, n, inW, outW, low, pixels int }{
		{4, 2, 1, 5, 1, 0, 2}, {6, 6, 3, 8, 2, -2, 1}, {6, 1, 7, 4, 3, 0, 2}, {3, 1, 15, 9, 4, -8, 1}, {1, 1, 2, 3, 2, -1, 3},
		{5, 5, 2, 6, 5, 9, 1},
	} {
		r := rand.New(rand.NewPCG(22, uint64(i)))
		signed, p := i%2 == 0, rtltest.P
		tW := c.inW + 2
		at := make([]int64, c.c*c.n)
		for k := range at {
			at[k] = r.Int64N(1<<tW) - 1<<(tW-1)
			if k > 2 {
				at[k] = r.Int64N(1<<c.inW) - 1<<c.inW/4
			}
		}
		im := rtl.Image{Param: "IMAGE", Width: c.lanes * c.n * tW}
		for k := 0; k < len(at); k += c.lanes * c.n {
			im.Words = append(im.Words, word(tW, at[k:k+c.lanes*c.n]))
		}
		beats := c.pixels * c.c / c.lanes
		rtltest.Run(t, rtltest.Bench{
			Module: "op_threshold", Seed: uint64(i), Images: []rtl.Image{im},
			Params: []rtl.Param{p("C", c.c), p("LANES", c.lanes), p("N", c.n), p("IN_W", c.inW), p("IN_SIGNED", flag(signed)),
				p("T_W", tW), p("OUT_W", c.outW), p("LOW", c.low), p("BEATS", beats)},
			In:  []rtltest.Port{{Name: "in", Lanes: c.lanes, Signed: signed, Beats: beats}},
			Out: []rtltest.Port{{Name: "out", Lanes: c.lanes}},
			Model: func(in [][]int64) [][]int64 {
				y := make([]int64, len(in[0]))
				for k, x := range in[0] {
					y[k] = int64(c.low)
					for _, a := range at[k%c.c*c.n:][:c.n] {
						if x >= a {
							y[k]++
						}
					}
					y[k] &= 1<<c.outW - 1
				}
				return [][]int64{y}
			},
		})
	}
}
