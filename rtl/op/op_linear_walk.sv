// SPDX-License-Identifier: Apache-2.0
// op_linear_walk: the order of op_linear's steps: SF beats of a vector, NF times over, in each of GROUPS groups. The
//   beats of the first time come from outside, the others from a buffer.
//   parameters  SF NF GROUPS   beats of a vector, times that it is used, vectors that take turns
//               SF_W ROW_W AW  bits of sf, row, addr
//   ready: the weights of the next beat are there. step: a beat is used in this cycle if en. fresh: it comes from
//   outside. sf: its place in the vector; after: of the next beat. row: how many times a vector has been used before,
//   over all groups. addr: how many beats. What decides who may move is a register.
//   latency: 0   ii: 1   order: counters
//   lut: SF_W + NF_W + AW + (GROUPS > 1 ? ROW_W : 0)
//   lut4: (SF_W + NF_W + AW) * 5 / 2 - 4 + (GROUPS > 1 ? ROW_W : 0)
//   ff: (SF > 1 ? 2 * SF_W + 2 : 0) + (NF > 1 ? NF_W + 2 : 0) + AW + (GROUPS > 1 ? ROW_W : 0)
`default_nettype none
module op_linear_walk #(
    parameter integer SF     = 4,
    parameter integer NF     = 2,
    parameter integer GROUPS = 1,
    parameter integer SF_W   = SF > 1 ? $clog2(SF) : 1,
    parameter integer ROW_W  = NF * GROUPS > 1 ? $clog2(NF * GROUPS) : 1,
    parameter integer AW     = SF * NF * GROUPS > 1 ? $clog2(SF * NF * GROUPS) : 1
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             en,
    input  wire             valid,  // a beat is outside
    input  wire             ready,
    output wire             step,
    output reg              fresh,
    output reg              sf_first,
    output reg              sf_last,
    output reg  [ SF_W-1:0] sf,
    output reg  [ SF_W-1:0] after,
    output wire [ROW_W-1:0] row,
    output reg  [   AW-1:0] addr
);
  localparam integer NF_W = NF > 1 ? $clog2(NF) : 1;
  logic [NF_W-1:0] nf;
  logic nf_last;
  wire row_last = row == ROW_W'(NF * GROUPS - 1);
  assign step = (!fresh || valid) && ready;

  always_ff @(posedge clk) begin
    if (en && step) begin
      sf <= after;
      after <= after == SF_W'(SF - 1) ? SF_W'(0) : after + SF_W'(1);
      sf_first <= sf_last;
      sf_last <= SF == 1 || (!sf_last && sf == SF_W'(SF - 2));
      addr <= sf_last && row_last ? AW'(0) : addr + AW'(1);
      if (sf_last) begin
        nf <= nf_last ? NF_W'(0) : nf + NF_W'(1);
        fresh <= nf_last;
        nf_last <= NF == 1 || (!nf_last && nf == NF_W'(NF - 2));
      end
    end
    if (rst) begin
      sf <= SF_W'(0);
      after <= SF > 1 ? SF_W'(1) : SF_W'(0);
      sf_first <= 1'b1;
      sf_last <= SF == 1;
      nf <= NF_W'(0);
      fresh <= 1'b1;
      nf_last <= NF == 1;
      addr <= AW'(0);
    end
  end

  generate
    if (GROUPS == 1) begin : g_one
      assign row = nf;
    end else begin : g_groups
      logic [ROW_W-1:0] row_q;
      assign row = row_q;
      always_ff @(posedge clk) begin
        if (en && step && sf_last) row_q <= row_last ? ROW_W'(0) : row_q + ROW_W'(1);
        if (rst) row_q <= ROW_W'(0);
      end
    end
  endgenerate
endmodule
`default_nettype wire
