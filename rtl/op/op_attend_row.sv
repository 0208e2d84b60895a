// SPDX-License-Identifier: Apache-2.0
// op_attend_row: keeps rows of BEATS beats of a stream for as long as they are read, in any order: two of them, so that
//   the next one comes in meanwhile.
//   parameters  WIDTH  bits of a beat
//               BEATS  beats of a row
//   there: a row can be read. done: it may be overwritten, the next one follows.
//   latency: 2   ii: 1   order: one beat an enabled cycle
//   lut: 7 + (BEATS > 1 ? 2 * KW : 0)
//   ff: 4 + (BEATS > 1 ? KW : 0)
//   parts: u_rows
`default_nettype none
module op_attend_row #(
    parameter integer WIDTH = 8,
    parameter integer BEATS = 2,
    parameter integer KW    = BEATS > 1 ? $clog2(BEATS) : 1
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    output wire             there,
    input  wire             done,
    input  wire             en,
    input  wire [   KW-1:0] beat,
    output wire [WIDTH-1:0] data
);
  localparam integer AW = BEATS > 1 ? KW + 1 : 1;
  logic into, from;  // the row that is written, and the one that is read
  logic [1:0] full;
  logic [KW-1:0] place;
  assign in_ready = into ? !full[1] : !full[0];
  assign there = from ? full[1] : full[0];
  wire write = in_valid && in_ready;
  wire last = place == KW'(BEATS - 1);
  wire fills = write && last;

  always_ff @(posedge clk) begin
    if (write) place <= last ? KW'(0) : place + KW'(1);
    into <= into ^ fills;
    from <= from ^ done;
    full <= (full | {fills && into, fills && !into}) & ~{done && from, done && !from};
    if (rst) begin
      into  <= 1'b0;
      from  <= 1'b0;
      full  <= 2'b00;
      place <= KW'(0);
    end
  end

  mem_ram #(.WIDTH(WIDTH), .DEPTH(1 << AW)) u_rows (
      .clk(clk), .we(write), .waddr(AW'({place, into})), .wdata(in_data), .en(en), .raddr(AW'({beat, from})),
      .rdata(data)
  );
endmodule
`default_nettype wire
