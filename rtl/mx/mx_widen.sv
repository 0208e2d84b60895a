// SPDX-License-Identifier: Apache-2.0
// mx_widen: joins N beats of one block into one; the first takes the low bits. in_ready is a register.
//   parameters  WIDTH    bits of the elements of an input beat, N > 1 input beats to an output beat
//               SCALE_W  bits of a scale
//   A beat is {scale, elements}; the N beats have the same scale.
//   latency: N   ii: N   order: beat N*i+k of the input is part k of beat i
//   flow: widen(N)
//   lut: WIDTH + SCALE_W + 4 + clog2(N)
//   ff: (N + 1) * WIDTH + 2 * SCALE_W + 2 + clog2(N)
`default_nettype none
module mx_widen #(
    parameter integer WIDTH   = 8,
    parameter integer SCALE_W = 8,
    parameter integer N       = 4
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire [WIDTH+SCALE_W-1:0]   in_data,
    input  wire                 in_valid,
    output wire                 in_ready,
    output wire [N*WIDTH+SCALE_W-1:0] out_data,
    output wire                 out_valid,
    input  wire                 out_ready
);
  localparam integer CW = N > 1 ? $clog2(N) : 1;
  generate
    if (N < 2) begin : g_bad
      N_must_be_at_least_2 u_bad ();
    end
  endgenerate

  // Elements enter at the top and move down, and the scale of the last beat stands above them.
  logic [N*WIDTH+SCALE_W-1:0] q;
  logic q_valid;
  logic [CW-1:0] count;  // of the beats in q, 0 where all are there
  logic [WIDTH+SCALE_W-1:0] spare;  // holds the beat that arrived in a cycle in which out stalled
  logic spare_valid;
  wire room = !q_valid || out_ready;
  wire enter = spare_valid || in_valid;

  assign in_ready  = !spare_valid;
  assign out_data  = q;
  assign out_valid = q_valid;

  always_ff @(posedge clk) begin
    if (in_ready) spare <= in_data;
    if (room && enter) begin
      q     <= {spare_valid ? spare : in_data, q[N*WIDTH-1:WIDTH]};
      count <= count == CW'(N - 1) ? CW'(0) : count + CW'(1);
    end
    if (room) q_valid <= enter && count == CW'(N - 1);
    spare_valid <= !room && enter;
    if (rst) begin
      count       <= CW'(0);
      q_valid     <= 1'b0;
      spare_valid <= 1'b0;
    end
  end
endmodule
`default_nettype wire
