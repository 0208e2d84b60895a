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

// TestProofs: the registers keep to AXI4-Lite, and the gate lets whole frames through; mutants of both are refuted.
func TestProofs(t *testing.T) {
	control := formaltest.Proof{Module: "axi_control", Properties: lite, Depth: 12, Induct: 3}
	gate := formaltest.Proof{Module: "axi_gate", Params: []rtl.Param{{Name: "BEATS", Value: "3"}}, Properties: frames,
		Depth: 14, Induct: 3}
	for name, c := range map[string]struct {
		proof formaltest.Proof
		fault formaltest.Mutant
	}{
		"control": {control, formaltest.Mutant{Module: "axi_control", Old: "wire put = aw_held && w_held && !bvalid;",
			New: "wire put = aw_held && w_held;"}},
		"gate": {gate, formaltest.Mutant{Module: "axi_gate", Old: "!inside_frame && !in_valid", New: "!inside_frame"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.proof.Prove(t)
			c.proof.Refute(t, c.fault)
		})
	}
}
