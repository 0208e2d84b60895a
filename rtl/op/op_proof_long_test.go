// SPDX-License-Identifier: Apache-2.0

//go:build long

package op_test

import (
	"testing"

	"lathe/rtl/formaltest"
)

// A division of 4 steps instead of 25, and a root of 2 instead of 24: control is the same with shorter waiting.
var (
	shortDivision = []formaltest.Mutant{
		{Module: "num_recip", Old: "STEPS = 25", New: "STEPS = 4"},
		{Module: "op_softmax_core", Old: ".LEAST(26)", New: ".LEAST(5)"},
	}
	shortRoot = []formaltest.Mutant{
		{Module: "num_rsqrt", Old: "phase <= 5'(4 - FAR)", New: "phase <= 5'(26 - FAR)"},
		{Module: "op_norm", Old: "QUEUED     = N / LANES < 37", New: "QUEUED     = N / LANES < 15"},
		{Module: "op_norm", Old: "LATE       = 33", New: "LATE       = 11"},
		{Module: "op_norm", Old: "PACE = 28", New: "PACE = 6"},
	}
)

// slow are modules that answer late: a row is whole before its first beat leaves.
var slow = []framed{
	{"op_softmax", "ROWS 2 N 2 LANES 1 IN_W 2 OUT_W 2 FO 2 CAUSAL 1",
		formaltest.Frames{In: []int{2}, Out: 2, Most: "{f_in[7:1], 1'b0}", Late: 30}, "op_softmax_exp op_softmax_scale",
		42, formaltest.Mutant{Module: "op_softmax_rows", Old: "if (whole) ready", New: "if (whole && read) ready"},
		shortDivision},
	{"op_softmax_masked", "ROWS 2 N 2 LANES 1 IN_W 2 OUT_W 2 FO 2",
		formaltest.Frames{In: []int{2, 1}, Out: 2, Most: "{f_a[7:1], 1'b0}", Late: 30,
			More: "assert (f_b == {1'b0, f_a[7:2], 1'b0} + (f_a[1] ? 8'd2 : {7'd0, f_a[0]}));"},
		"op_softmax_exp op_softmax_scale", 38,
		formaltest.Mutant{Module: "op_softmax_masked", Old: "assign b_ready = room && a_valid && fresh",
			New: "assign b_ready = room && fresh"}, shortDivision},
	{"op_softmax_framed", "TOKENS 2 HEADS 1 N 2 LANES 1 IN_W 2 OUT_W 2 FO 2 CAUSAL 1",
		formaltest.Frames{In: []int{2, 1}, Out: 2, Most: "{f_a[7:1], 1'b0}", Late: 31,
			More: "assert (f_b == {1'b0, f_a[7:1]} && (!move || live == (f_second || !f_a[0])));",
			Also: `
  reg f_second;  // token of the frame
  always @(posedge clk) f_second <= !rst && (b_valid && b_ready ? !b_data : f_second);
  always @* if (b_valid && f_second) assume (b_data);`}, "op_softmax_exp op_softmax_scale",
		43, formaltest.Mutant{Module: "op_softmax_framed", Old: "last ? T_W'(0) : token", New: "token"}, shortDivision},
	{"op_log_softmax", "ROWS 2 N 2 LANES 1 IN_W 2 OUT_W 2",
		formaltest.Frames{In: []int{2}, Out: 2, Most: "{f_in[7:1], 1'b0}", Late: 30},
		"op_softmax_exp op_log_softmax_term num_log", 38,
		formaltest.Mutant{Module: "op_softmax_sum", Old: "on <= rst ? 5'd0 : {on[3:0], divide}",
			New: "on <= rst ? 5'd0 : {on[3:0], add}"}, nil},
	{"op_norm", "N 2 IN_W 2 GAIN_W 0 H 0 EPS 4 OUT_W 2",
		formaltest.Frames{In: []int{2}, Out: 2, Most: "{f_in[7:1], 1'b0}", Late: 30}, "op_norm_lane", 42,
		formaltest.Mutant{Module: "op_norm", Old: "ready || !begins});", New: "1'b1});"}, shortRoot},
	{"op_attend_scores", "QUERIES 2 KEYS 2 HEADS 1 GROUPS 1 SIZE 1 ROW 2 F 1 R 1 A_W 1 B_W 1 OUT_W 2",
		formaltest.Frames{In: []int{1, 1}, Out: 2,
			Most: "f_a < {f_b[7:1], 1'b0} ? f_a << 1 : {f_b[7:1], 1'b0} << 1", Late: 14}, "op_attend_dots op_attend_cast", 22,
		formaltest.Mutant{Module: "mem_kv", Old: "2'(fills) - 2'(done)", New: "2'(fills)"}, nil},
}

func TestSlowFrames(t *testing.T) {
	for _, f := range slow {
		t.Run(f.module, func(t *testing.T) {
			f.prove(t)
		})
	}
}
