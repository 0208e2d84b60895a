// SPDX-License-Identifier: Apache-2.0
// mx_decode: blocks to fixed values: over(RS(q, -(X + OFFSET))) of the integer q of every code (see mx_integer) of a
//   block with scale X.
//   parameters  LANES    elements a beat
//               W, E     bits of a code; of its field, see mx_integer; -1: two's complement
//               SCALE_W  bits of a scale, up to 11
//               FALLS    1: X is the complement of the scale
//               OFFSET   left shift of a code at scale 0, signed
//               LOW, HIGH  most places to the right, at most V_W + 1; to the left, at most OUT_W: shifts beyond either
//                        are taken for it
//               OUT_W, OUT_SIGNED, ROUND, OVER   the result, see num_requant
//               BEATS    beats of a frame
//   An input beat is {scale, codes}.
//   latency: E > 0 ? 4 : 2   ii: BEATS   order: as it comes
//   lut: LANES * (T_W * A_W / 3) + 9
//   ff: LANES * T_W + (E > 0 ? 3 : 1)
//   parts: u_integer + u_integers + u_rounded + LANES * u_cast + u_skid
`default_nettype none
module mx_decode #(
    parameter integer LANES      = 2,
    parameter integer W          = 8,
    parameter integer E          = -1,
    parameter integer SCALE_W    = 8,
    parameter integer FALLS      = 0,
    parameter integer OFFSET     = -125,
    parameter integer LOW        = 9,
    parameter integer HIGH       = 16,
    parameter integer OUT_W      = 16,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer BEATS      = 1
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [LANES*W+SCALE_W-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer SPAN = LOW + HIGH;
  localparam integer A_W = SPAN > 0 ? $clog2(SPAN + 1) : 1;
  localparam integer V_W = E < 0 ? W : W - 1 - E + (1 << E);
  localparam integer T_W = V_W + SPAN;

  generate
    if (LANES < 1 || BEATS < 1 || LOW < 0 || HIGH < 0) begin : g_bad
      LANES_BEATS_LOW_and_HIGH_must_not_be_negative u_bad ();
    end
  endgenerate

  wire [SCALE_W-1:0] scale = in_data[LANES*W+:SCALE_W] ^ {SCALE_W{FALLS != 0}};
  wire signed [12:0] s = $signed(13'(scale)) + 13'(OFFSET + LOW);
  wire [A_W-1:0] a_in = s < 13'sd0 ? A_W'(0) : s > 13'(SPAN) ? A_W'(SPAN) : s[A_W-1:0];

  // Of codes that are no integers, these are a stage of their own, and so is the rounding.
  localparam integer STAGES = E > 0 ? 3 : 1;
  logic [STAGES:1] valid;
  wire out_room;
  wire en = out_room || !valid[STAGES];
  wire [A_W-1:0] a;
  wire [LANES*V_W-1:0] integers_in, integers;
  num_delay #(.WIDTH(LANES * V_W + A_W), .DEPTH(E > 0 ? 1 : 0)) u_integers (
      .clk(clk), .en(en), .in({a_in, integers_in}), .out({a, integers})
  );
  assign in_ready = en;
  logic [LANES*T_W-1:0] t;
  wire [LANES*T_W-1:0] shifted;
  always_ff @(posedge clk) begin
    if (en) begin
      t     <= shifted;
      valid <= STAGES'({valid, in_valid});
    end
    if (rst) valid <= STAGES'(0);
  end

  mx_integer #(.LANES(LANES), .W(W), .E(E)) u_integer (.in(in_data[LANES*W-1:0]), .out(integers_in));
  wire [LANES*OUT_W-1:0] y, y_out;
  num_delay #(.WIDTH(LANES * OUT_W), .DEPTH(E > 0 ? 1 : 0)) u_rounded (.clk(clk), .en(en), .in(y), .out(y_out));
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire signed [V_W-1:0] q = integers[i*V_W+:V_W];
      assign shifted[i*T_W+:T_W] = T_W'(q) << a;
      num_requant #(
          .IN_W(T_W), .IN_SIGNED(1), .SHIFT(LOW), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
      ) u_cast (
          .in(t[i*T_W+:T_W]), .out(y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  stream_skid #(.WIDTH(LANES * OUT_W)) u_skid (
      .clk(clk), .rst(rst), .in_data(y_out), .in_valid(valid[STAGES]), .in_ready(out_room),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
  wire unused_top = &{1'b0, s};
endmodule
`default_nettype wire
