// SPDX-License-Identifier: Apache-2.0
// num_dot_four: exact dot products of one x with four vectors: N DSPs, see num_mul_four, then adder trees. A tree of x
//   takes off what the weights of three vectors have too much.
//   parameters  N         elements
//               X_W       bits of each x
//               X_SIGNED  1: x is two's complement
//               W_W       bits of each weight, two's complement; vector 0 is low in w
//               PIPE      registers of the trees, see num_add_tree
//   out has X_W + W_W + clog2(N) bits for each vector, two's complement.
//   latency: 1 + min(PIPE, 1) * (clog2(N) + PIPE - 1) / max(PIPE, 1)   ii: 1   order: as it comes
//   let: TERM = X_W + 1; LESS = X_SIGNED == 0 && 3 * X_W + 4 * W_W > 27 ? 1 : 0
//   lut: (LESS ? 3 : 2) * N * TERM + 4 * (TERM + clog2(N))
//   ff: (LESS ? 3 : 2) * N * TERM
//   parts: N * u_mul + 4 * u_tree
`default_nettype none
module num_dot_four #(
    parameter integer N        = 4,
    parameter integer X_W      = 4,
    parameter integer X_SIGNED = 1,
    parameter integer W_W      = 4,
    parameter integer PIPE     = 2
) (
    input  wire                             clk,
    input  wire                             en,
    input  wire [                N*X_W-1:0] x,
    input  wire [              4*N*W_W-1:0] w,
    output wire [4*(X_W+W_W+$clog2(N))-1:0] out
);
  localparam integer PW = X_W + W_W;
  localparam integer OW = PW + $clog2(N);
  localparam integer SHARED = 3 * PW + W_W > 27 ? 1 : 0;

  // What is added for all but the last: -x * 2^(W_W-1), and for vector 2 where num_mul_four says so, 1 less.
  wire [OW-1:0] extra, extra_less;
  generate
    for (genvar k = 0; k < 2; k++) begin : g_extra
      localparam integer LESS = k == 1 && SHARED != 0 && X_SIGNED == 0 ? 1 : 0;
      if (k == 1 && LESS == 0) begin : g_same
        assign extra_less = extra;
      end else begin : g_tree
        logic [N*(PW+1)-1:0] terms;
        for (genvar i = 0; i < N; i++) begin : g_x
          wire signed [X_W:0] x_s = {X_SIGNED != 0 && x[i*X_W+X_W-1], x[i*X_W+:X_W]};
          wire [PW:0] term = -((PW + 1)'(x_s) << (W_W - 1)) - (PW + 1)'(LESS);
          always_ff @(posedge clk) if (en) terms[i*(PW+1)+:PW+1] <= term;
        end
        wire [OW:0] sum;
        num_add_tree #(.N(N), .IN_W(PW + 1), .PIPE(PIPE)) u_x (.clk(clk), .en(en), .in(terms), .out(sum));
        if (k == 0) begin : g_0
          assign extra = sum[OW-1:0];
        end else begin : g_2
          assign extra_less = sum[OW-1:0];
        end
        wire unused_sum = &{1'b0, sum[OW]};
      end
    end
  endgenerate

  wire [4*N*PW-1:0] prod;
  wire [4*N-1:0] owes;
  generate
    for (genvar i = 0; i < N; i++) begin : g_mul
      wire [4*W_W-1:0] weights;
      wire [4*PW-1:0] products;
      wire [3:0] owed;
      num_mul_four #(
          .X_W(X_W),
          .X_SIGNED(X_SIGNED),
          .W_W(W_W)
      ) u_mul (
          .clk(clk),
          .en(en),
          .x(x[i*X_W+:X_W]),
          .w(weights),
          .out(products),
          .owes(owed)
      );
      for (genvar k = 0; k < 4; k++) begin : g_of
        assign weights[k*W_W+:W_W] = w[(k*N+i)*W_W+:W_W];
        assign prod[(k*N+i)*PW+:PW] = products[k*PW+:PW];
        assign owes[k*N+i] = owed[k];
      end
    end
    for (genvar k = 0; k < 4; k++) begin : g_sum
      wire [OW-1:0] sum;
      wire owed;
      num_add_owed #(
          .N(N),
          .IN_W(PW),
          .IN_SIGNED(k == 3 ? 1 : X_SIGNED),
          .PIPE(PIPE)
      ) u_tree (
          .clk(clk),
          .en(en),
          .in(prod[k*N*PW+:N*PW]),
          .owes(owes[k*N+:N]),
          .out(sum),
          .owed(owed)
      );
      wire [OW:0] all = {sum, owed} + {k == 3 ? OW'(0) : k == 2 ? extra_less : extra, 1'b1};
      assign out[k*OW+:OW] = all[OW:1];
      wire unused_all = &{1'b0, all[0]};
    end
  endgenerate
endmodule
`default_nettype wire
