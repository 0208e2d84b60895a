// SPDX-License-Identifier: Apache-2.0

package area

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/sim/area/paths"
)

// bounded is a module of the library in a size as networks have it, and what it may cost at most; 0: no goal. A
// parameter such as "256x48.mem" names an image of 256 random words of 48 bits.
type bounded struct {
	single
	most goals
}

// goals are LUTs of logic alone, shift registers, registers, multipliers and block RAMs of 18 Kbit.
type goals struct{ logic, srl, ff, dsp, bram int }

// goalsOf is what is counted, in the terms of goals.
func goalsOf(c Cells) goals {
	return goals{c.LUT - c.SRL - c.LUTRAM, c.SRL, c.FF, c.DSP, c.BRAM18 + 2*c.BRAM36}
}

// above lists what is more than a goal.
func (g goals) above(most goals) (over []string) {
	for _, p := range []struct {
		name       string
		have, most int
	}{{"LUTs", g.logic, most.logic}, {"shift registers", g.srl, most.srl}, {"registers", g.ff, most.ff},
		{"multipliers", g.dsp, most.dsp}, {"block RAMs", g.bram, most.bram}} {
		if p.most > 0 && p.have > p.most {
			over = append(over, fmt.Sprintf("%d %s, the goal is %d", p.have, p.name, p.most))
		}
	}
	return over
}

// plus is a row of the table that differs from another in some parameters.
func (h bounded) plus(set ...string) bounded {
	h.set = append(h.set[:len(h.set):len(h.set)], set...)
	return bounded{single: h.single}
}

