// SPDX-License-Identifier: Apache-2.0
// op_interp_lane: one lane of op_interp, up to the cast behind its last register.
//   parameters  IN_W IN_SIGNED F D FO OUT_W OUT_SIGNED ROUND OVER EDGE V_W C1_W C2_W IMAGE IMAGE_SUM ROM_STYLE
//               MULT   as op_interp
//   latency: 6   ii: 1   order: as it comes
//   lut: T_W + S_W - 3 + OUTSIDE * (2 * OUT_W + 4)
//   ff: C1_W + T_W + S_W + OUTSIDE * (OUT_W + 1)
//   parts: u_rom + u_part + u_first + u_second + u_part_q + u_f0 + u_y + (OUTSIDE == 0 ? 0 : EDGE == 0 ? u_x + u_edge
//       : u_x_one)
`default_nettype none
module op_interp_lane #(
    parameter integer IN_W       = 16,
    parameter integer IN_SIGNED  = 1,
    parameter integer F          = 12,
    parameter integer D          = 3,
    parameter integer FO         = 12,
    parameter integer OUT_W      = 16,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer EDGE       = 0,
    parameter integer V_W        = 22,
    parameter integer C1_W       = 16,
    parameter integer C2_W       = 10,
    parameter         IMAGE      = "",
    parameter [31:0]  IMAGE_SUM  = 32'd0,
    parameter         ROM_STYLE  = "block",
    parameter         MULT       = "auto"
) (
    input  wire             clk,
    input  wire             en,
    input  wire [ IN_W-1:0] in,
    output wire [OUT_W-1:0] y
);
  localparam integer XF = F > 5 ? F : 5;  // fraction bits of x, shifted
  localparam integer R = XF - 4;
  localparam integer A_W = D + 5;
  localparam integer IN_X = IN_W + XF - F + (IN_SIGNED != 0 ? 0 : 1);  // its bits, with a sign
  localparam integer X_W = IN_X > D + XF + 1 ? IN_X : D + XF + 1;
  localparam integer OUTSIDE = IN_X > D + XF + 1 ? 1 : 0;
  localparam integer T_W = (C1_W > C2_W ? C1_W : C2_W) + 1;
  localparam integer S_W = (V_W > T_W ? V_W : T_W) + 1;

  generate
    if (EDGE < 0 || EDGE > 2) begin : g_bad
      EDGE_must_be_0_to_2 u_bad ();
    end
  endgenerate

  wire signed [IN_W:0] in_s = {IN_SIGNED != 0 ? in[IN_W-1] : 1'b0, in};
  wire signed [X_W-1:0] x = X_W'(in_s) <<< (XF - F);
  wire [R-1:0] part, part_q;
  num_delay #(.WIDTH(R), .DEPTH(2)) u_part (.clk(clk), .en(en), .in(x[R-1:0]), .out(part));

  // Adding 2^(D + F) turns the highest bit of the domain.
  wire [C2_W+C1_W+V_W-1:0] word;
  mem_rom #(
      .WIDTH(C2_W + C1_W + V_W), .DEPTH(1 << A_W), .IMAGE(IMAGE), .IMAGE_SUM(IMAGE_SUM), .STYLE(ROM_STYLE)
  ) u_rom (
      .clk(clk), .en(en), .addr({!x[D+XF], x[D+XF-1:R]}), .data(word)
  );
  logic signed [C1_W-1:0] c1;
  wire signed [C2_W+R-1:0] first;
  wire signed [C2_W-1:0] first_high = first[C2_W+R-1:R];
  always_ff @(posedge clk) if (en) c1 <= word[V_W+:C1_W];
  num_mul #(.A_W(R), .A_SIGNED(0), .B_W(C2_W), .MULT(MULT)) u_first (
      .clk(clk), .en(en), .a(part), .b(word[V_W+C1_W+:C2_W]), .out(first)
  );

  logic signed [T_W-1:0] slope;
  wire signed [T_W+R-1:0] second;
  wire signed [T_W-1:0] second_high = second[T_W+R-1:R];
  always_ff @(posedge clk) if (en) slope <= T_W'(c1) + T_W'(first_high);
  num_delay #(.WIDTH(R), .DEPTH(2)) u_part_q (.clk(clk), .en(en), .in(part), .out(part_q));
  num_mul #(.A_W(R), .A_SIGNED(0), .B_W(T_W), .MULT(MULT)) u_second (
      .clk(clk), .en(en), .a(part_q), .b(slope), .out(second)
  );

  wire signed [V_W-1:0] f0;
  logic signed [S_W-1:0] sum;
  num_delay #(.WIDTH(V_W), .DEPTH(3)) u_f0 (.clk(clk), .en(en), .in(word[V_W-1:0]), .out(f0));
  always_ff @(posedge clk) if (en) sum <= S_W'(f0) + S_W'(second_high);
  wire [OUT_W-1:0] inside_y;
  num_requant #(
      .IN_W(S_W), .SHIFT(6), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
  ) u_y (
      .in(sum), .out(inside_y)
  );
  wire unused_low = &{1'b0, first[R-1:0], second[R-1:0], in_s, x};

  generate
    if (OUTSIDE == 0) begin : g_inside
      assign y = inside_y;
    end else begin : g_outside
      // x itself where EDGE is 0, else only whether it lies outside.
      localparam integer KEPT = EDGE == 0 ? IN_W : 0;
      wire left = x[X_W-1] && !(&x[X_W-2:D+XF]);
      wire right = !x[X_W-1] && |x[X_W-2:D+XF];
      wire [KEPT+1:0] kept;
      wire [OUT_W-1:0] high, low;
      if (EDGE == 0) begin : g_x
        num_delay #(.WIDTH(KEPT + 2), .DEPTH(5)) u_x (.clk(clk), .en(en), .in({in, left, right}), .out(kept));
        num_requant #(
            .IN_W(IN_W), .IN_SIGNED(IN_SIGNED), .SHIFT(F - FO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND),
            .OVER(OVER)
        ) u_edge (
            .in(kept[KEPT+1:2]), .out(high)
        );
      end else begin : g_one
        num_delay #(.WIDTH(2), .DEPTH(5)) u_x_one (.clk(clk), .en(en), .in({left, right}), .out(kept));
        num_requant #(
            .IN_W(2), .SHIFT(-FO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
        ) u_edge_one (
            .in(2'b01), .out(high)
        );
      end
      num_requant #(
          .IN_W(2), .SHIFT(-FO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
      ) u_edge_low (
          .in(EDGE == 2 ? 2'b11 : 2'b00), .out(low)
      );
      logic beyond;
      logic [OUT_W-1:0] edge_y;
      always_ff @(posedge clk)
        if (en) begin
          beyond <= |kept[1:0];
          edge_y <= kept[0] ? high : low;
        end
      assign y = beyond ? edge_y : inside_y;
    end
  endgenerate
endmodule
`default_nettype wire
