// SPDX-License-Identifier: Apache-2.0

package axi_test

import (
	"testing"

	"lathe/rtl"
	"lathe/rtl/formaltest"
)

// lite: a master that keeps to AXI4-Lite, with addresses and data of writes in any order. An answer stays until it is
// taken; there is one for each write, and none before both of its parts have come; one for each read. A write that
// changes limit is one to its address, and it then holds what was written, in the bytes that were asked for.
const lite = `
  reg f_past, f_rst, f_b, f_r, f_aw, f_w, f_ar;
  reg [1:0] f_bresp, f_rresp;
  reg [31:0] f_rdata, f_wdata, f_limit;
  reg [7:0] f_awaddr, f_araddr;
  reg [3:0] f_wstrb;
  reg [7:0] f_aws, f_ws, f_bs, f_ars, f_rs;
  initial f_past = 1'b0;
  always @(posedge clk) begin
    f_past <= 1'b1;
    f_rst <= rst;
    {f_aw, f_awaddr} <= {awvalid && !awready && !rst, awaddr};
    {f_w, f_wdata, f_wstrb} <= {wvalid && !wready && !rst, wdata, wstrb};
    {f_ar, f_araddr} <= {arvalid && !arready && !rst, araddr};
    {f_b, f_bresp} <= {bvalid && !bready && !rst, bresp};
    {f_r, f_rresp, f_rdata} <= {rvalid && !rready && !rst, rresp, rdata};
    f_limit <= limit;
    f_aws <= rst ? 8'd0 : f_aws + {7'd0, awvalid && awready};
    f_ws  <= rst ? 8'd0 : f_ws + {7'd0, wvalid && wready};
    f_bs  <= rst ? 8'd0 : f_bs + {7'd0, bvalid && bready};
    f_ars <= rst ? 8'd0 : f_ars + {7'd0, arvalid && arready};
    f_rs  <= rst ? 8'd0 : f_rs + {7'd0, rvalid && rready};
  end
  wire [7:0] f_aw_n = f_aws - f_bs, f_w_n = f_ws - f_bs, f_ar_n = f_ars - f_rs;
  reg f_put;
  reg [7:0] f_to;
  reg [31:0] f_new;
  always @(posedge clk) begin
    f_put <= aw_held && w_held && !bvalid && !rst;
    f_to  <= aw;
    f_new <= (limit & ~mask) | (w & mask);
  end
  always @* begin
    assume (rst == !f_past);
    if (f_aw) assume (awvalid && awaddr == f_awaddr);
    if (f_w) assume (wvalid && wdata == f_wdata && wstrb == f_wstrb);
    if (f_ar) assume (arvalid && araddr == f_araddr);
    if (f_past) begin
      if (f_b) assert (bvalid && bresp == f_bresp);
      if (f_r) assert (rvalid && rresp == f_rresp && rdata == f_rdata);
      assert (f_aw_n <= 8'd2 && f_w_n <= 8'd2 && f_ar_n <= 8'd1);
      assert (f_aw_n == {7'd0, aw_held} + {7'd0, bvalid} && f_w_n == {7'd0, w_held} + {7'd0, bvalid});
      assert (f_ar_n == {7'd0, rvalid});
      if (!f_rst && limit != f_limit) assert (f_put && f_to == 8'h38);
      if (!f_rst && f_put && f_to == 8'h38) assert (limit == f_new && bvalid && bresp == 2'b00);
      if (!f_rst && f_put && f_to == 8'h20) assert (bvalid && bresp == 2'b10);
    end
  end
  always @* cover (f_past && f_bs == 8'd2 && f_rs == 8'd2 && limit == 32'h12345678);
`

