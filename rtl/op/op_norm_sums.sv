// SPDX-License-Identifier: Apache-2.0
// op_norm_sums: the sums of a row of op_norm, beat by beat, and never held up: s = sum x, and
//   v = (n * sum x^2 - s^2) * 2^H + EPS, which is EPS and x * (n * x - t) * 2^H for each x, where t is the sum of the
//   beats before that of x, and again with it. With RMS, s and t are 0.
//   parameters  N LANES IN_W SIGNED RMS H EPS   as op_norm
//               V_W                             bits of v
//   s is there a cycle behind the last beat of a row, one more for every two levels of a tree of lanes, until that of
//   the next row; v only with v_valid, two cycles behind s and one more for every two levels.
//   latency: 3 + (clog2(LANES) + 1) / 2 * 2   ii: N / LANES   order: as they come
//   lut: (RMS != 0 ? 0 : 2 * S_W + LANES * (U_W - 2)) + ACC_W - 7
//   ff: (RMS != 0 ? 0 : 3 * S_W + 1) + LANES * (NX_W + U_W + 2 * IN_W) + ACC_W + 2 * (3 + 2 * TREE)
//   parts: u_beat + u_x + LANES * (u_nx + u_mul) + u_products
`default_nettype none
module op_norm_sums #(
    parameter integer N      = 8,
    parameter integer LANES  = 1,
    parameter integer IN_W   = 8,
    parameter integer SIGNED = 1,
    parameter integer RMS    = 0,
    parameter integer H      = 20,
    parameter [62:0]  EPS    = 63'd171799,
    parameter integer V_W    = 42
) (
    input  wire                                         clk,
    input  wire                                         rst,
    input  wire [                       LANES*IN_W-1:0] x,
    input  wire                                         valid,
    input  wire                                         last,
    output wire [IN_W+$clog2(N)+(SIGNED != 0 ? 0 : 1)-1:0] s,
    output wire                                         s_valid,
    output wire [                              V_W-1:0] v,
    output wire                                         v_valid
);
  localparam integer TREE = ($clog2(LANES) + 1) / 2;
  localparam integer S_W = IN_W + $clog2(N) + (SIGNED != 0 ? 0 : 1);
  localparam integer B_W = IN_W + $clog2(LANES);
  localparam integer NX_W = IN_W + $clog2(N) + 1;
  localparam integer U_W = IN_W + $clog2(N) + 2;
  localparam integer P_W = IN_W + U_W + 1;
  localparam integer ACC_W = V_W - H;

  // A beat and the end of its row, on their way to the last sum.
  logic [2+2*TREE:0] there, ends;
  always_ff @(posedge clk) begin
    there <= (3 + 2 * TREE)'({there, valid});
    ends  <= (3 + 2 * TREE)'({ends, valid && last});
    if (rst) begin
      there <= {(3 + 2 * TREE) {1'b0}};
      ends  <= {(3 + 2 * TREE) {1'b0}};
    end
  end

  // The sum of a beat, then of the row; t is that before it and that with it.
  wire signed [B_W-1:0] beat_raw;
  wire [LANES*IN_W-1:0] x_b;
  wire b_valid, b_last;
  num_add_tree #(
      .N(LANES),
      .IN_W(IN_W),
      .IN_SIGNED(SIGNED),
      .PIPE(2)
  ) u_beat (
      .clk(clk),
      .en (1'b1),
      .in (x),
      .out(beat_raw)
  );
  num_delay #(.WIDTH(LANES * IN_W), .DEPTH(TREE)) u_x (.clk(clk), .en(1'b1), .in(x), .out(x_b));
  generate
    if (TREE == 0) begin : g_now
      assign b_valid = valid;
      assign b_last  = valid && last;
    end else begin : g_then
      assign b_valid = there[TREE-1];
      assign b_last  = ends[TREE-1];
    end
  endgenerate
  wire signed [B_W:0] beat = {SIGNED != 0 ? beat_raw[B_W-1] : 1'b0, beat_raw};
  logic signed [S_W-1:0] sum, s_q;
  logic signed [S_W:0] t;
  wire signed [S_W-1:0] next = sum + S_W'(beat);
  always_ff @(posedge clk) begin
    if (b_valid) sum <= next;
    if (rst || b_last) sum <= {S_W{1'b0}};
    if (b_last) s_q <= next;
    t <= RMS != 0 ? {(S_W + 1) {1'b0}} : $signed({sum, 1'b0}) + (S_W + 1)'(beat);
  end
  assign s = RMS != 0 ? {S_W{1'b0}} : s_q;
  assign s_valid = ends[TREE];

  wire [LANES*P_W-1:0] p;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire [NX_W-1:0] nx;
      logic signed [NX_W-1:0] nx_q;
      logic signed [U_W-1:0] u;
      logic [IN_W-1:0] x_1, x_2;
      num_mul_const #(.IN_W(IN_W), .IN_SIGNED(SIGNED), .K(N)) u_nx (.in(x_b[i*IN_W+:IN_W]), .out(nx));
      always_ff @(posedge clk) begin
        nx_q <= nx;
        x_1 <= x_b[i*IN_W+:IN_W];
        x_2 <= x_1;
        u <= U_W'(nx_q) - U_W'(t);
      end
      wire signed [IN_W+U_W-1:0] product;
      num_mul #(.A_W(IN_W), .A_SIGNED(SIGNED), .B_W(U_W)) u_mul (
          .clk(clk), .en(1'b1), .a(x_2), .b(u), .out(product)
      );
      assign p[i*P_W+:P_W] = P_W'(product);
    end
  endgenerate

  wire signed [P_W+$clog2(LANES)-1:0] p_sum;
  num_add_tree #(.N(LANES), .IN_W(P_W), .PIPE(2)) u_products (.clk(clk), .en(1'b1), .in(p), .out(p_sum));

  // Below bit H, v is EPS.
  localparam [ACC_W-1:0] START = ACC_W'(EPS >> H);
  localparam [62:0] LOW = EPS & ((63'd1 << H) - 63'd1);
  logic signed [ACC_W-1:0] acc;
  wire signed [ACC_W-1:0] total = acc + ACC_W'(p_sum);
  always_ff @(posedge clk) begin
    if (there[2+2*TREE]) acc <= total;
    if (rst || v_valid) acc <= START;
  end
  assign v = (V_W'($unsigned(total)) << H) | V_W'(LOW);
  assign v_valid = ends[2+2*TREE];
  wire unused_p = &{1'b0, p_sum};  // the sum of a row is not longer than v, those of its beats may be
endmodule
`default_nettype wire
