// SPDX-License-Identifier: Apache-2.0
// op_pair_const: op_pair whose second operand lies in a memory that is read again and again, beat by beat: sum,
//   minimum, maximum or product of a stream and a constant array.
//   parameters  LANES               elements a beat of a and of the output, and of a word of the memory
//               KIND                0: sum, 1: min, 2: max, 3: product
//               A_W, A_SIGNED       bits of a, 1: two's complement
//               B_W, B_SIGNED       bits of an element of the constant, 1: two's complement
//               MA, SHA, CA         factor, left shift and summand of a
//               MB, SHB, CB         factor, left shift and summand of b
//               PA_W, PB_W, T_W     bits that hold both operands and their result exactly, two's complement
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               ZERO                zero point of the output
//               DEEP                1: a register more, for factors that are no powers of two
//               MULT                "auto", "dsp" or "lut": use_dsp of the product
//               BEATS               beats of a frame, a multiple of WORDS
//               WORDS               beats of the constant
//               STYLE               "auto", "block" or "distributed": where the constant lies
//               ENDS                1: frames are of any length up to BEATS: in has one more bit above, 1 on the last
//                                   beat of a frame, behind which the constant begins anew. SETS is 1
//               SETS, SWEEPS        layers that share the unit, each with constants of its own, and how many frames of
//                                   each come in a row: see mem_sets
//               CONSTS, CONSTS_SUM  image: word f, lane i of beat f at bit i * B_W
//   latency: (KIND == 3 ? 5 : 4) + DEEP   ii: BEATS   order: as it comes
//   flow: steps(1, 1, 1, 2) + u_pair
//   lut: AW + 4
//   ff: AW + 4
//   parts: u_a + u_consts + u_pair
`default_nettype none
module op_pair_const #(
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
    parameter integer    BEATS      = 2,
    parameter integer    WORDS      = 2,
    parameter            STYLE      = "auto",
    parameter integer    ENDS       = 0,
    parameter integer    SETS       = 1,
    parameter integer    SWEEPS     = 1,
    parameter            CONSTS     = "",
    parameter [31:0]     CONSTS_SUM = 32'd0
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [LANES*A_W+ENDS-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer AW = WORDS > 1 ? $clog2(WORDS) : 1;

  generate
    if (WORDS < 1 || BEATS % WORDS != 0 || ENDS != 0 && SETS > 1) begin : g_bad
      WORDS_must_divide_BEATS_and_SETS_be_1_where_frames_change u_bad ();
    end
  endgenerate

  // a waits for the two registers of the memory.
  wire en, pair_ready;
  logic [1:0] moving;
  logic [AW-1:0] word;
  assign en = pair_ready || !moving[1];
  assign in_ready = en;
  wire ends = ENDS != 0 && in_data[LANES*A_W+ENDS-1];
  always_ff @(posedge clk) begin
    if (en) begin
      moving <= {moving[0], in_valid};
      if (in_valid) word <= word == AW'(WORDS - 1) || ends ? AW'(0) : word + AW'(1);
    end
    if (rst) begin
      moving <= 2'd0;
      word   <= AW'(0);
    end
  end

  wire [LANES*A_W-1:0] a;
  wire [LANES*B_W-1:0] b;
  num_delay #(.WIDTH(LANES * A_W), .DEPTH(2)) u_a (.clk(clk), .en(en), .in(in_data[LANES*A_W-1:0]), .out(a));
  mem_sets #(
      .WIDTH(LANES * B_W), .DEPTH(WORDS), .SETS(SETS), .SWEEPS(SWEEPS * (BEATS / WORDS)), .IMAGE(CONSTS),
      .IMAGE_SUM(CONSTS_SUM), .STYLE(STYLE)
  ) u_consts (
      .clk(clk), .rst(rst), .en(en), .step(in_valid), .addr(word), .data(b)
  );

  wire unused_ready;  // that of b, which is the same as that of a
  op_pair #(
      .LANES(LANES),
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
      .MULT(MULT),
      .BEATS(BEATS)
  ) u_pair (
      .clk(clk),
      .rst(rst),
      .a_data(a),
      .a_valid(moving[1]),
      .a_ready(pair_ready),
      .b_data(b),
      .b_valid(moving[1]),
      .b_ready(unused_ready),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