// library lists every module that serves attention, norms, softmax, smooth functions, rotations, tables, recurrent
// layers, sequences and weights outside.
func library() []bounded {
	scores := bounded{single: single{"op_attend_scores", []string{"QUERIES", "197", "KEYS", "197", "HEADS", "3",
		"GROUPS", "3", "SIZE", "64", "ROW", "198", "F", "8", "R", "2"}}}
	sum := bounded{single: single{"op_attend_sum", scores.set}}
	norm := bounded{single{"op_norm", []string{"ROWS", "197", "N", "192", "EPS", "63'd98956044", "IMAGE",
		`"192x16.mem"`}}, goals{logic: 708, dsp: 5}}
	norm2 := norm.plus("LANES", "2", "IMAGE", `"96x32.mem"`)
	norm2.most = goals{logic: 790, dsp: 10}
	softmax := bounded{single{"op_softmax", []string{"ROWS", "197", "N", "197"}}, goals{logic: 498, dsp: 2}}
	logs := bounded{single: single{"op_log_softmax", softmax.set}}
	wide := softmax.plus("IN_W", "16", "OUT_W", "16", "FO", "16")
	wide.most = goals{logic: 648}
	// A stream adds to the registers of a lane its output, the second register of the output and a bit a step.
	lane := bounded{single{"op_interp_lane", []string{"IMAGE", `"256x48.mem"`}}, goals{62, 22, 158 - 16, 2, 2}}
	interp := bounded{single{"op_interp", lane.set}, goals{62, 22, 158 + 17 + 6, 2, 2}}
	rotate := bounded{single: single{"op_rotate", []string{"TOKENS", "64", "HEADS", "3", "SIZE", "16", "TURNED", "16",
		"LANES", "2", "C_W", "12", "ROM_STYLE", `"block"`, "IMAGE", `"256x48.mem"`}}}
	recur := bounded{single: single{"op_recur", []string{"HIDDEN", "16", "IN_LANES", "4", "OUT_LANES", "1", "STEPS", "20",
		"WEIGHTS", `"64x128.mem"`, "TANH", `"256x32.mem"`, "SIGMOID", `"256x32.mem"`, "ROM_STYLE", `"block"`}}}
	gru := recur.plus("KIND", "1", "CELL_F", "15", "CELL_W", "16", "BIAS", `"16x32.mem"`)
	reset := bounded{single: single{"op_recur_reset", append([]string{"CELL_F", "15", "CELL_W", "16"}, recur.set...)}}
	blocks := bounded{single: single{"mx_attend_scores", []string{"QUERIES", "17", "KEYS", "17", "ROW", "17", "HEADS", "4",
		"GROUPS", "4", "SIZE", "8", "F", "8", "K", "8", "OFFSET", "-227", "SPAN", "38", "LOW", "12", "CLAMP", "0", "SUM_W",
		"38", "OUT_W", "38"}}}
	return append([]bounded{
		scores, scores.plus("CAUSAL", "1", "GROUPS", "1", "MULT", `"pack"`),
		scores.plus("A_W", "16", "B_W", "16", "OUT_W", "16"),
		sum, sum.plus("CAUSAL", "1", "MULT", `"pack"`),
		norm, norm2, norm.plus("RMS", "1", "BIAS_W", "0", "IMAGE", `"192x8.mem"`, "SETS", "12"),
		norm.plus("N", "768", "IN_W", "16", "GAIN_W", "16", "BIAS_W", "16", "OUT_W", "16", "FO", "12", "H", "8", "IMAGE",
			`"768x32.mem"`),
		norm.plus("N", "16", "LANES", "4", "EPS", "63'd687195", "IMAGE", `"4x64.mem"`),
		softmax, softmax.plus("N", "198", "LANES", "3"), wide, wide.plus("CAUSAL", "1", "HEADS", "4", "ROWS", "788"),
		{single: single{"op_softmax_masked", []string{"ROWS", "96", "N", "48", "LANES", "2", "CAUSAL", "1", "HEADS", "2"}}},
		logs, logs.plus("N", "198", "LANES", "3", "IN_W", "16", "STEP", "24'd9000000", "STEP_SHIFT", "10", "OUT_W", "16",
			"SHIFT", "13"), logs.plus("N", "1000", "IN_W", "16", "STEP_SHIFT", "10"),
		{single: single{"op_softmax_framed", []string{"TOKENS", "197", "HEADS", "3", "N", "197"}}},
		{single: single{"op_softmax_framed", []string{"TOKENS", "197", "HEADS", "3", "N", "198", "LANES", "3", "CAUSAL",
			"1"}}},
		lane, interp, interp.plus("D", "2", "EDGE", "2"), interp.plus("F", "10", "FO", "10", "LANES", "2"),
		rotate, rotate.plus("ADJACENT", "1", "LANES", "4", "HEADS", "4"),
		recur, recur.plus("SMOOTH", "1", "CELLS", "1"), gru, reset, recur.plus("KIND", "2", "RELU", "1", "W_W", "16"),
		blocks, blocks.plus("QUERIES", "16", "KEYS", "16", "ROW", "16", "SIZE", "40", "K", "32", "R", "2", "CAUSAL", "1",
			"D_W", "21"),
		{single: single{"mx_attend_sum", []string{"QUERIES", "17", "KEYS", "17", "HEADS", "4", "GROUPS", "4", "SIZE", "8",
			"F", "2", "R", "1", "K", "32"}}},
		{single: single{"mx_tile", []string{"LINE", "8", "TOKENS", "49", "K", "32"}}},
		{single: single{"mem_hold", []string{"WIDTH", "24", "DEPTH", "512", "SETS", "4", "TURNS", "3", "AT_W", "20"}}},
		{single: single{"mem_stream", []string{"WIDTH", "200", "DEPTH", "500", "BURST", "32", "BUFFER", "64"}}},
		{single: single{"axi_read", []string{"CLIENTS", "24", "BITS", "256", "AT_W", "22"}}},
	}, small()...)
}

// small are those that Yosys maps within a second.
func small() []bounded {
	return []bounded{
		{single: single{"op_embedding", []string{"IDS", "16", "ID_W", "10", "ROWS", "1000", "BEATS", "4", "WIDTH", "32",
			"IMAGE", `"4000x32.mem"`}}},
		{single: single{"op_again", []string{"WIDTH", "16", "BEATS", "64", "TURNS", "12"}}},
		{single: single{"mem_kv", []string{"WIDTH", "32", "TOKENS", "197", "HEADS", "3", "BEATS", "16", "LANES", "2"}}},
		{single: single{"mem_sets", []string{"WIDTH", "16", "DEPTH", "96", "SETS", "12", "SWEEPS", "197", "IMAGE",
			`"1152x16.mem"`}}},
		{single: single{"num_recip", []string{"SPAN", "8"}}},
		{single: single{"num_rsqrt", nil}},
		{single: single{"num_log", nil}},
		{single: single{"num_mul_float", []string{"A_NAN", "1"}}},
		{single: single{"stream_session", []string{"TOKENS", "2048", "BEATS", "16", "OUTS", "2"}}},
		{single: single{"stream_frames", []string{"WIDTH", "32", "BEATS", "24", "TOKENS", "197"}}},
		{single: single{"stream_mark", []string{"WIDTH", "32", "BEATS", "24"}}},
		{single: single{"stream_count", []string{"TOKENS", "197"}}},
		{single: single{"stream_answer", []string{"TOKENS", "2048", "BEATS", "64"}}},
	}
}

