// SPDX-License-Identifier: Apache-2.0
// op_attend_walk: the order in which attention reads the keys or values in its store, see mem_kv: for every query, for
//   every head of it, the ROW / R tiles of keys, of each the BEATS beats.
//   Query t sees the keys below bound(t): KEYS, or with CAUSAL t + OFFSET + 1 where that is less. It needs them to be
//   there, the last query all.
//   parameters  QUERIES KEYS   tokens of the queries, of the store
//               HEADS GROUPS   heads of a query, of a key
//               ROW R          keys of a row, of a tile
//               BEATS          beats of a head
//               CAUSAL OFFSET  1: the bound above
//   step: go on. frame addr live: what this step reads of the store. beat: of the head. row_last: the last beat of each
//   tile ends a row.
//   latency: 0   ii: 1   order: counters
//   let: BITS = clog2(BEATS) + clog2(ROW / R) + clog2(HEADS / GROUPS) + clog2(GROUPS) + clog2(QUERIES)
//   lut: AW + 2 * BITS + 6 + (CAUSAL ? 4 * NW + 11 : ROW > KEYS ? 2 * NW : 0)
//   ff: 2 * AW + BITS + 2 + (CAUSAL ? 3 * NW : ROW > KEYS ? NW : 0)
`default_nettype none
module op_attend_walk #(
    parameter integer QUERIES = 4,
    parameter integer KEYS    = 4,
    parameter integer HEADS   = 2,
    parameter integer GROUPS  = 1,
    parameter integer ROW     = 4,
    parameter integer R       = 1,
    parameter integer BEATS   = 2,
    parameter integer CAUSAL  = 0,
    parameter integer OFFSET  = 0,
    parameter integer AW      = $clog2(2 * GROUPS * ((KEYS + R - 1) / R) * BEATS),
    parameter integer NW      = $clog2(KEYS + 1),
    parameter integer KW      = BEATS > 1 ? $clog2(BEATS) : 1
) (
    input  wire          clk,
    input  wire          rst,
    input  wire          step,
    output reg           frame,
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
  localparam integer WORDS = (KEYS + R - 1) / R * BEATS;  // of a head
  localparam integer SHARE = HEADS / GROUPS;  // heads that read the same keys
  localparam integer IW = TILES > 1 ? $clog2(TILES) : 1;
  localparam integer CW = SHARE > 1 ? $clog2(SHARE) : 1;
  localparam integer GW = GROUPS > 1 ? $clog2(GROUPS) : 1;
  localparam integer TW = QUERIES > 1 ? $clog2(QUERIES) : 1;
  localparam integer FIRST = CAUSAL == 0 || OFFSET >= KEYS - 1 ? KEYS : OFFSET < 0 ? 0 : OFFSET + 1;  // of query 0

  generate
    if (HEADS % GROUPS != 0 || ROW % R != 0 || ROW < KEYS) begin : g_bad
      GROUPS_must_divide_HEADS_and_R_ROW_and_a_row_hold_all_keys u_bad ();
    end
  endgenerate

  logic [IW-1:0] tile;
  logic [CW-1:0] share;
  logic [GW-1:0] group;
  logic [TW-1:0] token;
  logic [AW-1:0] base;  // where the row begins
  assign beat_first = beat == KW'(0);
  assign beat_last = beat == KW'(BEATS - 1);
  assign tile_first = tile == IW'(0);
  assign tile_last = tile == IW'(TILES - 1);
  wire row_ends = beat_last && tile_last;
  wire group_ends = row_ends && share == CW'(SHARE - 1);
  wire token_ends = group_ends && group == GW'(GROUPS - 1);
  assign frame_ends = token_ends && token == TW'(QUERIES - 1);
  wire next = frame ^ frame_ends;
  wire [AW-1:0] next_base = token_ends ? (next ? AW'(GROUPS * WORDS) : AW'(0)) :
      group_ends ? base + AW'(WORDS) : base;

  always_ff @(posedge clk) begin
    if (step) begin
      beat <= beat_last ? KW'(0) : beat + KW'(1);
      addr <= row_ends ? next_base : addr + AW'(1);
      frame <= next;
      if (beat_last) tile <= tile_last ? IW'(0) : tile + IW'(1);
      if (row_ends) begin
        share <= group_ends ? CW'(0) : share + CW'(1);
        base  <= next_base;
      end
      if (group_ends) group <= token_ends ? GW'(0) : group + GW'(1);
      if (token_ends) token <= frame_ends ? TW'(0) : token + TW'(1);
    end
    if (rst) begin
      beat  <= KW'(0);
      tile  <= IW'(0);
      share <= CW'(0);
      group <= GW'(0);
      token <= TW'(0);
      frame <= 1'b0;
      addr  <= AW'(0);
      base  <= AW'(0);
    end
  end

  wire [NW-1:0] next_bound;  // of the next step's query
  generate
    if (CAUSAL != 0) begin : g_causal
      localparam integer FIRST_NEED = QUERIES > 1 ? FIRST : KEYS;
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
        if (step && token_ends) begin
          bound_q <= next_bound;
          need_q  <= frame_ends ? NW'(FIRST_NEED) : 32'(token) == QUERIES - 2 ? NW'(KEYS) : next_bound;
        end
        if (rst) begin
          bound_q <= NW'(FIRST);
          need_q  <= NW'(FIRST_NEED);
        end
      end
    end else begin : g_all
      assign need = NW'(KEYS);
      assign next_bound = NW'(KEYS);
    end

    if (CAUSAL != 0 || ROW > KEYS) begin : g_mask
      localparam integer LW = $clog2((KEYS > R ? KEYS : R) + 2);
      logic [LW-1:0] left;  // keys from this tile on that the query sees
      always_ff @(posedge clk) begin
        if (step && row_ends) left <= LW'(next_bound);
        else if (step && beat_last) left <= left > LW'(R) ? left - LW'(R) : LW'(0);
        if (rst) left <= LW'(FIRST);
      end
      for (genvar i = 0; i < R; i++) begin : g_lane
        assign live[i] = left > LW'(i);
      end
    end else begin : g_whole
      assign live = {R{1'b1}};
    end
  endgenerate
  wire unused = &{1'b0, next_bound};
endmodule
`default_nettype wire
