// SPDX-License-Identifier: Apache-2.0
// op_recur: a recurrent layer with its state: LSTM, GRU or RNN. Rows of G gates a hidden unit come in, states go out.
//   sums = x[t] + r*h, exact, are what op_recur_lstm, _gru or _rnn makes c and h of; h is the result y[t]. In a GRU the
//   sum of the third gate has BIAS in place of x. A frame begins with states of zeros, or with those of START.
//   A row takes 1 cycle to load h, SF = HIDDEN / IN_LANES cycles for each of NG = HIDDEN / OUT_LANES groups of units,
//   and REGS cycles until the h of the last group is there, which the next row needs.
//   parameters  KIND, RELU           0: LSTM (G = 4: i, f, g, o), 1: GRU (G = 3: z, r, n), 2: RNN (G = 1); its function
//               STEPS, HIDDEN        rows of a frame, hidden units
//               IN_LANES             elements of h that meet weights at once
//               OUT_LANES            hidden units a beat; a beat in has their G * OUT_LANES gates, unit after unit
//               X_W, X_SIGNED, X_UP  bits of x, 1: two's complement; places that x goes left to become a summand
//               W_W                  bits of a weight, two's complement
//               T_W, SUM_F           bits that hold every sum, its fraction bits
//               GATE_W, GATE_F, CELL_W, CELL_F   what functions read, and the state of LSTM and GRU
//               OUT_W, OUT_F, OUT_SIGNED, ROUND, OVER   h, see num_requant
//               SMOOTH, TANH, TANH_SUM, TANH_D, TANH_V_W, TANH_C1_W, TANH_C2_W,
//               SIGMOID, SIGMOID_SUM, SIGMOID_D, SIGMOID_V_W, SIGMOID_C1_W, SIGMOID_C2_W   see op_recur_curve
//               WEIGHTS, WEIGHTS_SUM image: word group * SF + fold; weight of row p of the group and element s of the
//                                    fold at bit (p * IN_LANES + s) * W_W
//               BIAS, BIAS_SUM, BIAS_W   image: word group, a bias a unit, each of so many bits (GRU)
//               CELLS                1: rows are h and c of each unit, both in the format of c (LSTM)
//               STARTS               1: a frame begins with the states of START, 0: of zeros
//               START, START_SUM     image: one word, h of all units
//               START_C, START_C_SUM image: word group, c of its units (LSTM, GRU)
//               ROM_STYLE            "auto", "block" or "distributed": memory of weights and tables
//               MULT                 "auto", "dsp" or "lut", see num_mul
//               G, LF, TAIL, REGS    gates; stages of functions, of units, of all
//   latency: HIDDEN / IN_LANES + REGS   ii: STEPS * (HIDDEN / IN_LANES * (HIDDEN / OUT_LANES) + REGS + 1)
//   order: units ascending, lanes innermost, row after row
//   flow: steps(STEPS * PERIOD, BUSY && M % SF == 0, BUSY && M % SF == SF - 1, REGS) + u_skid
//   let: PERIOD = SF * NG + REGS + 1; M = s % PERIOD; BUSY = M < SF * NG ? 1 : 0
//   lut: 3
//   ff: FRONT + 1 + TAIL
//   parts: u_walk + u_state + u_weights + u_x + u_flags + G * OUT_LANES * u_row + (KIND == 1 ? u_own + u_row_group +
//       u_bias : 0) + u_units + u_skid
`default_nettype none
module op_recur #(
    parameter integer KIND         = 0,
    parameter integer RELU         = 0,
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
    parameter         BIAS         = "",
    parameter [31:0]  BIAS_SUM     = 32'd0,
    parameter integer BIAS_W       = 8,
    parameter integer CELLS        = 0,
    parameter integer STARTS       = 0,
    parameter         START        = "",
    parameter [31:0]  START_SUM    = 32'd0,
    parameter         START_C      = "",
    parameter [31:0]  START_C_SUM  = 32'd0,
    parameter         ROM_STYLE    = "auto",
    parameter         MULT         = "auto",
    parameter integer G            = KIND == 0 ? 4 : KIND == 1 ? 3 : 1,
    parameter integer LF           = SMOOTH != 0 ? 7 : 2,
    parameter integer TAIL         = KIND == 0 ? 6 + 2 * LF : KIND == 1 ? 8 + 2 * LF : RELU != 0 ? 1 : 1 + LF,
    parameter integer REGS         = 4 + ($clog2(IN_LANES) + 1) / 2 + TAIL
) (
    input  wire                       clk,
    input  wire                       rst,
    input  wire [G*OUT_LANES*X_W-1:0] in_data,
    input  wire                       in_valid,
    output wire                       in_ready,
    output wire [OUT_LANES*(CELLS != 0 ? 2*CELL_W : OUT_W)-1:0] out_data,
    output wire                       out_valid,
    input  wire                       out_ready
);
  localparam integer SF = HIDDEN / IN_LANES;
  localparam integer NG = HIDDEN / OUT_LANES;
  localparam integer NG_W = NG > 1 ? $clog2(NG) : 1;
  localparam integer AW = SF * NG > 1 ? $clog2(SF * NG) : 1;
  localparam integer ROWS = G * OUT_LANES;
  localparam integer YW = OUT_LANES * OUT_W;
  localparam integer SHOWN_W = CELLS != 0 ? 2 * OUT_LANES * CELL_W : YW;
  localparam integer FRONT = REGS - TAIL - 1;  // memory 2, product 1, tree: stages before the sum

  generate
    if (SF * IN_LANES != HIDDEN || NG * OUT_LANES != HIDDEN) begin : g_bad_lanes
      IN_LANES_and_OUT_LANES_must_divide_HIDDEN u_bad ();
    end
    if (KIND < 0 || KIND > 2 || (RELU != 0 && KIND != 2)) begin : g_bad_kind
      KIND_must_be_0_to_2_and_RELU_is_for_2 u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together.
  wire en;
  wire load, step, take, last, first, odd;
  wire unused_odd = &{1'b0, odd};
  wire [NG_W-1:0] group;
  wire [AW-1:0] addr;
  assign in_ready = en && take;
  op_recur_walk #(.STEPS(STEPS), .SF(SF), .NG(NG), .DRAIN(REGS), .AHEAD(STARTS)) u_walk (
      .clk(clk), .rst(rst), .en(en), .valid(in_valid), .load(load), .step(step), .take(take), .last(last),
      .first(first), .odd(odd), .group(group), .addr(addr)
  );

  wire [YW-1:0] y;
  wire [SHOWN_W-1:0] shown;
  wire y_valid;
  wire [IN_LANES*OUT_W-1:0] h;
  op_recur_state #(
      .HIDDEN(HIDDEN), .W(OUT_W), .IN_LANES(IN_LANES), .OUT_LANES(OUT_LANES),
      .STARTS(STARTS), .START(START), .START_SUM(START_SUM)
  ) u_state (
      .clk(clk), .en(en), .load(load), .zero(first), .step(step), .valid(y_valid), .y(y), .x(h)
  );
  wire [ROWS*IN_LANES*W_W-1:0] w;
  mem_rom #(
      .WIDTH(ROWS * IN_LANES * W_W), .DEPTH(SF * NG), .IMAGE(WEIGHTS), .IMAGE_SUM(WEIGHTS_SUM), .STYLE(ROM_STYLE)
  ) u_weights (
      .clk(clk), .en(en), .addr(addr), .data(w)
  );

  // Gates and flags travel with the cycles to the sums; the last cycle of a group makes its results.
  wire [ROWS*X_W-1:0] x;
  wire sum_first, sum_last;
  num_delay #(.WIDTH(ROWS * X_W), .DEPTH(FRONT)) u_x (.clk(clk), .en(en), .in(in_data), .out(x));
  num_delay #(.WIDTH(2), .DEPTH(FRONT)) u_flags (
      .clk(clk), .en(en), .in({take, last}), .out({sum_first, sum_last})
  );
  logic [FRONT-1:0] moving;
  logic [TAIL:0] done;
  wire sum_valid = moving[FRONT-1];
  assign y_valid = done[TAIL];
  always_ff @(posedge clk) begin
    if (en) begin
      moving <= FRONT'({moving, step});
      done   <= (TAIL + 1)'({done, sum_valid && sum_last});
    end
    if (rst) begin
      moving <= FRONT'(0);
      done   <= (TAIL + 1)'(0);
    end
  end

  wire [ROWS*T_W-1:0] sums, starts;  // what sums begin with
  generate
    for (genvar p = 0; p < ROWS; p++) begin : g_row
      op_linear_lane #(
          .IN_LANES(IN_LANES), .IN_W(OUT_W), .IN_SIGNED(OUT_SIGNED), .W_W(W_W), .DOT_W(T_W), .BIAS_W(T_W), .T_W(T_W),
          .SHIFT(0), .OUT_W(T_W), .OVER(2), .MULT(MULT), .TREE_PIPE(2),
          .ONE_BEAT(SF == 1 ? 1 : 0), .ROUND_PIPE(0)
      ) u_row (
          .clk(clk), .en(en), .x(h), .w(w[p*IN_LANES*W_W+:IN_LANES*W_W]), .first(sum_first), .valid(sum_valid),
          .konst(starts[p*T_W+:T_W]), .y(sums[p*T_W+:T_W])
      );
      if (KIND != 1 || p % 3 != 2) begin : g_gate
        wire signed [T_W-1:0] x_s = T_W'($signed({X_SIGNED != 0 && x[p*X_W+X_W-1], x[p*X_W+:X_W]}));
        assign starts[p*T_W+:T_W] = x_s <<< X_UP;
      end
    end
  endgenerate

  // What the candidate of a GRU adds: the bias, beside the first cycle of a group, and x, beside its sum.
  wire [OUT_LANES*X_W-1:0] own;
  generate
    if (KIND == 1) begin : g_candidate
      wire [NG_W-1:0] row_group;
      wire [OUT_LANES*BIAS_W-1:0] bias;
      wire [OUT_LANES*X_W-1:0] own_x;
      num_delay #(.WIDTH(NG_W), .DEPTH(FRONT - 2)) u_row_group (.clk(clk), .en(en), .in(group), .out(row_group));
      mem_rom #(
          .WIDTH(OUT_LANES * BIAS_W), .DEPTH(NG), .IMAGE(BIAS), .IMAGE_SUM(BIAS_SUM), .STYLE("auto")
      ) u_bias (
          .clk(clk), .en(en), .addr(row_group), .data(bias)
      );
      num_delay #(.WIDTH(OUT_LANES * X_W), .DEPTH(SF)) u_own (.clk(clk), .en(en), .in(own_x), .out(own));
      for (genvar u = 0; u < OUT_LANES; u++) begin : g_bias
        wire signed [BIAS_W-1:0] bias_s = bias[u*BIAS_W+:BIAS_W];
        assign starts[(3*u+2)*T_W+:T_W] = T_W'(bias_s);
        assign own_x[u*X_W+:X_W] = x[(3*u+2)*X_W+:X_W];
      end
    end else begin : g_no_candidate
      assign own = {OUT_LANES * X_W{1'b0}};
    end
  endgenerate

  op_recur_units #(
      .KIND(KIND), .RELU(RELU), .HIDDEN(HIDDEN), .OUT_LANES(OUT_LANES), .FRONT(FRONT), .X_W(X_W), .X_SIGNED(X_SIGNED),
      .X_UP(X_UP), .T_W(T_W), .SUM_F(SUM_F), .GATE_W(GATE_W), .GATE_F(GATE_F), .CELL_W(CELL_W), .CELL_F(CELL_F),
      .OUT_W(OUT_W), .OUT_F(OUT_F), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER), .SMOOTH(SMOOTH), .TANH(TANH),
      .TANH_SUM(TANH_SUM), .TANH_D(TANH_D), .TANH_V_W(TANH_V_W), .TANH_C1_W(TANH_C1_W), .TANH_C2_W(TANH_C2_W),
      .SIGMOID(SIGMOID), .SIGMOID_SUM(SIGMOID_SUM), .SIGMOID_D(SIGMOID_D), .SIGMOID_V_W(SIGMOID_V_W),
      .SIGMOID_C1_W(SIGMOID_C1_W), .SIGMOID_C2_W(SIGMOID_C2_W), .CELLS(CELLS), .STARTS(STARTS),
      .START_C(START_C), .START_C_SUM(START_C_SUM), .ROM_STYLE(ROM_STYLE), .MULT(MULT)
  ) u_units (
      .clk(clk), .en(en), .first(first), .group(group), .done(done), .sums(sums), .own(own), .y(y), .shown(shown)
  );

  wire out_room;
  assign en = out_room || !y_valid;
  stream_skid #(.WIDTH(SHOWN_W)) u_skid (
      .clk(clk), .rst(rst), .in_data(shown), .in_valid(y_valid), .in_ready(out_room), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
