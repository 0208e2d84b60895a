// SPDX-License-Identifier: Apache-2.0
// op_recur_walk: the order of op_recur's cycles. For each of STEPS rows: one cycle to load the state, SF cycles for
//   each of NG groups of hidden units, and DRAIN cycles until the state of the last group is there.
//   parameters  STEPS          rows of a frame
//               SF             cycles of a group
//               NG             groups
//               DRAIN          cycles behind the last group, at least 1
//               PHASES         rows in which a frame begins
//               AHEAD          1: the first load waits for another cycle behind a reset
//               SF_W NG_W AW   bits of a place within a group, of group, of addr
//   load: this cycle loads the state, of zeros where first. odd: the number of the row is. step: a cycle of a group is
//   made if en. take: its first one, which waits for a beat. last: its last one. addr: how many cycles of groups the
//   row has had before.
//   latency: 0   ii: 1   order: counters
//   lut: SF_W + NG_W + AW + 2 * CW + 8
//   ff: SF_W + NG_W + AW + 2 * CW + 3
`default_nettype none
module op_recur_walk #(
    parameter integer STEPS = 4,
    parameter integer SF    = 4,
    parameter integer NG    = 2,
    parameter integer DRAIN = 8,
    parameter integer PHASES = 1,
    parameter integer AHEAD = 0,
    parameter integer SF_W  = SF > 1 ? $clog2(SF) : 1,
    parameter integer NG_W  = NG > 1 ? $clog2(NG) : 1,
    parameter integer AW    = SF * NG > 1 ? $clog2(SF * NG) : 1
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            en,
    input  wire            valid,  // a beat is outside
    output wire            load,
    output wire            step,
    output wire            take,
    output wire            last,
    output wire            first,
    output wire            odd,
    output reg  [NG_W-1:0] group,
    output reg  [  AW-1:0] addr
);
  localparam integer CW = $clog2((STEPS > DRAIN ? STEPS : DRAIN) + 1);
  logic busy;  // in the groups of a row; else before them or behind
  logic [CW-1:0] rest;  // cycles behind them that are left, with the one that loads
  logic [CW-1:0] row;
  logic [SF_W-1:0] sf;
  wire group_last = group == NG_W'(NG - 1);
  assign load = !busy && rest == CW'(0);
  assign take = busy && sf == SF_W'(0);
  assign last = busy && sf == SF_W'(SF - 1);
  assign step = busy && (!take || valid);
  assign first = row < CW'(PHASES);
  assign odd = row[0];

  always_ff @(posedge clk) begin
    if (en && step) begin
      sf   <= last ? SF_W'(0) : sf + SF_W'(1);
      addr <= last && group_last ? AW'(0) : addr + AW'(1);
      if (last) group <= group_last ? NG_W'(0) : group + NG_W'(1);
      if (last && group_last) begin
        busy <= 1'b0;
        rest <= CW'(DRAIN);
        row  <= row == CW'(STEPS - 1) ? CW'(0) : row + CW'(1);
      end
    end
    if (en && !busy) begin
      busy <= load;
      rest <= load ? CW'(0) : rest - CW'(1);
    end
    if (rst) begin
      busy  <= 1'b0;
      rest  <= CW'(AHEAD);
      row   <= CW'(0);
      sf    <= SF_W'(0);
      addr  <= AW'(0);
      group <= NG_W'(0);
    end
  end
endmodule
`default_nettype wire
