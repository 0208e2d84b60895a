// SPDX-License-Identifier: Apache-2.0
// mx_tile: fixed values v * 2^EXP to blocks along tokens: the K values of one feature in K tokens in a row share a
//   scale, those of the last tokens of a frame a block of their own. Codes and scales are those of mx_encode; tokens
//   and features leave in the order in which they came. A tile of K tokens and a few beats wait inside: one comes while
//   the one before it leaves.
//   parameters  LANES            elements a beat
//               IN_W, IN_SIGNED  bits of v, 1: two's complement
//               EXP              exponent of v, signed
//               W, K             bits of a code; tokens of a block
//               SCALE_W, BIAS    bits of a scale, up to 11; the scale of 2^0
//               LINE, TOKENS     beats of a token; tokens of a frame
//               ROUND            rounding mode, see num_requant
//               STYLE            memory of the tile, see mem_ram
//   An output beat is {scales, codes}, one of either a lane.
//   latency: (TOKENS < K ? TOKENS : K) * LINE + 5   ii: LINE * TOKENS   order: as it comes
//   flow: memory(DEPTH, LINE * TOKENS, LINE * TOKENS, min((s / TILE + 1) * TILE, LINE * TOKENS), s, 2, 2) + u_skid
//   let: WIDE = LANES * IN_W; MANY = BANKS << AT_W; ROOM = (MANY > 32 ? (MANY + 63) / 64 * ((LW + 6) / 7) :
//       (LW + 13) / 14) + (LINE > 32 ? (LINE + 63) / 64 * ((WIDE + 6) / 7) : (WIDE + 13) / 14)
//   lut: WIDE * 25 / 4 + 8 * ROOM + 4 * D_W - 6
//   ff: LANES * (3 * IN_W + 2 * SCALE_W + A_W + 1) + 3 * D_W + 2 * AT_W + 16
//   parts: u_in + u_out_at + u_ring + LANES * u_round + u_skid
`default_nettype none
module mx_tile #(
    parameter integer LANES     = 2,
    parameter integer IN_W      = 16,
    parameter integer IN_SIGNED = 1,
    parameter integer EXP       = -12,
    parameter integer W         = 8,
    parameter integer K         = 4,
    parameter integer SCALE_W   = 8,
    parameter integer BIAS      = 127,
    parameter integer LINE      = 4,
    parameter integer TOKENS    = 6,
    parameter integer ROUND     = 0,
    parameter         STYLE     = "auto"
) (
    input  wire                         clk,
    input  wire                         rst,
    input  wire [       LANES*IN_W-1:0] in_data,
    input  wire                         in_valid,
    output wire                         in_ready,
    output wire [LANES*(W+SCALE_W)-1:0] out_data,
    output wire                         out_valid,
    input  wire                         out_ready
);
  localparam integer TILE = (TOKENS < K ? TOKENS : K) * LINE;  // beats
  localparam integer DEPTH = TILE + 4;
  localparam integer BANKS = LINE == 1 ? 8 : 4;  // tiles inside at most: only every second one can be short
  localparam integer N_W = LINE == 1 ? 3 : 2;
  localparam integer VW = IN_W + (IN_SIGNED != 0 ? 0 : 1);  // v as a signed number
  localparam integer LEAST = 1 - BIAS - EXP;  // bits at which e is -BIAS
  localparam integer MOST = (1 << SCALE_W) - 1 - BIAS - EXP;  // bits at which e is greatest
  localparam integer MID = IN_W < MOST ? IN_W : MOST;
  localparam integer TOP = MID > LEAST ? MID : LEAST;  // bits that magnitudes are shifted up to
  localparam integer L_W = $clog2(IN_W + 1);
  localparam integer A_W = TOP > 0 ? $clog2(TOP + 1) : 1;
  localparam integer D_W = $clog2(DEPTH);
  localparam integer AT_W = LINE > 1 ? $clog2(LINE) : 1;
  localparam integer LW = LANES * L_W;

  // Values wait in a ring until the magnitudes of their blocks are known.
  logic [D_W-1:0] put, get;
  logic [D_W:0] used;
  wire take = in_valid && in_ready;
  wire give;
  assign in_ready = used != (D_W + 1)'(DEPTH);
  always_ff @(posedge clk) begin
    if (take) put <= put == D_W'(DEPTH - 1) ? D_W'(0) : put + D_W'(1);
    if (give) get <= get == D_W'(DEPTH - 1) ? D_W'(0) : get + D_W'(1);
    used <= used + (D_W + 1)'(take) - (D_W + 1)'(give);
    if (rst) begin
      put  <= D_W'(0);
      get  <= D_W'(0);
      used <= (D_W + 1)'(0);
    end
  end

  // The OR of all magnitudes of a block has the bits of the greatest.
  wire [AT_W-1:0] at;
  wire first, last, ends;
  mx_tile_count #(.LINE(LINE), .TOKENS(TOKENS), .K(K)) u_in (
      .clk(clk), .rst(rst), .step(take), .at(at), .first(first), .last(last), .ends(ends)
  );
  wire [LANES*IN_W-1:0] magnitudes, so_far;
  logic [LANES*IN_W-1:0] ors[0:LINE-1];
  logic [LANES*IN_W-1:0] magnitude, all;
  logic [AT_W-1:0] at_1, at_2;
  logic first_1, last_1, ends_1, valid_1, last_2, ends_2;
  assign so_far = (first_1 ? (LANES * IN_W)'(0) : ors[at_1]) | magnitude;
  always_ff @(posedge clk) begin
    magnitude <= magnitudes;
    {at_1, first_1, last_1, ends_1} <= {at, first, last, ends};
    {at_2, all} <= {at_1, so_far};
    if (valid_1) ors[at_1] <= so_far;
    valid_1 <= take;
    last_2  <= valid_1 && last_1;
    ends_2  <= valid_1 && ends_1;
    if (rst) begin
      valid_1 <= 1'b0;
      last_2  <= 1'b0;
      ends_2  <= 1'b0;
    end
  end
  function [L_W-1:0] bits(input [IN_W-1:0] m);
    integer i;
    begin
      bits = L_W'(0);
      for (i = 0; i < IN_W; i = i + 1) if (m[i]) bits = L_W'(i + 1);
    end
  endfunction

  // Lengths of complete blocks, those of a tile in a bank.
  wire [LW-1:0] lengths_now;
  logic [LW-1:0] lengths[0:(BANKS<<AT_W)-1];
  logic [N_W-1:0] bank_put, bank_get;
  logic [N_W:0] tiles;
  wire [AT_W-1:0] out_at;
  wire out_ends, unused_first, unused_last;
  wire pop = give && out_ends;
  mx_tile_count #(.LINE(LINE), .TOKENS(TOKENS), .K(K)) u_out_at (
      .clk(clk), .rst(rst), .step(give), .at(out_at), .first(unused_first), .last(unused_last), .ends(out_ends)
  );
  always_ff @(posedge clk) begin
    if (last_2) lengths[{bank_put, at_2}] <= lengths_now;
    bank_put <= bank_put + N_W'(ends_2);
    bank_get <= bank_get + N_W'(pop);
    tiles <= tiles + (N_W + 1)'(ends_2) - (N_W + 1)'(pop);
    if (rst) begin
      bank_put <= N_W'(0);
      bank_get <= N_W'(0);
      tiles    <= (N_W + 1)'(0);
    end
  end

  // Read, shift to the top, round.
  wire out_room;
  logic [2:1] valid;
  wire en = out_room || !valid[2];
  assign give = en && tiles != (N_W + 1)'(0);
  always_ff @(posedge clk) begin
    if (en) valid <= {valid[1], give};
    if (rst) valid <= 2'd0;
  end
  wire [LW-1:0] lengths_out = lengths[{bank_get, out_at}];
  wire [LANES*IN_W-1:0] v;
  mem_ram #(.WIDTH(LANES * IN_W), .DEPTH(DEPTH), .STYLE(STYLE), .LATENCY(1)) u_ring (
      .clk(clk), .we(take), .waddr(put), .wdata(in_data), .en(en), .raddr(get), .rdata(v)
  );

  wire [LANES*W-1:0] codes;
  wire [LANES*SCALE_W-1:0] scales;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire [IN_W-1:0] x = in_data[i*IN_W+:IN_W];
      assign magnitudes[i*IN_W+:IN_W] = IN_SIGNED != 0 && x[IN_W-1] ? ~x + IN_W'(1) : x;
      assign lengths_now[i*L_W+:L_W] = bits(all[i*IN_W+:IN_W]);
      wire [L_W-1:0] len = lengths_out[i*L_W+:L_W];
      wire signed [12:0] wide = $signed({{(13 - L_W) {1'b0}}, len});
      wire signed [12:0] bound;
      if (LEAST > 0 || MOST < IN_W) begin : g_bound
        assign bound = wide < 13'(LEAST) ? 13'(LEAST) : wide > 13'(MOST) ? 13'(MOST) : wide;
      end else begin : g_free
        assign bound = wide;
      end
      wire signed [12:0] up = 13'(TOP) - bound;
      wire signed [12:0] e = bound + 13'(EXP + BIAS - 1);
      logic [A_W-1:0] shift;
      logic [SCALE_W-1:0] scale_1, scale_2;
      wire signed [VW-1:0] value;
      if (IN_SIGNED != 0) begin : g_signed
        assign value = v[i*IN_W+:IN_W];
      end else begin : g_unsigned
        assign value = {1'b0, v[i*IN_W+:IN_W]};
      end
      logic signed [IN_W:0] t;
      always_ff @(posedge clk)
        if (en) begin
          shift   <= up[A_W-1:0];
          scale_1 <= len == L_W'(0) ? SCALE_W'(0) : e[SCALE_W-1:0];
          scale_2 <= scale_1;
          t       <= (IN_W + 1)'(value) << shift;
        end
      assign scales[i*SCALE_W+:SCALE_W] = scale_2;
      num_requant #(
          .IN_W(IN_W + 1), .IN_SIGNED(1), .SHIFT(TOP + 1 - W), .OUT_W(W), .OUT_SIGNED(1), .ROUND(ROUND), .OVER(1)
      ) u_round (
          .in(t), .out(codes[i*W+:W])
      );
      wire unused_top = &{1'b0, up, e};
    end
  endgenerate

  stream_skid #(.WIDTH(LANES * (W + SCALE_W))) u_skid (
      .clk(clk), .rst(rst), .in_data({scales, codes}), .in_valid(valid[2]), .in_ready(out_room),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
  wire unused = &{1'b0, unused_first, unused_last};
endmodule
`default_nettype wire
