// SPDX-License-Identifier: Apache-2.0
// mx_widen: joins N beats of one block into one; the first takes the low bits. in_ready is a register.
//   parameters  WIDTH    bits of the elements of an input beat, N > 1 input beats to an output beat
//               SCALE_W  bits of a scale
//   A beat is {scale, elements}; the N beats have the same scale.
//   latency: N   ii: N   order: beat N*i+k of the input is part k of beat i
//   flow: widen(N)
//   lut: N * WIDTH + SCALE_W + 4 + clog2(N)
//   ff: 2 * (N * WIDTH + SCALE_W) + 2 + clog2(N)
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

  // The scale that came last stays beside the elements, which enter at the top and move down.
  logic [N*WIDTH-1:0] part;
  logic [SCALE_W-1:0] scale;
  logic [CW-1:0] count;
  logic full;  // part is complete, but the output was not free
  logic [N*WIDTH+SCALE_W-1:0] q;
  logic q_valid;
  wire [N*WIDTH+SCALE_W-1:0] next = {in_data, part[N*WIDTH-1:WIDTH]};
  wire take = in_valid && in_ready;
  wire complete = take && count == CW'(N - 1);
  wire room = !q_valid || out_ready;

  assign in_ready  = !full;
  assign out_data  = q;
  assign out_valid = q_valid;

  always_ff @(posedge clk) begin
    if (take) {scale, part} <= next;
    if (take) count <= count == CW'(N - 1) ? CW'(0) : count + CW'(1);
    if (room) begin
      q       <= full ? {scale, part} : next;
      q_valid <= full || complete;
      full    <= 1'b0;
    end else if (complete) full <= 1'b1;
    if (rst) begin
      count   <= CW'(0);
      full    <= 1'b0;
      q_valid <= 1'b0;
    end
  end
endmodule
`default_nettype wire
