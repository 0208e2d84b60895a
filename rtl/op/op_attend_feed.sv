// SPDX-License-Identifier: Apache-2.0
// op_attend_feed: what both products of attention have in common: the store of keys or values (stream b), the row of
//   queries or probabilities (stream a), and the walk over both, one step a cycle.
//   parameters  QUERIES KEYS AHEAD HEADS GROUPS PARTS ROW R BEATS CAUSAL OFFSET   see op_attend_walk
//               SUM     0: a row of a has BEATS beats and meets all tiles, 1: it is one beat and meets one tile
//               A_W B_W bits of a beat of a and of b
//               ENDS    1: frames have up to KEYS tokens, queries as many as keys; b has one more bit above, 1 on the
//                       last beat of a frame
//               STYLE   memory of the store, see mem_ram
//               FED     1: the store lies outside, in mem_cache, and stream b has the words of its tiles: R beats each,
//                       in the order of the walk, without those of tiles that a query does not see
//   step: in this cycle, if en, a step begins, whose words are a_word and b_words two enabled cycles later. first,
//   last: it is the first or the last of those that make one sum.
//   latency: 2   ii: 1   order: see op_attend_walk
//   lut: 2
//   ff: FED ? 2 * R * B_W + R : 0
//   parts: u_walk + u_row + (FED ? 0 : u_store)
`default_nettype none
module op_attend_feed #(
    parameter integer QUERIES = 4,
    parameter integer KEYS    = 4,
    parameter integer AHEAD   = KEYS,
    parameter integer HEADS   = 2,
    parameter integer GROUPS  = 1,
    parameter integer PARTS   = 1,
    parameter integer ROW     = 4,
    parameter integer R       = 1,
    parameter integer BEATS   = 2,
    parameter integer CAUSAL  = 0,
    parameter integer OFFSET  = 0,
    parameter integer SUM     = 0,
    parameter integer A_W     = 8,
    parameter integer B_W     = 8,
    parameter integer ENDS    = 0,
    parameter         STYLE   = "auto",
    parameter integer FED     = 0,
    parameter integer IN_W    = FED != 0 ? R * B_W : B_W + ENDS
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [  A_W-1:0] a_data,
    input  wire             a_valid,
    output wire             a_ready,
    input  wire [ IN_W-1:0] b_data,
    input  wire             b_valid,
    output wire             b_ready,
    input  wire             en,
    output wire             step,
    output wire             first,
    output wire             last,
    output wire [  A_W-1:0] a_word,
    output wire [R*B_W-1:0] b_words
);
  localparam integer CIRCLE = (KEYS + R - 1) / R + (AHEAD + R - 1) / R;  // tiles
  localparam integer AW = CIRCLE * GROUPS * BEATS > 1 ? $clog2(CIRCLE * GROUPS * BEATS) : 1;
  localparam integer NW = $clog2(PARTS * KEYS + 1);
  localparam integer KW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer HELD = SUM != 0 ? 1 : BEATS;
  localparam integer PW = HELD > 1 ? $clog2(HELD) : 1;
  wire there, enough, whole, beat_first, beat_last, tile_first, tile_last, frame_ends;
  wire [AW-1:0] addr;
  wire [R-1:0] live;
  wire [NW-1:0] need, tokens;
  wire [KW-1:0] beat;
  assign step = there && enough;
  assign first = SUM != 0 ? tile_first : beat_first;
  assign last = SUM != 0 ? tile_last : beat_last;
  wire go = en && step;

  op_attend_walk #(
      .QUERIES(QUERIES), .KEYS(KEYS), .AHEAD(AHEAD), .HEADS(HEADS), .GROUPS(GROUPS), .PARTS(PARTS),
      .ROW(ROW), .R(R), .BEATS(BEATS), .CAUSAL(CAUSAL), .OFFSET(OFFSET), .ENDS(ENDS)
  ) u_walk (
      .clk(clk), .rst(rst), .step(go), .whole(whole), .tokens(tokens), .addr(addr), .live(live), .need(need),
      .beat(beat), .beat_first(beat_first), .beat_last(beat_last), .tile_first(tile_first),
      .tile_last(tile_last), .frame_ends(frame_ends)
  );

  op_attend_row #(.WIDTH(A_W), .BEATS(HELD)) u_row (
      .clk(clk), .rst(rst), .in_data(a_data), .in_valid(a_valid), .in_ready(a_ready), .there(there),
      .done(go && beat_last && (SUM != 0 || tile_last)), .en(en), .beat(SUM != 0 ? PW'(0) : PW'(beat)), .data(a_word)
  );

  generate
    if (FED != 0 && ENDS != 0) begin : g_bad
      FED_and_ENDS_do_not_go_together u_bad ();
    end
    if (FED != 0) begin : g_fed
      logic [R*B_W-1:0] word, seen;
      logic [R-1:0] lives;
      assign enough  = b_valid || !live[0];
      assign b_ready = go && live[0];
      assign b_words = seen;
      always_ff @(posedge clk)
        if (en) begin
          word  <= b_data;
          lives <= live;
          for (int i = 0; i < R; i++) seen[i*B_W+:B_W] <= lives[i] ? word[i*B_W+:B_W] : B_W'(0);
        end
      assign whole = 1'b0;
      assign tokens = NW'(KEYS);
      wire unused = &{1'b0, need, addr, frame_ends};
    end else begin : g_store
      mem_kv #(
          .WIDTH(B_W), .TOKENS(KEYS), .AHEAD(AHEAD), .HEADS(GROUPS), .BEATS(BEATS), .LANES(R),
          .PARTS(CAUSAL != 0 ? PARTS : 0),
          .MASK(CAUSAL != 0 || ROW > KEYS || ENDS != 0 ? 1 : 0), .ENDS(ENDS), .STYLE(STYLE)
      ) u_store (
          .clk(clk), .rst(rst), .in_data(b_data[B_W-1:0]), .in_last(b_data[B_W+ENDS-1]), .in_valid(b_valid),
          .in_ready(b_ready), .need(need), .enough(enough), .whole(whole), .tokens(tokens),
          .done(go && frame_ends), .en(en), .addr(addr), .live(live), .data(b_words)
      );
    end
  endgenerate
  wire unused = &{1'b0, beat};
endmodule
`default_nettype wire
