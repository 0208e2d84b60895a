// SPDX-License-Identifier: Apache-2.0
// mx_integer: codes of elements of blocks as integers of one step. A code {sign, field of E bits, fraction of M = W-1-E
//   bits} is +-(fraction + (field > 0 ? 2^M : 0)) << (field > 0 ? field - 1 : 0); E = 0: sign and magnitude; E = -1:
//   two's complement, which stays as it is.
//   parameters  LANES  codes side by side
//               W, E   bits of a code; of its field
//               V_W    derived, not to be set: bits of an integer, two's complement
//   latency: 0   ii: 1   order: combinational
//   lut: LANES * (E < 0 ? 0 : E > 0 ? V_W * (E + 1) / 2 + W : W)
`default_nettype none
module mx_integer #(
    parameter integer LANES = 2,
    parameter integer W     = 4,
    parameter integer E     = 2,
    parameter integer V_W   = E < 0 ? W : W - 1 - E + (1 << E)
) (
    input  wire [  LANES*W-1:0] in,
    output wire [LANES*V_W-1:0] out
);
  localparam integer M = E < 0 ? W - 1 : W - 1 - E;
  localparam integer F_W = E > 0 ? E : 1;

  generate
    if (LANES < 1 || W < 1 || E > W - 1 || E < -1 || (E >= 0 && W < 2)) begin : g_bad
      LANES_must_be_at_least_1_and_E_within_the_code u_bad ();
    end
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire [W-1:0] x = in[i*W+:W];
      if (E < 0) begin : g_plain
        assign out[i*V_W+:V_W] = x;
      end else begin : g_coded
        wire [F_W-1:0] field = E > 0 ? F_W'(x >> M) : F_W'(0);
        wire normal = |field;
        wire [M:0] low = (M + 1)'(x) & ~((M + 1)'(1) << M);
        wire [M:0] sig = normal ? low | (M + 1)'(1) << M : low << 1;  // shifted by the field, and back by one
        wire [V_W:0] twice = (V_W + 1)'(sig) << field;
        wire [V_W-1:0] mag = twice[V_W:1];
        wire unused_low = &{1'b0, twice[0]};
        assign out[i*V_W+:V_W] = x[W-1] ? V_W'(0) - mag : mag;
      end
    end
  endgenerate
endmodule
`default_nettype wire
