// SPDX-License-Identifier: Apache-2.0
// op_recur_rnn: what an RNN makes of the sum of one hidden unit: h = tanh(sum), of the sum rounded to even and
//   saturated, or h = max(sum, 0).
//   parameters  RELU              1: the latter
//               T_W, SUM_F        bits and fraction bits of the sum
//               GATE_W, GATE_F    what tanh reads
//               OUT_W, OUT_F, OUT_SIGNED, ROUND, OVER   the result, see num_requant
//               SMOOTH, TANH, TANH_SUM, TANH_D, TANH_V_W, TANH_C1_W, TANH_C2_W, ROM_STYLE,
//               MULT              the function, see op_recur_curve
//   latency: RELU ? 1 : 1 + (SMOOTH ? 7 : 2)   ii: 1   order: as it comes
//   lut: RELU ? T_W : 0
//   ff: RELU ? T_W : GATE_W
//   parts: RELU ? u_y : u_gate + u_tanh
`default_nettype none
module op_recur_rnn #(
    parameter integer RELU       = 0,
    parameter integer T_W        = 20,
    parameter integer SUM_F      = 12,
    parameter integer GATE_W     = 8,
    parameter integer GATE_F     = 4,
    parameter integer OUT_W      = 8,
    parameter integer OUT_F      = 7,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer SMOOTH     = 0,
    parameter         TANH       = "",
    parameter [31:0]  TANH_SUM   = 32'd0,
    parameter integer TANH_D     = 3,
    parameter integer TANH_V_W   = 16,
    parameter integer TANH_C1_W  = 12,
    parameter integer TANH_C2_W  = 8,
    parameter         ROM_STYLE  = "auto",
    parameter         MULT       = "auto"
) (
    input  wire             clk,
    input  wire             en,
    input  wire [  T_W-1:0] sum,
    output wire [OUT_W-1:0] y
);
  generate
    if (RELU != 0) begin : g_relu
      logic [T_W-1:0] above;
      always_ff @(posedge clk) if (en) above <= sum[T_W-1] ? {T_W{1'b0}} : sum;
      num_requant #(
          .IN_W(T_W), .SHIFT(SUM_F - OUT_F), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
      ) u_y (
          .in(above), .out(y)
      );
    end else begin : g_tanh
      wire [GATE_W-1:0] rounded;
      logic [GATE_W-1:0] seen;
      num_requant #(.IN_W(T_W), .SHIFT(SUM_F - GATE_F), .OUT_W(GATE_W)) u_gate (.in(sum), .out(rounded));
      always_ff @(posedge clk) if (en) seen <= rounded;
      op_recur_curve #(
          .SMOOTH(SMOOTH), .IN_W(GATE_W), .IN_F(GATE_F), .OUT_W(OUT_W), .OUT_F(OUT_F), .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND), .OVER(OVER), .D(TANH_D), .EDGE(2), .V_W(TANH_V_W), .C1_W(TANH_C1_W), .C2_W(TANH_C2_W),
          .IMAGE(TANH), .IMAGE_SUM(TANH_SUM), .ROM_STYLE(ROM_STYLE), .MULT(MULT)
      ) u_tanh (
          .clk(clk), .en(en), .x(seen), .y(y)
      );
    end
  endgenerate
endmodule
`default_nettype wire
