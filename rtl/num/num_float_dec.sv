// SPDX-License-Identifier: Apache-2.0
// num_float_dec: minifloats to fixed values. A code {sign, field of E bits, fraction of M bits} is the integer
//   +-(fraction + (field > 0 ? 2^M : 0)) << (field > 0 ? field - 1 : 0), which is then cast: over(round(., SHIFT)).
//   With M = 0 codes are powers of two and zero. Without HIDDEN it is +-fraction << field.
//   parameters  LANES   elements a beat
//               E, M    bits of the exponent field and of the fraction
//               HIDDEN  0: no hidden bit
//               KIND    0: all codes are finite; 1: those of the greatest field are infinities, which become the codes
//                       at the ends of the output, and NaN, which becomes 0; 2: the code of all ones is NaN, 3: -0
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               BEATS   beats of a frame
//   latency: 2   ii: BEATS   order: as it comes
//   lut: LANES * (T_W * E / 3 + M + 4 + (KIND == 1 ? OUT_W + 2 : 0)) + 2
//   ff: LANES * (T_W + (KIND == 1 ? 2 : 0)) + 1
//   parts: LANES * u_cast + u_skid
`default_nettype none
module num_float_dec #(
    parameter integer LANES      = 2,
    parameter integer E          = 4,
    parameter integer M          = 3,
    parameter integer HIDDEN     = 1,
    parameter integer KIND       = 0,
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
  localparam integer T_W = M + (1 << E) - (KIND == 1 ? 1 : 0);
  localparam [M:0] TOP = {1'b1, {M{1'b0}}};

  generate
    if (LANES < 1 || BEATS < 1 || E < 1 || M < 0) begin : g_bad
      LANES_BEATS_and_E_must_be_at_least_1 u_bad ();
    end
    if (KIND < 0 || KIND > 3 || (KIND == 1 && M < 1) || (KIND != 0 && HIDDEN == 0)) begin : g_bad_kind
      KIND_must_be_0_to_3_and_1_needs_a_fraction u_bad ();
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
      wire nan = KIND == 1 ? &field : KIND == 2 && &x[E+M-1:0];  // or infinity
      wire [M:0] sig = nan ? (M + 1)'(0) : normal ? x[M:0] | TOP : x[M:0] & ~TOP;
      wire [E-1:0] by = field - E'(normal);
      wire signed [M+1:0] v = x[C_W-1] ? (M + 2)'(0) - {1'b0, sig} : {1'b0, sig};
      assign shifted[i*T_W+:T_W] = T_W'(v) << by;
      wire [OUT_W-1:0] cast;
      num_requant #(
          .IN_W(T_W), .IN_SIGNED(1), .SHIFT(SHIFT), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
      ) u_cast (
          .in(t[i*T_W+:T_W]), .out(cast)
      );
      if (KIND == 1) begin : g_infinite
        localparam [OUT_W-1:0] SIGN = OUT_W'(1) << (OUT_W - 1);
        localparam integer HIGH = (OVER - 3) / 2;
        localparam [OUT_W-1:0] LIMIT = OUT_W'(HIGH);
        localparam [OUT_W-1:0] ONES = {OUT_W{1'b1}};
        localparam [OUT_W-1:0] MOST = OVER > 2 ? LIMIT : OUT_SIGNED != 0 ? ~SIGN : ONES ^ OUT_W'(OVER == 1);
        localparam [OUT_W-1:0] LEAST = (OVER > 2 ? OVER % 2 == 0 : OUT_SIGNED != 0 && OVER == 1) ? ~MOST + OUT_W'(1) :
            OVER < 3 && OUT_SIGNED != 0 ? SIGN : {OUT_W{1'b0}};
        logic infinite, minus;
        always_ff @(posedge clk)
          if (en) begin
            infinite <= &field && x[(M>0?M-1:0):0] == {(M > 0 ? M : 1) {1'b0}};
            minus    <= x[C_W-1];
          end
        assign y[i*OUT_W+:OUT_W] = !infinite ? cast : minus ? LEAST : MOST;
      end else begin : g_finite
        assign y[i*OUT_W+:OUT_W] = cast;
      end
    end
  endgenerate

  stream_skid #(.WIDTH(LANES * OUT_W)) u_skid (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(valid), .in_ready(out_room),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
