// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// inSets is a bench of a unit that layers share: units are the benches of each layer alone, whose frames come in turn.
// A frame of the result is one of each layer, of sweeps frames as the module understands them.
func inSets(t *testing.T, units []rtltest.Bench, sweeps int, more ...rtl.Param) rtltest.Bench {
	t.Helper()
	b := units[0]
	params := append(append([]rtl.Param(nil), b.Params...), more...)
	facts, err := (&rtl.Unit{Module: b.Module, Params: params}).Facts(nil)
	if err != nil {
		t.Fatal(err)
	}
	frames := len(units) * sweeps
	b.Images = append([]rtl.Image(nil), b.Images...)
	var declared, passed []string
	for i := range b.Images {
		im := &b.Images[i]
		im.Words = nil
		for _, u := range units {
			im.Words = append(im.Words, u.Images[i].Words...)
		}
		declared = append(declared, fmt.Sprintf("parameter %s = \"\", parameter [31:0] %s_SUM = 32'd0", im.Param, im.Param))
		passed = append(passed, fmt.Sprintf(".%s(%s), .%s_SUM(%s_SUM)", im.Param, im.Param, im.Param, im.Param))
	}
	for _, p := range params {
		passed = append(passed, fmt.Sprintf(".%s(%s)", p.Name, p.Value))
	}
	name := "sets_of_" + b.Module
	b.Files = []rtl.File{{Name: name + ".sv", Data: fmt.Appendf(nil, setsBench, name, b.Module, facts.Latency,
		facts.II*frames, name, strings.Join(declared, ",\n    "), portWidth(t, b.Module, params, "in_data"),
		portWidth(t, b.Module, params, "out_data"), b.Module,
		strings.Join(passed, ", "))}}
	b.Module, b.Params = name, nil
	beats := max(b.In[0].Beats, 1) * b.In[0].Lanes
	b.In = append([]rtltest.Port(nil), b.In...)
	b.In[0].Beats *= frames
	if b.Model != nil {
		b.Model = func(in [][]int64) [][]int64 {
			var out []int64
			for i := range frames {
				out = append(out, units[i/sweeps].Model([][]int64{in[0][i*beats : (i+1)*beats]})[0]...)
			}
			return [][]int64{out}
		}
	} else {
		b.BigModel = func(in [][]*big.Int) [][]*big.Int {
			var out []*big.Int
			for i := range frames {
				out = append(out, units[i/sweeps].BigModel([][]*big.Int{in[0][i*beats : (i+1)*beats]})[0]...)
			}
			return [][]*big.Int{out}
		}
	}
	b.Gen, b.Frames = nil, 12
	return b
}

// portWidth is the width of a port in bits.
func portWidth(t *testing.T, module string, params []rtl.Param, port string) int {
	t.Helper()
	ports, err := rtl.Signature(module, params)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ports {
		if p.Name == port {
			return max(p.Width, 1)
		}
	}
	t.Fatalf("%s has no port %s", module, port)
	return 0
}

const setsBench = `// %s: %s with a frame of each layer.
//   latency: %d   ii: %d   order: as it comes
//   flow: parts
//   parts: u_unit
module %s #(
    %s
) (
    input wire clk,
    input wire rst,
    input wire [%d-1:0] in_data,
    input wire in_valid,
    output wire in_ready,
    output wire [%d-1:0] out_data,
    output wire out_valid,
    input wire out_ready
);
  %s #(%s) u_unit (.clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid),
      .in_ready(in_ready), .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready));
endmodule
`

// layersOf draws the constants of several layers, and gives all the widths of the widest.
func layersOf(m matrix, layers int) []*matrix {
	var all []*matrix
	dotW, totalW := 0, 0
	for l := range layers {
		c := m
		c.fill(rand.New(rand.NewPCG(31, uint64(l))))
		for o := range c.weights { // fill has the same extremes everywhere
			if o < len(c.weights)/2 && l%2 == 1 {
				c.weights[o], c.weights[c.out-1-o] = c.weights[c.out-1-o], c.weights[o]
				c.bias[o], c.bias[c.out-1-o] = c.bias[c.out-1-o], c.bias[o]
			}
		}
		c.measure()
		dotW, totalW = max(dotW, c.dotW), max(totalW, c.totalW)
		all = append(all, &c)
	}
	for _, c := range all {
		c.dotW, c.totalW = dotW, totalW
	}
	return all
}

// linearSets is a linear unit of several layers.
func linearSets(t *testing.T, m matrix, inLanes, outLanes, sets, sweeps int) rtltest.Bench {
	var units []rtltest.Bench
	for _, c := range layersOf(m, sets) {
		units = append(units, linearBench(c, inLanes, outLanes))
	}
	return inSets(t, units, sweeps, rtltest.P("SETS", sets), rtltest.P("SWEEPS", sweeps))
}

