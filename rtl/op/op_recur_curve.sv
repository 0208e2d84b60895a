// SPDX-License-Identifier: Apache-2.0
// op_recur_curve: sigmoid or tanh of one element within op_recur: a table, or parabolas between samples.
//   parameters  SMOOTH            0: image[x], 1: see op_interp
//               IN_W, IN_F        bits and fraction bits of x, two's complement
//               OUT_W, OUT_F, OUT_SIGNED, ROUND, OVER   the result, see num_requant
//               D, EDGE, V_W, C1_W, C2_W   of parabolas, see op_interp
//               IMAGE, IMAGE_SUM  image: 2^IN_W results, or the words of op_interp
//               ROM_STYLE         "auto", "block" or "distributed"
//               MULT              of parabolas, see op_interp
//   latency: SMOOTH ? 7 : 2   ii: 1   order: as it comes
//   ff: SMOOTH ? OUT_W : 0
//   parts: SMOOTH ? u_smooth : u_table
`default_nettype none
module op_recur_curve #(
    parameter integer SMOOTH     = 0,
    parameter integer IN_W       = 8,
    parameter integer IN_F       = 4,
    parameter integer OUT_W      = 8,
    parameter integer OUT_F      = 7,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer D          = 3,
    parameter integer EDGE       = 2,
    parameter integer V_W        = 16,
    parameter integer C1_W       = 12,
    parameter integer C2_W       = 8,
    parameter         IMAGE      = "",
    parameter [31:0]  IMAGE_SUM  = 32'd0,
    parameter         ROM_STYLE  = "auto",
    parameter         MULT       = "auto"
) (
    input  wire             clk,
    input  wire             en,
    input  wire [ IN_W-1:0] x,
    output wire [OUT_W-1:0] y
);
  generate
    if (SMOOTH == 0) begin : g_table
      mem_rom #(
          .WIDTH(OUT_W), .DEPTH(1 << IN_W), .IMAGE(IMAGE), .IMAGE_SUM(IMAGE_SUM), .STYLE(ROM_STYLE)
      ) u_table (
          .clk(clk), .en(en), .addr(x), .data(y)
      );
    end else begin : g_smooth
      wire [OUT_W-1:0] now;
      logic [OUT_W-1:0] y_q;
      op_interp_lane #(
          .IN_W(IN_W), .IN_SIGNED(1), .F(IN_F), .D(D), .FO(OUT_F), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND), .OVER(OVER), .EDGE(EDGE), .V_W(V_W), .C1_W(C1_W), .C2_W(C2_W), .IMAGE(IMAGE),
          .IMAGE_SUM(IMAGE_SUM), .ROM_STYLE(ROM_STYLE), .MULT(MULT)
      ) u_smooth (
          .clk(clk), .en(en), .in(x), .y(now)
      );
      always_ff @(posedge clk) if (en) y_q <= now;
      assign y = y_q;
    end
  endgenerate
endmodule
`default_nettype wire
