// SPDX-License-Identifier: Apache-2.0
// num_dot_signs: exact dot product of N pairs of signs: bits, 1 for +1 and 0 for -1. Equal bits are counted: of the
//   first half of the pairs those that are equal, of the other half those that differ, three at a time.
//   parameters  N     pairs
//               PIPE  registers of the tree, see num_add_tree
//   out has 2 + clog2(N) bits, two's complement.
//   latency: 1 + min(PIPE, 1) * (clog2(N) + PIPE - 1) / max(PIPE, 1)   ii: 1   order: as it comes
//   let: H = (N + 1) / 2; T = (H + 2) / 3; C_W = 2 + clog2(T)
//   lut: N > 1 ? 4 * T + C_W : 1
//   ff: N > 1 ? 4 * T : 1
//   parts: N > 1 ? u_equal + u_other + u_out : 0
`default_nettype none
module num_dot_signs #(
    parameter integer N    = 16,
    parameter integer PIPE = 2
) (
    input  wire                   clk,
    input  wire                   en,
    input  wire [          N-1:0] a,
    input  wire [          N-1:0] b,
    output wire [1+$clog2(N):0] out
);
  localparam integer OUT_W = 2 + $clog2(N);
  localparam integer H = (N + 1) / 2;  // pairs of the first half; the other has as many, or one less
  localparam integer T = (H + 2) / 3;  // counts of three
  localparam integer C_W = 2 + $clog2(T);
  localparam integer HAVE = PIPE > 0 ? 1 + ($clog2(T) + PIPE - 1) / PIPE : 0;
  localparam integer WANT = PIPE > 0 ? ($clog2(N) + PIPE - 1) / PIPE : 0;

  generate
    if (N < 1 || PIPE < 0 || PIPE > 2) begin : g_bad
      N_must_be_at_least_1_and_PIPE_0_to_2 u_bad ();
    end
    if (N == 1) begin : g_one
      logic same;
      always_ff @(posedge clk) if (en) same <= a == b;
      assign out = {!same, 1'b1};
    end else begin : g_many
      // Bits of pairs beyond a half are 0, and so are not counted.
      wire [N-1:0] differ = a ^ b;
      wire [3*T-1:0] equal = {{(3 * T - H) {1'b0}}, ~differ[H-1:0]};
      wire [3*T-1:0] other = {{(3 * T - N + H) {1'b0}}, differ[N-1:H]};
      logic [2*T-1:0] equal_q, other_q;
      for (genvar i = 0; i < T; i++) begin : g_three
        wire [2:0] e = equal[3*i+:3];
        wire [2:0] o = other[3*i+:3];
        always_ff @(posedge clk)
          if (en) begin
            equal_q[2*i+:2] <= {(e[0] && e[1]) || (e[0] && e[2]) || (e[1] && e[2]), ^e};
            other_q[2*i+:2] <= {(o[0] && o[1]) || (o[0] && o[2]) || (o[1] && o[2]), ^o};
          end
      end
      wire [C_W-1:0] equals, others;
      num_add_tree #(.N(T), .IN_W(2), .IN_SIGNED(0), .PIPE(PIPE)) u_equal (
          .clk(clk), .en(en), .in(equal_q), .out(equals)
      );
      num_add_tree #(.N(T), .IN_W(2), .IN_SIGNED(0), .PIPE(PIPE)) u_other (
          .clk(clk), .en(en), .in(other_q), .out(others)
      );
      // Twice the difference; one less where the first half has a pair more.
      wire [C_W:0] half = N % 2 != 0 ? {1'b0, equals} + ~{1'b0, others} : {1'b0, equals} - {1'b0, others};
      wire [C_W:0] half_q;
      num_delay #(.WIDTH(C_W + 1), .DEPTH(WANT - HAVE + (PIPE > 0 ? 1 : 0))) u_out (
          .clk(clk), .en(en), .in(half), .out(half_q)
      );
      wire signed [C_W+1:0] sum = {half_q, N % 2 != 0};
      assign out = OUT_W'(sum);
      wire unused = &{1'b0, sum};
    end
  endgenerate
endmodule
`default_nettype wire
