// SPDX-License-Identifier: Apache-2.0
// mem_cache_put: the writing side of mem_cache: says of every beat of a token where in memory its slot lies, and knows
//   when the beats of a head are there.
//   parameters  WIDTH GROUPS BEATS LANES BITS AT AT_W   see mem_cache
//               SLOT    bits of a slot
//               PER     words of a beat of the memory, a power of two
//               PARTS   beats of a word
//               STRIDE  beats from a head to the next one
//   begins: a token does. row_there: a head of a token, the next in their order, is in the memory.
//   latency: 1   ii: 1   order: as it comes
//   let: STEP = PER > 1 ? 1 : PARTS; U_W = AT_W + clog2(PER)
//   lut: 2 * U_W + clog2(BEATS) + clog2(GROUPS) + clog2(LANES) + BITS / 8 + 24 + (SLOT > BITS ? BITS : 0)
//   ff: 2 * U_W + min(SLOT, BITS) + BITS / 8 + AT_W + 2 * clog2(BEATS) + clog2(GROUPS) + clog2(LANES) + 2
`default_nettype none
module mem_cache_put #(
    parameter integer WIDTH  = 16,
    parameter integer GROUPS = 1,
    parameter integer BEATS  = 2,
    parameter integer LANES  = 1,
    parameter integer BITS   = 128,
    parameter integer SLOT   = 16,
    parameter integer PER    = 8,
    parameter integer PARTS  = 1,
    parameter integer STRIDE = 16,
    parameter integer AT     = 0,
    parameter integer AT_W   = 16
) (
    input  wire              clk,
    input  wire              rst,
    input  wire [ WIDTH-1:0] in_data,
    input  wire              in_valid,
    output wire              in_ready,
    output reg               put_valid,
    output reg  [  AT_W-1:0] put_at,
    output reg  [  BITS-1:0] put_data,
    output reg  [BITS/8-1:0] put_strb,
    input  wire              put_ready,
    input  wire              done,
    output wire              begins,
    output wire              row_there
);
  localparam integer MANY = SLOT > BITS ? SLOT / BITS : 1;  // beats of a slot
  localparam integer SPB = SLOT < BITS ? BITS / SLOT : 1;  // slots of a beat
  localparam integer PER_W = $clog2(PER);
  localparam integer U_W = AT_W + PER_W;  // of addresses in words, or in beats where a word is no less
  localparam integer STEP = PER > 1 ? 1 : PARTS;
  localparam integer HOP = STRIDE * PER;
  localparam integer KW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer GW = GROUPS > 1 ? $clog2(GROUPS) : 1;
  localparam integer RW = LANES > 1 ? $clog2(LANES) : 1;
  localparam integer MW = MANY > 1 ? $clog2(MANY) : 1;
  localparam integer ROW = BEATS * MANY;  // writes of a head
  localparam integer NW = ROW > 1 ? $clog2(ROW) : 1;
  localparam integer SW = SPB > 1 ? $clog2(SPB) : 1;

  logic [MW-1:0] part;  // of the slot
  logic [KW-1:0] beat;
  logic [GW-1:0] group;
  logic [RW-1:0] lane;
  logic [U_W-1:0] place, tile;  // of this beat, and of the first beat of its tile
  wire room = !put_valid || put_ready;
  wire take = in_valid && room;
  wire part_last = part == MW'(MANY - 1);
  wire beat_last = beat == KW'(BEATS - 1);
  wire token_ends = beat_last && group == GW'(GROUPS - 1);
  wire lane_last = lane == RW'(LANES - 1);
  wire [U_W-1:0] next_tile = lane_last ? tile + U_W'(BEATS * STEP) : tile;
  assign in_ready = room && part_last;
  assign begins = take && part == MW'(0) && beat == KW'(0) && group == GW'(0);

  // The slot of the lane: beats behind the first one of the word, and which of that beat.
  wire [AT_W-1:0] ahead;
  wire [SW-1:0] slot;
  generate
    if (MANY > 1) begin : g_long
      assign ahead = AT_W'(lane) * AT_W'(MANY) + AT_W'(part);
      assign slot = SW'(0);
    end else if (PER > 1) begin : g_words
      assign ahead = AT_W'(0);
      if (LANES > 1) begin : g_lanes
        assign slot = SW'({place[PER_W-1:0], lane});
      end else begin : g_lane
        assign slot = SW'(place[PER_W-1:0]);
      end
    end else begin : g_slots
      assign ahead = AT_W'(lane) / AT_W'(SPB);
      assign slot = SPB > 1 ? SW'(lane) : SW'(0);
    end
  endgenerate

  wire [MANY*BITS-1:0] padded = SLOT < BITS ? {SPB{SLOT'(in_data)}} : (MANY * BITS)'(in_data);
  always_ff @(posedge clk) begin
    if (room) begin
      put_valid <= in_valid;
      put_at    <= AT_W'(place >> PER_W) + ahead;
      put_data  <= padded[32'(part)*BITS+:BITS];
      for (int i = 0; i < SPB; i++) put_strb[i*BITS/8/SPB+:BITS/8/SPB] <= {(BITS / 8 / SPB) {slot == SW'(i)}};
    end
    if (take) part <= part_last ? MW'(0) : part + MW'(1);
    if (take && part_last) begin
      beat  <= beat_last ? KW'(0) : beat + KW'(1);
      place <= token_ends ? next_tile : place + (beat_last ? U_W'(HOP - (BEATS - 1) * STEP) : U_W'(STEP));
      if (beat_last) group <= token_ends ? GW'(0) : group + GW'(1);
      if (token_ends) begin
        lane <= lane_last ? RW'(0) : lane + RW'(1);
        tile <= next_tile;
      end
    end
    if (rst) begin
      put_valid <= 1'b0;
      part      <= MW'(0);
      beat      <= KW'(0);
      group     <= GW'(0);
      lane      <= RW'(0);
      place     <= U_W'(AT * PER);
      tile      <= U_W'(AT * PER);
    end
  end

  logic [NW-1:0] count;  // writes of the oldest head that are in the memory
  wire last = count == NW'(ROW - 1);
  assign row_there = done && last;
  always_ff @(posedge clk) begin
    if (done) count <= last ? NW'(0) : count + NW'(1);
    if (rst) count <= NW'(0);
  end
endmodule
`default_nettype wire
