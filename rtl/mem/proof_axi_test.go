// SPDX-License-Identifier: Apache-2.0

package mem_test

import (
	"testing"

	"lathe/internal/tools"
	"lathe/rtl/formaltest"
)

// Two clients, whose bursts of one length do not cross 4 KiB, and a memory that answers in order: each address stays
// until it is taken, no burst is lost, made up or crosses 4 KiB, and every beat of burst f_k goes to whom asked for it.
const port = `
  (* anyconst *) wire f_l;
  (* anyconst *) wire [7:0] f_k;
  reg f_ar, f_owner, f_beat, f_mine;
  reg [63:0] f_addr, f_base;
  reg [7:0] f_len, f_asks, f_bursts, f_beats;
  reg [1:0] f_wait;
  reg [23:0] f_at;
  wire [7:0] f_burst = f_beats >> f_l;
  wire f_asking = |(ask_valid & ask_ready);
  always @(posedge clk) begin
    f_ar     <= arvalid && !arready && !rst;
    f_addr   <= araddr;
    f_len    <= arlen;
    f_base   <= base;
    f_wait   <= rst ? 2'd0 : ask_valid & ~ask_ready;
    f_at     <= ask_at;
    f_asks   <= rst ? 8'd0 : f_asks + {7'd0, f_asking};
    f_bursts <= rst ? 8'd0 : f_bursts + {7'd0, arvalid && arready};
    f_beats  <= rst ? 8'd0 : f_beats + {7'd0, rvalid};
    if (f_asking && f_asks == f_k) f_owner <= ask_ready[1];
    f_beat   <= rvalid && !rst;
    f_mine   <= rvalid && f_burst == f_k;
  end
  always @* begin
    if (f_past) assume (base == f_base);
    assume (ask_len == {7'd0, f_l, 7'd0, f_l});
    assume (!f_l || (ask_at[9:0] != 10'h3ff && ask_at[21:12] != 10'h3ff));
    if (f_wait[0]) assume (ask_valid[0] && ask_at[11:0] == f_at[11:0]);
    if (f_wait[1]) assume (ask_valid[1] && ask_at[23:12] == f_at[23:12]);
    assume (!rvalid || (f_past && f_burst != f_bursts));
    assume (!rresp[1] && rlast == (!f_l || f_beats[0]));
    if (f_past) begin
      assert (!(&(ask_valid & ask_ready)));
      if (f_ar) assert (arvalid && araddr == f_addr && arlen == f_len);
      if (arvalid) assert (araddr[1:0] == 2'd0 && {1'b0, araddr[11:0]} + {3'd0, arlen, 2'd3} < 13'd4096);
      assert (f_bursts + {7'd0, arvalid} <= f_asks && f_asks - f_bursts <= 8'd2);
      assert ((|beat_valid) == f_beat && !(&beat_valid) && !error);
      if (f_mine) assert (beat_valid == (f_owner ? 2'b10 : 2'b01));
    end
  end
  always @* cover (f_past && f_mine && f_k == 8'd1 && f_owner && f_l);
`

// TestReadProof has two clients share the port that reads.
func TestReadProof(t *testing.T) {
	t.Parallel()
	p := proven{"axi_read", "CLIENTS 2 BITS 32 AT_W 12 QUEUE 4", begin + port, "", tools.Sample(10, 16), 0,
		formaltest.Mutant{Module: "axi_turn", Old: "taken_by   <= at;", New: "taken_by   <= at ^ taken;"}}
	p.prove(t)
	if tools.Long {
		p.fault = formaltest.Mutant{Module: "axi_read", Old: "taken && order_room && (!arvalid || arready)",
			New: "taken && order_room"}
		p.refute(t)
	}
}
