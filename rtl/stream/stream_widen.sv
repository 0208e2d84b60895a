// SPDX-License-Identifier: Apache-2.0
// stream_widen: joins N beats into one; the first takes the low bits. in_ready is a register: while an output beat
//   waits, the first beat of the next one has a place of its own.
//   parameters  WIDTH  bits of an input beat
//               N      input beats to an output beat
//   latency: N   ii: N   order: beat N*i+k of the input is part k of beat i
//   flow: N == 1 ? u_skid : widen(N)
//   lut: N == 1 ? 0 : WIDTH + 4 + clog2(N)
//   ff: N == 1 ? 0 : (N + 1) * WIDTH + 2 + clog2(N)
//   parts: N == 1 ? u_skid : 0
`default_nettype none
module stream_widen #(
    parameter integer WIDTH = 8,
    parameter integer N = 4
) (
    input  wire               clk,
    input  wire               rst,
    input  wire [WIDTH-1:0]   in_data,
    input  wire               in_valid,
    output wire               in_ready,
    output wire [N*WIDTH-1:0] out_data,
    output wire               out_valid,
    input  wire               out_ready
);
  generate
    if (N < 1) begin : bad
      N_must_be_at_least_1 u ();
    end else if (N == 1) begin : same
      stream_skid #(.WIDTH(WIDTH)) u_skid (
          .clk(clk),
          .rst(rst),
          .in_data(in_data),
          .in_valid(in_valid),
          .in_ready(in_ready),
          .out_data(out_data),
          .out_valid(out_valid),
          .out_ready(out_ready)
      );
    end else begin : join_beats
      localparam integer CW = $clog2(N);
      localparam integer LAST_INT = N - 1;
      localparam [CW-1:0] LAST = LAST_INT[CW-1:0];
      reg [N*WIDTH-1:0] q;  // beats enter at the top and move down
      reg q_valid;
      reg [CW-1:0] count;  // of the beats in q, 0 where all are there
      reg [WIDTH-1:0] spare;  // holds the beat that arrived in a cycle in which out stalled
      reg spare_valid;
      wire room = !q_valid || out_ready;
      wire enter = spare_valid || in_valid;

      assign in_ready  = !spare_valid;
      assign out_data  = q;
      assign out_valid = q_valid;

      always_ff @(posedge clk) begin
        if (in_ready) spare <= in_data;
        if (room && enter) q <= {spare_valid ? spare : in_data, q[N*WIDTH-1:WIDTH]};
        if (room && enter) count <= count == LAST ? {CW{1'b0}} : count + 1'b1;
        if (room) q_valid <= enter && count == LAST;
        spare_valid <= !room && enter;
        if (rst) begin
          count       <= {CW{1'b0}};
          q_valid     <= 1'b0;
          spare_valid <= 1'b0;
        end
      end
    end
  endgenerate
endmodule
`default_nettype wire
