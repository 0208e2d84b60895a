// SPDX-License-Identifier: Apache-2.0
// num_dot: exact dot product of N pairs: registered products, then an adder tree. Both operands vary.
//   parameters  N         pairs
//               A_W       bits of each a
//               A_SIGNED  1: a is two's complement
//               B_W       bits of each b, two's complement
//               A_E, A_NAN, B_E   of codes of floats in place of integers, see num_mul_float, and num_dot_tiny where
//                         both have up to 8 bits together; 0: integers; -1: signs, see num_dot_low and num_dot_signs
//               MULT      "auto", "dsp" or "lut", see num_mul; with "low" and "lut", b of up to 4 bits take no
//                         multipliers, see num_dot_low
//               PIPE      registers of the tree, see num_add_tree
//   out has the bits of both integers and clog2(N), two's complement.
//   latency: 1 + (A_E > 0 || B_E > 0 ? 1 : 0) + min(PIPE, 1) * (clog2(N) + PIPE - 1) / max(PIPE, 1)
//   ii: 1   order: as it comes
//   let: FLOAT = A_E > 0 || B_E > 0 ? 1 : 0; TINY = A_E > 0 && B_E > 0 && A_W + B_W < 9 ? 1 : 0
//   let: SIGNS = A_E < 0 && B_E < 0 ? 1 : 0; LOW = FLOAT ? 0 : A_E < 0 || B_E < 0
//       || (B_W < 5 && (MULT == "low" || MULT == "lut")) ? 1 : 0
//   parts: SIGNS ? u_signs : LOW ? u_low : TINY ? u_tiny : N * (FLOAT ? u_mul_float : u_mul) + u_tree
`default_nettype none
module num_dot #(
    parameter integer N        = 4,
    parameter integer A_W      = 8,
    parameter integer A_SIGNED = 1,
    parameter integer B_W      = 8,
    parameter integer A_E      = 0,
    parameter integer A_NAN    = 0,
    parameter integer B_E      = 0,
    parameter         MULT     = "auto",
    parameter integer PIPE     = 2,
    parameter integer PW       = (A_E > 0 ? A_W - 1 - A_E + (1 << A_E) : A_W) +
                                 (B_E > 0 ? B_W - 1 - B_E + (1 << B_E) : B_W)
) (
    input  wire                    clk,
    input  wire                    en,
    input  wire [       N*A_W-1:0] a,
    input  wire [       N*B_W-1:0] b,
    output wire [PW+$clog2(N)-1:0] out
);
  generate
    /* verilator lint_off WIDTH */  // strings of different lengths are compared
    if (A_E < 0 && B_E < 0) begin : g_signs
      num_dot_signs #(.N(N), .PIPE(PIPE)) u_signs (.clk(clk), .en(en), .a(a), .b(b), .out(out));
    end else if (A_E < 0 || B_E < 0 || (A_E == 0 && B_E == 0 && B_W < 5 && (MULT == "low" || MULT == "lut")))
        begin : g_low
      num_dot_low #(
          .N(N), .A_W(A_W), .A_SIGNED(A_SIGNED), .B_W(B_W), .A_E(A_E), .B_E(B_E), .PIPE(PIPE)
      ) u_low (
          .clk(clk), .en(en), .a(a), .b(b), .out(out)
      );
    end else if (A_E > 0 && B_E > 0 && A_W + B_W < 9) begin : g_tiny
      num_dot_tiny #(
          .N(N), .A_W(A_W), .A_E(A_E), .A_NAN(A_NAN), .B_W(B_W), .B_E(B_E), .PIPE(PIPE)
      ) u_tiny (
          .clk(clk), .en(en), .a(a), .b(b), .out(out)
      );
    end else begin : g_mul
      wire [N*PW-1:0] prod;
      for (genvar i = 0; i < N; i++) begin : g_lane
        if (A_E > 0 || B_E > 0) begin : g_float
          num_mul_float #(
              .A_W(A_W), .A_SIGNED(A_SIGNED), .A_E(A_E), .A_NAN(A_NAN), .B_W(B_W), .B_E(B_E), .MULT(MULT)
          ) u_mul_float (
              .clk(clk), .en(en), .a(a[i*A_W+:A_W]), .b(b[i*B_W+:B_W]), .out(prod[i*PW+:PW])
          );
        end else begin : g_int
          num_mul #(
              .A_W(A_W), .A_SIGNED(A_SIGNED), .B_W(B_W), .MULT(MULT)
          ) u_mul (
              .clk(clk), .en(en), .a(a[i*A_W+:A_W]), .b(b[i*B_W+:B_W]), .out(prod[i*PW+:PW])
          );
        end
      end
      num_add_tree #(.N(N), .IN_W(PW), .IN_SIGNED(1), .PIPE(PIPE)) u_tree (
          .clk(clk), .en(en), .in(prod), .out(out)
      );
    end
    /* verilator lint_on WIDTH */
  endgenerate
endmodule
`default_nettype wire
