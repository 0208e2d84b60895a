// SPDX-License-Identifier: Apache-2.0
// mx_linear_drain: the window accumulators of mx_linear. With take, d holds the block sums of ROWS outputs and xs the
//   scale of the block of x; last marks the last block of a row. DRAIN sums a cycle are then shifted and added; with
//   the last block the results leave, DRAIN a cycle, marked by done. Two takes are at least ROWS / DRAIN enabled cycles
//   apart.
//   parameters  GROUPS, BLOCKS   groups of ROWS outputs; blocks of a row
//               ROWS DRAIN WS_W D_W OFFSET SPAN LOW CLAMP SUM_W BIAS_W OUT_W   as mx_linear
//               SCALES SCALES_SUM BIAS BIAS_SUM                                as mx_linear
//   latency: 6   ii: ROWS / DRAIN   order: outputs ascending
//   let: COUNTERS = (WS_W > 0 ? SA_W : 0) + BA_W + LEFT_W
//   lut: (ROWS - DRAIN) * D_W + DRAIN * (SUM_W + (BLOCKS > 1 ? BIAS_W : 0)) + COUNTERS * 4 / 3 + 4
//   ff: ROWS * D_W + DRAIN * SUM_W + COUNTERS + 16
//   parts: u_beside + (WS_W > 0 ? u_scales : 0) + u_bias + u_flags + (BLOCKS > 1 && DR > 1 ? u_sums : 0) + DRAIN
//       * u_term + DRAIN * u_result
`default_nettype none
module mx_linear_drain #(
    parameter integer ROWS       = 4,
    parameter integer DRAIN      = 1,
    parameter integer GROUPS     = 2,
    parameter integer BLOCKS     = 2,
    parameter integer WS_W       = 4,
    parameter integer D_W        = 20,
    parameter integer OFFSET     = -100,
    parameter integer SPAN       = 24,
    parameter integer LOW        = 8,
    parameter integer CLAMP      = 1,
    parameter integer SUM_W      = 32,
    parameter integer BIAS_W     = 16,
    parameter integer OUT_W      = 30,
    parameter         SCALES     = "",
    parameter [31:0]  SCALES_SUM = 32'd0,
    parameter         BIAS       = "",
    parameter [31:0]  BIAS_SUM   = 32'd0
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire                   en,
    input  wire [   ROWS*D_W-1:0] d,
    input  wire [            7:0] xs,
    input  wire                   take,
    input  wire                   last,
    output wire [DRAIN*OUT_W-1:0] y,
    output wire                   done
);
  localparam integer DR = ROWS / DRAIN;
  localparam integer LEFT_W = $clog2(DR + 1);
  localparam integer SCALE_WORDS = GROUPS * BLOCKS * DR;
  localparam integer BIAS_WORDS = GROUPS * DR;
  localparam integer SA_W = SCALE_WORDS > 1 ? $clog2(SCALE_WORDS) : 1;
  localparam integer BA_W = BIAS_WORDS > 1 ? $clog2(BIAS_WORDS) : 1;
  localparam integer DW = DRAIN * D_W;

  // The sums of a block wait here and move out from below.
  logic [ROWS*D_W-1:0] held;
  logic [7:0] held_xs;
  logic held_first, held_last;
  logic fresh_row;  // the next block is the first of its row
  logic [LEFT_W-1:0] left;
  wire draining = left != LEFT_W'(0);
  logic [4:1] valid;  // stages behind
  always_ff @(posedge clk) begin
    if (en) begin
      if (take) begin
        held       <= d;
        held_xs    <= xs;
        held_first <= fresh_row;
        held_last  <= last;
        fresh_row  <= last;
        left       <= LEFT_W'(DR);
      end else if (draining) begin
        held <= held >> DW;
        left <= left - LEFT_W'(1);
      end
      valid <= {valid[3:1], draining};
    end
    if (rst) begin
      left      <= LEFT_W'(0);
      valid     <= 4'd0;
      fresh_row <= 1'b1;
    end
  end

  // Beside the two registers of the memory of scales.
  wire [DW-1:0] d2;
  wire [7:0] xs2;
  wire first2, last2;
  num_delay #(.WIDTH(DW + 10), .DEPTH(2)) u_beside (
      .clk(clk), .en(en), .in({held[DW-1:0], held_xs, held_first, held_last}), .out({d2, xs2, first2, last2})
  );
  wire [DRAIN*(WS_W>0?WS_W:1)-1:0] ws2;
  generate
    if (WS_W > 0) begin : g_scales
      logic [SA_W-1:0] at;
      always_ff @(posedge clk) begin
        if (en && draining) at <= at == SA_W'(SCALE_WORDS - 1) ? SA_W'(0) : at + SA_W'(1);
        if (rst) at <= SA_W'(0);
      end
      mem_rom #(
          .WIDTH(DRAIN * WS_W), .DEPTH(SCALE_WORDS), .IMAGE(SCALES), .IMAGE_SUM(SCALES_SUM), .STYLE("auto")
      ) u_scales (
          .clk(clk), .en(en), .addr(at), .data(ws2)
      );
    end else begin : g_same
      assign ws2 = DRAIN'(0);
    end
  endgenerate

  // The bias arrives with the term of the first block.
  logic [BA_W-1:0] bias_at;
  wire [DRAIN*BIAS_W-1:0] bias;
  always_ff @(posedge clk) begin
    if (en && valid[2] && first2) bias_at <= bias_at == BA_W'(BIAS_WORDS - 1) ? BA_W'(0) : bias_at + BA_W'(1);
    if (rst) bias_at <= BA_W'(0);
  end
  mem_rom #(
      .WIDTH(DRAIN * BIAS_W), .DEPTH(BIAS_WORDS), .IMAGE(BIAS), .IMAGE_SUM(BIAS_SUM), .STYLE("auto")
  ) u_bias (
      .clk(clk), .en(en), .addr(bias_at), .data(bias)
  );

  wire first4, last4;
  num_delay #(.WIDTH(2), .DEPTH(2)) u_flags (.clk(clk), .en(en), .in({first2, last2}), .out({first4, last4}));

  logic [DRAIN*SUM_W-1:0] sums;  // newest
  wire [DRAIN*SUM_W-1:0] sums_next, sums_old;
  generate
    if (BLOCKS == 1) begin : g_one_block
      assign sums_old = (DRAIN * SUM_W)'(0);
    end else if (DR == 1) begin : g_direct
      assign sums_old = sums;
    end else begin : g_rotate
      num_delay #(.WIDTH(DRAIN * SUM_W), .DEPTH(DR - 1)) u_sums (
          .clk(clk), .en(en && valid[4]), .in(sums), .out(sums_old)
      );
    end
    for (genvar p = 0; p < DRAIN; p++) begin : g_lane
      wire [SUM_W-1:0] term;
      mx_linear_term #(
          .XS_W(8), .WS_W(WS_W > 0 ? WS_W : 1), .D_W(D_W), .OFFSET(OFFSET), .SPAN(SPAN), .LOW(LOW), .CLAMP(CLAMP),
          .SAT_W(OUT_W), .OUT_W(SUM_W)
      ) u_term (
          .clk(clk), .en(en), .d(d2[p*D_W+:D_W]), .xs(xs2), .ws(ws2[p*(WS_W>0?WS_W:1)+:(WS_W>0?WS_W:1)]), .term(term)
      );
      wire signed [BIAS_W-1:0] b = bias[p*BIAS_W+:BIAS_W];
      wire [SUM_W-1:0] start = first4 || BLOCKS == 1 ? SUM_W'(b) : sums_old[p*SUM_W+:SUM_W];
      assign sums_next[p*SUM_W+:SUM_W] = start + term;
      num_requant #(
          .IN_W(SUM_W), .IN_SIGNED(1), .SHIFT(0), .OUT_W(OUT_W), .OUT_SIGNED(1), .ROUND(5), .OVER(CLAMP != 0 ? 0 : 2)
      ) u_result (
          .in(sums[p*SUM_W+:SUM_W]), .out(y[p*OUT_W+:OUT_W])
      );
    end
  endgenerate

  logic done_q;
  assign done = done_q;
  always_ff @(posedge clk) begin
    if (en && valid[4]) sums <= sums_next;
    if (en) done_q <= valid[4] && last4;
    if (rst) done_q <= 1'b0;
  end
  wire unused_top = &{1'b0, sums_old, held_last, held_xs};
endmodule
`default_nettype wire
