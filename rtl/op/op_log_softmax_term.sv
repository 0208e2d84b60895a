// SPDX-License-Identifier: Apache-2.0
// op_log_softmax_term: -(t * STEP >> STEP_SHIFT) + log, of 24 fraction bits, rounded. Nothing is multiplied by a power
//   of two.
//   parameters  IN_W               bits of t
//               STEP, STEP_SHIFT   factor, 24 bits, the first one 1, and right shift, negative: left
//               SHIFT              bits that rounding drops, negative: adds
//               OUT_W, OUT_SIGNED  bits of y, 1: two's complement
//               ROUND, OVER        those of num_requant
//   latency: 3   ii: 1   order: as it comes
//   lut: STEP == 8388608 ? IN_W : B_W
//   ff: D_W + OUT_W + 29 + (STEP == 8388608 ? IN_W : B_W)
//   dsp: STEP == 8388608 ? 0 : 1
//   parts: u_y
`default_nettype none
module op_log_softmax_term #(
    parameter integer IN_W       = 8,
    parameter [23:0]  STEP       = 24'd8388608,
    parameter integer STEP_SHIFT = 3,
    parameter integer SHIFT      = 20,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0
) (
    input  wire                    clk,
    input  wire                    en,
    input  wire        [ IN_W-1:0] t,
    input  wire signed [     28:0] log,
    output reg         [OUT_W-1:0] y
);
  localparam integer P_W = IN_W + 24;
  localparam integer B_W = P_W > STEP_SHIFT ? P_W - STEP_SHIFT : 1;  // bits of t * STEP >> STEP_SHIFT
  localparam integer D_W = (B_W > 28 ? B_W : 28) + 2;

  wire [P_W-1:0] prod;
  logic signed [28:0] log_q;
  wire [P_W+B_W-1:0] below;
  generate
    if (STEP == 24'd8388608) begin : g_power
      logic [IN_W-1:0] t_q;
      always_ff @(posedge clk) if (en) t_q <= t;
      assign prod = P_W'(t_q) << 23;
    end else begin : g_real
      logic [P_W-1:0] prod_q;
      always_ff @(posedge clk) if (en) prod_q <= P_W'(t) * P_W'(STEP);
      assign prod = prod_q;
    end
    if (STEP_SHIFT < 0) begin : g_left
      assign below = (P_W + B_W)'(prod) << -STEP_SHIFT;
    end else begin : g_right
      assign below = (P_W + B_W)'(prod) >> STEP_SHIFT;
    end
  endgenerate
  logic signed [D_W-1:0] diff;
  wire [OUT_W-1:0] near;
  num_requant #(
      .IN_W(D_W), .SHIFT(SHIFT), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
  ) u_y (
      .in(diff), .out(near)
  );
  always_ff @(posedge clk)
    if (en) begin
      log_q <= log;
      diff  <= D_W'(log_q) - $signed({2'b00, below[D_W-3:0]});
      y     <= near;
    end
  wire unused = &{1'b0, below};  // its upper bits
endmodule
`default_nettype wire
