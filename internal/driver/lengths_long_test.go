// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import "testing"

// TestLengthsAll proves causal models with positions that are added and turned, keys in tiles, and blocks.
func TestLengthsAll(t *testing.T) {
	const tiles = "[[fold.rule]]\nop = \"attend_scores\"\nout_lanes = 2\n[[fold.rule]]\nop = \"attend_weights\"\n" +
		"in_lanes = 4\n[[fold.rule]]\nop = \"attend_sum\"\nin_lanes = 8\n"
	const blocks = "[quantize]\ndata = \"mxint(8,8)\"\nweight = \"mxint(8,8)\"\n"
	for _, c := range []struct{ model, plan string }{{"bert", tiles}, {"bert", blocks}, {"gpt2", tiles}, {"llama", ""},
		{"llama", blocks}} {
		t.Run(c.model, func(t *testing.T) { provesLengths(t, c.model, c.plan, 0) })
	}
}

// TestLengthsFaults makes frames a token too long or too short for one part of the hardware each.
func TestLengthsFaults(t *testing.T) {
	for _, c := range []struct{ model, node, file, old, with string }{
		{"bert", ".scores", "op_attend_walk.sv", "LW'(tokens) - LW'(passed)", "LW'(tokens) - LW'(passed) - LW'(1)"},
		{"bert", "dot_product_attention", "mem_kv.sv", "odd <= token + NW'(1)", "odd <= token + NW'(2)"},
		{"gpt2", "add", "op_pair_const.sv", "|| ends ?", "|| ends && word == AW'(0) ?"},
		{"llama", "rotary", "op_rotate.sv", "last_q <= marked", "last_q <= marked && base != AW'(0)"},
	} {
		t.Run(c.model+c.node, func(t *testing.T) { lengthsFail(t, c.model, c.node, c.file, c.old, c.with) })
	}
}