// images writes the images that parameters name.
func (s single) images(t *testing.T, dir string) {
	t.Helper()
	for _, value := range s.set {
		var words, bits int
		if n, _ := fmt.Sscanf(value, `"%dx%d.mem"`, &words, &bits); n != 2 {
			continue
		}
		write(t, dir, strings.Trim(value, `"`), rtl.RandomImage(words, bits))
	}
}

// TestSmallPaths holds the small modules to the limit; TestModuleCosts and its like do so with most of the others, and
// TestLibrary with all.
func TestSmallPaths(t *testing.T) {
	tools.Need(t, "yosys")
	dir := t.TempDir()
	var modules []single
	for _, h := range tools.Few(3, small()) {
		h.images(t, dir)
		modules = append(modules, h.single)
	}
	r := counted(t, dir, besides(t, dir, modules), "modules", Options{Paths: true})
	holdPaths(t, r, modules)
}

// TestLongPathIsFound counts a design whose longest path is known, and demands that it is refused.
func TestLongPathIsFound(t *testing.T) {
	tools.Need(t, "yosys")
	dir := t.TempDir()
	write(t, dir, "long.v", `
module long (input clk, input [7:0] a, b, c, d, input [41:0] x, output reg [7:0] q, output reg p);
  reg [7:0] e, f, g, h;
  reg [41:0] y;
  wire [7:0] sum = ((e + f) ^ {8{g[0]}}) + g;
  always @(posedge clk) {e, f, g, h, y} <= {a, b, c, d, x};
  always @(posedge clk) q <= (sum ^ {8{h[0]}}) + h;
  always @(posedge clk) p <= ^y;
endmodule
`)
	r, err := Count(t.Context(), dir, []string{"long.v"}, "long", Options{Paths: true})
	if err != nil {
		t.Fatal(err)
	}
	over := r.Longest.Over(paths.Limit)
	if r.Longest.Levels[paths.Carry] != 3 || len(over) != 1 ||
		!strings.HasPrefix(over[0], "3 carry chains in a row, at most 2: ") || !strings.Contains(over[0], " -> q[") {
		t.Errorf("%v: %q", r.Longest.Levels, over)
	}
}

// TestWaitingIsFound gives the check ports that break the rules of streams.
func TestWaitingIsFound(t *testing.T) {
	modules := []single{{module: "op_norm"}, {module: "stream_answer"}}
	for output, breaks := range map[string]bool{"u0_out_valid": true, "u1_out_valid": true, "u0_in_ready": true,
		"u1_in_ready": false} {
		if got := waiting(map[string][]string{output: {"u0_out_ready"}}, modules); len(got) > 0 != breaks {
			t.Errorf("%s: %q", output, got)
		}
	}
	if got := waiting(map[string][]string{"u0_out_valid": {"u0_in_valid"}}, modules); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// waiting lists the ports of modules beside each other that wait for a ready without a register between: a valid never
// does, and the ready of an op's input does not for that of its output.
func waiting(through map[string][]string, modules []single) (lines []string) {
	for output, inputs := range through {
		var i int
		if n, _ := fmt.Sscanf(output, "u%d_", &i); n != 1 {
			return []string{"whose port is " + output}
		}
		ready := slices.ContainsFunc(inputs, func(in string) bool { return strings.HasSuffix(in, "_ready") })
		if ready && (strings.HasSuffix(output, "_valid") || strings.HasPrefix(modules[i].module, "op_")) {
			lines = append(lines, fmt.Sprintf("%s of %s depends on %v", output, modules[i].module, inputs))
		}
	}
	return lines
}

// holdPaths demands that the longest paths of a count are within the limit, and that nothing waits for a ready that
// must not.
func holdPaths(t *testing.T, r *Report, modules []single) {
	t.Helper()
	for _, line := range append(r.Longest.Over(paths.Limit), waiting(r.Through, modules)...) {
		t.Errorf("%s: %s", r.Top, line)
	}
}
