// SPDX-License-Identifier: Apache-2.0
// op_concat: A_BEATS beats of a, then B_BEATS beats of b, again and again: two arrays joined along an axis.
//   parameters  WIDTH    bits of a beat, the same for all three streams
//               A_BEATS  beats of a in a row
//               B_BEATS  beats of b in a row
//               GROUPS   turns of a frame
//   latency: 1   ii: GROUPS * (A_BEATS + B_BEATS)   order: outer axes, then a before b
//   turns: A_BEATS, B_BEATS
//   flow: steps(A_BEATS + B_BEATS, s < A_BEATS ? 1 : 2, 1, 0) + u_out
//   lut: WIDTH + 2 * CW + 4
//   ff: CW + 1
//   parts: u_out
`default_nettype none
module op_concat #(
    parameter integer WIDTH   = 8,
    parameter integer A_BEATS = 1,
    parameter integer B_BEATS = 1,
    parameter integer GROUPS  = 1
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] a_data,
    input  wire             a_valid,
    output wire             a_ready,
    input  wire [WIDTH-1:0] b_data,
    input  wire             b_valid,
    output wire             b_ready,
    output wire [WIDTH-1:0] out_data,
    output wire             out_valid,
    input  wire             out_ready
);
  localparam integer MOST = A_BEATS > B_BEATS ? A_BEATS : B_BEATS;
  localparam integer CW = MOST > 1 ? $clog2(MOST) : 1;

  generate
    if (A_BEATS < 1 || B_BEATS < 1 || GROUPS < 1) begin : g_bad
      A_BEATS_and_B_BEATS_and_GROUPS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  logic turn;  // 0: of a, 1: of b
  logic [CW-1:0] count;
  wire room;
  wire valid = turn ? b_valid : a_valid;
  wire last = count == (turn ? CW'(B_BEATS - 1) : CW'(A_BEATS - 1));
  assign a_ready = room && !turn;
  assign b_ready = room && turn;
  always_ff @(posedge clk) begin
    if (valid && room) begin
      count <= last ? CW'(0) : count + CW'(1);
      if (last) turn <= !turn;
    end
    if (rst) begin
      count <= CW'(0);
      turn  <= 1'b0;
    end
  end

  stream_skid #(.WIDTH(WIDTH)) u_out (
      .clk(clk),
      .rst(rst),
      .in_data(turn ? b_data : a_data),
      .in_valid(valid),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
