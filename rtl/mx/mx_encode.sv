// SPDX-License-Identifier: Apache-2.0
// mx_encode: fixed values v * 2^EXP to blocks with a shared scale. Of a block of up to K values with bits L of the
//   greatest magnitude: e = L - 1 + EXP within -BIAS and the greatest that the scale holds, scale e + BIAS; in steps of
//   2^(e + 1 - POINT) the values are rounded to codes: integers, with SYM without the most negative, or elements of
//   mx_integer. Blocks of zeros have scale 0. A block and a few beats fit inside: one comes while the last one leaves.
//   parameters  LANES            elements a beat, divides the length of every block
//               IN_W, IN_SIGNED  bits of v, 1: two's complement
//               EXP              exponent of v, signed
//               W, K             bits of a code; elements of a block
//               E, MOST, ONE_ZERO   codes that are no integers: see mx_round; E = -1: two's complement, see SYM
//               POINT            bits of the greatest magnitude in steps of a code
//               SCALE_W, BIAS    bits of a scale, up to 11; the scale of 2^0
//               NAN, FALLS       1: the scale of all ones is NaN; scales are the complement of e + BIAS
//               CEIL             1: e = ceil(log2) in place of floor
//               ROW, ROWS        elements of a row, whose last block may be shorter; rows of a frame
//               ROUND            rounding mode, see num_requant
//   An output beat is {scale, codes}.
//   latency: (ROW < K ? ROW : K) / LANES + (E < 0 ? 5 : 8)   ii: ROW / LANES * ROWS   order: as it comes
//   flow: memory(DEPTH, RUN, RUN, min((s / BLOCK + 1) * BLOCK, RUN), s, STAGES, 1) + u_skid
//   let: BITS = LANES * IN_W
//   lut: LANES * (IN_W * 19 / 4 - (IN_SIGNED ? 0 : IN_W * 5 / 9)) + 4 * IN_W + 10 + 8 * ((BITS + (DEPTH > 32 ? 6
//       : 13)) / (DEPTH > 32 ? 7 : 14) + (BLOCK > 4 ? 2 : 1)) + (RUN % BLOCK ? R_W : 0) + (CEIL ? LANES * IN_W * 2 : 0)
//   ff: LANES * (2 * IN_W + 1) + (BLOCK > 1 ? 2 : 1) * IN_W + 3 * D_W + B_W
//       + 25 + SCALE_W + (RUN % BLOCK ? R_W : 0)
//   parts: LANES * (E < 0 ? u_requant : u_round) + u_length + u_scale + u_skid
`default_nettype none
module mx_encode #(
    parameter integer LANES     = 1,
    parameter integer IN_W      = 24,
    parameter integer IN_SIGNED = 1,
    parameter integer EXP       = -16,
    parameter integer W         = 8,
    parameter integer E         = -1,
    parameter integer MOST      = 0,
    parameter integer ONE_ZERO  = 0,
    parameter integer SYM       = 1,
    parameter integer POINT     = W - 1,
    parameter integer K         = 4,
    parameter integer SCALE_W   = 8,
    parameter integer BIAS      = 127,
    parameter integer NAN       = 1,
    parameter integer FALLS     = 0,
    parameter integer CEIL      = 0,
    parameter integer ROW       = 10,
    parameter integer ROWS      = 1,
    parameter integer ROUND     = 0
) (
    input  wire                  clk,
    input  wire                  rst,
    input  wire [LANES*IN_W-1:0] in_data,
    input  wire                  in_valid,
    output wire                  in_ready,
    output wire [LANES*W+SCALE_W-1:0] out_data,
    output wire                  out_valid,
    input  wire                  out_ready
);
  localparam integer STAGES = E < 0 ? 3 : 6;
  localparam integer BLOCK = (ROW < K ? ROW : K) / LANES;  // beats
  localparam integer RUN = ROW / LANES;
  localparam integer VW = IN_W + (IN_SIGNED != 0 ? 0 : 1);  // v as a signed number
  localparam integer LEAST = 1 - BIAS - EXP;  // bits at which e is -BIAS
  localparam integer HIGH = (1 << SCALE_W) - (NAN != 0 ? 1 : 0) - BIAS - EXP;  // bits at which e is the greatest
  localparam integer L_MAX = IN_W + (CEIL != 0 && IN_SIGNED == 0 ? 1 : 0);
  localparam integer T_W = L_MAX + 1;  // bits of a value that is shifted up
  localparam integer MID = L_MAX < HIGH ? L_MAX : HIGH;
  localparam integer TOP = MID > LEAST ? MID : LEAST;  // bits that magnitudes are shifted up to
  localparam integer L_W = $clog2(L_MAX + 1);
  localparam integer A_W = TOP > 0 ? $clog2(TOP + 1) : 1;
  localparam integer DEPTH = BLOCK + 3;
  localparam integer D_W = $clog2(DEPTH);
  localparam integer B_W = BLOCK > 1 ? $clog2(BLOCK) : 1;
  localparam integer R_W = RUN > 1 ? $clog2(RUN) : 1;

  generate
    if (LANES < 1 || ROW % LANES != 0 || (ROW > K && (K % LANES != 0 || ROW % K % LANES != 0)) || ROWS < 1)
    begin : g_bad
      LANES_must_divide_the_length_of_every_block u_bad ();
    end
  endgenerate

  // Values wait in a ring until the magnitude of their block is known.
  logic [LANES*IN_W-1:0] store[0:DEPTH-1];
  logic ends[0:DEPTH-1];  // the beat is the last of its block
  logic [D_W-1:0] put, get;
  logic [D_W:0] used;
  logic [B_W-1:0] beat_at;
  wire run_last;
  wire block_last = beat_at == B_W'(BLOCK - 1) || run_last;
  wire take = in_valid && in_ready;
  wire give;
  assign in_ready = used != (D_W + 1)'(DEPTH);

  always_ff @(posedge clk) begin
    if (take) begin
      store[put] <= in_data;
      ends[put] <= block_last;
      put <= put == D_W'(DEPTH - 1) ? D_W'(0) : put + D_W'(1);
      beat_at <= block_last ? B_W'(0) : beat_at + B_W'(1);
    end
    used <= used + (D_W + 1)'(take) - (D_W + 1)'(give);
    if (rst) begin
      put    <= D_W'(0);
      beat_at <= B_W'(0);
      used   <= (D_W + 1)'(0);
    end
  end
  generate
    if (RUN % BLOCK == 0) begin : g_even
      assign run_last = 1'b0;
    end else begin : g_tail
      logic [R_W-1:0] col;
      assign run_last = col == R_W'(RUN - 1);
      always_ff @(posedge clk) begin
        if (take) col <= run_last ? R_W'(0) : col + R_W'(1);
        if (rst) col <= R_W'(0);
      end
    end
  endgenerate

  // The OR of all magnitudes of a block has the bits of the greatest.
  // With CEIL, those less 1: the bits of them, and one more.
  wire [LANES*IN_W-1:0] magnitudes;
  wire [LANES-1:0] nonzero;
  logic beat_some, block_some;
  logic [IN_W-1:0] beat_or, block_or;
  logic beat_valid, beat_last, fresh;
  function [IN_W-1:0] any(input [LANES*IN_W-1:0] m);
    integer i;
    begin
      any = IN_W'(0);
      for (i = 0; i < LANES; i = i + 1) any = any | m[i*IN_W+:IN_W];
    end
  endfunction
  wire [IN_W-1:0] so_far = (fresh ? IN_W'(0) : block_or) | beat_or;
  wire some = beat_some || (!fresh && block_some);
  always_ff @(posedge clk) begin
    beat_or <= any(magnitudes);
    beat_some <= |nonzero;
    if (beat_valid) block_some <= some;
    beat_last <= block_last;
    beat_valid <= take;
    if (beat_valid) begin
      block_or <= so_far;
      fresh <= beat_last;
    end
    if (rst) begin
      beat_valid <= 1'b0;
      fresh <= 1'b1;
    end
  end
  localparam integer U = CEIL != 0 ? 1 : 0;
  wire [$clog2(IN_W+U+1)-1:0] bits_now;
  num_length #(
      .IN_W(IN_W + U)
  ) u_length (
      .in ((IN_W + U)'({so_far, some} >> (1 - U))),
      .out(bits_now)
  );

  // Lengths of complete blocks; four are enough, as only every second block can be short.
  logic [L_W-1:0] lengths[0:3];
  logic [1:0] length_put, length_get;
  logic [2:0] blocks;
  wire push = beat_valid && beat_last;
  wire pop = give && ends[get];
  always_ff @(posedge clk) begin
    if (push) begin
      lengths[length_put] <= L_W'(bits_now);
      length_put <= length_put + 2'd1;
    end
    if (pop) length_get <= length_get + 2'd1;
    if (give) get <= get == D_W'(DEPTH - 1) ? D_W'(0) : get + D_W'(1);
    blocks <= blocks + 3'(push) - 3'(pop);
    if (rst) begin
      length_put <= 2'd0;
      length_get <= 2'd0;
      get        <= D_W'(0);
      blocks     <= 3'd0;
    end
  end

  // Read, shift to the top, round.
  wire out_room;
  logic [STAGES:1] valid;
  wire en = out_room || !valid[STAGES];
  assign give = en && blocks != 3'd0;
  wire [L_W-1:0] len = lengths[length_get];
  wire zero = len == L_W'(0);
  wire signed [12:0] wide_len = $signed({{(13 - L_W) {1'b0}}, len});
  wire signed [12:0] bound = LEAST > 0 && wide_len < 13'(LEAST) ? 13'(LEAST)
      : HIGH < L_MAX && wide_len > 13'(HIGH) ? 13'(HIGH) : wide_len;
  wire signed [12:0] up = 13'(TOP) - bound;
  wire signed [12:0] e = bound + 13'(EXP + BIAS - 1);
  logic [LANES*IN_W-1:0] v;
  logic [A_W-1:0] shift;
  logic [SCALE_W-1:0] scale_1;
  wire [SCALE_W-1:0] scale_out;
  always_ff @(posedge clk) begin
    if (en) begin
      valid   <= {valid[STAGES-1:1], give};
      v       <= store[get];
      shift   <= up[A_W-1:0];
      scale_1 <= zero ? SCALE_W'(0) : FALLS != 0 ? ~e[SCALE_W-1:0] : e[SCALE_W-1:0];
    end
    if (rst) valid <= STAGES'(0);
  end
  num_delay #(.WIDTH(SCALE_W), .DEPTH(STAGES - 1)) u_scale (.clk(clk), .en(en), .in(scale_1), .out(scale_out));

  wire [LANES*W-1:0] codes;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire [IN_W-1:0] x = in_data[i*IN_W+:IN_W];
      wire minus = IN_SIGNED != 0 && x[IN_W-1];
      assign nonzero[i] = |x;
      if (CEIL == 0) begin : g_floor
        assign magnitudes[i*IN_W+:IN_W] = minus ? ~x + IN_W'(1) : x;
      end else begin : g_ceil
        assign magnitudes[i*IN_W+:IN_W] = minus ? ~x : x - IN_W'(|x);
      end
      wire signed [VW-1:0] value;
      if (IN_SIGNED != 0) begin : g_signed
        assign value = v[i*IN_W+:IN_W];
      end else begin : g_unsigned
        assign value = {1'b0, v[i*IN_W+:IN_W]};
      end
      logic signed [T_W-1:0] t;
      always_ff @(posedge clk) if (en) t <= T_W'(value) << shift;
      if (E < 0) begin : g_integer
        num_offset #(
            .IN_W(T_W), .SHIFT(TOP - POINT), .ZERO(0), .OUT_W(W), .OUT_SIGNED(1), .ROUND(ROUND), .OVER(SYM)
        ) u_requant (
            .clk(clk), .en(en), .in(t), .out(codes[i*W+:W])
        );
      end else begin : g_coded
        mx_round #(
            .IN_W(T_W), .W(W), .E(E), .SHIFT(TOP - POINT), .MOST(MOST), .ONE_ZERO(ONE_ZERO), .ROUND(ROUND)
        ) u_round (
            .clk(clk), .en(en), .in(t), .out(codes[i*W+:W])
        );
      end
    end
  endgenerate

  stream_skid #(.WIDTH(LANES * W + SCALE_W)) u_skid (
      .clk(clk), .rst(rst), .in_data({scale_out, codes}), .in_valid(valid[STAGES]), .in_ready(out_room),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
  wire unused_top = &{1'b0, up, e, some};
endmodule
`default_nettype wire
