// SPDX-License-Identifier: Apache-2.0
// op_argmax: index of the greatest of N elements, one for each run of N.
//   parameters  OUTER        runs of a frame
//               N            elements of a run
//               LANES        elements a beat, divides N
//               E_W          bits of an element
//               SIGNED       1: two's complement
//               TAIL         of equal elements 0: the first, 1: the last
//               OUT_W        bits of the output
//               OUT_SIGNED   1: two's complement
//               OVER         as num_requant, for indices that do not fit
//   latency: N / LANES + (LANES > 1 ? 1 : 0)   ii: OUTER * N / LANES   order: as the input
//   flow: (LANES > 1 ? steps(1, 1, 1, 1) : 0) + steps(N / LANES, 1, s == N / LANES - 1, 0) + u_skid
//   lut: (LANES - 1) * (PW + E_W / 2 + 1) + E_W / 2 + 3 * IW + 4
//   ff: (LANES > 1 ? PW + 1 : 0) + IW + PW
//   parts: u_requant + u_skid
`default_nettype none
module op_argmax #(
    parameter integer OUTER      = 2,
    parameter integer N          = 6,
    parameter integer LANES      = 2,
    parameter integer E_W        = 8,
    parameter integer SIGNED     = 1,
    parameter integer TAIL       = 0,
    parameter integer OUT_W      = 3,
    parameter integer OUT_SIGNED = 0,
    parameter integer OVER       = 0
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire [LANES*E_W-1:0] in_data,
    input  wire                 in_valid,
    output wire                 in_ready,
    output wire [    OUT_W-1:0] out_data,
    output wire                 out_valid,
    input  wire                 out_ready
);
  localparam integer IW = N > 1 ? $clog2(N) : 1;
  localparam integer LEVELS = $clog2(LANES);
  localparam integer PW = IW + E_W;  // an index and its element

  generate
    if (N < 1 || LANES < 1 || OUTER < 1 || N % LANES != 0) begin : g_bad
      LANES_must_divide_N u_bad ();
    end
    // The better of neighbours on each level; low is the one of the smaller index.
    for (genvar l = 0; l <= LEVELS; l++) begin : g_level
      localparam integer M = (LANES + (1 << l) - 1) >> l;  // pairs on this level
      wire [M*PW-1:0] held;
      for (genvar i = 0; i < M; i++) begin : g_word
        if (l == 0) begin : g_in
          assign held[i*PW+:PW] = {IW'(i), in_data[i*E_W+:E_W]};
        end else begin : g_pick
          localparam integer BM = (LANES + (1 << (l - 1)) - 1) >> (l - 1);
          wire [PW-1:0] low = g_level[l-1].held[2*i*PW+:PW];
          if (2 * i + 1 < BM) begin : g_pair
            wire [PW-1:0] high = g_level[l-1].held[(2*i+1)*PW+:PW];
            wire signed [E_W:0] a = {SIGNED != 0 ? low[E_W-1] : 1'b0, low[E_W-1:0]};
            wire signed [E_W:0] b = {SIGNED != 0 ? high[E_W-1] : 1'b0, high[E_W-1:0]};
            assign held[i*PW+:PW] = b > a || (TAIL != 0 && b == a) ? high : low;
          end else begin : g_odd
            assign held[i*PW+:PW] = low;
          end
        end
      end
    end
  endgenerate

  wire [PW-1:0] beat;  // the best of a beat, its index counted in the beat
  wire beat_valid, room;
  generate
    if (LANES == 1) begin : g_direct
      assign beat = g_level[LEVELS].held;
      assign beat_valid = in_valid;
      assign in_ready = room;
    end else begin : g_staged
      logic [PW-1:0] beat_q;
      logic valid_q;
      wire en = room || !valid_q;
      assign in_ready = en;
      assign beat = beat_q;
      assign beat_valid = valid_q;
      always_ff @(posedge clk) if (en) beat_q <= g_level[LEVELS].held;
      always_ff @(posedge clk) begin
        if (en) valid_q <= in_valid;
        if (rst) valid_q <= 1'b0;
      end
    end
  endgenerate

  logic [IW-1:0] base;  // index of the first element of the beat
  logic [PW-1:0] best;
  wire last = base == IW'(N - LANES);
  wire signed [E_W:0] old = {SIGNED != 0 ? best[E_W-1] : 1'b0, best[E_W-1:0]};
  wire signed [E_W:0] new_ = {SIGNED != 0 ? beat[E_W-1] : 1'b0, beat[E_W-1:0]};
  wire better = base == IW'(0) || new_ > old || (TAIL != 0 && new_ == old);
  wire [IW-1:0] index = better ? base + beat[E_W+:IW] : best[E_W+:IW];
  always_ff @(posedge clk) begin
    if (beat_valid && room) base <= last ? IW'(0) : base + IW'(LANES);
    if (rst) base <= IW'(0);
  end
  always_ff @(posedge clk) if (beat_valid && room && better) best <= {index, beat[E_W-1:0]};

  wire [OUT_W-1:0] y;
  num_requant #(
      .IN_W(IW),
      .IN_SIGNED(0),
      .SHIFT(0),
      .OUT_W(OUT_W),
      .OUT_SIGNED(OUT_SIGNED),
      .ROUND(0),
      .OVER(OVER)
  ) u_requant (
      .in (index),
      .out(y)
  );
  stream_skid #(
      .WIDTH(OUT_W)
  ) u_skid (
      .clk(clk),
      .rst(rst),
      .in_data(y),
      .in_valid(beat_valid && last),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
