// SPDX-License-Identifier: Apache-2.0
// op_pair: two streams, element by element: sum, difference (MB negative), minimum, maximum or product, each operand
//   with a factor and a summand of its own, one rounding; op_pair_lane has the formula.
//   parameters  LANES               elements a beat of a, of b and of the output
//               KIND                0: sum, 1: min, 2: max, 3: product
//               A_W, A_SIGNED       bits of a, 1: two's complement
//               B_W, B_SIGNED       bits of b, 1: two's complement
//               MA, SHA, CA         factor, left shift and summand of a
//               MB, SHB, CB         factor, left shift and summand of b
//               PA_W, PB_W, T_W     bits that hold both operands and their result exactly, two's complement
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               ZERO                zero point of the output
//               DEEP                1: a register more, for factors that are no powers of two
//               MULT                "auto", "dsp" or "lut": use_dsp of the product
//               BEATS               beats of a frame
//   latency: (KIND == 3 ? 3 : 2) + DEEP   ii: BEATS   order: as it comes
//   lut: STAGES + 4
//   ff: STAGES
//   parts: LANES * u_lane + u_skid
`default_nettype none
module op_pair #(
    parameter integer    LANES      = 4,
    parameter integer    KIND       = 0,
    parameter integer    A_W        = 8,
    parameter integer    A_SIGNED   = 1,
    parameter integer    B_W        = 8,
    parameter integer    B_SIGNED   = 1,
    parameter integer    MA         = 1,
    parameter integer    SHA        = 0,
    parameter integer    PA_W       = 9,
    parameter [PA_W-1:0] CA         = 0,
    parameter integer    MB         = 1,
    parameter integer    SHB        = 0,
    parameter integer    PB_W       = 9,
    parameter [PB_W-1:0] CB         = 0,
    parameter integer    T_W        = 10,
    parameter integer    SHIFT      = 1,
    parameter integer    OUT_W      = 8,
    parameter integer    OUT_SIGNED = 1,
    parameter integer    ROUND      = 0,
    parameter integer    OVER       = 0,
    parameter integer    ZERO       = 0,
    parameter integer    DEEP       = 0,
    parameter            MULT       = "auto",
    parameter integer    BEATS      = 1
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [  LANES*A_W-1:0] a_data,
    input  wire                   a_valid,
    output wire                   a_ready,
    input  wire [  LANES*B_W-1:0] b_data,
    input  wire                   b_valid,
    output wire                   b_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer STAGES = (KIND == 3 ? 2 : 1) + DEEP;

  generate
    if (LANES < 1 || BEATS < 1 || KIND < 0 || KIND > 3 || DEEP < 0 || DEEP > 1) begin : g_bad
      LANES_and_BEATS_must_be_at_least_1_and_KIND_0_to_3_and_DEEP_0_or_1 u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together.
  wire en;
  logic [STAGES-1:0] moving;
  wire done = moving[STAGES-1];
  assign a_ready = en && b_valid;
  assign b_ready = en && a_valid;
  always_ff @(posedge clk) begin
    if (en) moving <= STAGES'({moving, a_valid && b_valid});
    if (rst) moving <= STAGES'(0);
  end

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      op_pair_lane #(
          .KIND(KIND),
          .A_W(A_W),
          .A_SIGNED(A_SIGNED),
          .B_W(B_W),
          .B_SIGNED(B_SIGNED),
          .MA(MA),
          .SHA(SHA),
          .PA_W(PA_W),
          .CA(CA),
          .MB(MB),
          .SHB(SHB),
          .PB_W(PB_W),
          .CB(CB),
          .T_W(T_W),
          .SHIFT(SHIFT),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER),
          .ZERO(ZERO),
          .DEEP(DEEP),
          .MULT(MULT)
      ) u_lane (
          .clk(clk),
          .en (en),
          .a  (a_data[i*A_W+:A_W]),
          .b  (b_data[i*B_W+:B_W]),
          .y  (y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  wire out_room;
  assign en = out_room || !done;
  stream_skid #(
      .WIDTH(LANES * OUT_W)
  ) u_skid (
      .clk(clk),
      .rst(rst),
      .in_data(y),
      .in_valid(done),
      .in_ready(out_room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
