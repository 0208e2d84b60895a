// SPDX-License-Identifier: Apache-2.0
// mem_cache_walk: the asking side of mem_cache: for every token, once it begins to come, for every head of a query, the
//   bursts of the tiles up to its own. The one with its own tile waits until the token's head is in the memory; tiles
//   before that were waited for by the tokens before.
//   parameters  TOKENS HEADS GROUPS BEATS LANES BURST AT AT_W   see mem_cache
//               PER PARTS STRIDE   see mem_cache_put
//               BUFFER             beats that there is room for, at least BURST
//   begins, row_there: see mem_cache_put. leaves: a beat leaves the buffer. idle: nothing is left to ask for, and
//   nothing asked for is in the buffer or on its way.
//   latency: 2   ii: 2   order: token, head, beats ascending
//   let: TW = clog2(TOKENS + 1); LW = clog2(TOKENS * GROUPS + 1);
//       BW = clog2(STRIDE + 2 * BEATS * PARTS + 1) + clog2(PER)
//   lut: 3 * AT_W / 2 + 4 * BW + TW + LW + clog2(BUFFER + 1) + clog2(HEADS) + clog2(LANES)
//   ff: 2 * AT_W + 4 * BW + TW + LW + clog2(BUFFER + 1) + clog2(HEADS) + clog2(LANES) + 12
`default_nettype none
module mem_cache_walk #(
    parameter integer TOKENS = 4,
    parameter integer HEADS  = 2,
    parameter integer GROUPS = 1,
    parameter integer BEATS  = 2,
    parameter integer LANES  = 1,
    parameter integer PER    = 8,
    parameter integer PARTS  = 1,
    parameter integer STRIDE = 16,
    parameter integer BURST  = 16,
    parameter integer BUFFER = 32,
    parameter integer AT     = 0,
    parameter integer AT_W   = 16
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            begins,
    input  wire            row_there,
    input  wire            leaves,
    output wire            ask_valid,
    output reg  [AT_W-1:0] ask_at,
    output reg  [     7:0] ask_len,
    input  wire            ask_ready,
    output wire            idle
);
  localparam integer SHARE = HEADS / GROUPS;  // heads that read the same beats
  localparam integer CW = SHARE > 1 ? $clog2(SHARE) : 1;
  localparam integer GW = GROUPS > 1 ? $clog2(GROUPS) : 1;
  localparam integer RW = LANES > 1 ? $clog2(LANES) : 1;
  localparam integer TW = $clog2(TOKENS + 1);
  localparam integer LW = $clog2(TOKENS * GROUPS + 1);
  localparam integer HW = $clog2(BUFFER + 1);
  localparam integer PER_W = $clog2(PER);
  localparam integer BURST_W = $clog2(BURST);
  localparam integer STEP = PER > 1 ? BEATS : BEATS * PARTS;  // of a tile: words, or beats where a word is no less
  localparam integer BW = $clog2(STRIDE + 2 * BEATS * PARTS + 1) + PER_W;

  // Tokens that have begun and are not asked for; heads of tokens that are in the memory and not yet asked for.
  logic [TW-1:0] tokens;
  logic [LW-1:0] rows;
  logic [HW-1:0] held;  // beats that were asked for and have not left the buffer

  // Which burst comes next: of which head, how far in the row.
  logic [CW-1:0] share;
  logic [GW-1:0] group;
  logic [RW-1:0] lane;  // of the token in its tile
  logic [AT_W-1:0] base;  // of the head
  logic [BW-1:0] at;
  logic [BW-1:0] passed;  // what lies before the own tile, in words or beats
  logic [BW-1:0] own, row_last;  // the beats where the own tile begins, and where the row ends
  wire [BW-1:0] left = row_last - at;
  wire ends = left < BW'(BURST);

  // Ready to be asked for.
  logic ready, last, gated;
  logic [HW-1:0] more;
  wire next = !ready && tokens != TW'(0);
  assign ask_valid = ready && (!gated || rows != LW'(0)) && held <= HW'(BUFFER - BURST);
  wire asks = ask_valid && ask_ready;
  wire row_asked = asks && last;
  wire group_asked = row_asked && share == CW'(SHARE - 1);
  wire token_asked = group_asked && group == GW'(GROUPS - 1);
  wire lane_last = lane == RW'(LANES - 1);
  assign idle = tokens == TW'(0) && held == HW'(0);

  always_ff @(posedge clk) begin
    tokens <= tokens + TW'(begins) - TW'(token_asked);
    rows   <= rows + LW'(row_there) - LW'(group_asked);
    held   <= held + (asks ? more : HW'(0)) - HW'(leaves);
    if (next) begin
      ask_at  <= base + AT_W'(at);
      ask_len <= ends ? 8'(left) : 8'(BURST - 1);
      more    <= ends ? HW'(left) + HW'(1) : HW'(BURST);
      last    <= ends;
      gated   <= at >> BURST_W >= own >> BURST_W;
    end
    ready <= next || (ready && !asks);
    if (asks) at <= last ? BW'(0) : at + BW'(BURST);
    if (row_asked) share <= share == CW'(SHARE - 1) ? CW'(0) : share + CW'(1);
    if (group_asked) begin
      group <= token_asked ? GW'(0) : group + GW'(1);
      base  <= token_asked ? AT_W'(AT) : base + AT_W'(STRIDE);
    end
    if (token_asked) begin
      lane <= lane_last ? RW'(0) : lane + RW'(1);
      if (lane_last) begin
        passed   <= passed + BW'(STEP);
        own      <= (passed + BW'(STEP)) >> PER_W;
        row_last <= (passed + BW'(2 * STEP - 1)) >> PER_W;
      end
    end
    if (rst) begin
      tokens <= TW'(0);
      rows   <= LW'(0);
      held   <= HW'(0);
      ready  <= 1'b0;
      at     <= BW'(0);
      share  <= CW'(0);
      group  <= GW'(0);
      lane   <= RW'(0);
      base   <= AT_W'(AT);
      passed <= BW'(0);
      own    <= BW'(0);
      row_last <= BW'(STEP - 1) >> PER_W;
    end
  end
endmodule
`default_nettype wire
