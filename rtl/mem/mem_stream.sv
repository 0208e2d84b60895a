// SPDX-License-Identifier: Apache-2.0
// mem_stream: weights that stay in a memory outside and come anew each time that they are used: mem_fetch in the place
//   of a ROM.
//   parameters  WIDTH DEPTH SETS TURNS BITS BURST BUFFER AT AT_W SUM   see mem_fetch
//   ready: the next word is there. step: it is used in this cycle if en; data has it two cycles of en later.
//   latency: 2   ii: 1   order: words ascending
//   lut: 1
//   ff: 2 * WIDTH
//   parts: u_fetch
`default_nettype none
module mem_stream #(
    parameter integer WIDTH  = 32,
    parameter integer DEPTH  = 16,
    parameter integer SETS   = 1,
    parameter integer TURNS  = 1,
    parameter integer BITS   = 128,
    parameter integer BURST  = 16,
    parameter integer BUFFER = 32,
    parameter integer AT     = 0,
    parameter integer AT_W   = 16,
    parameter [31:0]  SUM    = 32'd0
) (
    input  wire             clk,
    input  wire             rst,
    output wire             ask_valid,
    output wire [ AT_W-1:0] ask_at,
    output wire [      7:0] ask_len,
    input  wire             ask_ready,
    input  wire [ BITS-1:0] beat_data,
    input  wire             beat_valid,
    input  wire             en,
    input  wire             step,
    output wire             ready,
    output wire [WIDTH-1:0] data
);
  wire [WIDTH-1:0] word;
  mem_fetch #(
      .WIDTH(WIDTH), .DEPTH(DEPTH), .SETS(SETS), .TURNS(TURNS), .ONCE(0), .BITS(BITS), .BURST(BURST), .BUFFER(BUFFER),
      .AT(AT), .AT_W(AT_W), .SUM(SUM)
  ) u_fetch (
      .clk(clk), .rst(rst), .ask_valid(ask_valid), .ask_at(ask_at), .ask_len(ask_len), .ask_ready(ask_ready),
      .beat_data(beat_data), .beat_valid(beat_valid), .out_data(word), .out_valid(ready), .out_ready(en && step)
  );
  logic [WIDTH-1:0] q0, q1;
  always_ff @(posedge clk)
    if (en) begin
      q0 <= word;
      q1 <= q0;
    end
  assign data = q1;
endmodule
`default_nettype wire
