// SPDX-License-Identifier: Apache-2.0
// op_recur_gru: what a GRU makes of the sums of one hidden unit and of what its candidate has from outside:
//   n = tanh(own + sigmoid(r)*sums_n), c' = n + sigmoid(z)*(c - n), h = c'. The sums of z and r, what tanh reads, c'
//   and h are rounded once each, to even but for h, and saturate.
//   parameters  T_W, SUM_F          bits and fraction bits of the sums
//               OWN_W, OWN_F        those of own, two's complement; OWN_F is at most SUM_F
//               GATE_W, GATE_F      what functions read; their results have GATE_W bits, of which those of tanh a sign
//               CELL_W, CELL_F      the state
//               OUT_W, OUT_F, OUT_SIGNED, ROUND, OVER   the result, see num_requant
//               SMOOTH, TANH, TANH_SUM, TANH_D, TANH_V_W, TANH_C1_W, TANH_C2_W,
//               SIGMOID, SIGMOID_SUM, SIGMOID_D, SIGMOID_V_W, SIGMOID_C1_W, SIGMOID_C2_W,
//               ROM_STYLE           functions, see op_recur_curve
//               MULT                "auto", "dsp" or "lut", see num_mul
//   c is read 4 + 2 * LF enabled cycles after the sums; c_next stands 8 + 2 * LF cycles after them, LF those of a
//   function.
//   latency: 8 + 2 * (SMOOTH ? 7 : 2)   ii: 1   order: as it comes
//   lut: OWN_X + GATE_W + CHANGE_W + STATE_W
//   ff: 3 * GATE_W + CELL_W + OWN_X + CHANGE_W + STATE_W
//   parts: 2 * u_gate + 2 * u_sigmoid + u_tanh + u_back + u_reset + u_own + u_seen + u_update + u_moved + u_n +
//       u_state + u_y
`default_nettype none
module op_recur_gru #(
    parameter integer T_W          = 20,
    parameter integer SUM_F        = 12,
    parameter integer OWN_W        = 16,
    parameter integer OWN_F        = 10,
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
    input  wire [ 3*T_W-1:0] sums,    // n, r and z, the last in the low bits
    input  wire [ OWN_W-1:0] own,
    input  wire [CELL_W-1:0] c,
    output wire [CELL_W-1:0] c_next,
    output wire [ OUT_W-1:0] y
);
  localparam integer LF = SMOOTH != 0 ? 7 : 2;
  localparam integer TANH_F = GATE_W - 1;
  localparam integer RESET_W = GATE_W + T_W;
  localparam integer OWN_UP = OWN_W + GATE_W + SUM_F - OWN_F;  // own, with the fraction bits of the product
  localparam integer OWN_X = 1 + (OWN_UP > RESET_W ? OWN_UP : RESET_W);
  localparam integer FINE = CELL_F > TANH_F ? CELL_F : TANH_F;
  localparam integer CELL_X = CELL_W + FINE - CELL_F;
  localparam integer N_X = GATE_W + FINE - TANH_F;
  localparam integer CHANGE_W = 1 + (CELL_X > N_X ? CELL_X : N_X);
  localparam integer STATE_W = 1 + GATE_W + CHANGE_W;

  // The gates z and r.
  logic [2*GATE_W-1:0] gates;
  wire [2*GATE_W-1:0] made;
  generate
    for (genvar i = 0; i < 2; i++) begin : g_gate
      wire [GATE_W-1:0] rounded;
      num_requant #(.IN_W(T_W), .SHIFT(SUM_F - GATE_F), .OUT_W(GATE_W)) u_gate (
          .in(sums[i*T_W+:T_W]), .out(rounded)
      );
      always_ff @(posedge clk) if (en) gates[i*GATE_W+:GATE_W] <= rounded;
      op_recur_curve #(
          .SMOOTH(SMOOTH), .IN_W(GATE_W), .IN_F(GATE_F), .OUT_W(GATE_W), .OUT_F(GATE_W), .OUT_SIGNED(0),
          .D(SIGMOID_D), .EDGE(1), .V_W(SIGMOID_V_W), .C1_W(SIGMOID_C1_W), .C2_W(SIGMOID_C2_W), .IMAGE(SIGMOID),
          .IMAGE_SUM(SIGMOID_SUM), .ROM_STYLE(ROM_STYLE), .MULT(MULT)
      ) u_sigmoid (
          .clk(clk), .en(en), .x(gates[i*GATE_W+:GATE_W]), .y(made[i*GATE_W+:GATE_W])
      );
    end
  endgenerate

  // The candidate n.
  wire [T_W-1:0] back;
  wire signed [RESET_W-1:0] reset;
  wire signed [OWN_W-1:0] own_q;
  logic signed [OWN_X-1:0] sum;
  wire [GATE_W-1:0] seen_now;
  logic [GATE_W-1:0] seen;
  wire signed [GATE_W-1:0] n;
  num_delay #(.WIDTH(T_W), .DEPTH(LF + 1)) u_back (.clk(clk), .en(en), .in(sums[2*T_W+:T_W]), .out(back));
  num_mul #(.A_W(GATE_W), .A_SIGNED(0), .B_W(T_W), .MULT(MULT)) u_reset (
      .clk(clk), .en(en), .a(made[GATE_W+:GATE_W]), .b(back), .out(reset)
  );
  num_delay #(.WIDTH(OWN_W), .DEPTH(LF + 2)) u_own (.clk(clk), .en(en), .in(own), .out(own_q));
  num_requant #(.IN_W(OWN_X), .SHIFT(GATE_W + SUM_F - GATE_F), .OUT_W(GATE_W)) u_seen (.in(sum), .out(seen_now));
  always_ff @(posedge clk)
    if (en) begin
      sum  <= OWN_X'(reset) + (OWN_X'(own_q) <<< (GATE_W + SUM_F - OWN_F));
      seen <= seen_now;
    end
  op_recur_curve #(
      .SMOOTH(SMOOTH), .IN_W(GATE_W), .IN_F(GATE_F), .OUT_W(GATE_W), .OUT_F(TANH_F), .D(TANH_D), .EDGE(2),
      .V_W(TANH_V_W), .C1_W(TANH_C1_W), .C2_W(TANH_C2_W), .IMAGE(TANH), .IMAGE_SUM(TANH_SUM),
      .ROM_STYLE(ROM_STYLE), .MULT(MULT)
  ) u_tanh (
      .clk(clk), .en(en), .x(seen), .y(n)
  );

  // The state, between it and the candidate.
  wire signed [CELL_W-1:0] c_s = c;
  wire [GATE_W-1:0] update;
  wire signed [GATE_W-1:0] n_q;
  logic signed [CHANGE_W-1:0] change;
  wire signed [GATE_W+CHANGE_W-1:0] moved;
  logic signed [STATE_W-1:0] state;
  wire [CELL_W-1:0] cell_now;
  logic [CELL_W-1:0] cell_q;
  num_delay #(.WIDTH(GATE_W), .DEPTH(LF + 4)) u_update (.clk(clk), .en(en), .in(made[0+:GATE_W]), .out(update));
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
      .in(cell_q), .out(y)
  );
endmodule
`default_nettype wire