func TestLinearSets(t *testing.T) {
	cast := num.Cast{Shift: 6, Width: 8, Signed: true}
	for _, c := range []struct{ in, out, inLanes, outLanes, pshW, mW, sets, sweeps int }{
		{6, 4, 2, 2, 0, 0, 3, 2},
		{6, 4, 3, 2, 2, 0, 2, 1},  // constants that are read late
		{4, 3, 4, 3, 0, 0, 5, 3},  // one word of weights a layer
		{4, 6, 4, 2, 1, 0, 3, 1},  // a word of weights, three of constants
		{12, 2, 2, 2, 0, 0, 2, 5}, // one word of constants, which waits for six beats
		{5, 5, 1, 1, 0, 9, 4, 2},
	} {
		m := matrix{in: c.in, out: c.out, inW: 5, inSigned: true, wW: 4, biasW: 8, pshW: c.pshW, mW: c.mW, cast: cast}
		if c.mW > 0 {
			m.zero, m.cast.Shift = 3, 14
		}
		rtltest.Run(t, linearSets(t, m, c.inLanes, c.outLanes, c.sets, c.sweeps))
	}
}

// scaleSets is a scale of several layers.
func scaleSets(t *testing.T, channels, lanes, pshW, sets, sweeps int) rtltest.Bench {
	m := matrix{in: 1, out: channels, inW: 5, inSigned: true, wW: 4, biasW: 8, pshW: pshW,
		cast: num.Cast{Shift: 3, Width: 8, Signed: true}}
	var units []rtltest.Bench
	for _, c := range layersOf(m, sets) {
		units = append(units, scaleBench(c, lanes, sweeps))
	}
	return inSets(t, units, 1, rtltest.P("SETS", sets), rtltest.P("SWEEPS", sweeps))
}

func TestScaleSets(t *testing.T) {
	rtltest.Run(t, scaleSets(t, 6, 2, 0, 3, 2))
	rtltest.Run(t, scaleSets(t, 4, 4, 2, 2, 3))
	rtltest.Run(t, scaleSets(t, 5, 1, 1, 4, 1))
}

// normSets is a norm of several layers.
func normSets(t *testing.T, m norm, sets, sweeps int) rtltest.Bench {
	var units []rtltest.Bench
	for l := range sets {
		c := m
		c.fill(rand.New(rand.NewPCG(47, uint64(l))))
		if l%2 == 1 { // fill has the same extremes everywhere
			for i := range c.gamma {
				c.gamma[i] = ^c.gamma[i]
			}
		}
		units = append(units, c.bench())
	}
	return inSets(t, units, sweeps, rtltest.P("SETS", sets), rtltest.P("SWEEPS", sweeps))
}

func TestNormSets(t *testing.T) {
	rtltest.Run(t, normSets(t, norm{n: 8, lanes: 2, rows: 3, in: fixed8, f: 4, eps: 1e-5, gainW: 8, gainF: 6, biasW: 8,
		biasF: 5, fo: 5, out: fixed8}, 3, 1))
	rtltest.Run(t, normSets(t, norm{n: 4, lanes: 4, rows: 2, in: fixed8, f: 4, eps: 1e-5, rms: true, gainW: 8, gainF: 6,
		fo: 5, out: fixed8}, 2, 3))
}

// depthwiseSets is a depthwise convolution of several layers, with windows of three rows or of one element, by one tap
// a cycle or, with taps, by several of all channels.
func depthwiseSets(t *testing.T, rows, pshW, taps, sets int) rtltest.Bench {
	g := geometry{H: 4, W: 3, C: 4, KH: 3, KW: 2, SH: 1, SW: 1, DH: 1, DW: 1, PT: 1, PL: 0, PB: 1, PR: 1}
	if rows == 1 {
		g.KH, g.KW, g.PT, g.PB, g.PR = 1, 1, 0, 0, 0
	}
	m := matrix{in: g.KH * g.KW, out: g.C, inW: 6, inSigned: true, wW: 5, biasW: 10, pshW: pshW,
		cast: num.Cast{Shift: 4, Width: 8, Signed: true}}
	p := rtltest.P
	var units []rtltest.Bench
	for _, c := range layersOf(m, sets) {
		b := rtltest.Bench{Module: "op_dwconv", Images: depthwiseImages(c, 2),
			Params: append(g.params(p("LANES", 2)), c.numeric()...),
			In:     []rtltest.Port{{Name: "in", Lanes: 2, Signed: true, Beats: g.H * g.W * g.C / 2}},
			Out:    []rtltest.Port{{Name: "out", Lanes: 2}},
			Model: func(in [][]int64) [][]int64 {
				var out []int64
				windows := g.windows(in[0], 0, g.C)
				for k := 0; len(windows) > 0; k, windows = (k+1)%g.C, windows[c.in:] {
					out = append(out, c.code(k, c.total(k, c.dot(c.weights[k], windows[:c.in]))))
				}
				return [][]int64{out}
			}}
		if taps > 0 {
			b.Module, b.Images, b.Out[0].Lanes = "op_dwconv_wide", wideImages(c, taps), g.C
			b.Params = append(g.params(p("STREAM_LANES", 2), p("TAP_LANES", taps)), c.numeric()...)
		}
		units = append(units, b)
	}
	return inSets(t, units, 1, p("SETS", sets), p("SWEEPS", g.H*g.W))
}

