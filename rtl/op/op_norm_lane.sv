// SPDX-License-Identifier: Apache-2.0
// op_norm_lane: one lane of what op_norm makes of a row: d = N * x - s, z = RS(d * r, SHIFT) with 16 fraction bits,
//   y = over(round((z * gamma + (beta << (16 + GAIN_F - BIAS_F))) / 2^(16 + GAIN_F - FO))), or of z alone.
//   parameters  N IN_W SIGNED GAIN_W GAIN_F BIAS_W BIAS_F FO OUT_W OUT_SIGNED ROUND OVER   as op_norm
//               S_W, R_W   bits of s and r
//               SHIFT      bits of d * r below 16 fraction bits
//               LONG       derived, not to be set: 1 where r takes more than two slices
//   s must be there one cycle behind x, r two, gamma 4 + LONG, beta 5 + LONG.
//   latency: (GAIN_W == 0 ? 4 : BIAS_W == 0 ? 5 : 6) + LONG   ii: 1   order: as it comes
//   lut: D_W + (SLICES - 1) * (D_W + R_W - SLICE) + (GAIN_W > 0 && BIAS_W > 0 ? HIGH_W : 0)
//   ff: 2 * D_W + SLICES * D_W + R_W + LONG * (2 * D_W + R_W) + Z_W + (GAIN_W > 0 && BIAS_W > 0 ? HIGH_W + UP : 0)
//   dsp: DSP_A == 0 ? 0 : SLICES * (D_W > DSP_A ? 1 + (D_W + 16 - DSP_A) / 17 : 1)
//   parts: u_nx + u_z + (GAIN_W == 0 ? u_y_plain : BIAS_W == 0 ? u_gain + u_y_gain : u_gain + u_y)
`default_nettype none
module op_norm_lane #(
    parameter integer N          = 8,
    parameter integer IN_W       = 8,
    parameter integer SIGNED     = 1,
    parameter integer S_W        = 11,
    parameter integer R_W        = 32,
    parameter integer SHIFT      = 18,
    parameter integer GAIN_W     = 8,
    parameter integer GAIN_F     = 6,
    parameter integer BIAS_W     = 8,
    parameter integer BIAS_F     = 5,
    parameter integer FO         = 5,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer LONG       = R_W > 2 * (IN_W + $clog2(N) < 18 ? 26 : 17) ? 1 : 0
) (
    input  wire                                 clk,
    input  wire                                 en,
    input  wire [                     IN_W-1:0] x,
    input  wire [                      S_W-1:0] s,
    input  wire [                      R_W-1:0] r,
    input  wire [(GAIN_W > 0 ? GAIN_W : 1)-1:0] gamma,
    input  wire [(BIAS_W > 0 ? BIAS_W : 1)-1:0] beta,
    output wire [                    OUT_W-1:0] y
);
  localparam integer D_W = IN_W + $clog2(N) + 1;
  localparam integer SLICE = D_W <= 18 ? 26 : 17;  // bits of r that a DSP multiplies
  localparam integer SLICES = (R_W + SLICE - 1) / SLICE;
  localparam integer Z_W = 18 + ($clog2(N) + 1) / 2;

  wire signed [D_W-1:0] nx;
  logic signed [D_W-1:0] nx_q, d;
  num_mul_const #(.IN_W(IN_W), .IN_SIGNED(SIGNED), .K(N)) u_nx (.in(x), .out(nx));
  wire signed [S_W-1:0] s_s = s;
  always_ff @(posedge clk)
    if (en) begin
      nx_q <= nx;
      d <= nx_q - D_W'(s_s);
    end

  // d * r in slices of r, the low ones first. A third one is added a cycle later: its carries come through two sums.
  wire [SLICES*SLICE+D_W-1:0] product;
  generate
    for (genvar i = 0; i < SLICES; i++) begin : g_slice
      localparam integer W = i < SLICES - 1 ? SLICE : R_W - i * SLICE;
      localparam integer T_W = SLICE + D_W;
      localparam integer WAIT = i == SLICES - 1 ? LONG : 0;
      wire signed [W+D_W-1:0] fresh, one;
      wire signed [T_W-1:0] sum;
      num_mul #(.A_W(W), .A_SIGNED(0), .B_W(D_W)) u_mul (
          .clk(clk), .en(en), .a(r[i*SLICE+:W]), .b(d), .out(fresh)
      );
      num_delay #(.WIDTH(W + D_W), .DEPTH(WAIT)) u_one (.clk(clk), .en(en), .in(fresh), .out(one));
      if (i == 0) begin : g_low
        assign sum = T_W'(one);
      end else begin : g_high
        wire signed [D_W-1:0] carry;
        num_delay #(.WIDTH(D_W), .DEPTH(WAIT)) u_carry (
            .clk(clk), .en(en), .in(g_slice[i-1].sum[T_W-1:SLICE]), .out(carry)
        );
        assign sum = T_W'(one) + T_W'(carry);
      end
      if (i < SLICES - 1) begin : g_part
        num_delay #(.WIDTH(SLICE), .DEPTH(LONG)) u_part (
            .clk(clk), .en(en), .in(sum[SLICE-1:0]), .out(product[i*SLICE+:SLICE])
        );
      end else begin : g_top
        assign product[i*SLICE+:T_W] = sum;
      end
    end
  endgenerate

  wire [Z_W-1:0] z;
  logic signed [Z_W-1:0] z_q;
  num_requant #(
      .IN_W(SLICES * SLICE + D_W), .SHIFT(SHIFT), .OUT_W(Z_W), .ROUND(0), .OVER(2)
  ) u_z (
      .in(product), .out(z)
  );
  always_ff @(posedge clk) if (en) z_q <= z;

  generate
    if (GAIN_W == 0) begin : g_plain
      num_requant #(
          .IN_W(Z_W), .SHIFT(16 - FO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
      ) u_y_plain (
          .in(z_q), .out(y)
      );
      wire unused_affine = &{1'b0, gamma, beta};
    end else begin : g_gain
      localparam integer G_W = Z_W + GAIN_W;
      wire signed [G_W-1:0] g;
      num_mul #(.A_W(Z_W), .A_SIGNED(1), .B_W(GAIN_W)) u_gain (
          .clk(clk), .en(en), .a(z_q), .b(gamma), .out(g)
      );
      if (BIAS_W == 0) begin : g_only
        num_requant #(
            .IN_W(G_W), .SHIFT(16 + GAIN_F - FO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
        ) u_y_gain (
            .in(g), .out(y)
        );
        wire unused_beta = &{1'b0, beta};
      end else begin : g_bias
        localparam integer UP = 16 + GAIN_F - BIAS_F;  // beta's last place in that of g
        localparam integer HIGH_W = (G_W - UP > BIAS_W ? G_W - UP : BIAS_W) + 1;
        wire signed [G_W+UP-1:0] g_x = (G_W + UP)'(g);
        wire signed [G_W-1:0] g_high = g_x[UP+:G_W];
        wire signed [BIAS_W-1:0] beta_s = beta;
        wire signed [HIGH_W-1:0] high = HIGH_W'(g_high) + HIGH_W'(beta_s);
        wire unused_g = &{1'b0, g_high};  // its sign, many times
        logic [HIGH_W+UP-1:0] sum;
        if (UP > 0) begin : g_around
          always_ff @(posedge clk) if (en) sum <= {high, g_x[UP-1:0]};
        end else begin : g_all
          always_ff @(posedge clk) if (en) sum <= high;
        end
        num_requant #(
            .IN_W(HIGH_W + UP), .SHIFT(16 + GAIN_F - FO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND),
            .OVER(OVER)
        ) u_y (
            .in(sum), .out(y)
        );
      end
    end
  endgenerate
endmodule
`default_nettype wire
