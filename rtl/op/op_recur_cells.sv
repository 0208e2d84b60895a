// SPDX-License-Identifier: Apache-2.0
// op_recur_cells: the states c of op_recur, group by group. That of a group is read READ enabled cycles after its sums,
//   and the next one written WRITE cycles after them.
//   parameters  WIDTH        bits of a group
//               NG           groups
//               FRONT        enabled cycles from group to the cycle before its sums
//               READ, WRITE  1 or more; WRITE is greater
//               STARTS       1: a frame begins with START, 0: with zeros
//               START, START_SUM   image: word group, its state
//               NG_W         bits of group
//   latency: FRONT + READ + 1   ii: 1   order: as it comes
//   lut: WIDTH
//   ff: 1
//   parts: u_early + u_read + u_write + u_cells + (STARTS ? u_start : 0)
`default_nettype none
module op_recur_cells #(
    parameter integer WIDTH = 16,
    parameter integer NG    = 2,
    parameter integer FRONT = 4,
    parameter integer READ  = 1,
    parameter integer WRITE = 4,
    parameter integer STARTS = 0,
    parameter         START = "",
    parameter [31:0]  START_SUM = 32'd0,
    parameter integer NG_W  = NG > 1 ? $clog2(NG) : 1
) (
    input  wire             clk,
    input  wire             en,
    input  wire             first,  // the state of the group is that before a frame
    input  wire [ NG_W-1:0] group,
    input  wire             write,
    input  wire [WIDTH-1:0] c_next,
    output wire [WIDTH-1:0] c
);
  wire [NG_W-1:0] early, from, into;
  wire zero_early, zero;
  wire [WIDTH-1:0] stored, start;
  logic zero_q;
  num_delay #(.WIDTH(NG_W + 1), .DEPTH(FRONT + READ - 1)) u_early (
      .clk(clk), .en(en), .in({first, group}), .out({zero_early, early})
  );
  num_delay #(.WIDTH(NG_W + 1), .DEPTH(1)) u_read (
      .clk(clk), .en(en), .in({zero_early, early}), .out({zero, from})
  );
  num_delay #(.WIDTH(NG_W), .DEPTH(WRITE - READ + 1)) u_write (.clk(clk), .en(en), .in(from), .out(into));
  mem_ram #(.WIDTH(WIDTH), .DEPTH(NG > 1 ? NG : 2), .STYLE("distributed"), .LATENCY(1)) u_cells (
      .clk(clk), .we(en && write), .waddr(into), .wdata(c_next), .en(en), .raddr(from), .rdata(stored)
  );
  always_ff @(posedge clk) if (en) zero_q <= zero;
  assign c = zero_q ? start : stored;
  generate
    if (STARTS == 0) begin : g_zeros
      assign start = {WIDTH{1'b0}};
    end else begin : g_start
      mem_rom #(.WIDTH(WIDTH), .DEPTH(NG), .IMAGE(START), .IMAGE_SUM(START_SUM), .STYLE("auto")) u_start (
          .clk(clk), .en(en), .addr(early), .data(start)
      );
    end
  endgenerate
endmodule
`default_nettype wire
