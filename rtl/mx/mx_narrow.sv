// SPDX-License-Identifier: Apache-2.0
// mx_narrow: cuts a beat into N, low elements first; each carries the scale.
//   parameters  WIDTH    bits of the elements of an output beat, N > 1 output beats to an input beat
//               SCALE_W  bits of a scale
//   A beat is {scale, elements}.
//   latency: 2   ii: N   order: part k of input beat i is beat N*i+k
//   flow: narrow(N) + u_skid
//   lut: N * WIDTH + 4
//   ff: N * WIDTH + SCALE_W + 1 + clog2(N)
//   parts: u_skid
`default_nettype none
module mx_narrow #(
    parameter integer WIDTH   = 8,
    parameter integer SCALE_W = 8,
    parameter integer N       = 4
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire [N*WIDTH+SCALE_W-1:0] in_data,
    input  wire                 in_valid,
    output wire                 in_ready,
    output wire [WIDTH+SCALE_W-1:0]   out_data,
    output wire                 out_valid,
    input  wire                 out_ready
);
  localparam integer CW = N > 1 ? $clog2(N) : 1;
  generate
    if (N < 2) begin : g_bad
      N_must_be_at_least_2 u_bad ();
    end
  endgenerate

  logic [N*WIDTH-1:0] beat;
  logic [SCALE_W-1:0] scale;
  logic [CW-1:0] count;
  logic busy;
  wire part_ready;
  wire last = count == CW'(N - 1);
  wire load = in_valid && in_ready;
  assign in_ready = !busy || (part_ready && last);

  always_ff @(posedge clk) begin
    if (load) {scale, beat} <= in_data;
    else if (busy && part_ready) beat <= beat >> WIDTH;
    if (load) count <= CW'(0);
    else if (busy && part_ready) count <= count + CW'(1);
    if (in_ready) busy <= in_valid;
    if (rst) busy <= 1'b0;
  end

  stream_skid #(.WIDTH(WIDTH + SCALE_W)) u_skid (
      .clk(clk), .rst(rst), .in_data({scale, beat[WIDTH-1:0]}), .in_valid(busy), .in_ready(part_ready),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
