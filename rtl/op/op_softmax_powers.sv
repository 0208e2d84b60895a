// SPDX-License-Identifier: Apache-2.0
// op_softmax_powers: the first two passes of softmax and log-softmax over rows of N elements, each of which works on a
//   row of its own: the first one stores x and finds its maximum, the second one turns x into powers, with
//   op_softmax_exp. Rows whose end leaves are LEAST cycles apart.
//   parameters  N              elements of a row
//               LANES          elements a beat, a divisor of N
//               IN_W, SIGNED   bits of x, 1: two's complement
//               K, K_SHIFT     factor, 24 bits, and right shift
//               MASKED         0: all elements are live, and in_live is not read
//               LOG            1: a word is how far x is below the maximum; 0: a power with 24 fraction bits
//               LEAST          cycles of a row, up to 26
//   write: words, powers of 32 fraction bits (fine) and last, of the last beat of a row, move at this edge; room must
//   say that they may.
//   latency: N / LANES + clog2(LANES) + (IN_W <= 8 ? 5 : 10)   ii: max(N / LANES, LEAST)   order: as the input
//   flow: (TREE > 0 ? steps(1, 1, 1, TREE) : 0) + memory(X_PLACES, BEATS, BEATS, BEATS, s, POWER + 1) + (GAP > 0 ?
//       steps(LEAST, s < BEATS, s < BEATS, 0, s >= BEATS) : 0)
//   lut: 33 + IN_W * 5 / 2 + MASKED * LANES * IN_W + (IN_W + 13) / 14 * 8 + (GAP > 0 ? 6 : 0)
//   ff: 20 + POWER + IN_W + C_W + TREE + (GAP > 0 ? 5 : 0)
//   parts: u_greatest + u_x_wait + u_last + u_x + LANES * u_exp
`default_nettype none
module op_softmax_powers #(
    parameter integer N       = 16,
    parameter integer LANES   = 1,
    parameter integer IN_W    = 8,
    parameter integer SIGNED  = 1,
    parameter [23:0]  K       = 24'd12102203,
    parameter integer K_SHIFT = 7,
    parameter integer MASKED  = 0,
    parameter integer LOG     = 0,
    parameter integer LEAST   = 1,
    parameter integer WORD    = LOG != 0 ? IN_W : 25
) (
    input  wire                  clk,
    input  wire                  rst,
    input  wire [LANES*IN_W-1:0] in_data,
    input  wire [     LANES-1:0] in_live,
    input  wire                  in_valid,
    output wire                  in_ready,
    input  wire                  room,
    output wire                  write,
    output wire                  last,
    output wire [LANES*WORD-1:0] word,
    output wire [  LANES*33-1:0] fine
);
  localparam integer BEATS = N / LANES;
  localparam integer TREE = $clog2(LANES);  // registers of the tree over the lanes
  localparam integer POWER = IN_W <= 8 ? 3 : 8;  // those of op_softmax_exp
  localparam integer GAP = BEATS < LEAST ? LEAST - BEATS : 0;  // cycles between rows
  localparam integer X_PLACES = 1 << $clog2(BEATS + 1);
  localparam integer M_W = IN_W + (MASKED != 0 ? 1 : 0);
  localparam integer C_W = BEATS > 1 ? $clog2(BEATS) : 1;

  generate
    if (LANES < 1 || BEATS * LANES != N || IN_W < 1 || IN_W > 16 || N > 65536 || LEAST > 26) begin : g_bad
      LANES_must_divide_N_and_IN_W_be_up_to_16 u_bad ();
    end
  endgenerate

  // First pass. The elements count from 0 up; one that is not live is the least.
  wire [LANES*IN_W-1:0] x;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_in
      wire [IN_W-1:0] code = in_data[i*IN_W+:IN_W] ^ (SIGNED != 0 ? IN_W'(1) << (IN_W - 1) : IN_W'(0));
      assign x[i*IN_W+:IN_W] = in_live[i] || MASKED == 0 ? code : IN_W'(0);
    end
  endgenerate
  wire [LANES*IN_W-1:0] x_q;
  wire [LANES-1:0] live_q;
  wire [IN_W-1:0] greatest;
  wire x_valid, x_room;
  num_max_tree #(.N(LANES), .W(IN_W), .SIGNED(0), .PIPE(1)) u_greatest (
      .clk(clk), .en(in_ready), .in(x), .out(greatest)
  );
  num_delay #(.WIDTH(LANES*(IN_W+1)), .DEPTH(TREE)) u_x_wait (
      .clk(clk), .en(in_ready), .in({in_live, x}), .out({live_q, x_q})
  );
  generate
    if (TREE == 0) begin : g_direct
      assign {x_valid, in_ready} = {in_valid, x_room};
    end else begin : g_tree
      logic [TREE-1:0] moving;
      assign x_valid = moving[TREE-1];
      assign in_ready = x_room || !x_valid;
      always_ff @(posedge clk) begin
        if (in_ready) moving <= TREE'({moving, in_valid});
        if (rst) moving <= TREE'(0);
      end
    end
  endgenerate

  wire x_write = x_valid && x_room;
  logic [C_W-1:0] count;  // beats of the row before this one
  wire x_last = count == C_W'(BEATS - 1);
  logic [IN_W-1:0] most;
  wire [IN_W-1:0] top = most > greatest ? most : greatest;
  (* ram_style = "distributed" *) logic [IN_W-1:0] tops[0:3];  // those of whole rows
  logic [1:0] top_in, top_out;
  always_ff @(posedge clk) if (x_write && x_last) tops[top_in] <= top;
  always_ff @(posedge clk) begin
    if (x_write) begin
      count <= x_last ? C_W'(0) : count + C_W'(1);
      most  <= x_last ? IN_W'(0) : top;
      if (x_last) top_in <= top_in + 2'd1;
    end
    if (rst) begin
      count  <= C_W'(0);
      most   <= IN_W'(0);
      top_in <= 2'd0;
    end
  end
  wire [LANES*M_W-1:0] x_word, x_read;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_word
      if (MASKED != 0) begin : g_live
        assign x_word[i*M_W+:M_W] = {live_q[i], x_q[i*IN_W+:IN_W]};
      end else begin : g_plain
        assign x_word[i*M_W+:M_W] = x_q[i*IN_W+:IN_W];
      end
    end
  endgenerate
  wire unused_live = &{1'b0, in_live, live_q};

  // Second pass. All registers up to the next memory move or stand together.
  wire en, x_step, x_end;
  logic [POWER:0] moving;
  op_softmax_rows #(.WIDTH(LANES*M_W + 1), .DEPTH(X_PLACES), .BEATS(BEATS), .LATENCY(1)) u_x (
      .clk(clk), .rst(rst), .in_data({x_last, x_word}), .write(x_write), .room(x_room), .whole(x_write && x_last),
      .en(en), .read(x_step), .out_data({x_end, x_read})
  );
  num_delay #(.WIDTH(1), .DEPTH(POWER)) u_last (.clk(clk), .en(en), .in(x_end), .out(last));
  wire held;  // between two rows
  assign en = !moving[POWER] || (room && !held);
  assign write = moving[POWER] && room && !held;
  always_ff @(posedge clk) begin
    if (en) moving <= (POWER + 1)'({moving, x_step});
    if (en && moving[0] && x_end) top_out <= top_out + 2'd1;
    if (rst) begin
      moving  <= (POWER + 1)'(0);
      top_out <= 2'd0;
    end
  end
  generate
    if (GAP == 0) begin : g_no_gap
      assign held = 1'b0;
    end else begin : g_gap
      logic [4:0] gap;
      assign held = gap != 5'd0;
      always_ff @(posedge clk) begin
        if (held) gap <= gap - 5'd1;
        else if (write && last) gap <= 5'(GAP);
        if (rst) gap <= 5'd0;
      end
    end
  endgenerate

  generate
    for (genvar i = 0; i < LANES; i++) begin : g_exp
      op_softmax_exp #(.IN_W(IN_W), .K(K), .K_SHIFT(K_SHIFT), .MASKED(MASKED), .LOG(LOG)) u_exp (
          .clk(clk), .en(en), .top(tops[top_out]), .x(x_read[i*M_W+:IN_W]), .live(x_read[i*M_W+M_W-1]),
          .e({word[WORD*i+:WORD], fine[33*i+:33]})
      );
    end
  endgenerate
endmodule
`default_nettype wire
