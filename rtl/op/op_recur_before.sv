// SPDX-License-Identifier: Apache-2.0
// op_recur_before: what a GRU that resets before the product makes of the sums of one hidden unit. The first time
//   z' = sigmoid(z) and y = sigmoid(r)*c; the second time, of the z' of the first, n = tanh(sums_n),
//   c' = n + z'*(c - n) and y = c'. Sums, c' and y are rounded once each, to even but for y, and saturate.
//   parameters  T_W, SUM_F          bits and fraction bits of the sums
//               GATE_W, GATE_F      what functions read; their results have GATE_W bits, of which those of tanh a sign
//               CELL_W, CELL_F      the state
//               OUT_W, OUT_F, OUT_SIGNED, ROUND, OVER   the result, see num_requant
//               SMOOTH, TANH, TANH_SUM, TANH_D, TANH_V_W, TANH_C1_W, TANH_C2_W,
//               SIGMOID, SIGMOID_SUM, SIGMOID_D, SIGMOID_V_W, SIGMOID_C1_W, SIGMOID_C2_W,
//               ROM_STYLE           functions, see op_recur_curve
//               MULT                "auto", "dsp" or "lut", see num_mul
//   z is read an enabled cycle after the sums, c 1 + LF cycles; z_next stands 1 + LF cycles after them, c_next and y
//   5 + LF, LF those of a function. second belongs to y.
//   latency: 5 + (SMOOTH ? 7 : 2)   ii: 1   order: as it comes
//   lut: CHANGE_W + STATE_W + OUT_W
//   ff: 3 * GATE_W + CELL_W + CHANGE_W + STATE_W + OUT_W
//   parts: 3 * u_gate + 2 * u_sigmoid + u_tanh + u_reset + u_m + u_m_q + u_update + u_moved + u_n + u_state + u_y
`default_nettype none
module op_recur_before #(
    parameter integer T_W          = 20,
    parameter integer SUM_F        = 12,
    parameter integer GATE_W       = 8,
    parameter integer GATE_F       = 4,
    parameter integer CELL_W       = 16,
    parameter integer CELL_F       = 15,
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
    input  wire              second,
    input  wire [ 3*T_W-1:0] sums,    // n, r and z, the last in the low bits
    input  wire [CELL_W-1:0] c,
    input  wire [GATE_W-1:0] z,
    output wire [GATE_W-1:0] z_next,
    output wire [CELL_W-1:0] c_next,
    output wire [ OUT_W-1:0] y
);
  localparam integer LF = SMOOTH != 0 ? 7 : 2;
  localparam integer TANH_F = GATE_W - 1;
  localparam integer FINE = CELL_F > TANH_F ? CELL_F : TANH_F;
  localparam integer CELL_X = CELL_W + FINE - CELL_F;
  localparam integer N_X = GATE_W + FINE - TANH_F;
  localparam integer CHANGE_W = 1 + (CELL_X > N_X ? CELL_X : N_X);
  localparam integer STATE_W = 1 + GATE_W + CHANGE_W;

  logic [3*GATE_W-1:0] gates;
  wire [2*GATE_W-1:0] made;  // of z and r
  wire signed [GATE_W-1:0] n;
  generate
    for (genvar i = 0; i < 3; i++) begin : g_gate
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
            .clk(clk), .en(en), .x(gates[i*GATE_W+:GATE_W]), .y(n)
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
  assign z_next = made[0+:GATE_W];

  // The first time: the state behind the reset gate.
  wire signed [GATE_W+CELL_W-1:0] reset;
  wire [OUT_W-1:0] m, m_q;
  num_mul #(.A_W(GATE_W), .A_SIGNED(0), .B_W(CELL_W), .MULT(MULT)) u_reset (
      .clk(clk), .en(en), .a(made[GATE_W+:GATE_W]), .b(c), .out(reset)
  );
  num_requant #(
      .IN_W(GATE_W + CELL_W), .SHIFT(GATE_W + CELL_F - OUT_F), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND),
      .OVER(OVER)
  ) u_m (
      .in(reset), .out(m)
  );
  num_delay #(.WIDTH(OUT_W), .DEPTH(3)) u_m_q (.clk(clk), .en(en), .in(m), .out(m_q));

  // The second time: the state, between it and the candidate.
  wire signed [CELL_W-1:0] c_s = c;
  wire [GATE_W-1:0] update;
  wire signed [GATE_W-1:0] n_q;
  logic signed [CHANGE_W-1:0] change;
  wire signed [GATE_W+CHANGE_W-1:0] moved;
  logic signed [STATE_W-1:0] state;
  wire [CELL_W-1:0] cell_now;
  logic [CELL_W-1:0] cell_q;
  wire [OUT_W-1:0] h;
  num_delay #(.WIDTH(GATE_W), .DEPTH(LF + 1)) u_update (.clk(clk), .en(en), .in(z), .out(update));
  num_mul #(.A_W(GATE_W), .A_SIGNED(0), .B_W(CHANGE_W), .MULT(MULT)) u_moved (
      .clk(clk), .en(en), .a(update), .b(change), .out(moved)
  );
  num_delay #(.WIDTH(GATE_W), .DEPTH(2)) u_n (.clk(clk), .en(en), .in(n), .out(n_q));
  num_requant #(.IN_W(STATE_W), .SHIFT(GATE_W + FINE - CELL_F), .OUT_W(CELL_W)) u_state (
      .in(state), .out(cell_now)
  );
  always_ff @(posedge clk)
    if (en) begin
      change <= (CHANGE_W'(c_s) <<< (FINE - CELL_F)) - (CHANGE_W'(n) <<< (FINE - TANH_F));
      state  <= STATE_W'(moved) + (STATE_W'(n_q) <<< (GATE_W + FINE - TANH_F));
      cell_q <= cell_now;
    end
  assign c_next = cell_q;
  num_requant #(
      .IN_W(CELL_W), .SHIFT(CELL_F - OUT_F), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
  ) u_y (
      .in(cell_q), .out(h)
  );
  assign y = second ? h : m_q;
endmodule
`default_nettype wire
