// SPDX-License-Identifier: Apache-2.0
// op_attend_dots: exact dot products of one x with M vectors y, N elements each.
//   parameters  N M               elements, vectors
//               X_W X_SIGNED Y_W Y_SIGNED   bits of the elements, 1: two's complement
//               MULT              "auto", "dsp" or "lut", see num_mul; "pack": a DSP for two vectors, M even, see
//                                 num_mul_pair
//               PIPE              registers of the trees, see num_add_tree
//   latency: 1 + min(PIPE, 1) * (clog2(N) + PIPE - 1) / max(PIPE, 1)   ii: 1   order: as it comes
//   parts: MULT == "pack" ? M / 2 * u_pair : M * u_dot
`default_nettype none
module op_attend_dots #(
    parameter integer N        = 4,
    parameter integer M        = 2,
    parameter integer X_W      = 8,
    parameter integer X_SIGNED = 1,
    parameter integer Y_W      = 8,
    parameter integer Y_SIGNED = 1,
    parameter         MULT     = "auto",
    parameter integer PIPE     = 1,
    parameter integer W        = X_W + Y_W + (Y_SIGNED != 0 ? 0 : 1) + $clog2(N)
) (
    input  wire               clk,
    input  wire               en,
    input  wire [  N*X_W-1:0] x,
    input  wire [M*N*Y_W-1:0] y,
    output wire [    M*W-1:0] out
);
  localparam integer YW = Y_W + (Y_SIGNED != 0 ? 0 : 1);  // as a signed number
  wire [M*N*YW-1:0] y_s;

  generate
    for (genvar i = 0; i < M * N; i++) begin : g_wide
      if (Y_SIGNED != 0) begin : g_signed
        assign y_s[i*YW+:YW] = y[i*Y_W+:Y_W];
      end else begin : g_unsigned
        assign y_s[i*YW+:YW] = {1'b0, y[i*Y_W+:Y_W]};
      end
    end
    /* verilator lint_off WIDTH */  // strings of different lengths are compared
    if (MULT == "pack" && M % 2 != 0) begin : g_bad
      M_must_be_even_for_pairs u_bad ();
    end else if (MULT == "pack") begin : g_pack
      /* verilator lint_on WIDTH */
      for (genvar i = 0; i < M / 2; i++) begin : g_pair
        num_dot_pair #(.N(N), .X_W(X_W), .X_SIGNED(X_SIGNED), .W_W(YW), .PIPE(PIPE)) u_pair (
            .clk(clk), .en(en), .x(x), .a(y_s[(2*i+1)*N*YW+:N*YW]), .b(y_s[2*i*N*YW+:N*YW]), .out(out[2*i*W+:2*W])
        );
      end
    end else begin : g_each
      for (genvar i = 0; i < M; i++) begin : g_one
        num_dot #(.N(N), .A_W(X_W), .A_SIGNED(X_SIGNED), .B_W(YW), .MULT(MULT), .PIPE(PIPE)) u_dot (
            .clk(clk), .en(en), .a(x), .b(y_s[i*N*YW+:N*YW]), .out(out[i*W+:W])
        );
      end
    end
  endgenerate
endmodule
`default_nettype wire
