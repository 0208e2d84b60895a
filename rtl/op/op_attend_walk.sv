// SPDX-License-Identifier: Apache-2.0
// op_attend_walk: the order in which attention reads the keys or values in its store, see mem_kv: for every query, for
//   every head of it, the ROW / R tiles of keys, of each the BEATS beats.
//   A frame begins in the tile behind the last one of the frame before it, in a circle of tiles.
//   Query t sees the keys below bound(t): KEYS, or with CAUSAL t + OFFSET + 1 where that is less. It needs them to be
//   there, the last query all.
//   parameters  QUERIES KEYS   tokens of the queries, of the store
//               AHEAD          tokens of the next frame that the store holds beside this one
//               HEADS GROUPS   heads of a query, of a key
//               PARTS          parts of a token, of HEADS / PARTS and GROUPS / PARTS heads: queries of each wait for
//                              the keys of their own, need counts parts; above 1 with CAUSAL, OFFSET 0, as many
//                              queries as keys
//               ROW R          keys of a row, of a tile
//               BEATS          beats of a head
//               CAUSAL OFFSET  1: the bound above
//               ENDS           1: frames have as many queries and keys as tokens says once whole is set, which is when
//                              the key of the last query is there; OFFSET is 0, AHEAD KEYS
//   step: go on. addr live: what this step reads of the store. beat: of the head. row_last: the last beat of each
//   tile ends a row.
//   latency: 0   ii: 1   order: counters
//   let: BITS = clog2(BEATS) + clog2(ROW / R) + clog2(HEADS / GROUPS) + clog2(GROUPS) + clog2(QUERIES);
//       SLOT = AHEAD == 0 || AHEAD == KEYS ? 0 : clog2(CIRCLE)
//   lut: AW + 2 * BITS + 3 * SLOT + 6 + (CAUSAL ? 4 * NW + 11 : ROW > KEYS ? 2 * NW : 0) +
//       (ENDS ? NW + (CAUSAL ? 0 : 3 * NW) : 0)
//   ff: 2 * AW + BITS + 2 * SLOT + 2 + (CAUSAL ? 3 * NW : ROW > KEYS || ENDS ? NW : 0)
`default_nettype none
module op_attend_walk #(
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
    parameter integer ENDS    = 0,
    parameter integer CIRCLE  = (KEYS + R - 1) / R + (AHEAD + R - 1) / R,
    parameter integer AW      = CIRCLE * GROUPS * BEATS > 1 ? $clog2(CIRCLE * GROUPS * BEATS) : 1,
    parameter integer NW      = $clog2(PARTS * KEYS + 1),
    parameter integer KW      = BEATS > 1 ? $clog2(BEATS) : 1
) (
    input  wire          clk,
    input  wire          rst,
    input  wire          step,
    input  wire          whole,
    input  wire [NW-1:0] tokens,
    output reg  [AW-1:0] addr,
    output wire [ R-1:0] live,
    output wire [NW-1:0] need,
    output reg  [KW-1:0] beat,
    output wire          beat_first,
    output wire          beat_last,
    output wire          tile_first,
    output wire          tile_last,
    output wire          frame_ends
);
  localparam integer TILES = ROW / R;
  localparam integer FRAME = (KEYS + R - 1) / R;  // tiles of the store
  localparam integer WORDS = GROUPS * BEATS;  // of a tile
  localparam integer SHARE = HEADS / GROUPS;  // heads that read the same keys
  localparam integer IW = TILES > 1 ? $clog2(TILES) : 1;
  localparam integer CW = SHARE > 1 ? $clog2(SHARE) : 1;
  localparam integer EACH = GROUPS / PARTS;  // groups of a part
  localparam integer GW = EACH > 1 ? $clog2(EACH) : 1;
  localparam integer TW = QUERIES > 1 ? $clog2(QUERIES) : 1;
  localparam integer FIRST = CAUSAL == 0 || OFFSET >= KEYS - 1 ? KEYS : OFFSET < 0 ? 0 : OFFSET + 1;  // of query 0

  generate
    if (ENDS != 0 && (QUERIES != KEYS || OFFSET != 0)) begin : g_bad_ends
      frames_of_changing_length_have_as_many_queries_as_keys_and_no_OFFSET u_bad ();
    end
    if (PARTS < 1 || GROUPS % PARTS != 0 || PARTS > 1 && (CAUSAL == 0 || OFFSET != 0 || QUERIES != KEYS || ENDS != 0))
    begin : g_bad_parts
      PARTS_must_divide_GROUPS_and_need_CAUSAL_no_OFFSET_and_as_many_QUERIES_as_KEYS u_bad ();
    end
    if (HEADS % GROUPS != 0 || ROW % R != 0 || ROW < KEYS) begin : g_bad
      GROUPS_must_divide_HEADS_and_R_ROW_and_a_row_hold_all_keys u_bad ();
    end
  endgenerate

  logic [IW-1:0] tile;
  logic [CW-1:0] share;
  logic [GW-1:0] group;  // of the part
  logic [TW-1:0] token;
  logic [AW-1:0] base;  // where the row begins
  assign beat_first = beat == KW'(0);
  assign beat_last = beat == KW'(BEATS - 1);
  assign tile_first = tile == IW'(0);
  assign tile_last = tile == IW'(TILES - 1);
  wire row_ends = beat_last && tile_last;
  wire group_ends = row_ends && share == CW'(SHARE - 1);
  wire part_ends = group_ends && group == GW'(EACH - 1);
  wire part_last;  // the part is the last one of its token
  wire token_ends = part_ends && part_last;
  assign frame_ends = token_ends && (ENDS != 0 ? whole && NW'(token) + NW'(1) == tokens : token == TW'(QUERIES - 1));
  wire passes, over;  // the next tile of the row, or the next frame, is beyond the end of the circle
  wire [AW-1:0] next_base = base + (frame_ends ? (over ? AW'(BEATS - WORDS - (CIRCLE - FRAME) * WORDS) :
      AW'(BEATS - WORDS + FRAME * WORDS)) : token_ends ? AW'(BEATS - WORDS) : group_ends ? AW'(BEATS) : AW'(0));
  wire [AW-1:0] next_addr = addr + (!beat_last ? AW'(1) : passes ? AW'(1 - BEATS - (CIRCLE - 1) * WORDS) :
      AW'(1 - BEATS + WORDS));

  always_ff @(posedge clk) begin
    if (step) begin
      beat <= beat_last ? KW'(0) : beat + KW'(1);
      addr <= row_ends ? next_base : next_addr;
      if (beat_last) tile <= tile_last ? IW'(0) : tile + IW'(1);
      if (row_ends) begin
        share <= group_ends ? CW'(0) : share + CW'(1);
        base  <= next_base;
      end
      if (group_ends) group <= part_ends ? GW'(0) : group + GW'(1);
      if (token_ends) token <= frame_ends ? TW'(0) : token + TW'(1);
    end
    if (rst) begin
      beat  <= KW'(0);
      tile  <= IW'(0);
      share <= CW'(0);
      group <= GW'(0);
      token <= TW'(0);
      addr  <= AW'(0);
      base  <= AW'(0);
    end
  end

  mem_part #(.PARTS(PARTS)) u_part (.clk(clk), .rst(rst), .step(step && part_ends), .last(part_last));
  generate
    if (AHEAD == 0) begin : g_single
      assign passes = 1'b0;
      assign over = 1'b1;
    end else if (AHEAD == KEYS) begin : g_two
      logic second;  // no frame is cut
      assign passes = 1'b0;
      assign over = second;
      always_ff @(posedge clk) begin
        second <= second ^ (step && frame_ends);
        if (rst) second <= 1'b0;
      end
    end else begin : g_circle
      localparam integer SW = $clog2(CIRCLE);
      logic [SW-1:0] start, slot;  // the tile in which the frame begins, and this one
      assign passes = slot == SW'(CIRCLE - 1);
      assign over = start >= SW'(CIRCLE - FRAME);
      wire [SW-1:0] next_start = frame_ends ? (over ? start - SW'(CIRCLE - FRAME) : start + SW'(FRAME)) : start;
      always_ff @(posedge clk) begin
        if (step && beat_last) slot <= tile_last ? next_start : passes ? SW'(0) : slot + SW'(1);
        if (step && frame_ends) start <= next_start;
        if (rst) begin
          start <= SW'(0);
          slot  <= SW'(0);
        end
      end
    end
  endgenerate

  wire [NW-1:0] next_bound;  // of the next step's query
  generate
    if (CAUSAL != 0) begin : g_causal
      localparam integer FIRST_NEED = QUERIES > 1 || ENDS != 0 ? FIRST : KEYS;
      localparam integer BLIND = OFFSET < 0 ? -OFFSET : 0;  // queries before the first that sees a key
      logic [NW-1:0] bound_q, need_q;
      wire sees;  // the next query does, some key
      if (BLIND > 1) begin : g_blind
        assign sees = 32'(token) + 32'd1 >= BLIND;
      end else begin : g_seeing
        assign sees = 1'b1;
      end
      wire [NW-1:0] higher = bound_q + NW'(sees && bound_q != NW'(KEYS));
      assign need = need_q;
      assign next_bound = frame_ends ? NW'(FIRST) : token_ends ? higher : bound_q;
      always_ff @(posedge clk) begin
        if (step && token_ends) bound_q <= next_bound;
        if (step && part_ends)
          need_q <= frame_ends ? NW'(FIRST_NEED) : PARTS > 1 ? need_q + NW'(1) :
              ENDS == 0 && 32'(token) == QUERIES - 2 ? NW'(KEYS) : next_bound;
        if (rst) begin
          bound_q <= NW'(FIRST);
          need_q  <= NW'(FIRST_NEED);
        end
      end
    end else begin : g_all
      assign need = NW'(KEYS);
      assign next_bound = NW'(KEYS);
    end

    if (ENDS != 0 && CAUSAL == 0) begin : g_length
      logic [NW-1:0] passed;  // keys of the row before this tile, KEYS at most
      always_ff @(posedge clk) begin
        if (step && beat_last) passed <= row_ends ? NW'(0) : 32'(passed) + R < KEYS ? passed + NW'(R) : NW'(KEYS);
        if (rst) passed <= NW'(0);
      end
      localparam integer LW = $clog2((KEYS > R ? KEYS : R) + 2) + 1;
      wire signed [LW-1:0] left = LW'(tokens) - LW'(passed);  // keys from this tile on
      for (genvar i = 0; i < R; i++) begin : g_lane
        assign live[i] = left > LW'(i);
      end
    end else if (CAUSAL != 0 || ROW > KEYS) begin : g_mask
      localparam integer LW = $clog2((KEYS > R ? KEYS : R) + 2);
      logic [LW-1:0] left;  // keys from this tile on that the query sees
      always_ff @(posedge clk) begin
        if (step && beat_last) left <= row_ends ? LW'(next_bound) : left > LW'(R) ? left - LW'(R) : LW'(0);
        if (rst) left <= LW'(FIRST);
      end
      for (genvar i = 0; i < R; i++) begin : g_lane
        assign live[i] = left > LW'(i);
      end
    end else begin : g_whole
      assign live = {R{1'b1}};
    end
  endgenerate
  wire unused = &{1'b0, next_bound, whole, tokens};
endmodule
`default_nettype wire
