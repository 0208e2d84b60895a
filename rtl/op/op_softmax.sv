// SPDX-License-Identifier: Apache-2.0
// op_softmax: softmax along rows, with op_softmax_core's integers. Only the first LIVE elements of a row take part and,
//   where CAUSAL, of row r only those up to r / HEADS + OFFSET. The others give 0; a row of which none takes part is 0.
//   parameters  ROWS               rows of a frame
//               N, LANES           elements of a row, and of a beat: a divisor of N
//               IN_W, SIGNED       bits of x, up to 16, 1: two's complement
//               K, K_SHIFT         factor scale * log2(e) * 2^(K_SHIFT+20), 24 bits, the first one 1, and right shift
//               OUT_W, OUT_SIGNED  bits of p, 1: two's complement
//               FO                 fraction bits of p, up to 16
//               LIVE               up to N
//               CAUSAL             0 or 1
//               HEADS, OFFSET      rows of a token, and the last element that the first token sees
//   latency: 2 * N / LANES + 2 * clog2(LANES) + (IN_W <= 8 ? 37 : 42)
//   ii: ROWS * max(N / LANES, 26)   order: as the input
//   flow: u_core
//   parts: (MASKED == 0 ? 0 : u_seen) + u_core
`default_nettype none
module op_softmax #(
    parameter integer ROWS       = 2,
    parameter integer N          = 16,
    parameter integer LANES      = 1,
    parameter integer IN_W       = 8,
    parameter integer SIGNED     = 1,
    parameter [23:0]  K          = 24'd12102203,
    parameter integer K_SHIFT    = 7,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 0,
    parameter integer FO         = 8,
    parameter integer LIVE       = N,
    parameter integer CAUSAL     = 0,
    parameter integer HEADS      = 1,
    parameter integer OFFSET     = 0
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [ LANES*IN_W-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer MASKED = CAUSAL != 0 || LIVE < N ? 1 : 0;

  wire [LANES-1:0] live;
  generate
    if (MASKED == 0) begin : g_all
      assign live = {LANES{1'b1}};
    end else begin : g_some
      op_softmax_seen #(
          .ROWS(ROWS), .N(N), .LANES(LANES), .LIVE(LIVE), .CAUSAL(CAUSAL), .HEADS(HEADS), .OFFSET(OFFSET)
      ) u_seen (
          .clk(clk), .rst(rst), .move(in_valid && in_ready), .seen(live)
      );
    end
  endgenerate

  op_softmax_core #(
      .N(N), .LANES(LANES), .IN_W(IN_W), .SIGNED(SIGNED), .K(K), .K_SHIFT(K_SHIFT), .OUT_W(OUT_W),
      .OUT_SIGNED(OUT_SIGNED), .FO(FO), .MASKED(MASKED)
  ) u_core (
      .clk(clk), .rst(rst), .in_data(in_data), .in_live(live), .in_valid(in_valid), .in_ready(in_ready),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
