// SPDX-License-Identifier: Apache-2.0
// num_dot_tiny: exact dot product of N pairs of codes of floats, see num_mul_float, of which a pair has up to 8 bits:
//   the magnitude of a product is a function of 6 bits, a LUT for each of its bits, and its sign belongs to the adders.
//   parameters  N         pairs
//               A_W, B_W  bits of each a and b, up to 8 together
//               A_E, B_E  bits of their fields
//               A_NAN     1: an a of all ones, sign apart, is NaN and taken for 0
//               PIPE      registers of the tree, see num_add_tree
//   out has the bits of both integers and clog2(N), two's complement.
//   latency: 2 + min(PIPE, 1) * (clog2(N) + PIPE - 1) / max(PIPE, 1)   ii: 1   order: as it comes
//   lut: N * (P_W + 1)
//   ff: N * (P_W + 1)
//   parts: u_signed
`default_nettype none
module num_dot_tiny #(
    parameter integer N     = 4,
    parameter integer A_W   = 4,
    parameter integer A_E   = 2,
    parameter integer A_NAN = 0,
    parameter integer B_W   = 4,
    parameter integer B_E   = 2,
    parameter integer PIPE  = 2,
    parameter integer P_W   = A_W - 2 - A_E + (1 << A_E) + B_W - 2 - B_E + (1 << B_E)
) (
    input  wire                     clk,
    input  wire                     en,
    input  wire [        N*A_W-1:0] a,
    input  wire [        N*B_W-1:0] b,
    output wire [P_W+1+$clog2(N):0] out
);
  localparam integer A_M = A_W - 1 - A_E;
  localparam integer B_M = B_W - 1 - B_E;

  generate
    if (A_E < 1 || B_E < 1 || A_M < 0 || B_M < 0 || A_W + B_W > 8) begin : g_bad
      A_and_B_must_be_codes_of_8_bits_together u_bad ();
    end
  endgenerate

  // Word {x, y} is the product of the magnitudes of codes x and y.
  localparam integer X_W = A_W - 1;
  localparam integer Y_W = B_W - 1;
  function [(P_W<<X_W+Y_W)-1:0] products(input integer nan);
    integer x, y, u, v;
    begin
      for (x = 0; x < 1 << X_W; x = x + 1)
        for (y = 0; y < 1 << Y_W; y = y + 1) begin
          u = x >> A_M == 0 ? x : (x % (1 << A_M) + (1 << A_M)) << ((x >> A_M) - 1);
          v = y >> B_M == 0 ? y : (y % (1 << B_M) + (1 << B_M)) << ((y >> B_M) - 1);
          products[((x<<Y_W)+y)*P_W+:P_W] = nan != 0 && x == (1 << X_W) - 1 ? P_W'(0) : P_W'(u * v);
        end
    end
  endfunction
  localparam [(P_W<<X_W+Y_W)-1:0] PRODUCTS = products(A_NAN);

  logic [N*P_W-1:0] size;  // of the products
  logic [N-1:0] plus;
  generate
    for (genvar i = 0; i < N; i++) begin : g_mul
      wire [X_W+Y_W-1:0] pair = {a[i*A_W+:X_W], b[i*B_W+:Y_W]};
      always_ff @(posedge clk)
        if (en) begin
          size[i*P_W+:P_W] <= PRODUCTS[32'(pair)*P_W+:P_W];
          plus[i]          <= a[i*A_W+X_W] == b[i*B_W+Y_W];
        end
    end
  endgenerate

  wire signed [P_W+$clog2(N):0] sum;
  num_dot_low #(
      .N(N), .A_W(P_W), .A_SIGNED(0), .B_W(1), .B_E(-1), .PIPE(PIPE)
  ) u_signed (
      .clk(clk), .en(en), .a(size), .b(plus), .out(sum)
  );
  assign out = (P_W + 2 + $clog2(N))'(sum);
endmodule
`default_nettype wire
