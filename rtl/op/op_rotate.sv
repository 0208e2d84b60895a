// SPDX-License-Identifier: Apache-2.0
// op_rotate: pairs of elements turned by an angle for each token, which its heads share: for the pair (a, b) leave
//   over(round((a * c - b * s) / 2^SHIFT)) and over(round((a * s + b * c) / 2^SHIFT)), each where its element was.
//   Pairs within a beat need no memory. Else a delay line as long as the partners are apart brings them together: the
//   last beats of a frame leave behind its last beat in, the others as soon as a partner is there. With FLUSH a token
//   does what a frame does without: it leaves before the next one is taken; with FLUSH above 1 every part of it does.
//   parameters  TOKENS, HEADS     tokens of a frame, heads of a token
//               SIZE, TURNED      elements of a head, and how many of them, from the first on, are turned; even
//               ADJACENT          1: element 2i turns with 2i + 1, 0: i with i + TURNED / 2
//               LANES             elements a beat, divides SIZE. ADJACENT: 1, even, or SIZE; else divides TURNED / 2
//               X_W, X_SIGNED     bits of x, 1: two's complement
//               C_W               bits of c and s, two's complement
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the one cast, see num_requant
//               IMAGE, IMAGE_SUM  image: WORDS words a token, {s, c} of pair i at bit i * 2 * C_W. Beats whose angles
//                                 are equal share a word, as do those without elements that are turned: the last one
//               FLUSH             0, or parts of a token, which divide HEADS: no beat waits for the next part
//               ENDS              1: frames of up to TOKENS tokens: in has one more bit above, 1 on the last beat of a
//                                 frame; needs FLUSH 1
//               ROM_STYLE         "auto", "block" or "distributed"
//               MULT              "auto", "dsp" or "lut": use_dsp of the multipliers
//               APART             derived, not to be set: beats between partners
//   latency: 5 + APART   ii: TOKENS * HEADS * SIZE / LANES + (FLUSH ? TOKENS * FLUSH : 1) * APART   order: as it comes
//   turns: 1
//   flow: steps(BEATS + APART, s < BEATS, s >= APART, 4) + u_out
//   lut: 3 * AT_W + 3 * AW + BW + HW - 6 + (APART > 0 ? 16 : 0)
//   ff: AT_W + 2 * AW + BW + HW + 6 + (APART > 0 ? 3 : 0)
//   parts: u_rom + (APART > 0 ? u_mid + u_old : 0) + LANES * u_lane + u_out
`default_nettype none
module op_rotate #(
    parameter integer TOKENS     = 2,
    parameter integer HEADS      = 2,
    parameter integer SIZE       = 4,
    parameter integer TURNED     = 4,
    parameter integer ADJACENT   = 0,
    parameter integer LANES      = 1,
    parameter integer X_W        = 8,
    parameter integer X_SIGNED   = 1,
    parameter integer C_W        = 16,
    parameter integer SHIFT      = 14,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer FLUSH      = 0,
    parameter integer ENDS       = 0,
    parameter         IMAGE      = "",
    parameter [31:0]  IMAGE_SUM  = 32'd0,
    parameter         ROM_STYLE  = "auto",
    parameter         MULT       = "auto",
    parameter integer APART      = ADJACENT == 0 ? TURNED / 2 / LANES : LANES == 1 ? 1 : 0
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [LANES*X_W+ENDS-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer ROW = SIZE / LANES;  // beats of a head
  localparam integer BEATS = FLUSH != 0 ? HEADS / (FLUSH != 0 ? FLUSH : 1) * ROW : TOKENS * HEADS * ROW;
  localparam integer REST = TURNED < SIZE ? 1 : 0;
  localparam integer CUT = (TURNED + LANES - 1) / LANES;  // beats with elements that are turned
  localparam integer WORDS = APART > 0 ? TURNED / 2 / LANES + REST : CUT + (CUT < ROW ? 1 : 0);
  localparam integer RISE = APART > 0 ? CUT : WORDS - 1;  // beats behind which the word may change
  localparam integer PAIRS = APART > 0 ? LANES : (LANES + 1) / 2;
  localparam integer AT_W = $clog2(BEATS + APART + 1);
  localparam integer BW = ROW > 1 ? $clog2(ROW) : 1;
  localparam integer HW = HEADS > 1 ? $clog2(HEADS) : 1;
  localparam integer AW = TOKENS * WORDS > 1 ? $clog2(TOKENS * WORDS) : 1;

  generate
    if (ENDS != 0 && FLUSH != 1) begin : g_bad_ends
      frames_of_changing_length_need_FLUSH_1 u_bad ();
    end
    if (FLUSH > 1 && HEADS % FLUSH != 0) begin : g_bad_flush
      FLUSH_must_divide_HEADS u_bad ();
    end
    if (ROW * LANES != SIZE || TURNED < 2 || TURNED > SIZE || TURNED % 2 != 0) begin : g_bad
      LANES_must_divide_SIZE_and_TURNED_must_be_even_and_at_most_SIZE u_bad ();
    end
    if (ADJACENT == 0 ? TURNED / 2 % LANES != 0 : LANES % 2 != 0 && LANES != 1 && LANES != SIZE) begin : g_bad_lanes
      LANES_must_keep_pairs_together_or_divide_half_of_TURNED u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together.
  wire en;
  logic [AT_W-1:0] at;  // the step of the frame
  wire taking, giving;
  wire step = en && (!taking || in_valid);
  wire ends = at == AT_W'(BEATS + APART - 1);
  logic [3:0] moving;
  assign in_ready = en && taking;
  always_ff @(posedge clk) begin
    if (step) at <= ends ? AT_W'(0) : at + AT_W'(1);
    if (en) moving <= {moving[2:0], step && giving};
    if (rst) begin
      at <= AT_W'(0);
      moving <= 4'd0;
    end
  end

  // The token that leaves is the last of its frame: it has come whole before its last beat leaves.
  wire [LANES*X_W-1:0] x = in_data[LANES*X_W-1:0];
  wire marked = in_data[LANES*X_W+ENDS-1];
  logic last_q;
  wire last = APART == 0 ? marked : last_q;
  always_ff @(posedge clk) if (step && taking) last_q <= marked;

  // What leaves: its beat in the head, its head, and the word of its angles.
  logic [BW-1:0] beat;
  logic [HW-1:0] head;
  logic [AW-1:0] base, addr;
  wire row_ends = beat == BW'(ROW - 1);
  wire token_ends = row_ends && head == HW'(HEADS - 1);
  wire frame_ends = ENDS != 0 ? last : FLUSH != 0 ? base == AW'((TOKENS - 1) * WORDS) : ends;
  wire again, rises;
  wire [AW-1:0] next_base = base + AW'(WORDS);
  always_ff @(posedge clk) begin
    if (step && giving) begin
      beat <= row_ends ? BW'(0) : beat + BW'(1);
      if (row_ends) head <= token_ends ? HW'(0) : head + HW'(1);
      if (token_ends) base <= frame_ends ? AW'(0) : next_base;
      if (token_ends) addr <= frame_ends ? AW'(0) : next_base;
      else if (row_ends || again) addr <= base;
      else if (rises) addr <= addr + AW'(1);
    end
    if (rst) begin
      beat <= BW'(0);
      head <= HW'(0);
      base <= AW'(0);
      addr <= AW'(0);
    end
  end

  wire [LANES*X_W-1:0] own, other;
  wire [LANES-1:0] second;  // the element is the second one of its pair, two registers on
  wire early;
  generate
    if (RISE == 0 || RISE >= ROW) begin : g_all
      assign early = RISE != 0;
    end else begin : g_some
      assign early = beat < BW'(RISE);
    end
    if (APART == 0) begin : g_within
      assign taking = 1'b1;
      assign giving = 1'b1;
      assign again = 1'b0;
      assign rises = early;
      assign own = x;
      for (genvar i = 0; i < LANES; i++) begin : g_swap
        localparam integer J = i % 2 != 0 ? i - 1 : i + 1 < LANES ? i + 1 : i;
        assign other[i*X_W+:X_W] = x[J*X_W+:X_W];
        assign second[i] = i % 2 != 0;
      end
    end else begin : g_apart
      logic take, give;
      assign taking = take;
      assign giving = give;
      always_ff @(posedge clk) begin
        if (step && at == AT_W'(BEATS - 1)) take <= 1'b0;
        if (step && at == AT_W'(APART - 1)) give <= 1'b1;
        if (step && ends) begin
          take <= 1'b1;
          give <= 1'b0;
        end
        if (rst) begin
          take <= 1'b1;
          give <= 1'b0;
        end
      end
      // Elements that are not turned have a partner, too, so that what meets a sine of zero is never unknown.
      wire back = ADJACENT != 0 ? beat[0] || !early : beat >= BW'(APART);
      assign again = ADJACENT == 0 && beat == BW'(APART - 1);
      assign rises = early && (ADJACENT == 0 || beat[0]);
      wire [LANES*X_W-1:0] old;
      num_delay #(.WIDTH(LANES * X_W), .DEPTH(APART)) u_mid (.clk(clk), .en(step), .in(x), .out(own));
      num_delay #(.WIDTH(LANES * X_W), .DEPTH(APART)) u_old (.clk(clk), .en(step), .in(own), .out(old));
      assign other = back ? old : x;
      logic [2:0] backs;
      always_ff @(posedge clk) if (en) backs <= {backs[1:0], back};
      assign second = {LANES{backs[2]}};
    end
  endgenerate

  wire [PAIRS*2*C_W-1:0] angles;
  mem_rom #(
      .WIDTH(PAIRS * 2 * C_W), .DEPTH(TOKENS * WORDS), .IMAGE(IMAGE), .IMAGE_SUM(IMAGE_SUM), .STYLE(ROM_STYLE)
  ) u_rom (
      .clk(clk), .en(en), .addr(addr), .data(angles)
  );

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      localparam integer P = APART > 0 ? i : i / 2;
      op_rotate_lane #(
          .X_W(X_W), .X_SIGNED(X_SIGNED), .C_W(C_W), .SHIFT(SHIFT), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND), .OVER(OVER), .MULT(MULT)
      ) u_lane (
          .clk(clk), .en(en), .own(own[i*X_W+:X_W]), .other(other[i*X_W+:X_W]), .second(second[i]),
          .c(angles[2*P*C_W+:C_W]), .s(angles[(2*P+1)*C_W+:C_W]), .y(y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  wire out_room;
  assign en = out_room || !moving[3];
  stream_skid #(.WIDTH(LANES * OUT_W)) u_out (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(moving[3]), .in_ready(out_room), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
