// SPDX-License-Identifier: Apache-2.0
// op_linear_meet: brings the data of a beat and its weights to the multipliers of all lanes of op_linear_fed, which
//   share the data. Where weights are kept KEEP of each OF, a lane has data of its own: each weight has a place beside
//   it, the number of the element that it meets in its run of OF elements.
//   parameters  IN_LANES, OUT_LANES, IN_W, W_W, KEEP, OF   as op_linear
//               HOLD   a register, which the places have in any case
//   and, derived from these and not to be set, KEPT, the products of a lane, and ROWS, the lanes with data of their own
//   Product k of lane p has {place, weight} at bit (p * KEPT + k) * (W_W + clog2(OF)) of w.
//   latency: OF > 1 ? 1 : HOLD   ii: 1   order: as it comes
//   lut: OF > 1 ? OUT_LANES * KEPT * IN_W * (OF > 4 ? (OF + 4) / 4 : 1) : 0
//   lut4: OF > 1 ? OUT_LANES * KEPT * IN_W * (OF > 4 ? (7 * OF - 16) / 8 : OF / 2) : 0
//   ff: OF > 1 ? OUT_LANES * KEPT * (IN_W + W_W) : 0
//   parts: OF > 1 ? 0 : u_hold
`default_nettype none
module op_linear_meet #(
    parameter integer IN_LANES  = 4,
    parameter integer OUT_LANES = 2,
    parameter integer IN_W      = 8,
    parameter integer W_W       = 8,
    parameter integer KEEP      = 1,
    parameter integer OF        = 1,
    parameter integer HOLD      = 0,
    parameter integer KEPT      = IN_LANES / OF * KEEP,
    parameter integer ROWS      = OF > 1 ? OUT_LANES : 1
) (
    input  wire                                        clk,
    input  wire                                        en,
    input  wire [                   IN_LANES*IN_W-1:0] x,
    input  wire [OUT_LANES*KEPT*(W_W+$clog2(OF))-1:0] w,
    output wire [                  ROWS*KEPT*IN_W-1:0] x_out,
    output wire [              OUT_LANES*KEPT*W_W-1:0] w_out
);
  localparam integer BITS = W_W + $clog2(OF);
  generate
    if (KEPT * OF != IN_LANES * KEEP) begin : g_bad
      OF_must_divide_IN_LANES u_bad ();
    end
    if (OF > 1) begin : g_places
      for (genvar k = 0; k < OUT_LANES * KEPT; k++) begin : g_product
        wire [IN_W-1:0] met;
        op_pick #(.N(OF), .WIDTH(IN_W)) u_pick (
            .in(x[k%KEPT/KEEP*OF*IN_W+:OF*IN_W]), .sel(w[k*BITS+W_W+:BITS-W_W]), .out(met)
        );
        logic [IN_W-1:0] x_q;
        logic [W_W-1:0] w_q;
        always_ff @(posedge clk)
          if (en) begin
            x_q <= met;
            w_q <= w[k*BITS+:W_W];
          end
        assign x_out[k*IN_W+:IN_W] = x_q;
        assign w_out[k*W_W+:W_W] = w_q;
      end
    end else begin : g_shared
      num_delay #(.WIDTH(IN_LANES * IN_W + OUT_LANES * IN_LANES * W_W), .DEPTH(HOLD)) u_hold (
          .clk(clk), .en(en), .in({x, w}), .out({x_out, w_out})
      );
    end
  endgenerate
endmodule
`default_nettype wire
