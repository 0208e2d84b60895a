// SPDX-License-Identifier: Apache-2.0
// num_length: how many bits an unsigned number has: 0 for 0, 1 for 1, 2 for 2 and 3. Combinational, a tree of halves.
//   parameters  IN_W   bits of in
//               OUT_W  bits of out, derived
//   latency: 0   ii: 1   order: combinational
//   lut: 2 * IN_W
`default_nettype none
module num_length #(
    parameter integer IN_W  = 16,
    parameter integer OUT_W = $clog2(IN_W + 1)
) (
    input  wire [ IN_W-1:0] in,
    output wire [OUT_W-1:0] out
);
  generate
    if (IN_W < 1) begin : g_bad
      IN_W_must_be_at_least_1 u_bad ();
    end
    // Level l has a node for each run of 2^l places: whether one of them is set, and the highest that is. Bit i
    // stands at place i + 1, its length.
    for (genvar l = 0; l <= OUT_W; l++) begin : g_level
      localparam integer N = 1 << (OUT_W - l);
      wire [N-1:0] some;
      wire [N*OUT_W-1:0] at;
      if (l == 0) begin : g_places
        assign some = N'({in, 1'b0});
        assign at = (N * OUT_W)'(0);
      end else begin : g_halves
        for (genvar n = 0; n < N; n++) begin : g_node
          wire upper = g_level[l-1].some[2*n+1];
          assign some[n] = upper || g_level[l-1].some[2*n];
          assign at[n*OUT_W+:OUT_W] = upper ? g_level[l-1].at[(2*n+1)*OUT_W+:OUT_W] | OUT_W'(1 << (l - 1))
              : g_level[l-1].at[2*n*OUT_W+:OUT_W];
        end
      end
    end
  endgenerate
  assign out = g_level[OUT_W].at;
  wire unused = g_level[OUT_W].some;
endmodule
`default_nettype wire
