// SPDX-License-Identifier: Apache-2.0
// mem_kv: the store of keys or values in attention. Takes frames of tokens as a stream, and is read by address, one
//   beat each of LANES tokens at once: a tile. It is a circle of tiles, those of a frame and those of AHEAD tokens of
//   the next one, which come in while the frame is read. A frame begins in the tile behind the last one of the frame
//   before. Beat k of head h of token t of a tile lies in bank t at address (tile * HEADS + h) * BEATS + k.
//   parameters  WIDTH   bits of a beat
//               TOKENS  tokens of a frame
//               AHEAD   TOKENS, or a multiple of LANES below that
//               HEADS   heads of a token
//               BEATS   beats of a head
//               LANES   tokens that are read at once
//               PARTS   0, or parts of a token, which divide its heads: a frame is read while it comes; need says how
//                       many parts of its tokens must be there
//               MASK    1: tokens that are not live read as 0
//               ENDS    1: a frame ends with the beat that in_last comes with, after at most TOKENS tokens
//               STYLE   "auto", "block", "distributed" or "ultra"
//   enough: the frame that is read is there as far as it is needed. done: it may be overwritten, the next one is read.
//   whole: the frame that is read is all there, and has so many tokens as tokens says.
//   latency: 2   ii: 1   order: one address an enabled cycle
//   lut: 3 * AW + NW + LANES * (1 + MASK) + (BEATS * HEADS > 1 ? 12 : 4) +
//       (ENDS ? NW + 4 : 0) + (PARTS > 1 ? 2 * clog2(PARTS) : 0)
//   ff: 2 * AW + (ENDS ? 3 * NW + 2 : NW) + clog2(BEATS) + clog2(EACH) + (PARTS > 1 ? clog2(PARTS) : 0) +
//       LANES * (WIDTH + MASK + 1) + 3
//   parts: LANES * u_bank
`default_nettype none
module mem_kv #(
    parameter integer WIDTH  = 8,
    parameter integer TOKENS = 4,
    parameter integer AHEAD  = TOKENS,
    parameter integer HEADS  = 1,
    parameter integer BEATS  = 2,
    parameter integer LANES  = 1,
    parameter integer PARTS  = 0,
    parameter integer MASK   = 0,
    parameter integer ENDS   = 0,
    parameter         STYLE  = "auto",
    parameter integer CIRCLE = (TOKENS + LANES - 1) / LANES + (AHEAD + LANES - 1) / LANES,
    parameter integer AW     = CIRCLE * HEADS * BEATS > 1 ? $clog2(CIRCLE * HEADS * BEATS) : 1,
    parameter integer NW     = $clog2((PARTS > 1 ? PARTS : 1) * TOKENS + 1)
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [      WIDTH-1:0] in_data,
    input  wire                   in_last,
    input  wire                   in_valid,
    output wire                   in_ready,
    input  wire [         NW-1:0] need,
    output wire                   enough,
    output wire                   whole,
    output wire [         NW-1:0] tokens,
    input  wire                   done,
    input  wire                   en,
    input  wire [         AW-1:0] addr,
    input  wire [      LANES-1:0] live,
    output wire [LANES*WIDTH-1:0] data
);
  localparam integer TILE = HEADS * BEATS;  // words
  localparam integer KW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer EACH = HEADS / (PARTS > 1 ? PARTS : 1);  // heads of a part
  localparam integer HW = EACH > 1 ? $clog2(EACH) : 1;
  localparam integer ALL = (PARTS > 1 ? PARTS : 1) * TOKENS;  // parts of a frame
  localparam integer FIRST = (PARTS > 1 ? PARTS : 1) * AHEAD;

  generate
    if (TOKENS < 1 || HEADS < 1 || BEATS < 1 || LANES < 1) begin : g_bad
      TOKENS_HEADS_BEATS_and_LANES_must_be_at_least_1 u_bad ();
    end
    if (ENDS != 0 && AHEAD != TOKENS) begin : g_bad_ends
      frames_of_changing_length_need_AHEAD_to_be_TOKENS u_bad ();
    end
    if (PARTS > 1 && (HEADS % PARTS != 0 || ENDS != 0)) begin : g_bad_parts
      PARTS_must_divide_HEADS_of_frames_of_one_length u_bad ();
    end
    if (AHEAD != TOKENS && (AHEAD < 0 || AHEAD > TOKENS || AHEAD % LANES != 0)) begin : g_bad_ahead
      AHEAD_must_be_TOKENS_or_a_multiple_of_LANES_below_it u_bad ();
    end
  endgenerate

  logic [1:0] held;  // complete frames
  logic near;  // the next token in is one of the first AHEAD
  logic [KW-1:0] beat;
  logic [HW-1:0] head;  // of the part
  logic [NW-1:0] token;  // of the frame, or part of it
  logic [LANES-1:0] lane;  // one bit
  logic [AW-1:0] place, tile;  // of this beat, and of the first beat of its tile
  assign in_ready = held == 2'd0 || (held == 2'd1 && near);
  wire write = in_valid && in_ready;
  wire beat_last = beat == KW'(BEATS - 1);
  wire part_ends = beat_last && head == HW'(EACH - 1);
  wire part_last;  // the part is the last one of its token
  wire token_ends = part_ends && part_last;
  wire frame_ends = token_ends && (ENDS != 0 ? in_last : token == NW'(ALL - 1));
  wire fills = write && frame_ends;
  wire half;  // where frames change in length, the second half of the circle is written
  wire [AW-1:0] next_tile = !frame_ends && !lane[LANES-1] ? tile :
      ENDS != 0 && frame_ends ? (half ? AW'(0) : AW'(CIRCLE / 2 * TILE)) :
      tile == AW'((CIRCLE - 1) * TILE) ? AW'(0) : tile + AW'(TILE);

  always_ff @(posedge clk) begin
    if (write) begin
      beat  <= beat_last ? KW'(0) : beat + KW'(1);
      place <= token_ends ? next_tile : place + AW'(1);
      if (beat_last) head <= part_ends ? HW'(0) : head + HW'(1);
      if (part_ends) token <= frame_ends ? NW'(0) : token + NW'(1);
      if (token_ends) begin
        lane  <= frame_ends || lane[LANES-1] ? LANES'(1) : lane << 1;
        tile  <= next_tile;
      end
    end
    held <= held + 2'(fills) - 2'(done);
    if (rst) begin
      held  <= 2'd0;
      beat  <= KW'(0);
      head  <= HW'(0);
      token <= NW'(0);
      lane  <= LANES'(1);
      place <= AW'(0);
      tile  <= AW'(0);
    end
  end
  mem_part #(.PARTS(PARTS)) u_part (.clk(clk), .rst(rst), .step(write && part_ends), .last(part_last));
  generate
    if (AHEAD == TOKENS || AHEAD == 0) begin : g_same
      assign near = AHEAD != 0;
    end else begin : g_near
      always_ff @(posedge clk) begin
        if (write && token_ends) near <= frame_ends || (near && token != NW'(FIRST - 1));
        if (rst) near <= 1'b1;
      end
    end
  endgenerate

  // If no frame is complete, the one that is read is the one that is written.
  assign whole = held != 2'd0;
  assign enough = whole || (PARTS != 0 && token >= need);
  generate
    if (ENDS != 0) begin : g_ends
      // Frames of any length begin in either half of the circle.
      logic into, from;  // the half that is written, and that is read
      logic [NW-1:0] odd, even;  // tokens of their frames
      assign half = into;
      assign tokens = from ? odd : even;
      always_ff @(posedge clk) begin
        into <= into ^ fills;
        from <= from ^ done;
        if (fills && into) odd <= token + NW'(1);
        if (fills && !into) even <= token + NW'(1);
        if (rst) {into, from} <= 2'b00;
      end
    end else begin : g_fixed
      assign half = 1'b0;
      assign tokens = NW'(TOKENS);
    end
  endgenerate

  wire [LANES*WIDTH-1:0] words;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_bank
      mem_ram #(.WIDTH(WIDTH), .DEPTH(CIRCLE * TILE), .STYLE(STYLE), .LATENCY(1)) u_bank (
          .clk(clk), .we(write && lane[i]), .waddr(place), .wdata(in_data), .en(en), .raddr(addr),
          .rdata(words[i*WIDTH+:WIDTH])
      );
      logic [WIDTH-1:0] word;
      if (MASK != 0) begin : g_mask
        logic lives;
        always_ff @(posedge clk)
          if (en) begin
            lives <= live[i];
            word  <= lives ? words[i*WIDTH+:WIDTH] : WIDTH'(0);
          end
      end else begin : g_all
        always_ff @(posedge clk) if (en) word <= words[i*WIDTH+:WIDTH];
      end
      assign data[i*WIDTH+:WIDTH] = word;
    end
  endgenerate
  wire unused = &{1'b0, live, need, in_last};
endmodule
`default_nettype wire
