// SPDX-License-Identifier: Apache-2.0

package board_test

import (
	"testing"

	"lathe/rtl/formaltest"
)

// numbers: whatever packets come, and whatever the core does, no sample is received into the bank that the core reads
// or that waits for it; the core is told to begin with a whole sample only; and a result is sent with the number of the
// sample that was in the core, in the state in which it was begun.
const numbers = `
  reg f_past, f_in;
  reg [31:0] f_number;
  reg f_bank;
  reg [31:0] f_0, f_1;
  initial f_past = 1'b0;
  always @(posedge clk) begin
    f_past <= 1'b1;
    if (enters && !fill) f_0 <= number;
    if (enters && fill) f_1 <= number;
    if (start) begin
      f_in <= 1'b1;
      f_bank <= bank;
      f_number <= bank ? f_1 : f_0;
    end
    if (core_rst || send) f_in <= 1'b0;
    if (rst) f_in <= 1'b0;
  end
  always @* begin
    assume (rst == !f_past);
    assume (!(head && done));
    if (f_past) begin
      if (taking) assert (!full[fill]);
      if (full[0]) assert (number_0 == f_0);
      if (full[1]) assert (number_1 == f_1);
      assert (full != 2'b01 || (bank == 1'b0 && fill == 1'b1));
      assert (full != 2'b10 || (bank == 1'b1 && fill == 1'b0));
      assert (full != 2'b00 && full != 2'b11 || bank == fill);
      if (start) assert (state == 2'd1 && full[bank] && out_number == (bank ? f_1 : f_0));
      if (state == 2'd1) assert (full[bank] && !core_rst && out_number == (bank ? f_1 : f_0));
      if (state == 2'd1 && !start) assert (f_in && f_bank == bank && f_number == out_number);
      if (state == 2'd1 && taking) assert (fill != bank);
      if (send && out_kind == 8'h82) assert (f_in && out_number == f_number && state == 2'd2);
    end
  end
  always @* cover (f_past && send && out_kind == 8'h82 && out_number != 32'd0);
`

// TestSessionProof: in 24 cycles from a reset, the session never mixes samples up; a mutant that receives into a bank
// that is full does. Induction is left out: z3 did not end within minutes.
func TestSessionProof(t *testing.T) {
	p := formaltest.Proof{Module: "board_session", Properties: numbers, Depth: 24, Induct: 0,
		Small: []formaltest.Mutant{{Module: "board_session", Old: "hold        <= 5'd31;", New: "hold        <= 5'd1;"}}}
	p.Prove(t)
	p.Refute(t, formaltest.Mutant{Module: "board_session", Old: "taking <= !(fill ? full[1] : full[0]) && sample;",
		New: "taking <= sample;"})
}