// frames: what stands behind the gate sees whole frames only, however run changes and whenever the sender pauses; it
// never has a beat taken back, and each beat that comes in goes out in the same cycle.
const frames = `
  reg f_past, f_rst, f_in, f_in_last, f_shown;
  reg [1:0] f_at;
  reg f_closed, f_moved;
  initial f_past = 1'b0;
  always @(posedge clk) begin
    f_past <= 1'b1;
    f_rst <= rst;
    {f_in, f_in_last} <= {in_valid && !in_ready && !rst, in_last};
    f_shown <= out_valid && !out_ready && !rst;
    f_moved <= out_valid && out_ready && !rst;
    if (out_valid && out_ready) f_at <= f_at == 2'd2 ? 2'd0 : f_at + 2'd1;
    if (rst) f_at <= 2'd0;
  end
  always @* begin
    assume (rst == !f_past);
    if (f_in) assume (in_valid && in_last == f_in_last);
    if (f_past) begin
      assert ((in_valid && in_ready) == (out_valid && out_ready));
      if (f_shown) assert (out_valid);
      assert (f_at != 2'd3 && at == f_at && inside_frame == (f_at != 2'd0));
      if (f_at != 2'd0) assert (open);
      if (!f_rst) assert (!frame || f_moved && f_at == 2'd0);
      if (!f_rst && f_moved && f_at == 2'd0) assert (frame);
      if (!f_rst && misplaced) assert (f_moved);
    end
  end
  always @* cover (f_past && !open && f_at == 2'd0 && frame);
`

// bytes: byte f_n of a packet, for any f_n, comes out in its place, or a zero where the packet has ended before; frames
// are whole, and what is behind them is dropped. A beat that is shown stays until it is taken.
const bytes = `
  (* anyconst *) reg [3:0] f_n;
  reg f_past, f_rst, f_held, f_held_last, f_open;
  reg [23:0] f_held_data;
  reg [7:0] f_in, f_out, f_value;
  initial f_past = 1'b0;
  wire [7:0] f_n8 = {4'd0, f_n};
  wire f_now = take && !spill && !done && f_n8 >= f_in && f_n8 < f_in + {5'd0, count};
  wire [1:0] f_low = f_n8[1:0] - f_in[1:0], f_from = f_n8[1:0] - f_out[1:0];
  wire [2:0] f_at = f_n8[2:0] - f_out[2:0];
  always @(posedge clk) begin
    f_past <= 1'b1;
    f_rst <= rst;
    {f_held, f_held_last, f_held_data} <= {out_valid && !out_ready && !rst, out_last, out_data};
    if (take) f_open <= !in_last;
    if (rst) f_open <= 1'b0;
    if (take && !spill) f_in <= f_in + {5'd0, count};
    if (f_now) f_value <= in_keep[f_low[0]] ? in_data[8*f_low[0] +: 8] : 8'd0;
    if (give) f_out <= f_out + 8'd3;
    if (done || rst) {f_in, f_out} <= 16'd0;
  end
  always @* begin
    assume (rst == !f_past);
    if (f_past) begin
      if (f_held) assert (out_valid && out_last == f_held_last && out_data == f_held_data);
      assert (have == (f_in > f_out ? f_in - f_out : 8'd0) && have <= 3'd5);
      assert (f_out == (at ? 8'd3 : 8'd0));
      if (f_in < f_out) assert (ending);
      if (spill) assert (f_open);
      if (ending) assert (!f_open);
      if (!ending && !spill && f_in != 8'd0) assert (f_open);
      if (spill) assert (!ending && f_in == 8'd0 && !at);
      if (have < 3'd5) assert (hold >> {have, 3'd0} == 40'd0);
      if (f_n8 >= f_out && f_n8 < f_in) assert (hold[8*f_at +: 8] == f_value);
      if (out_valid && f_n8 >= f_out && f_n8 < f_out + 8'd3)
        assert (out_data[8*f_from +: 8] == (f_n8 < f_in ? f_value : 8'd0));
    end
  end
  always @* cover (f_past && wrong && !spill && !ending && out_valid);
`

