// SPDX-License-Identifier: Apache-2.0
// op_log_softmax: log-softmax along rows of N elements. The first two passes are those of op_softmax_powers, the third
//   one takes the distance t = max x - x and the logarithm of the sum S of the powers, which have 32 fraction bits:
//   y = round(-((t * STEP >> STEP_SHIFT) + log(S))), the logarithm in the 24 fraction bits of num_log.
//   parameters  ROWS               rows of a frame
//               N, LANES           elements of a row, and of a beat: a divisor of N
//               IN_W, SIGNED       bits of x, up to 16, 1: two's complement
//               K, K_SHIFT         factor scale * log2(e) * 2^(K_SHIFT+20), 24 bits, the first one 1, and right shift
//               STEP, STEP_SHIFT   factor scale * 2^(STEP_SHIFT+24), 24 bits, the first one 1, and right shift,
//                                  negative: left
//               SHIFT              bits that rounding drops, negative: adds
//               OUT_W, OUT_SIGNED  bits of y, 1: two's complement
//               ROUND, OVER        those of num_requant
//   latency: 2 * N / LANES + 2 * clog2(LANES) + (IN_W <= 8 ? 17 : 22)
//   ii: ROWS * N / LANES   order: as the input
//   flow: u_powers + memory(PLACES, BEATS, BEATS, BEATS, s, 5, 7 + TREE) + u_out
//   lut: 4
//   ff: 36 + C_W
//   parts: u_powers + u_t + u_sum + LANES * u_term + u_out
`default_nettype none
module op_log_softmax #(
    parameter integer ROWS       = 2,
    parameter integer N          = 16,
    parameter integer LANES      = 1,
    parameter integer IN_W       = 8,
    parameter integer SIGNED     = 1,
    parameter [23:0]  K          = 24'd12102203,
    parameter integer K_SHIFT    = 7,
    parameter [23:0]  STEP       = 24'd8388608,
    parameter integer STEP_SHIFT = 3,
    parameter integer SHIFT      = 20,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [ LANES*IN_W-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer BEATS = N / LANES;
  localparam integer TREE = $clog2(LANES);  // registers of the trees over the lanes
  localparam integer PLACES = 1 << $clog2(BEATS + TREE + 11);  // a row, and what comes until its logarithm is there
  localparam integer QUEUE = 1 << $clog2(PLACES / BEATS + 1);  // rows in the memory, and one in its first register
  localparam integer C_W = BEATS > 1 ? $clog2(BEATS) : 1;

  generate
    if (ROWS < 1) begin : g_bad
      ROWS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  wire room, write, last, whole;
  wire [LANES*IN_W-1:0] far, t;
  wire [33*LANES-1:0] fine;
  op_softmax_powers #(
      .N(N), .LANES(LANES), .IN_W(IN_W), .SIGNED(SIGNED), .K(K), .K_SHIFT(K_SHIFT), .LOG(1)
  ) u_powers (
      .clk(clk), .rst(rst), .in_data(in_data), .in_live({LANES{1'b1}}), .in_valid(in_valid), .in_ready(in_ready),
      .room(room), .write(write), .last(last), .word(far), .fine(fine)
  );

  // The third pass.
  wire go, step, out_room;
  logic [4:0] sent;
  logic [C_W-1:0] count;
  wire ends = count == C_W'(BEATS - 1);
  logic ended;  // the beat in the memory's first register is the last one of its row
  wire signed [28:0] log;
  logic signed [28:0] log_q;
  op_softmax_sum #(.LANES(LANES), .SPAN($clog2(N + 1) - 1), .LOG(1), .QUEUE(QUEUE)) u_sum (
      .clk(clk), .rst(rst), .in(fine), .add(write), .last(last), .whole(whole), .next(go && sent[0] && ended),
      .factor(log)
  );
  op_softmax_rows #(.WIDTH(LANES*IN_W), .DEPTH(PLACES), .BEATS(BEATS), .LATENCY(2)) u_t (
      .clk(clk), .rst(rst), .in_data(far), .write(write), .room(room), .whole(whole), .en(go), .read(step),
      .out_data(t)
  );
  assign go = out_room || !sent[4];
  always_ff @(posedge clk) begin
    if (go) begin
      sent <= {sent[3:0], step};
      ended <= ends;
      log_q <= log;
      if (step) count <= ends ? C_W'(0) : count + C_W'(1);
    end
    if (rst) begin
      sent <= 5'd0;
      count <= C_W'(0);
    end
  end
  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_term
      op_log_softmax_term #(
          .IN_W(IN_W), .STEP(STEP), .STEP_SHIFT(STEP_SHIFT), .SHIFT(SHIFT), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND), .OVER(OVER)
      ) u_term (
          .clk(clk), .en(go), .t(t[i*IN_W+:IN_W]), .log(log_q), .y(y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate
  stream_skid #(.WIDTH(LANES*OUT_W)) u_out (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(sent[4]), .in_ready(out_room), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
