// SPDX-License-Identifier: Apache-2.0
// stream_narrow: cuts a beat into N, low bits first. The next one is loaded in the cycle in which the last part leaves.
//   parameters  WIDTH  bits of an output beat
//               N      output beats to an input beat
//   latency: N == 1 ? 1 : 2   ii: N   order: part k of input beat i is beat N*i+k
//   flow: (N == 1 ? 0 : narrow(N)) + u_skid
//   lut: N == 1 ? 0 : N * WIDTH + 4
//   ff: N == 1 ? 0 : N * WIDTH + 1 + clog2(N)
//   parts: u_skid
`default_nettype none
module stream_narrow #(
    parameter integer WIDTH = 8,
    parameter integer N = 4
) (
    input  wire               clk,
    input  wire               rst,
    input  wire [N*WIDTH-1:0] in_data,
    input  wire               in_valid,
    output wire               in_ready,
    output wire [WIDTH-1:0]   out_data,
    output wire               out_valid,
    input  wire               out_ready
);
  wire [WIDTH-1:0] part;
  wire part_valid, part_ready;

  generate
    if (N < 1) begin : bad
      N_must_be_at_least_1 u ();
    end else if (N == 1) begin : same
      assign part       = in_data;
      assign part_valid = in_valid;
      assign in_ready   = part_ready;
    end else begin : cut
      localparam integer CW = $clog2(N);
      localparam integer LAST_INT = N - 1;
      localparam [CW-1:0] LAST = LAST_INT[CW-1:0];
      reg [N*WIDTH-1:0] beat;
      reg [CW-1:0] count;
      reg busy;
      wire load = in_valid && in_ready;

      assign part       = beat[WIDTH-1:0];
      assign part_valid = busy;
      assign in_ready   = !busy || (part_ready && count == LAST);

      always_ff @(posedge clk) begin
        if (load) beat <= in_data;
        else if (busy && part_ready) beat <= beat >> WIDTH;
        if (load) count <= {CW{1'b0}};
        else if (busy && part_ready) count <= count + 1'b1;
        if (in_ready) busy <= in_valid;
        if (rst) busy <= 1'b0;
      end
    end
  endgenerate

  stream_skid #(.WIDTH(WIDTH)) u_skid (
      .clk(clk),
      .rst(rst),
      .in_data(part),
      .in_valid(part_valid),
      .in_ready(part_ready),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
