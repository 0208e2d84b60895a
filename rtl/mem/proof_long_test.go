// SPDX-License-Identifier: Apache-2.0

//go:build long

package mem_test

import (
	"testing"

	"lathe/rtl/formaltest"
)

var slow = []proven{
	{"mem_fetch", "WIDTH 2 BITS 2 DEPTH 3 SETS 1 BURST 2 BUFFER 2", asked + formaltest.Receiver("out",
		"out_valid", "out_ready", "out_data", 2) + `
  reg f_rst;
  reg [7:0] f_out;
  reg [2:0] f_calm;
  always @(posedge clk) begin
    f_rst  <= rst;
    f_out  <= rst ? 8'd0 : f_out + {7'd0, out_valid && out_ready};
    f_calm <= rst || beat_valid || !out_ready ? 3'd0 : f_calm == 3'd5 ? f_calm : f_calm + 3'd1;
  end
  always @* if (f_past) begin
    assert (!beat_valid || room);
    assert (f_out <= f_came && (!out_valid || f_out < f_came));
    if (out_valid && f_out == f_k) assert (out_data == f_d);
    if (f_calm == 3'd5) assert (f_out == f_came && (ask_valid || f_asked != f_came));
  end
  always @* cover (f_past && f_calm == 3'd5 && f_out == 8'd2);
`, "", 13, 0, formaltest.Mutant{Module: "mem_fetch", Old: "held <= HW'(BUFFER - BURST)",
		New: "held <= HW'(BUFFER - 1)"}},
}

func TestSlowProofs(t *testing.T) {
	for _, c := range slow {
		t.Run(c.module, func(t *testing.T) {
			t.Parallel()
			c.prove(t)
		})
	}
}
