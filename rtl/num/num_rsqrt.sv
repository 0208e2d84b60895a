// SPDX-License-Identifier: Apache-2.0
// num_rsqrt: 1 / sqrt(v) = r * 2^-(31 + (V_W - 24) / 2), with the 21 bits that the definition of norms gives to r.
//   By that, v * 4^e, e as great as V_W bits allow, begins with the 24 bits w, q = floor(2^62 / w), s = floor(sqrt(q)),
//   one more if q - s * s > s, and r = s * 2^e. Here s is the greatest number with s * s * w <= 2^62, found bit by bit
//   without a division: rest is what is left of 2^62, take what the next bit takes of it. The "one more" is
//   2^62 - s * s * w >= (s + 1) * w: then the next bit would be 1, and would leave 3 * w or more in its own scale.
//   v is read with start; r is there later and stays until the cycle 5 + FAR behind the next start. v = 0 gives any r.
//   parameters  V_W    bits of v, even, 24 to 64
//               R_W    bits of r: 21, and one for each e
//               FAR    e is at most 8 * FAR + 7; 1 to 3
//               AHEAD  cycles from done to r, 0 to 4
//   latency: 33 + 2 * FAR   ii: 28 + FAR   order: answers as requests
//   lut: 225 + V_W + R_W
//   ff: 121 + V_W + R_W + 2 * SHIFTS + 8 + (AHEAD == 0)
`default_nettype none
module num_rsqrt #(
    parameter integer V_W   = 64,
    parameter integer R_W   = 52,
    parameter integer FAR   = 3,
    parameter integer AHEAD = 0
) (
    input  wire           clk,
    input  wire           rst,
    input  wire           start,
    input  wire [V_W-1:0] v,
    output reg  [R_W-1:0] r,
    output wire           done
);
  localparam integer WW = 46;  // bits of rest and take

  generate
    if (V_W % 2 != 0 || V_W < 24 || V_W > 64 || R_W < 22 || FAR < 1 || FAR > 3 || AHEAD < 0 || AHEAD > 4) begin : g_bad
      V_W_must_be_even_24_to_64_and_R_W_at_least_22_and_FAR_1_to_3_and_AHEAD_0_to_4 u_bad ();
    end
  endgenerate

  // Phases: up to 7 shift, 8 begins, 9 to 30 find bits, 31 rounds. Then the turns up to 7 shift the root.
  localparam integer SHIFTS = 4 + FAR;
  logic [4:0] phase;
  logic [2:0] turn;
  wire narrow = phase == 5'd7;
  wire wide = phase <= 5'd3;
  wire shifts = phase[4:3] == 2'd0 && phase != 5'd0;
  wire begins = phase == 5'd8;
  wire rounds = phase == 5'd31;
  always_ff @(posedge clk) begin
    if (start) phase <= 5'(4 - FAR);
    else if (phase != 5'd0) phase <= phase + 5'd1;
    if (rounds) turn <= 3'(4 - FAR);
    else if (turn != 3'd0) turn <= turn + 3'd1;
    if (rst) begin
      phase <= 5'd0;
      turn  <= 3'd0;
    end
  end
  generate
    if (AHEAD == 0) begin : g_then
      logic done_q;
      always_ff @(posedge clk) done_q <= turn == 3'd7 && !rst;
      assign done = done_q;
    end else begin : g_ahead
      assign done = turn == 3'(8 - AHEAD);
    end
  endgenerate

  // Left by 16 at most FAR times, by 4 at most three times, by 2: then one of the top two bits is set.
  logic [V_W-1:0] x;
  logic [SHIFTS-1:0] shifted;  // which of the shifts were made
  wire free = wide ? !(|x[V_W-1-:16]) : narrow ? !(|x[V_W-1-:2]) : !(|x[V_W-1-:4]);
  always_ff @(posedge clk) begin
    if (start || (shifts && free))
      case ({!start && !wide, start || narrow})
        2'b00: x <= x << 16;
        2'b01: x <= v;
        2'b10: x <= x << 4;
        default: x <= x << 2;
      endcase
    if (shifts) shifted <= {shifted[SHIFTS-2:0], free};
  end

  wire [23:0] w = x[V_W-1-:24];
  logic [26:0] less_3w;  // -3 * w
  always_ff @(posedge clk) less_3w <= {3'd0, w} - {1'b0, w, 2'b00};

  // rest becomes four times itself, less take if that is possible; take twice itself and 3 * w if it was, else less w.
  // At first it is w, which is -1 + w + 1.
  logic [WW-1:0] rest, take;
  wire [WW+1:0] left = {rest, 2'b00} - {2'b00, take};
  wire one = !left[WW+1];
  // Both differences are there before it is known which of them counts.
  wire [WW-1:0] took = {take[WW-2:0], begins} - {{19{less_3w[26]}}, less_3w};
  wire [WW-1:0] left_it = {take[WW-2:0], begins} - ({22'd0, w} ^ {WW{begins}});
  always_ff @(posedge clk) begin
    rest <= one ? left[WW-1:0] : {rest[WW-3:0], 2'b00};
    take <= one && !begins ? took : left_it;
    if (phase <= 5'd8) rest <= {25'd0, 1'b1, 20'd0};
    if (phase <= 5'd7) take <= ~46'd0;
  end

  // The bits, one too many; rounded; shifted as v was, half as far.
  logic [SHIFTS-1:0] shift;
  wire [26:0] beyond = {1'b0, rest[25:0]} + less_3w;
  wire unused_beyond = &{1'b0, beyond};
  wire more = r[0] && (|rest[WW-1:26] || !beyond[26]);
  wire [20:0] root = r[21:1] + {20'd0, more};
  wire far = turn[2] == 1'b0 && turn != 3'd0;  // turns up to 3
  wire near = turn[2] && turn != 3'd7;  // turns 4 to 6
  always_ff @(posedge clk) begin
    shift <= rounds ? shifted : {shift[SHIFTS-2:0], 1'b0};
    if (turn != 3'd0 ? shift[SHIFTS-1] : phase[4] || phase[3])
      case ({far || near, far || rounds})
        2'b00: r <= {r[R_W-2:0], one && turn == 3'd0};
        2'b01: r <= R_W'(root);
        2'b10: r <= r << 2;
        default: r <= r << 8;
      endcase
    if (begins) r <= R_W'(0);
  end
endmodule
`default_nettype wire
