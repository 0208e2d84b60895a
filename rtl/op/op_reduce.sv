// SPDX-License-Identifier: Apache-2.0
// op_reduce: maximum, minimum or exact sum of N elements in the middle of OUTER * N * INNER: along the innermost axis
//   (INNER = 1) the lanes of a beat first, by a tree; along an outer one each lane by itself.
//   parameters  OUTER N INNER   elements before, along and behind the axis
//               LANES           lanes of the input, divides N if INNER = 1, else INNER
//               E_W             bits of an element
//               SIGNED          1: two's complement
//               KIND            0: maximum, 1: minimum, 2: sum
//               ACC_W           bits of a result; E_W but for sums, which fit
//               OUT_LANES       derived, not to be set
//   latency: INNER > 1 ? (N - 1) * INNER / LANES + 4 : N / LANES + 3 + (LANES > 1 ? (clog2(LANES) + 1) / 2 : 0)
//   ii: OUTER * N * INNER / LANES   order: as the input
//   flow: (TREE ? steps(1, 1, 1, TREE) : 0) + u_tile
//   parts: u_tile
`default_nettype none
module op_reduce #(
    parameter integer OUTER     = 2,
    parameter integer N         = 8,
    parameter integer INNER     = 1,
    parameter integer LANES     = 2,
    parameter integer E_W       = 8,
    parameter integer SIGNED    = 1,
    parameter integer KIND      = 0,
    parameter integer ACC_W     = 8,
    parameter integer OUT_LANES = INNER > 1 ? LANES : 1
) (
    input  wire                       clk,
    input  wire                       rst,
    input  wire [      LANES*E_W-1:0] in_data,
    input  wire                       in_valid,
    output wire                       in_ready,
    output wire [OUT_LANES*ACC_W-1:0] out_data,
    output wire                       out_valid,
    input  wire                       out_ready
);
  localparam integer TREE = INNER > 1 || LANES == 1 ? 0 : ($clog2(LANES) + 1) / 2;  // its registers
  localparam integer SUM = KIND == 2 ? 1 : 0;
  localparam integer T_W = TREE > 0 && SUM != 0 ? E_W + $clog2(LANES) : E_W;

  generate
    if (KIND < 0 || KIND > 2 || ACC_W < T_W || (INNER > 1 ? INNER : N) % LANES != 0) begin : g_bad
      KIND_must_be_0_to_2_and_LANES_must_divide_N_or_INNER u_bad ();
    end
  endgenerate

  // The minimum is the complement of the maximum of complements: also of unsigned numbers, ~x falls as x grows.
  wire [LANES*E_W-1:0] x = KIND == 1 ? ~in_data : in_data;
  wire [OUT_LANES*T_W-1:0] part;
  wire part_valid, room;

  generate
    if (TREE == 0) begin : g_direct
      assign part = x;
      assign part_valid = in_valid;
      assign in_ready = room;
    end else begin : g_tree
      logic [TREE-1:0] moving;
      wire en = room || !part_valid;
      assign in_ready = en;
      assign part_valid = moving[TREE-1];
      always_ff @(posedge clk) begin
        if (en) moving <= TREE'({moving, in_valid});
        if (rst) moving <= TREE'(0);
      end
      if (SUM != 0) begin : g_sum
        num_add_tree #(.N(LANES), .IN_W(E_W), .IN_SIGNED(SIGNED), .PIPE(2)) u_tree (
            .clk(clk), .en(en), .in(x), .out(part)
        );
      end else begin : g_max
        num_max_tree #(.N(LANES), .W(E_W), .SIGNED(SIGNED), .PIPE(2)) u_tree (
            .clk(clk), .en(en), .in(x), .out(part)
        );
      end
    end
  endgenerate

  // A row of N pixels under one window.
  wire [OUT_LANES*ACC_W-1:0] y;
  op_pool_tile #(
      .H(OUTER), .W(INNER > 1 ? N : N / LANES), .C(INNER), .KH(1), .KW(INNER > 1 ? N : N / LANES), .SH(1),
      .SW(INNER > 1 ? N : N / LANES), .LANES(OUT_LANES), .E_W(T_W), .SIGNED(SIGNED), .SUM(SUM), .ACC_W(ACC_W)
  ) u_tile (
      .clk(clk), .rst(rst), .in_data(part), .in_valid(part_valid), .in_ready(room),
      .out_data(y), .out_valid(out_valid), .out_ready(out_ready)
  );
  assign out_data = KIND == 1 ? ~y : y;
endmodule
`default_nettype wire
