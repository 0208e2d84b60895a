// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"strings"
	"testing"

	"lathe/rtl"
	"lathe/rtl/formaltest"
)

// framed is a module of which it is proven that its beats are neither lost nor made up and stay until they are taken,
// whatever they hold: products and tables give anything. The fault must be refuted.
type framed struct {
	module string
	set    string // parameters: name value ...
	frames formaltest.Frames
	free   string // modules
	depth  int
	fault  formaltest.Mutant
	small  []formaltest.Mutant
}

func (f framed) proof() formaltest.Proof {
	p := formaltest.Proof{Module: f.module, Properties: f.frames.Print(), Depth: f.depth, Free: strings.Fields(f.free),
		Small: f.small}
	words := strings.Fields(f.set)
	for i := 0; i < len(words); i += 2 {
		p.Params = append(p.Params, rtl.Param{Name: words[i], Value: words[i+1]})
	}
	return p
}

func (f framed) prove(t *testing.T) {
	p := f.proof()
	p.Prove(t)
	p.Refute(t, f.fault)
}

// quick are modules that answer within a few cycles.
var quick = []framed{
	{"op_interp", "IN_W 6 F 5 D 0 FO 2 OUT_W 2 V_W 4 C1_W 3 C2_W 2",
		formaltest.Frames{In: []int{6}, Out: 2, Most: "f_in", Late: 8}, "mem_rom num_mul num_requant", 21,
		formaltest.Mutant{Module: "op_interp", Old: "out_room || !moving[5]", New: "out_room || !moving[4]"}, nil},
	{"op_embedding", "IDS 2 ID_W 1 ROWS 2 BEATS 3 WIDTH 2",
		formaltest.Frames{In: []int{1}, Out: 2, Most: "f_in * 8'd3", Late: 10}, "mem_rom", 18,
		formaltest.Mutant{Module: "op_embedding", Old: "place == PW'(BEATS - 1)", New: "place == PW'(BEATS - 2)"}, nil},
	{"op_rotate", "TOKENS 2 HEADS 1 SIZE 2 TURNED 2 LANES 1 X_W 2 C_W 2 SHIFT 1 OUT_W 2",
		formaltest.Frames{In: []int{2}, Out: 2, Most: "f_in - {7'd0, f_in[1:0] != 2'd0}", Late: 9},
		"mem_rom op_rotate_lane", 20, formaltest.Mutant{Module: "op_rotate", Old: "at == AT_W'(BEATS - 1)) take",
			New: "at == AT_W'(BEATS)) take"}, nil},
	{"op_again", "WIDTH 2 BEATS 2 TURNS 2",
		formaltest.Frames{In: []int{2}, Out: 2,
			Most: "{1'b0, f_in[7:2], 1'b0} + (f_in[1] ? 8'd2 : {7'd0, f_in[0]})", Late: 4},
		"", 16, formaltest.Mutant{Module: "op_again", Old: ".RUN((TURNS - 1) * BEATS)",
			New: ".RUN((TURNS - 1) * BEATS - 1)"}, nil},
	{"op_attend_sum", "QUERIES 2 KEYS 2 HEADS 1 GROUPS 1 SIZE 1 ROW 2 F 1 R 1 A_W 1 B_W 1 OUT_W 2",
		formaltest.Frames{In: []int{1, 1}, Out: 2,
			Most: "f_a[7:1] < {f_b[7:1], 1'b0} ? f_a[7:1] : {f_b[7:1], 1'b0}", Late: 14},
		"op_attend_dots op_attend_cast", 22,
		formaltest.Mutant{Module: "op_attend_row", Old: "from ^ done", New: "from"}, nil},
	{"op_recur", "KIND 2 RELU 1 HIDDEN 2 IN_LANES 1 OUT_LANES 1 STEPS 2 X_W 2 W_W 2 T_W 4 GATE_W 2 OUT_W 2",
		formaltest.Frames{In: []int{2}, Out: 2, Most: "f_in", Late: 14, More: quiet},
		"mem_rom op_linear_lane op_recur_units", 30,
		formaltest.Mutant{Module: "op_recur_walk", Old: "en && !busy", New: "!busy"}, nil},
	{"op_recur_reset", "HIDDEN 2 IN_LANES 1 OUT_LANES 1 STEPS 2 X_W 2 W_W 2 T_W 4 GATE_W 2 OUT_W 2 CELL_W 2",
		formaltest.Frames{In: []int{2}, Out: 2, Most: "{f_in[7:1], 1'b0}", Late: 34, More: quiet},
		"mem_rom op_linear_lane op_recur_before", 44,
		formaltest.Mutant{Module: "op_recur_reset", Old: "in_valid || second)", New: "in_valid)"}, nil},
}

// quiet: a row begins when all units of the row before it have come.
const quiet = "if (load) assert (moving == 0 && done == 0);"

func TestFrames(t *testing.T) {
	for _, f := range quick {
		t.Run(f.module, func(t *testing.T) {
			t.Parallel()
			f.prove(t)
		})
	}
}
