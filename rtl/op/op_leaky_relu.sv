// SPDX-License-Identifier: Apache-2.0
// op_leaky_relu: y = over(round(x, SHIFT)) for x >= 0, else over(round(alpha * x)), element by element.
//   alpha = ALPHA_SIG * 2^ALPHA_EXP is exact, and so is the product: each side is rounded once.
//   parameters  LANES              elements a beat
//               IN_W, IN_SIGNED    bits of x, 1: two's complement
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               ALPHA_SIG          significand of alpha, up to 25 bits with sign
//               ALPHA_EXP          its exponent
//               BEATS              beats of a frame
//   latency: 2   ii: BEATS   order: as it comes
//   let: BITS = clog2(ALPHA_SIG + 1)
//   lut: LANES * (OUT_W + 2)
//   ff: LANES * (2 * IN_W + BITS)
//   dsp: BITS > 1 ? LANES : 0
//   parts: LANES * u_above + LANES * u_below + u_out
`default_nettype none
module op_leaky_relu #(
    parameter integer LANES      = 4,
    parameter integer IN_W       = 8,
    parameter integer IN_SIGNED  = 1,
    parameter integer SHIFT      = 0,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer ALPHA_SIG  = 1,
    parameter integer ALPHA_EXP  = -3,
    parameter integer BEATS      = 1
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [ LANES*IN_W-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer P_W = IN_W + 26;  // bits of the product
  localparam signed [25:0] ALPHA = ALPHA_SIG[25:0];

  generate
    if (LANES < 1 || BEATS < 1) begin : g_bad
      LANES_and_BEATS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  // The product has a register of its own; it and x move together.
  wire en;
  logic moving;
  assign in_ready = en;
  always_ff @(posedge clk) begin
    if (en) moving <= in_valid;
    if (rst) moving <= 1'b0;
  end

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire [IN_W-1:0] x = in_data[IN_W*i+:IN_W];
      wire [OUT_W-1:0] above;
      wire [OUT_W-1:0] below;
      wire signed [IN_W:0] xs = {IN_SIGNED != 0 ? x[IN_W-1] : 1'b0, x};
      logic [IN_W-1:0] x_q;
      logic signed [P_W-1:0] p;
      logic negative;
      always_ff @(posedge clk)
        if (en) begin
          x_q <= x;
          p <= P_W'(xs) * P_W'(ALPHA);
          negative <= xs[IN_W];
        end
      num_requant #(
          .IN_W(IN_W),
          .IN_SIGNED(IN_SIGNED),
          .SHIFT(SHIFT),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER)
      ) u_above (
          .in (x_q),
          .out(above)
      );
      num_requant #(
          .IN_W(P_W),
          .IN_SIGNED(1),
          .SHIFT(SHIFT - ALPHA_EXP),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER)
      ) u_below (
          .in (p),
          .out(below)
      );
      assign y[OUT_W*i+:OUT_W] = negative ? below : above;
    end
  endgenerate

  wire out_room;
  assign en = out_room || !moving;
  stream_skid #(
      .WIDTH(LANES * OUT_W)
  ) u_out (
      .clk(clk),
      .rst(rst),
      .in_data(y),
      .in_valid(moving),
      .in_ready(out_room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
