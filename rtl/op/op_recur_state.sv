// SPDX-License-Identifier: Apache-2.0
// op_recur_state: the state h that op_recur multiplies: all groups of a row read it, while the next one comes in.
//   parameters  HIDDEN     hidden units
//               W          bits of one
//               IN_LANES   units that are read at once
//               OUT_LANES  units that come in at once
//               STARTS     1: a frame begins with START, 0: with zeros
//               START, START_SUM   image: a word, all units, which is there two cycles after power-up
//   load: the units that have come in, or where zero those before a frame, are read from now on. step: the next units
//   are read. The units that a cycle reads stand at x two enabled cycles later.
//   latency: 2   ii: 1   order: units ascending, again and again
//   lut: HIDDEN * W
//   ff: 2 * HIDDEN * W + 2 * IN_LANES * W
//   parts: STARTS ? u_start : 0
`default_nettype none
module op_recur_state #(
    parameter integer HIDDEN    = 8,
    parameter integer W         = 8,
    parameter integer IN_LANES  = 4,
    parameter integer OUT_LANES = 2,
    parameter integer STARTS = 0,
    parameter         START     = "",
    parameter [31:0]  START_SUM = 32'd0
) (
    input  wire                   clk,
    input  wire                   en,
    input  wire                   load,
    input  wire                   zero,
    input  wire                   step,
    input  wire                   valid,
    input  wire [OUT_LANES*W-1:0] y,
    output wire [ IN_LANES*W-1:0] x
);
  localparam integer ALL = HIDDEN * W;
  localparam integer XW = IN_LANES * W;
  localparam integer YW = OUT_LANES * W;
  logic [ALL-1:0] now, next;
  wire [ALL-1:0] start;
  wire [ALL-1:0] fresh = zero ? start : next;
  num_delay #(.WIDTH(XW), .DEPTH(2)) u_x (.clk(clk), .en(en), .in(now[XW-1:0]), .out(x));
  generate
    if (STARTS == 0) begin : g_zeros
      assign start = {ALL{1'b0}};
    end else begin : g_start
      mem_rom #(.WIDTH(ALL), .DEPTH(1), .IMAGE(START), .IMAGE_SUM(START_SUM), .STYLE("distributed")) u_start (
          .clk(clk), .en(1'b1), .addr(1'b0), .data(start)
      );
    end
    if (XW == ALL) begin : g_whole
      always_ff @(posedge clk) if (en && load) now <= fresh;
      wire unused_step = &{1'b0, step};
    end else begin : g_round
      always_ff @(posedge clk)
        if (en && (load || step)) now <= load ? fresh : {now[XW-1:0], now[ALL-1:XW]};
    end
    if (YW == ALL) begin : g_at_once
      always_ff @(posedge clk) if (en && valid) next <= y;
    end else begin : g_in_parts
      always_ff @(posedge clk) if (en && valid) next <= {y, next[ALL-1:YW]};
    end
  endgenerate
endmodule
`default_nettype wire
