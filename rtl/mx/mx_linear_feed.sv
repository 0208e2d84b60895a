// SPDX-License-Identifier: Apache-2.0
// mx_linear_feed: the beats of a vector, NF times over: the first time from the stream, then from a buffer. addr and
//   the flags belong to the beat that is taken in this cycle; x is that beat two enabled cycles later, its elements as
//   integers (see mx_integer). ready: the weights of the beat are there.
//   parameters  SF   beats of a vector
//               NF   how often it is sent
//               LANES, X_W, X_E   elements of a beat; bits of an element; of its field
//               XS_W, XS_FALLS    bits of the scale above them; 1: x has its complement
//               VW   derived, not to be set: bits of an integer
//               RUN  beats of a run, divides SF
//               K    beats of a block; the last block of a run is shorter where K does not divide RUN
//   latency: 2   ii: SF * NF   order: as it comes, vector after vector
//   let: XW = XS_W + LANES * X_W
//   let: STORE = NF > 1 && SF > 1 ? 1 : 0; LINES = (SF + 63) / 64 * ((XW + (SF > 32 ? 7 : 13)) / (SF > 32 ? 8 :
//       14)); BLOCKS = (XW + 35) / 36 * ((SF + 511) / 512); IN_BLOCK = STORE && 8 * LINES > 129 * BLOCKS ? 1 : 0;
//       COUNTERS = (SF > 1 ? SF_W : 0) + (NF > 1 ? NF_W : 0) + (SF * NF > 1 ? AW : 0) + (K > 1 ? K_W : 0) + (RUN % K
//       ? RUN_W : 0)
//   lut: COUNTERS * 4 / 3 + 2 + (NF > 1 ? XW : 0) + (STORE && IN_BLOCK == 0 ? 8 * LINES : 0)
//   ff: COUNTERS + XW + XS_W + LANES * VW + (NF > 1 ? XW + 1 : 0) - (IN_BLOCK ? XW : 0)
//   parts: u_integer
//   bram: IN_BLOCK ? BLOCKS : 0
`default_nettype none
module mx_linear_feed #(
    parameter integer SF       = 4,
    parameter integer NF       = 2,
    parameter integer LANES    = 4,
    parameter integer X_W      = 8,
    parameter integer X_E      = -1,
    parameter integer XS_W     = 8,
    parameter integer XS_FALLS = 0,
    parameter integer RUN      = 4,
    parameter integer K        = 2,
    parameter integer VW       = X_E < 0 ? X_W : X_W - 1 - X_E + (1 << X_E)
) (
    input  wire                                         clk,
    input  wire                                         rst,
    input  wire                                         en,
    input  wire [XS_W+LANES*X_W-1:0]                    in_data,
    input  wire                                         in_valid,
    input  wire                                         ready,
    output wire                                         in_ready,
    output wire [XS_W+LANES*VW-1:0]                     x,
    output wire                                         step,
    output wire [(SF*NF > 1 ? $clog2(SF * NF) : 1)-1:0] addr,
    output wire                                         block_first,
    output wire                                         block_last,
    output wire                                         row_last
);
  localparam integer XW = XS_W + LANES * X_W;
  localparam integer SF_W = SF > 1 ? $clog2(SF) : 1;
  localparam integer NF_W = NF > 1 ? $clog2(NF) : 1;
  localparam integer AW = SF * NF > 1 ? $clog2(SF * NF) : 1;
  localparam integer K_W = K > 1 ? $clog2(K) : 1;
  localparam integer RUN_W = RUN > 1 ? $clog2(RUN) : 1;

  logic [SF_W-1:0] sf;
  logic [NF_W-1:0] nf;
  logic [AW-1:0] place;
  logic [K_W-1:0] beat_at;  // beat of the block
  wire sf_last = sf == SF_W'(SF - 1);
  wire nf_last = nf == NF_W'(NF - 1);
  wire fresh = nf == NF_W'(0);  // the beat comes from outside, not from the buffer
  wire run_last;
  assign step = (!fresh || in_valid) && ready;
  assign in_ready = en && fresh && ready;
  assign addr = place;
  assign row_last = sf_last;
  assign block_first = beat_at == K_W'(0);
  assign block_last = beat_at == K_W'(K - 1) || run_last;

  always_ff @(posedge clk) begin
    if (en && step) begin
      sf     <= sf_last ? SF_W'(0) : sf + SF_W'(1);
      place  <= sf_last && nf_last ? AW'(0) : place + AW'(1);
      beat_at <= block_last ? K_W'(0) : beat_at + K_W'(1);
      if (sf_last) nf <= nf_last ? NF_W'(0) : nf + NF_W'(1);
    end
    if (rst) begin
      sf     <= SF_W'(0);
      nf     <= NF_W'(0);
      place  <= AW'(0);
      beat_at <= K_W'(0);
    end
  end

  generate
    if (RUN % K == 0) begin : g_even
      assign run_last = 1'b0;
    end else begin : g_tail
      logic [RUN_W-1:0] col;
      assign run_last = col == RUN_W'(RUN - 1);
      always_ff @(posedge clk) begin
        if (en && step) col <= run_last ? RUN_W'(0) : col + RUN_W'(1);
        if (rst) col <= RUN_W'(0);
      end
    end
  endgenerate

  logic [XW-1:0] x_new;
  wire [XW-1:0] x_now;
  wire [XS_W+LANES*VW-1:0] integers;
  logic [XS_W+LANES*VW-1:0] x_q;
  assign x = x_q;
  always_ff @(posedge clk)
    if (en) begin
      x_new <= in_data;
      x_q   <= integers;
    end
  mx_integer #(.LANES(LANES), .W(X_W), .E(X_E)) u_integer (.in(x_now[LANES*X_W-1:0]), .out(integers[LANES*VW-1:0]));
  generate
    if (XS_W > 0) begin : g_scale
      assign integers[XS_W+LANES*VW-1-:XS_W] = x_now[XW-1-:XS_W] ^ {XS_W{XS_FALLS != 0}};
    end
  endgenerate
  generate
    if (NF == 1) begin : g_straight
      assign x_now = x_new;
    end else begin : g_replay
      logic [XW-1:0] x_old;
      logic fresh_q;
      if (SF == 1) begin : g_hold
        always_ff @(posedge clk) if (en && fresh) x_old <= in_data;
      end else begin : g_buffer
        logic [XW-1:0] store[0:SF-1];
        always_ff @(posedge clk)
          if (en) begin
            if (fresh) store[sf] <= in_data;
            x_old <= store[sf];
          end
      end
      always_ff @(posedge clk) if (en) fresh_q <= fresh;
      assign x_now = fresh_q ? x_new : x_old;
    end
  endgenerate
endmodule
`default_nettype wire
