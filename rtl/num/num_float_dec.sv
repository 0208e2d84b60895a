// SPDX-License-Identifier: Apache-2.0
// num_float_dec: minifloats to fixed values. A code {sign, field of E bits, fraction of M bits} is the integer
//   +-(fraction + (field > 0 ? 2^M : 0)) << (field > 0 ? field - 1 : 0), which is then cast: over(round(., SHIFT)).
//   With M = 0 codes are powers of two and zero. Without HIDDEN it is +-fraction << field.
//   parameters  LANES   elements a beat
//               E, M    bits of the exponent field and of the fraction
//               HIDDEN  0: no hidden bit
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               BEATS   beats of a frame
//   latency: 2   ii: BEATS   order: as it comes
//   lut: LANES * (T_W * E / 3 + M + 4) + 2
//   ff: LANES * T_W + 1
//   parts: LANES * u_cast + u_skid
`default_nettype none
module num_float_dec #(
    parameter integer LANES      = 2,
    parameter integer E          = 4,
    parameter integer M          = 3,
    parameter integer HIDDEN     = 1,
    parameter integer SHIFT      = 0,
    parameter integer OUT_W      = 19,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer BEATS      = 1
) (
    input  wire                       clk,
    input  wire                       rst,
    input  wire [LANES*(1+E+M)-1:0]   in_data,
    input  wire                       in_valid,
    output wire                       in_ready,
    output wire [    LANES*OUT_W-1:0] out_data,
    output wire                       out_valid,
    input  wire                       out_ready
);
  localparam integer C_W = 1 + E + M;
  localparam integer T_W = M + (1 << E);
  localparam [M:0] TOP = {1'b1, {M{1'b0}}};

  generate
    if (LANES < 1 || BEATS < 1 || E < 1 || M < 0) begin : g_bad
      LANES_BEATS_and_E_must_be_at_least_1 u_bad ();
    end
  endgenerate

  logic [LANES*T_W-1:0] t;
  logic valid;
  wire out_room;
  wire en = out_room || !valid;
  assign in_ready = en;
  wire [LANES*T_W-1:0] shifted;
  always_ff @(posedge clk) begin
    if (en) begin
      t     <= shifted;
      valid <= in_valid;
    end
    if (rst) valid <= 1'b0;
  end

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire [C_W-1:0] x = in_data[i*C_W+:C_W];
      wire [E-1:0] field = x[M+:E];
      wire normal = HIDDEN != 0 && |field;
      wire [M:0] sig = normal ? x[M:0] | TOP : x[M:0] & ~TOP;
      wire [E-1:0] by = field - E'(normal);
      wire signed [M+1:0] v = x[C_W-1] ? (M + 2)'(0) - {1'b0, sig} : {1'b0, sig};
      assign shifted[i*T_W+:T_W] = T_W'(v) << by;
      num_requant #(
          .IN_W(T_W), .IN_SIGNED(1), .SHIFT(SHIFT), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
      ) u_cast (
          .in(t[i*T_W+:T_W]), .out(y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  stream_skid #(.WIDTH(LANES * OUT_W)) u_skid (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(valid), .in_ready(out_room),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
