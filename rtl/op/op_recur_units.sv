// SPDX-License-Identifier: Apache-2.0
// op_recur_units: the hidden units of a group of op_recur, and the states c of all groups.
//   parameters  KIND, RELU, HIDDEN, OUT_LANES, X_W, X_SIGNED, X_UP, T_W, SUM_F, GATE_W, GATE_F, CELL_W, CELL_F,
//               OUT_W, OUT_F, OUT_SIGNED, ROUND, OVER, SMOOTH, TANH, TANH_SUM, TANH_D, TANH_V_W, TANH_C1_W,
//               TANH_C2_W, SIGMOID, SIGMOID_SUM, SIGMOID_D, SIGMOID_V_W, SIGMOID_C1_W, SIGMOID_C2_W, CELLS, STARTS,
//               START_C, START_C_SUM, ROM_STYLE, MULT    as in op_recur
//               FRONT   enabled cycles from group to the cycle before its sums
//               G, LF, TAIL, NG_W   gates; stages of a function, of a unit; bits of group
//   sums are those of a group, unit after unit; done[i] says that such stood there i enabled cycles ago, and y is what
//   becomes of them after TAIL cycles. own is x of the candidate of a GRU, beside the sums. shown stands beside y.
//   latency: TAIL   ii: 1   order: as it comes
//   parts: (KIND == 0 ? OUT_LANES * u_lstm : KIND == 1 ? OUT_LANES * u_gru : OUT_LANES * u_rnn) +
//       (KIND < 2 ? u_cells : 0) + (CELLS ? u_shown : 0)
`default_nettype none
module op_recur_units #(
    parameter integer KIND         = 0,
    parameter integer RELU         = 0,
    parameter integer HIDDEN       = 8,
    parameter integer OUT_LANES    = 2,
    parameter integer FRONT        = 4,
    parameter integer X_W          = 16,
    parameter integer X_SIGNED     = 1,
    parameter integer X_UP         = 2,
    parameter integer T_W          = 20,
    parameter integer SUM_F        = 12,
    parameter integer GATE_W       = 8,
    parameter integer GATE_F       = 4,
    parameter integer CELL_W       = 16,
    parameter integer CELL_F       = 11,
    parameter integer OUT_W        = 8,
    parameter integer OUT_F        = 7,
    parameter integer OUT_SIGNED   = 1,
    parameter integer ROUND        = 0,
    parameter integer OVER         = 0,
    parameter integer SMOOTH       = 0,
    parameter         TANH         = "",
    parameter [31:0]  TANH_SUM     = 32'd0,
    parameter integer TANH_D       = 3,
    parameter integer TANH_V_W     = 16,
    parameter integer TANH_C1_W    = 12,
    parameter integer TANH_C2_W    = 8,
    parameter         SIGMOID      = "",
    parameter [31:0]  SIGMOID_SUM  = 32'd0,
    parameter integer SIGMOID_D    = 4,
    parameter integer SIGMOID_V_W  = 16,
    parameter integer SIGMOID_C1_W = 12,
    parameter integer SIGMOID_C2_W = 8,
    parameter integer CELLS        = 0,
    parameter integer STARTS       = 0,
    parameter         START_C      = "",
    parameter [31:0]  START_C_SUM  = 32'd0,
    parameter         ROM_STYLE    = "auto",
    parameter         MULT         = "auto",
    parameter integer G            = KIND == 0 ? 4 : KIND == 1 ? 3 : 1,
    parameter integer LF           = SMOOTH != 0 ? 7 : 2,
    parameter integer TAIL         = KIND == 0 ? 6 + 2 * LF : KIND == 1 ? 8 + 2 * LF : RELU != 0 ? 1 : 1 + LF,
    parameter integer NG_W         = HIDDEN > OUT_LANES ? $clog2(HIDDEN / OUT_LANES) : 1
) (
    input  wire                                                 clk,
    input  wire                                                 en,
    input  wire                                                 first,  // group is one of the first row
    input  wire [                                     NG_W-1:0] group,
    input  wire [                                       TAIL:0] done,
    input  wire [                          G*OUT_LANES*T_W-1:0] sums,
    input  wire [                            OUT_LANES*X_W-1:0] own,
    output wire [                          OUT_LANES*OUT_W-1:0] y,
    output wire [OUT_LANES*(CELLS != 0 ? 2*CELL_W : OUT_W)-1:0] shown
);
  localparam integer NG = HIDDEN / OUT_LANES;
  localparam integer CW = KIND < 2 ? CELL_W : 1;
  wire [OUT_LANES*CW-1:0] c, c_next;
  generate
    if (KIND < 2) begin : g_cells
      localparam integer READ = KIND == 0 ? 1 + LF : 4 + 2 * LF;
      localparam integer WRITE = KIND == 0 ? 4 + LF : 8 + 2 * LF;
      op_recur_cells #(
          .WIDTH(OUT_LANES * CW), .NG(NG), .FRONT(FRONT), .READ(READ), .WRITE(WRITE), .STARTS(STARTS),
          .START(START_C), .START_SUM(START_C_SUM)
      ) u_cells (
          .clk(clk), .en(en), .first(first), .group(group), .write(done[WRITE]), .c_next(c_next), .c(c)
      );
    end else begin : g_none
      assign c = {OUT_LANES{1'b0}};
      assign c_next = {OUT_LANES{1'b0}};
      wire unused_cells = &{1'b0, c, c_next, first, group};
    end

    if (KIND == 0) begin : g_lstm
      for (genvar u = 0; u < OUT_LANES; u++) begin : g_unit
        op_recur_lstm #(
            .T_W(T_W), .SUM_F(SUM_F), .GATE_W(GATE_W), .GATE_F(GATE_F), .CELL_W(CELL_W), .CELL_F(CELL_F),
            .OUT_W(OUT_W), .OUT_F(OUT_F), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER), .SMOOTH(SMOOTH),
            .TANH(TANH), .TANH_SUM(TANH_SUM), .TANH_D(TANH_D), .TANH_V_W(TANH_V_W), .TANH_C1_W(TANH_C1_W),
            .TANH_C2_W(TANH_C2_W), .SIGMOID(SIGMOID), .SIGMOID_SUM(SIGMOID_SUM), .SIGMOID_D(SIGMOID_D),
            .SIGMOID_V_W(SIGMOID_V_W), .SIGMOID_C1_W(SIGMOID_C1_W), .SIGMOID_C2_W(SIGMOID_C2_W),
            .ROM_STYLE(ROM_STYLE), .MULT(MULT)
        ) u_lstm (
            .clk(clk), .en(en), .sums(sums[u*4*T_W+:4*T_W]), .c(c[u*CW+:CW]), .c_next(c_next[u*CW+:CW]),
            .y(y[u*OUT_W+:OUT_W])
        );
      end
    end else if (KIND == 1) begin : g_gru
      for (genvar u = 0; u < OUT_LANES; u++) begin : g_unit
        op_recur_gru #(
            .T_W(T_W), .SUM_F(SUM_F), .OWN_W(X_W + 1), .OWN_F(SUM_F - X_UP), .GATE_W(GATE_W), .GATE_F(GATE_F),
            .CELL_W(CELL_W), .CELL_F(CELL_F), .OUT_W(OUT_W), .OUT_F(OUT_F), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND),
            .OVER(OVER), .SMOOTH(SMOOTH), .TANH(TANH), .TANH_SUM(TANH_SUM), .TANH_D(TANH_D), .TANH_V_W(TANH_V_W),
            .TANH_C1_W(TANH_C1_W), .TANH_C2_W(TANH_C2_W), .SIGMOID(SIGMOID), .SIGMOID_SUM(SIGMOID_SUM),
            .SIGMOID_D(SIGMOID_D), .SIGMOID_V_W(SIGMOID_V_W), .SIGMOID_C1_W(SIGMOID_C1_W),
            .SIGMOID_C2_W(SIGMOID_C2_W), .ROM_STYLE(ROM_STYLE), .MULT(MULT)
        ) u_gru (
            .clk(clk), .en(en), .sums(sums[u*3*T_W+:3*T_W]),
            .own({X_SIGNED != 0 ? own[u*X_W+X_W-1] : 1'b0, own[u*X_W+:X_W]}), .c(c[u*CW+:CW]),
            .c_next(c_next[u*CW+:CW]), .y(y[u*OUT_W+:OUT_W])
        );
      end
    end else begin : g_rnn
      for (genvar u = 0; u < OUT_LANES; u++) begin : g_unit
        op_recur_rnn #(
            .RELU(RELU), .T_W(T_W), .SUM_F(SUM_F), .GATE_W(GATE_W), .GATE_F(GATE_F), .OUT_W(OUT_W), .OUT_F(OUT_F),
            .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER), .SMOOTH(SMOOTH), .TANH(TANH), .TANH_SUM(TANH_SUM),
            .TANH_D(TANH_D), .TANH_V_W(TANH_V_W), .TANH_C1_W(TANH_C1_W), .TANH_C2_W(TANH_C2_W),
            .ROM_STYLE(ROM_STYLE), .MULT(MULT)
        ) u_rnn (
            .clk(clk), .en(en), .sum(sums[u*T_W+:T_W]), .y(y[u*OUT_W+:OUT_W])
        );
      end
    end

    if (CELLS != 0) begin : g_shown
      wire [OUT_LANES*CW-1:0] c_shown;
      num_delay #(.WIDTH(OUT_LANES * CW), .DEPTH(2 + LF)) u_shown (.clk(clk), .en(en), .in(c_next), .out(c_shown));
      for (genvar u = 0; u < OUT_LANES; u++) begin : g_unit
        wire signed [CW-1:0] h = CW'($signed({OUT_SIGNED != 0 && y[u*OUT_W+OUT_W-1], y[u*OUT_W+:OUT_W]}));
        assign shown[2*u*CW+:2*CW] = {c_shown[u*CW+:CW], h <<< (CELL_F - OUT_F)};
      end
    end else begin : g_h
      assign shown = y;
    end
  endgenerate
  wire unused = &{1'b0, own, done};
endmodule
`default_nettype wire
