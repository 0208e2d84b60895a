// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"fmt"
	"strings"
	"testing"

	"lathe/rtl/formaltest"
)

// TestCrossProof proves the queue between two clocks for all times at which they may tick.
func TestCrossProof(t *testing.T) {
	p := crossProof(2, 2)
	p.Prove(t)
	for _, m := range []formaltest.Mutant{
		{Module: "stream_cross", Old: "wr_gray != {~rd_seen[AW:AW-1], rd_seen[AW-2:0]}",
			New: "wr_gray != ~rd_seen"},
		{Module: "stream_cross", Old: "wr_gray <= wr_next ^ (wr_next >> 1)", New: "wr_gray <= wr_next"},
		{Module: "stream_cross", Old: "take && wr_seen != rd_gray", New: "take"},
	} {
		p.Refute(t, m)
	}
}

// TestRestartProof proves that both sides are in reset together, and that the first one leaves it last.
func TestRestartProof(t *testing.T) {
	p := restartProof()
	p.Prove(t)
	for _, m := range []formaltest.Mutant{
		{Module: "stream_restart", Old: "held   <= wanted", New: "held <= 1'b0"},
		{Module: "stream_restart", Old: "if (!asked && !there) begin", New: "if (!asked) begin"},
		{Module: "stream_restart", Old: "wanted <= !asked;", New: "asked <= 1'b1;"},
	} {
		p.Refute(t, m)
	}
}

// crossProof follows beat f_k from one clock to the other. Its state: the pointers and what each side has seen of the
// other's stand in one order, none more than all places behind the writer, and the Gray codes are theirs. A pointer
// that another clock samples changes in one bit at most, so that it does not matter which bits settle late.
func crossProof(width, aw int) formaltest.Proof {
	r := strings.NewReplacer("$w", fmt.Sprint(width-1), "$aw", fmt.Sprint(aw), "$n", fmt.Sprint(1<<aw))
	return formaltest.Proof{Module: "stream_cross", Params: params("WIDTH", width, "AW", aw), Depth: 16, Induct: 2,
		Clocks: []string{"in_clk", "out_clk"}, Properties: r.Replace(crossText)}
}

const crossText = `
  wire clk = in_clk;
  reg f_past = 1'b0;
  reg [7:0] f_in_n, f_out_n;
  reg f_in_wait, f_out_wait;
  reg [$w:0] f_in_data, f_out_data;
  reg [$aw:0] f_wr_gray, f_rd_gray;
  (* anyconst *) wire [7:0] f_k;
  (* anyconst *) wire [$w:0] f_d;
  always @(posedge clk) begin
    f_past <= 1'b1;
    f_in_n <= f_in_n + {7'd0, f_tick_in_clk && in_valid && in_ready};
    f_out_n <= f_out_n + {7'd0, f_tick_out_clk && out_valid && out_ready};
    f_in_wait <= in_valid && !(f_tick_in_clk && in_ready);
    f_out_wait <= out_valid && !(f_tick_out_clk && out_ready);
    f_in_data <= in_data;
    f_out_data <= out_data;
    f_wr_gray <= wr_gray;
    f_rd_gray <= rd_gray;
    if (!f_past) {f_in_n, f_out_n, f_in_wait, f_out_wait} <= 18'd0;
  end
  always @* begin
    assume (in_rst == !f_past && out_rst == !f_past);
    if (!f_past) assume (f_tick_in_clk && f_tick_out_clk);
    if (f_past && f_in_wait) assume (in_valid && in_data == f_in_data);
    if (in_valid && f_in_n == f_k) assume (in_data == f_d);
  end

  function [$aw:0] f_binary(input [$aw:0] gray);
    integer i;
    begin
      f_binary = gray;
      for (i = 1; i <= $aw; i = i + 1) f_binary = f_binary ^ (gray >> i);
    end
  endfunction
  function f_one_bit(input [$aw:0] x);
    f_one_bit = (x & (x - 1'b1)) == 0;
  endfunction
  wire [$aw:0] f_s0 = f_binary(wr_seen_0), f_s1 = f_binary(wr_seen);
  wire [$aw:0] f_t0 = f_binary(rd_seen_0), f_t1 = f_binary(rd_seen);
  wire [$aw:0] f_to_s0 = wr - f_s0, f_to_s1 = wr - f_s1, f_to_rd = wr - rd, f_to_t0 = wr - f_t0, f_to_t1 = wr - f_t1;
  wire [7:0] f_held = f_in_n - f_out_n;
  wire [7:0] f_at = f_k - f_out_n;
  wire [$aw:0] f_place = rd + f_at - out_valid;
  always @* if (f_past) begin
    assert (wr_gray == (wr ^ (wr >> 1)) && rd_gray == (rd ^ (rd >> 1)));
    assert (f_to_s0 <= f_to_s1 && f_to_s1 <= f_to_rd && f_to_rd <= f_to_t0 && f_to_t0 <= f_to_t1 && f_to_t1 <= $n);
    assert (f_held == f_to_rd + out_valid);
    if (f_at < f_held && (f_at != 0 || !out_valid)) assert (m[f_place[$aw-1:0]] == f_d);
    if (out_valid && f_out_n == f_k) assert (out_data == f_d);
    if (f_out_wait) assert (out_valid && out_data == f_out_data);
    cover (f_out_n == 8'd5 && f_held == 8'd0);
    cover (in_valid && !in_ready);
  end
  reg f_past_2 = 1'b0;
  always @(posedge clk) f_past_2 <= f_past;
  always @* if (f_past_2) assert (f_one_bit(wr_gray ^ f_wr_gray) && f_one_bit(rd_gray ^ f_rd_gray));
`

func restartProof() formaltest.Proof {
	return formaltest.Proof{Module: "stream_restart", Depth: 24, Induct: 3, Clocks: []string{"clk", "other_clk"},
		Properties: `
  reg f_past = 1'b0, f_rst = 1'b0, f_held = 1'b1;
  reg f_together = 1'b0;  // since the last rst the other side had a tick in reset, while this one was held
  always @(posedge clk) begin
    f_past <= 1'b1;
    f_rst <= rst && f_tick_clk;
    f_held <= held;
    if (f_tick_other_clk && other_rst && held) f_together <= 1'b1;
    if (f_tick_clk && rst) f_together <= 1'b0;
  end
  always @* if (f_past) begin
    if (f_rst) assert (held);
    if (f_held && !held) assert (f_together);
    if (!held) assert (!other_rst && f_together);
    cover (!held);
    cover (!f_held && held);
  end
  always @* begin
    // Induction: asked changes only when its last change has passed all four registers.
    assert ({2'd0, asked != asked_0} + (asked_0 != asked_1) + (asked_1 != there_0) + (there_0 != there) <= 3'd1);
    assert (held || {wanted, asked, asked_0, asked_1, there_0, there} == 0);
    assert (!f_past || f_together || wanted || asked || asked_1);
  end
`}
}
