// SPDX-License-Identifier: Apache-2.0
// op_softmax_core: softmax along rows of N elements in three passes over a row, each of which works on a row of its
//   own: the first one stores x and finds its maximum, the second one turns x into powers, stores and adds them, the
//   third one multiplies by the inverse of the sum. Integers throughout: with t = max x - x and y = t*K >> K_SHIFT, in
//   units of 2^-20, e is 2^-y with 24 fraction bits; S the sum of 2^-y with 32 of them; a = bitlen(S) - 24,
//   d = (S + 2^(a-1)) >> a, R = floor(2^47 / d); p = min((e*R + 2^(38+a-FO)) >> (39+a-FO), greatest code).
//   Elements that are not live have p = 0 and take no part in maximum and sum; if none is live all p are 0.
//   parameters  N                  elements of a row
//               LANES              elements a beat, a divisor of N
//               IN_W, SIGNED       bits of x, 1: two's complement
//               K, K_SHIFT         factor, 24 bits, and right shift
//               OUT_W, OUT_SIGNED  bits of p, 1: two's complement
//               FO                 fraction bits of p, up to 16
//               MASKED             0: all elements are live, and in_live is not read
//   latency: 2 * N / LANES + 2 * clog2(LANES) + (IN_W <= 8 ? 37 : 42)   ii: max(N / LANES, 26)   order: as the input
//   flow: u_powers + memory(E_PLACES, BEATS, BEATS, BEATS, s, 4, 28 + TREE) + u_out
//   lut: 4
//   ff: 16 + SPAN + C_W
//   parts: u_powers + u_e + u_sum + LANES * u_scale + u_out
`default_nettype none
module op_softmax_core #(
    parameter integer N          = 16,
    parameter integer LANES      = 1,
    parameter integer IN_W       = 8,
    parameter integer SIGNED     = 1,
    parameter [23:0]  K          = 24'd12102203,
    parameter integer K_SHIFT    = 7,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 0,
    parameter integer FO         = 8,
    parameter integer MASKED     = 0
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [ LANES*IN_W-1:0] in_data,
    input  wire [      LANES-1:0] in_live,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer BEATS = N / LANES;
  localparam integer TREE = $clog2(LANES);  // registers of the trees over the lanes
  localparam integer SPAN = $clog2(N + 1) - 1;
  localparam integer E_NEED = 3 * BEATS < BEATS + 30 + TREE ? 3 * BEATS : BEATS + 30 + TREE;
  localparam integer E_PLACES = 1 << $clog2(E_NEED);
  localparam integer C_W = BEATS > 1 ? $clog2(BEATS) : 1;

  generate
    if (FO > 16 || FO < 0) begin : g_bad
      FO_must_be_up_to_16 u_bad ();
    end
  endgenerate

  wire e_room, e_write, e_last;
  wire [25*LANES-1:0] e_word, e_read;
  wire [33*LANES-1:0] e_fine;
  op_softmax_powers #(
      .N(N), .LANES(LANES), .IN_W(IN_W), .SIGNED(SIGNED), .K(K), .K_SHIFT(K_SHIFT), .MASKED(MASKED), .LEAST(26)
  ) u_powers (
      .clk(clk), .rst(rst), .in_data(in_data), .in_live(in_live), .in_valid(in_valid), .in_ready(in_ready),
      .room(e_room), .write(e_write), .last(e_last), .word(e_word), .fine(e_fine)
  );

  // The sum, and third pass.
  wire go, e_step, e_end, e_whole;
  logic [3:0] sent;
  logic e_ended;  // the beat in the memory's first register is the last one of its row
  wire [24+SPAN:0] factor;
  logic [24+SPAN:0] factor_q;
  op_softmax_sum #(.LANES(LANES), .SPAN(SPAN)) u_sum (
      .clk(clk), .rst(rst), .in(e_fine), .add(e_write), .last(e_last), .whole(e_whole), .next(go && sent[0] && e_ended),
      .factor(factor)
  );
  op_softmax_rows #(.WIDTH(25*LANES), .DEPTH(E_PLACES), .BEATS(BEATS), .LATENCY(2)) u_e (
      .clk(clk), .rst(rst), .in_data(e_word), .write(e_write), .room(e_room), .whole(e_whole),
      .en(go), .read(e_step), .out_data(e_read)
  );
  wire out_room;
  assign go = out_room || !sent[3];
  logic [C_W-1:0] e_count;
  assign e_end = e_count == C_W'(BEATS - 1);
  always_ff @(posedge clk) begin
    if (go) begin
      sent <= {sent[2:0], e_step};
      e_ended <= e_end;
      factor_q <= factor;
      if (e_step) e_count <= e_end ? C_W'(0) : e_count + C_W'(1);
    end
    if (rst) begin
      sent <= 4'd0;
      e_count <= C_W'(0);
    end
  end
  wire [LANES*OUT_W-1:0] p;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_scale
      op_softmax_scale #(.SPAN(SPAN), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .FO(FO)) u_scale (
          .clk(clk), .en(go), .e(e_read[25*i+:25]), .factor(factor_q), .y(p[i*OUT_W+:OUT_W])
      );
    end
  endgenerate
  stream_skid #(.WIDTH(LANES*OUT_W)) u_out (
      .clk(clk), .rst(rst), .in_data(p), .in_valid(sent[3]), .in_ready(out_room), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
