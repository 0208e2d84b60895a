// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"testing"

	"lathe/rtl/formaltest"
)

// sessionProof: the core gets the beats of the first tokens of a sequence and no other, a reset behind each sequence,
// and the position tells how many tokens it has whole.
var sessionProof = formaltest.Proof{Module: "stream_session", Params: params("TOKENS", 2, "BEATS", 2), Depth: 16,
	Induct: 2, Properties: `
  reg f_past = 1'b0;
  reg [7:0] f_core;  // beats of this sequence that the core has
  reg f_closed, f_idle;
  always @(posedge clk) begin
    f_past   <= 1'b1;
    f_core   <= core_rst ? 8'd0 : f_core + {7'd0, core_valid && core_ready};
    f_closed <= closing && !rst;
    f_idle   <= &idle;
  end
  always @* begin
    assume (rst == !f_past);
    if (f_past) begin
      assert (f_core <= 8'd4 && full == (position == 2'd2) && (clear || {6'd0, position} == f_core >> 1));
      assert (full || clear || count == f_core[0]);
      assert (!(clear && (full || ended || position != 0 || count != 0)));
      assert (!ended || count == 0);
      assert (!core_valid || (in_valid && f_core != 8'd4));
      if (in_valid && in_ready && !full) assert (core_valid && core_ready);
      if (clear) assert (!in_ready && !core_valid && f_idle && f_closed);
      if (token) assert (f_core[0] && core_ready);
    end
  end
  always @* cover (f_past && clear && f_core == 8'd4 && error);
`}

// answerProof: beats pass as they are; the last one of a token's waits until the token has come, and ends the sequence
// where it is that of the closing token.
var answerProof = formaltest.Proof{Module: "stream_answer", Params: params("WIDTH", 2, "BEATS", 2, "TOKENS", 2),
	Depth: 16, Induct: 2, Properties: formaltest.Sender("in", 2) +
		formaltest.Receiver("out", "out_valid", "out_ready", "out_data", 2) + `
  reg [7:0] f_out, f_tokens;
  wire [7:0] f_owed = f_tokens - {1'b0, f_out[7:1]};
  always @(posedge clk) begin
    f_out    <= rst ? 8'd0 : f_out + {7'd0, out_valid && out_ready};
    f_tokens <= rst ? 8'd0 : f_tokens + {7'd0, token};
  end
  always @* begin
    assume (rst == !f_past);
    assume (!token || (f_past && f_tokens < 8'd100 && f_owed < 8'd2));
    if (f_past) begin
      assert (f_owed <= 8'd2 && owed == f_owed[1:0] && owes == (owed != 0) && count == f_out[0] && f_tokens <= 8'd100);
      assert (f_out[7:1] <= f_tokens[6:0]);
      assert (idle == (f_owed == 8'd0));
      assert ((out_valid && out_ready) == (in_valid && in_ready) && (!out_valid || out_data == in_data));
      assert (!(out_valid && f_out[0] && f_owed == 8'd0));
      if (out_valid) assert (out_last == (f_out[0] && closing && f_owed == 8'd1));
      if (in_valid && (!f_out[0] || f_owed != 8'd0)) assert (out_valid);
    end
  end
  always @* cover (f_past && f_out == 8'd4 && idle);
`}

func TestSessionProof(t *testing.T) {
	t.Parallel()
	sessionProof.Prove(t)
	sessionProof.Refute(t, formaltest.Mutant{Module: "stream_session", Old: "in_valid && run && !full",
		New: "in_valid && run"})
}

func TestAnswerProof(t *testing.T) {
	t.Parallel()
	answerProof.Prove(t)
	answerProof.Refute(t, formaltest.Mutant{Module: "stream_answer", Old: "owes <= token || !only", New: "owes <= token"})
}