// packets: byte f_n of a frame comes out in its place, with as many marked as there are, and the packet ends with it.
const packets = `
  (* anyconst *) reg [3:0] f_n;
  reg f_past, f_rst, f_held, f_held_last;
  reg [1:0] f_held_keep;
  reg [15:0] f_held_data;
  reg [7:0] f_in, f_out, f_value;
  initial f_past = 1'b0;
  wire [7:0] f_n8 = {4'd0, f_n};
  wire [1:0] f_low = f_n8[1:0] - f_in[1:0];
  wire [2:0] f_at = f_n8[2:0] - f_out[2:0];
  wire [1:0] f_count = {1'b0, out_keep[0]} + {1'b0, out_keep[1]};
  always @(posedge clk) begin
    f_past <= 1'b1;
    f_rst <= rst;
    {f_held, f_held_last, f_held_keep, f_held_data} <= {out_valid && !out_ready && !rst, out_last, out_keep, out_data};
    if (take) f_in <= f_in + 8'd3;
    if (take && f_n8 >= f_in && f_n8 < f_in + 8'd3) f_value <= in_data[8*f_low +: 8];
    if (give) f_out <= f_out + {6'd0, f_count};
    if (give && out_last || rst) {f_in, f_out} <= 16'd0;
  end
  always @* begin
    assume (rst == !f_past);
    if (f_past) assume (f_in < 8'd200);
    if (f_past) begin
      if (f_held) assert (out_valid && out_last == f_held_last);
      if (f_held) assert (out_keep == f_held_keep && out_data == f_held_data);
      assert (f_in >= f_out && have == f_in - f_out && have <= 3'd5);
      if (ending) assert (have != 3'd0);
      if (have < 3'd5) assert (hold >> {have, 3'd0} == 40'd0);
      if (f_n8 >= f_out && f_n8 < f_in) assert (hold[8*f_at +: 8] == f_value);
      if (out_valid) assert (f_count == (have < 3'd2 ? have[1:0] : 2'd2) && out_keep != 2'b10);
      if (out_valid) assert (out_last == (ending && f_in == f_out + {6'd0, f_count}));
      if (out_valid && !out_last) assert (out_keep == 2'b11);
      if (out_valid && f_n8 >= f_out && f_n8 < f_out + {6'd0, f_count}) assert (out_data[8*f_at[0] +: 8] == f_value);
    end
  end
  always @* cover (f_past && give && out_last && f_out == 8'd4);
`

// TestProofs: the registers keep to AXI4-Lite, and the gate lets whole frames through, and packets and frames hold
// the same bytes; mutants of all are refuted.
func TestProofs(t *testing.T) {
	control := formaltest.Proof{Module: "axi_control", Properties: lite, Depth: 12, Induct: 3}
	gate := formaltest.Proof{Module: "axi_gate", Params: []rtl.Param{{Name: "BEATS", Value: "3"}}, Properties: frames,
		Depth: 14, Induct: 3}
	unpack := formaltest.Proof{Module: "axi_unpack", Params: []rtl.Param{{Name: "IN_BYTES", Value: "2"},
		{Name: "OUT_BYTES", Value: "3"}, {Name: "BEATS", Value: "2"}}, Properties: bytes, Depth: 12, Induct: 3}
	pack := formaltest.Proof{Module: "axi_pack", Params: []rtl.Param{{Name: "IN_BYTES", Value: "3"},
		{Name: "OUT_BYTES", Value: "2"}}, Properties: packets, Depth: 12, Induct: 3}
	for name, c := range map[string]struct {
		proof formaltest.Proof
		fault formaltest.Mutant
	}{
		"control": {control, formaltest.Mutant{Module: "axi_control", Old: "wire put = aw_held && w_held && !bvalid;",
			New: "wire put = aw_held && w_held;"}},
		"gate": {gate, formaltest.Mutant{Module: "axi_gate", Old: "!inside_frame && !in_valid", New: "!inside_frame"}},
		"unpack": {unpack, formaltest.Mutant{Module: "axi_unpack", Old: "spill  <= !ending && !(take && in_last);",
			New: "spill  <= !(take && in_last);"}},
		"pack": {pack, formaltest.Mutant{Module: "axi_pack", Old: "assign in_ready = !ending && have",
			New: "assign in_ready = have"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.proof.Prove(t)
			c.proof.Refute(t, c.fault)
		})
	}
}
