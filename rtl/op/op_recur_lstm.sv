// SPDX-License-Identifier: Apache-2.0
// op_recur_lstm: what an LSTM makes of the sums of one hidden unit: c' = sigmoid(f)*c + sigmoid(i)*tanh(g),
//   h = sigmoid(o)*tanh(c'). Each sum, c' and the c' that tanh reads are rounded once, to even, and saturate.
//   parameters  T_W, SUM_F          bits and fraction bits of the sums
//               GATE_W, GATE_F      what functions read; their results have GATE_W bits, of which those of tanh a sign
//               CELL_W, CELL_F      the state
//               OUT_W, OUT_F, OUT_SIGNED, ROUND, OVER   the result, see num_requant
//               SMOOTH, TANH, TANH_SUM, TANH_D, TANH_V_W, TANH_C1_W, TANH_C2_W,
//               SIGMOID, SIGMOID_SUM, SIGMOID_D, SIGMOID_V_W, SIGMOID_C1_W, SIGMOID_C2_W,
//               ROM_STYLE           functions, see op_recur_curve
//               MULT                "auto", "dsp" or "lut", see num_mul
//   c is read 1 + LF enabled cycles after the sums; c_next stands 4 + LF cycles after them, LF those of a function.
//   latency: 6 + 2 * (SMOOTH ? 7 : 2)   ii: 1   order: as it comes
//   lut: 2 * SUM_W
//   ff: 5 * GATE_W + CELL_W + SUM_W
//   parts: 4 * u_gate + 3 * u_sigmoid + u_tanh + u_squash + u_kept + u_added + u_cell + u_seen + u_output + u_h + u_y
`default_nettype none
module op_recur_lstm #(
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
    parameter         ROM_STYLE    = "auto",
    parameter         MULT         = "auto"
) (
    input  wire              clk,
    input  wire              en,
    input  wire [ 4*T_W-1:0] sums,    // o, g, f and i, the last in the low bits
    input  wire [CELL_W-1:0] c,
    output wire [CELL_W-1:0] c_next,
    output wire [ OUT_W-1:0] y
);
  localparam integer LF = SMOOTH != 0 ? 7 : 2;
  localparam integer TANH_F = GATE_W - 1;
  // kept has GATE_W + CELL_F fraction bits, added GATE_W + TANH_F; their sum has the most of both.
  localparam integer KEPT_W = GATE_W + CELL_W;
  localparam integer ADDED_W = 2 * GATE_W;
  localparam integer FINE = CELL_F > TANH_F ? CELL_F : TANH_F;
  localparam integer KEPT_X = KEPT_W + FINE - CELL_F;
  localparam integer ADDED_X = ADDED_W + FINE - TANH_F;
  localparam integer SUM_W = 1 + (KEPT_X > ADDED_X ? KEPT_X : ADDED_X);

  logic [4*GATE_W-1:0] gates;
  wire [4*GATE_W-1:0] made;  // the functions of the gates
  generate
    for (genvar i = 0; i < 4; i++) begin : g_gate
      wire [GATE_W-1:0] rounded;
      num_requant #(.IN_W(T_W), .SHIFT(SUM_F - GATE_F), .OUT_W(GATE_W)) u_gate (
          .in(sums[i*T_W+:T_W]), .out(rounded)
      );
      always_ff @(posedge clk) if (en) gates[i*GATE_W+:GATE_W] <= rounded;
      if (i == 2) begin : g_tanh
        op_recur_curve #(
            .SMOOTH(SMOOTH), .IN_W(GATE_W), .IN_F(GATE_F), .OUT_W(GATE_W), .OUT_F(TANH_F), .D(TANH_D), .EDGE(2),
            .V_W(TANH_V_W), .C1_W(TANH_C1_W), .C2_W(TANH_C2_W), .IMAGE(TANH), .IMAGE_SUM(TANH_SUM),
            .ROM_STYLE(ROM_STYLE), .MULT(MULT)
        ) u_tanh (
            .clk(clk), .en(en), .x(gates[i*GATE_W+:GATE_W]), .y(made[i*GATE_W+:GATE_W])
        );
      end else begin : g_sigmoid
        op_recur_curve #(
            .SMOOTH(SMOOTH), .IN_W(GATE_W), .IN_F(GATE_F), .OUT_W(GATE_W), .OUT_F(GATE_W), .OUT_SIGNED(0),
            .D(SIGMOID_D), .EDGE(1), .V_W(SIGMOID_V_W), .C1_W(SIGMOID_C1_W), .C2_W(SIGMOID_C2_W), .IMAGE(SIGMOID),
            .IMAGE_SUM(SIGMOID_SUM), .ROM_STYLE(ROM_STYLE), .MULT(MULT)
        ) u_sigmoid (
            .clk(clk), .en(en), .x(gates[i*GATE_W+:GATE_W]), .y(made[i*GATE_W+:GATE_W])
        );
      end
    end
  endgenerate
  wire [GATE_W-1:0] candidate = made[2*GATE_W+:GATE_W];

  wire signed [KEPT_W-1:0] kept;
  wire signed [ADDED_W-1:0] added;
  num_mul #(.A_W(GATE_W), .A_SIGNED(0), .B_W(CELL_W), .MULT(MULT)) u_kept (
      .clk(clk), .en(en), .a(made[GATE_W+:GATE_W]), .b(c), .out(kept)
  );
  num_mul #(.A_W(GATE_W), .A_SIGNED(0), .B_W(GATE_W), .MULT(MULT)) u_added (
      .clk(clk), .en(en), .a(made[0+:GATE_W]), .b(candidate), .out(added)
  );
  logic signed [SUM_W-1:0] sum;
  wire [CELL_W-1:0] cell_now;
  logic [CELL_W-1:0] cell_q;
  num_requant #(.IN_W(SUM_W), .SHIFT(GATE_W + FINE - CELL_F), .OUT_W(CELL_W)) u_cell (.in(sum), .out(cell_now));
  always_ff @(posedge clk)
    if (en) begin
      sum    <= (SUM_W'(kept) <<< (FINE - CELL_F)) + (SUM_W'(added) <<< (FINE - TANH_F));
      cell_q <= cell_now;
    end
  assign c_next = cell_q;

  wire [GATE_W-1:0] seen_now, seen, open;
  logic [GATE_W-1:0] seen_q;
  wire [2*GATE_W-1:0] h;
  num_requant #(.IN_W(CELL_W), .SHIFT(CELL_F - GATE_F), .OUT_W(GATE_W)) u_seen (.in(cell_q), .out(seen_now));
  always_ff @(posedge clk) if (en) seen_q <= seen_now;
  op_recur_curve #(
      .SMOOTH(SMOOTH), .IN_W(GATE_W), .IN_F(GATE_F), .OUT_W(GATE_W), .OUT_F(TANH_F), .D(TANH_D), .EDGE(2),
      .V_W(TANH_V_W), .C1_W(TANH_C1_W), .C2_W(TANH_C2_W), .IMAGE(TANH), .IMAGE_SUM(TANH_SUM),
      .ROM_STYLE(ROM_STYLE), .MULT(MULT)
  ) u_squash (
      .clk(clk), .en(en), .x(seen_q), .y(seen)
  );
  num_delay #(.WIDTH(GATE_W), .DEPTH(LF + 4)) u_output (
      .clk(clk), .en(en), .in(made[3*GATE_W+:GATE_W]), .out(open)
  );
  num_mul #(.A_W(GATE_W), .A_SIGNED(0), .B_W(GATE_W), .MULT(MULT)) u_h (
      .clk(clk), .en(en), .a(open), .b(seen), .out(h)
  );
  num_requant #(
      .IN_W(2 * GATE_W), .SHIFT(GATE_W + TANH_F - OUT_F), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND),
      .OVER(OVER)
  ) u_y (
      .in(h), .out(y)
  );
endmodule
`default_nettype wire
