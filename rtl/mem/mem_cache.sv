// SPDX-License-Identifier: Apache-2.0
// mem_cache: the store of keys or values of a decoder in a memory outside, in the place of mem_kv. Takes tokens as a
//   stream, writes each to its place, and gives for every query, for every head of it, the words of the tiles that it
//   sees, in the order of op_attend_walk: those of the tokens up to its own. A word is a beat of each of LANES tokens;
//   lanes of later tokens hold anything. Heads that share keys have them read again.
//   A beat of a token lies in a slot: a power of two of bytes. LANES slots are a word, BEATS words a tile; tiles follow
//   each other; a head begins at a multiple of BURST beats. A beat of the memory holds a power of two of words, the
//   first in the low bits; a word that is longer lies in as many beats as it needs, the low bits first.
//   Nothing is read before its write has been answered: the tile of the query's own token waits for that, which a query
//   notices only where the tokens before it are few. So the memory is the only copy, and may be as late as it likes.
//   parameters  WIDTH   bits of a beat
//               TOKENS  the most tokens of a sequence; then comes a reset
//               HEADS   heads of a query
//               GROUPS  heads of a token here
//               BEATS   beats of a head
//               LANES   tokens of a word
//               BITS    bits of a beat of the memory
//               BURST   beats of a burst, a power of two, at most 256 and 4 KiB
//               AT      first beat of the region, a multiple of BURST
//               AT_W    bits of an address in beats
//   Cycles are lower bounds, of a memory that answers at once; no bench measures them.
//   put, done: see axi_write. ask, beat: see axi_read. idle: all tokens were written, and read as often as they must.
//   latency: 12   ii: HEADS * ((TOKENS + LANES - 1) / LANES) * BEATS   order: token, head, tile, beat
//   parts: u_put + u_walk + u_buffer + u_words
`default_nettype none
module mem_cache #(
    parameter integer WIDTH  = 16,
    parameter integer TOKENS = 4,
    parameter integer HEADS  = 2,
    parameter integer GROUPS = 1,
    parameter integer BEATS  = 2,
    parameter integer LANES  = 1,
    parameter integer BITS   = 128,
    parameter integer BURST  = 16,
    parameter integer AT     = 0,
    parameter integer AT_W   = 16
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [      WIDTH-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire                   put_valid,
    output wire [       AT_W-1:0] put_at,
    output wire [       BITS-1:0] put_data,
    output wire [     BITS/8-1:0] put_strb,
    input  wire                   put_ready,
    input  wire                   done,
    output wire                   ask_valid,
    output wire [       AT_W-1:0] ask_at,
    output wire [            7:0] ask_len,
    input  wire                   ask_ready,
    input  wire [       BITS-1:0] beat_data,
    input  wire                   beat_valid,
    output wire [LANES*WIDTH-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready,
    output wire                   idle
);
  localparam integer SLOT = 8 << $clog2((WIDTH + 7) / 8);  // bits
  localparam integer SPB = SLOT < BITS ? BITS / SLOT : 1;  // slots of a beat
  localparam integer PER = (SPB >> $clog2(LANES)) > 1 ? SPB >> $clog2(LANES) : 1;  // words of a beat
  localparam integer PARTS = (LANES * SLOT + BITS - 1) / BITS;  // beats of a word
  localparam integer TILES = (TOKENS + LANES - 1) / LANES;
  localparam integer WHOLE = (TILES * BEATS + PER - 1) / PER * PARTS;  // beats of a head
  localparam integer STRIDE = (WHOLE + BURST - 1) / BURST * BURST;
  localparam integer BUFFER = 2 * BURST;

  generate
    if (TOKENS < 1 || GROUPS < 1 || HEADS % GROUPS != 0 || BEATS < 1 || LANES < 1) begin : g_bad
      GROUPS_must_divide_HEADS_and_all_be_at_least_1 u_bad ();
    end
    if (BURST < 1 || BURST > 256 || BURST * BITS > 32768 || (1 << $clog2(BURST)) != BURST || AT % BURST != 0)
    begin : g_bad_burst
      BURST_must_be_a_power_of_two_up_to_256_and_4_KiB_and_divide_AT u_bad ();
    end
  endgenerate

  wire begins, row_there;
  mem_cache_put #(
      .WIDTH(WIDTH), .GROUPS(GROUPS), .BEATS(BEATS), .LANES(LANES), .BITS(BITS), .SLOT(SLOT), .PER(PER), .PARTS(PARTS),
      .STRIDE(STRIDE), .AT(AT), .AT_W(AT_W)
  ) u_put (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready), .put_valid(put_valid),
      .put_at(put_at), .put_data(put_data), .put_strb(put_strb), .put_ready(put_ready), .done(done), .begins(begins),
      .row_there(row_there)
  );

  wire leaves, walked, empty;
  mem_cache_walk #(
      .TOKENS(TOKENS), .HEADS(HEADS), .GROUPS(GROUPS), .BEATS(BEATS), .LANES(LANES), .PER(PER), .PARTS(PARTS),
      .STRIDE(STRIDE), .BURST(BURST), .BUFFER(BUFFER), .AT(AT), .AT_W(AT_W)
  ) u_walk (
      .clk(clk), .rst(rst), .begins(begins), .row_there(row_there), .leaves(leaves), .ask_valid(ask_valid),
      .ask_at(ask_at), .ask_len(ask_len), .ask_ready(ask_ready), .idle(walked)
  );

  wire [BITS-1:0] beat;
  wire there, taken, room;  // room is always there: it was asked for
  assign leaves = there && taken;
  stream_fifo #(
      .WIDTH(BITS),
      .DEPTH(BUFFER)
  ) u_buffer (
      .clk(clk), .rst(rst), .in_data(beat_data), .in_valid(beat_valid), .in_ready(room), .out_data(beat),
      .out_valid(there), .out_ready(taken)
  );

  wire [LANES*SLOT-1:0] word;
  mem_cache_words #(
      .WIDTH(LANES * SLOT), .HEADS(HEADS), .BEATS(BEATS), .LANES(LANES), .TILES(TILES), .BITS(BITS), .PER(PER),
      .PARTS(PARTS)
  ) u_words (
      .clk(clk), .rst(rst), .in_data(beat), .in_valid(there), .in_ready(taken), .out_data(word),
      .out_valid(out_valid), .out_ready(out_ready), .idle(empty)
  );
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      assign out_data[i*WIDTH+:WIDTH] = word[i*SLOT+:WIDTH];
    end
  endgenerate
  assign idle = walked && empty;
  wire unused = &{1'b0, room, word};
endmodule
`default_nettype wire
