// SPDX-License-Identifier: Apache-2.0
// op_recur_reset: a GRU whose reset gate stands before the product, with its state. Rows of 3 gates a unit, z, r and n,
//   come in, states go out. A row is gone over twice: sums x + r*h of z and r make z, which is kept, and r*c, which is
//   rounded as results are; products of that and x of n make n, and n and z the next state. See op_recur_before.
//   Each time takes 1 cycle to load what is multiplied, SF = HIDDEN / IN_LANES cycles for each of NG = HIDDEN /
//   OUT_LANES groups of units, and REGS cycles until the last group is there. A frame begins with states of zeros.
//   parameters  STEPS, HIDDEN, IN_LANES, OUT_LANES, X_W, X_SIGNED, X_UP, W_W, T_W, SUM_F, GATE_W, GATE_F, CELL_W,
//               CELL_F, OUT_W, OUT_F, OUT_SIGNED, ROUND, OVER, SMOOTH, TANH, TANH_SUM, TANH_D, TANH_V_W, TANH_C1_W,
//               TANH_C2_W, SIGMOID, SIGMOID_SUM, SIGMOID_D, SIGMOID_V_W, SIGMOID_C1_W, SIGMOID_C2_W, WEIGHTS,
//               WEIGHTS_SUM, ROM_STYLE, MULT    as in op_recur, with KIND 1
//               LF, TAIL, REGS     stages of functions, of units, of all
//   latency: HIDDEN / IN_LANES * (HIDDEN / OUT_LANES + 1) + 2 * REGS + 1
//   ii: 2 * STEPS * (HIDDEN / IN_LANES * (HIDDEN / OUT_LANES) + REGS + 1)
//   order: units ascending, lanes innermost, row after row
//   flow: steps(2 * STEPS * PERIOD, BUSY && LAST == 0 && M % SF == 0, BUSY && LAST && M % SF == SF - 1, REGS) + u_skid
//   let: PERIOD = SF * NG + REGS + 1; M = s % PERIOD; LAST = s / PERIOD % 2; BUSY = M < SF * NG ? 1 : 0
//   lut: 8
//   ff: FRONT + 2 * TAIL + 2
//   parts: u_walk + u_state + u_weights + u_x + u_flags + 3 * OUT_LANES * u_row + u_own + u_own_x + u_z + u_cells +
//       OUT_LANES * u_before + u_skid
`default_nettype none
module op_recur_reset #(
    parameter integer STEPS        = 4,
    parameter integer HIDDEN       = 8,
    parameter integer IN_LANES     = 4,
    parameter integer OUT_LANES    = 2,
    parameter integer X_W          = 16,
    parameter integer X_SIGNED     = 1,
    parameter integer X_UP         = 2,
    parameter integer W_W          = 8,
    parameter integer T_W          = 20,
    parameter integer SUM_F        = 12,
    parameter integer GATE_W       = 8,
    parameter integer GATE_F       = 4,
    parameter integer CELL_W       = 16,
    parameter integer CELL_F       = 11,
    parameter integer OUT_W        = 8,
    parameter integer OUT_F        = 7,
    parameter integer OUT_SIGNED   = 1,
    parameter integer ROUND        = 0,
    parameter integer OVER         = 0,
    parameter integer SMOOTH       = 0,
    parameter         TANH         = "",
    parameter [31:0]  TANH_SUM     = 32'd0,
    parameter integer TANH_D       = 3,
    parameter integer TANH_V_W     = 16,
    parameter integer TANH_C1_W    = 12,
    parameter integer TANH_C2_W    = 8,
    parameter         SIGMOID      = "",
    parameter [31:0]  SIGMOID_SUM  = 32'd0,
    parameter integer SIGMOID_D    = 4,
    parameter integer SIGMOID_V_W  = 16,
    parameter integer SIGMOID_C1_W = 12,
    parameter integer SIGMOID_C2_W = 8,
    parameter         WEIGHTS      = "",
    parameter [31:0]  WEIGHTS_SUM  = 32'd0,
    parameter         ROM_STYLE    = "auto",
    parameter         MULT         = "auto",
    parameter integer LF           = SMOOTH != 0 ? 7 : 2,
    parameter integer TAIL         = 5 + LF,
    parameter integer REGS         = 4 + ($clog2(IN_LANES) + 1) / 2 + TAIL
) (
    input  wire                       clk,
    input  wire                       rst,
    input  wire [3*OUT_LANES*X_W-1:0] in_data,
    input  wire                       in_valid,
    output wire                       in_ready,
    output wire [OUT_LANES*OUT_W-1:0] out_data,
    output wire                       out_valid,
    input  wire                       out_ready
);
  localparam integer SF = HIDDEN / IN_LANES;
  localparam integer NG = HIDDEN / OUT_LANES;
  localparam integer NG_W = NG > 1 ? $clog2(NG) : 1;
  localparam integer AW = SF * NG > 1 ? $clog2(SF * NG) : 1;
  localparam integer ROWS = 3 * OUT_LANES;
  localparam integer YW = OUT_LANES * OUT_W;
  localparam integer FRONT = REGS - TAIL - 1;  // memory 2, product 1, tree: stages before the sum

  generate
    if (SF * IN_LANES != HIDDEN || NG * OUT_LANES != HIDDEN) begin : g_bad_lanes
      IN_LANES_and_OUT_LANES_must_divide_HIDDEN u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together.
  wire en;
  wire load, step, take, last, first, second;
  wire [NG_W-1:0] group;
  wire [AW-1:0] addr;
  assign in_ready = en && take && !second;
  op_recur_walk #(.STEPS(2 * STEPS), .SF(SF), .NG(NG), .DRAIN(REGS), .PHASES(2)) u_walk (
      .clk(clk), .rst(rst), .en(en), .valid(in_valid || second), .load(load), .step(step), .take(take), .last(last),
      .first(first), .odd(second), .group(group), .addr(addr)
  );

  wire [YW-1:0] y;
  wire y_valid;
  wire [IN_LANES*OUT_W-1:0] h;
  op_recur_state #(.HIDDEN(HIDDEN), .W(OUT_W), .IN_LANES(IN_LANES), .OUT_LANES(OUT_LANES)) u_state (
      .clk(clk), .en(en), .load(load), .zero(first), .step(step), .valid(y_valid), .y(y), .x(h)
  );
  wire [ROWS*IN_LANES*W_W-1:0] w;
  mem_rom #(
      .WIDTH(ROWS * IN_LANES * W_W), .DEPTH(SF * NG), .IMAGE(WEIGHTS), .IMAGE_SUM(WEIGHTS_SUM), .STYLE(ROM_STYLE)
  ) u_weights (
      .clk(clk), .en(en), .addr(addr), .data(w)
  );

  // Gates and flags travel with the cycles to the sums; those of n wait for the second time.
  wire [ROWS*X_W-1:0] x;
  wire [OUT_LANES*X_W-1:0] n_in, n_kept, n_x;
  wire sum_first, sum_last, sum_second;
  num_delay #(.WIDTH(ROWS * X_W), .DEPTH(FRONT)) u_x (.clk(clk), .en(en), .in(in_data), .out(x));
  num_delay #(.WIDTH(3), .DEPTH(FRONT)) u_flags (
      .clk(clk), .en(en), .in({second, take, last}), .out({sum_second, sum_first, sum_last})
  );
  mem_ram #(.WIDTH(OUT_LANES * X_W), .DEPTH(NG > 1 ? NG : 2), .STYLE("distributed"), .LATENCY(1)) u_own (
      .clk(clk), .we(en && in_valid && in_ready), .waddr(group), .wdata(n_in), .en(en), .raddr(group), .rdata(n_kept)
  );
  num_delay #(.WIDTH(OUT_LANES * X_W), .DEPTH(FRONT - 1)) u_own_x (.clk(clk), .en(en), .in(n_kept), .out(n_x));
  logic [FRONT-1:0] moving;
  logic [TAIL:0] done, ends;  // ends: of the second time
  wire sum_valid = moving[FRONT-1];
  assign y_valid = done[TAIL];
  always_ff @(posedge clk) begin
    if (en) begin
      moving <= FRONT'({moving, step});
      done   <= (TAIL + 1)'({done, sum_valid && sum_last});
      ends   <= (TAIL + 1)'({ends, sum_second});
    end
    if (rst) begin
      moving <= FRONT'(0);
      done   <= (TAIL + 1)'(0);
    end
  end

  wire [ROWS*T_W-1:0] sums;
  generate
    for (genvar p = 0; p < ROWS; p++) begin : g_row
      wire [X_W-1:0] own;
      if (p % 3 == 2) begin : g_n
        assign own = n_x[p/3*X_W+:X_W];
        assign n_in[p/3*X_W+:X_W] = in_data[p*X_W+:X_W];
      end else begin : g_gate
        assign own = x[p*X_W+:X_W];
      end
      wire signed [T_W-1:0] start = T_W'($signed({X_SIGNED != 0 && own[X_W-1], own}));
      op_linear_lane #(
          .IN_LANES(IN_LANES), .IN_W(OUT_W), .IN_SIGNED(OUT_SIGNED), .W_W(W_W), .DOT_W(T_W), .BIAS_W(T_W), .T_W(T_W),
          .SHIFT(0), .OUT_W(T_W), .OVER(2), .MULT(MULT), .TREE_PIPE(2),
          .ONE_BEAT(SF == 1 ? 1 : 0), .ROUND_PIPE(0)
      ) u_row (
          .clk(clk), .en(en), .x(h), .w(w[p*IN_LANES*W_W+:IN_LANES*W_W]), .first(sum_first), .valid(sum_valid),
          .konst(start <<< X_UP), .y(sums[p*T_W+:T_W])
      );
    end
  endgenerate
  wire unused_x = &{1'b0, x};

  // Those of the second time overwrite z, which has been read by then; r*c of the first row is zero, as is loaded.
  wire [OUT_LANES*GATE_W-1:0] z, z_next;
  wire [OUT_LANES*CELL_W-1:0] c, c_next;
  op_recur_cells #(.WIDTH(OUT_LANES * GATE_W), .NG(NG), .FRONT(FRONT), .READ(1), .WRITE(1 + LF)) u_z (
      .clk(clk), .en(en), .first(1'b0), .group(group), .write(done[1+LF]), .c_next(z_next), .c(z)
  );
  op_recur_cells #(.WIDTH(OUT_LANES * CELL_W), .NG(NG), .FRONT(FRONT), .READ(1 + LF), .WRITE(TAIL)) u_cells (
      .clk(clk), .en(en), .first(first), .group(group), .write(y_valid && ends[TAIL]), .c_next(c_next), .c(c)
  );
  generate
    for (genvar u = 0; u < OUT_LANES; u++) begin : g_unit
      op_recur_before #(
          .T_W(T_W), .SUM_F(SUM_F), .GATE_W(GATE_W), .GATE_F(GATE_F), .CELL_W(CELL_W), .CELL_F(CELL_F), .OUT_W(OUT_W),
          .OUT_F(OUT_F), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER), .SMOOTH(SMOOTH), .TANH(TANH),
          .TANH_SUM(TANH_SUM), .TANH_D(TANH_D), .TANH_V_W(TANH_V_W), .TANH_C1_W(TANH_C1_W), .TANH_C2_W(TANH_C2_W),
          .SIGMOID(SIGMOID), .SIGMOID_SUM(SIGMOID_SUM), .SIGMOID_D(SIGMOID_D), .SIGMOID_V_W(SIGMOID_V_W),
          .SIGMOID_C1_W(SIGMOID_C1_W), .SIGMOID_C2_W(SIGMOID_C2_W), .ROM_STYLE(ROM_STYLE), .MULT(MULT)
      ) u_before (
          .clk(clk), .en(en), .second(ends[TAIL]), .sums(sums[u*3*T_W+:3*T_W]), .c(c[u*CELL_W+:CELL_W]),
          .z(z[u*GATE_W+:GATE_W]), .z_next(z_next[u*GATE_W+:GATE_W]), .c_next(c_next[u*CELL_W+:CELL_W]),
          .y(y[u*OUT_W+:OUT_W])
      );
    end
  endgenerate

  wire out_room;
  assign en = out_room || !(y_valid && ends[TAIL]);
  stream_skid #(.WIDTH(YW)) u_skid (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(y_valid && ends[TAIL]), .in_ready(out_room), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