func TestDepthwiseSets(t *testing.T) {
	rtltest.Run(t, depthwiseSets(t, 3, 0, 0, 3))
	rtltest.Run(t, depthwiseSets(t, 1, 2, 0, 2))
	rtltest.Run(t, depthwiseSets(t, 3, 0, 3, 2))
	rtltest.Run(t, depthwiseSets(t, 3, 2, 6, 3))
}

// pairSets adds other constants in each layer.
func pairSets(t *testing.T, beats, words, sets, sweeps int) rtltest.Bench {
	p := pairs[0]
	p.beats = beats
	var units []rtltest.Bench
	for l := range sets {
		r := rand.New(rand.NewPCG(53, uint64(l)))
		b := make([]int64, p.lanes*words)
		for k := range b {
			b[k] = between(r, -128, 127)
		}
		units = append(units, p.bench(b))
	}
	return inSets(t, units, sweeps, rtltest.P("SETS", sets), rtltest.P("SWEEPS", sweeps))
}

func TestPairConstSets(t *testing.T) {
	rtltest.Run(t, pairSets(t, 6, 3, 3, 2))
	rtltest.Run(t, pairSets(t, 2, 1, 4, 1))
}

// again is a point of op_again.
type again struct{ width, beats, turns int }

func (c again) bench() rtltest.Bench {
	p := rtltest.P
	from := make([]int, (c.turns-1)*c.beats)
	for i := range from {
		from[i] = i
	}
	return moveBench("op_again", c.width, c.turns*c.beats, from, nil, p("WIDTH", c.width), p("BEATS", c.beats),
		p("TURNS", c.turns))
}

var agains = []again{{8, 1, 2}, {5, 3, 4}, {9, 70, 3}, {1, 2, 12}}

func TestAgain(t *testing.T) {
	for _, c := range agains {
		rtltest.Run(t, c.bench())
	}
}

// TestSetsBroken plants faults into what counts frames and sets.
func TestSetsBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	m := matrix{in: 6, out: 4, inW: 5, inSigned: true, wW: 4, biasW: 8, cast: num.Cast{Shift: 6, Width: 8, Signed: true}}
	linear := func() rtltest.Bench { return linearSets(t, m, 2, 2, 3, 2) }
	whole := func() rtltest.Bench { return linearSets(t, m, 6, 2, 3, 2) }    // a vector is one beat
	straight := func() rtltest.Bench { return linearSets(t, m, 2, 4, 3, 2) } // a vector is used once, and waited for
	scale := func() rtltest.Bench { return scaleSets(t, 6, 2, 2, 3, 2) }
	affine := func() rtltest.Bench {
		return normSets(t, norm{n: 8, lanes: 2, rows: 3, in: fixed8, f: 4, eps: 1e-5, gainW: 8, gainF: 6, biasW: 8,
			biasF: 5, fo: 5, out: fixed8}, 3, 2)
	}
	thin := func() rtltest.Bench { return depthwiseSets(t, 1, 0, 0, 3) }
	for _, c := range []struct {
		file, old, fault string
		of               func() rtltest.Bench
	}{
		{"op_linear_fed.sv", "read_k && last_k", "read_k || last_k", linear},
		{"op_linear_fed.sv", "read_k = passed[WAIT-1]", "read_k = passed[WAIT-1] || 1'b1", whole},
		{"op_linear.sv", ".step(step), .addr", ".step(step || en), .addr", straight},
		{"mem_sets.sv", "en && step &&", "step &&", linear},
		{"mem_sets.sv", "base == AW'((SETS - 1) * DEPTH)", "base == AW'((SETS - 2) * DEPTH)", linear},
		{"op_scale.sv", ".step(in_valid)", ".step(1'b1)", scale},
		{"op_scale.sv", "moving[PSH_W > 0 ? 1 : 0]", "moving[0]", scale},
		{"op_norm.sv", ".step(moving[2+LONG])", ".step(moving[1])", affine},
		{"op_dwconv.sv", "moving[WAIT-1] && last_k", "last_k",
			func() rtltest.Bench { return depthwiseSets(t, 1, 2, 0, 2) }},
		{"op_dwconv.sv", ".step(tap_valid)", ".step(tap_valid || en)", thin},
		{"op_dwconv_wide.sv", "moving[WAIT-1] && last_k", "moving[WAIT-1] || last_k",
			func() rtltest.Bench { return depthwiseSets(t, 3, 0, 3, 2) }},
		{"op_pair_const.sv", ".step(in_valid)", ".step(in_valid || en)",
			func() rtltest.Bench { return pairSets(t, 2, 1, 4, 1) }},
		{"op_pair_const.sv", "SWEEPS * (BEATS / WORDS)", "0 * SWEEPS + BEATS / WORDS",
			func() rtltest.Bench { return pairSets(t, 6, 3, 3, 2) }},
		{"op_norm.sv", ".SWEEPS(ROWS * SWEEPS)", ".SWEEPS(ROWS + 0 * SWEEPS)", affine},
		{"op_again.sv", ".FIRST(0)", ".FIRST(1)", agains[1].bench},
	} {
		broken(t, c.file, c.old, c.fault, c.of)
	}
}
