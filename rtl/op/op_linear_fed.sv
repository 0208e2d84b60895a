// SPDX-License-Identifier: Apache-2.0
// op_linear_fed: folded matrix-vector product with bias and one requantisation; exact inside. The memory of the weights
//   stands outside: op_linear has it in a ROM.
//   y[o] = over(round((sum_j x[j] * w[o][j]) * 2^psh[o] + bias[o], SHIFT)); vectors of IN become vectors of OUT.
//   Where scales are no powers of two, y[o] = over(ZERO + round(((..) * 2^psh[o] + bias[o]) * m[o], SHIFT)).
//   SF = IN / IN_LANES beats come in, NF = OUT / OUT_LANES go out. The vector is taken while the first OUT_LANES
//   outputs are computed and replayed from a buffer for the others, so in_ready is low for SF * (NF - 1) cycles a
//   vector: a producer that spreads its beats needs a FIFO of SF beats in front.
//   A convolution is a window generator in front of this with IN = KH * KW * IC. A grouped one has GROUPS vectors a
//   window, each with weights of its own: OUT outputs a vector.
//   parameters  IN, OUT              lengths of the two vectors
//               IN_LANES, OUT_LANES  elements a beat, divisors of IN and OUT; IN_LANES * OUT_LANES multipliers
//               IN_W, IN_SIGNED      bits of x, 1: two's complement
//               W_W                  bits of a weight, two's complement
//               IN_E, IN_NAN, W_E    x and weights may be codes of floats, whose field has so many bits: see
//                                    num_mul_float; -1: signs, bits that are 1 for +1; 0: integers
//               DOT_W, T_W           bits that hold every exact sum_j x[j] * w[o][j]; and after shift and bias
//               BIAS_W, PSH_W        bits of a bias, two's complement; of psh[o], 0: no left shifts
//               M_W, ZERO            bits of m[o], unsigned, 0: no factors; zero point of the output
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               CONSTS, CONSTS_SUM, MULT, TREE_PIPE, GROUPS, SETS, SWEEPS, KEEP, OF, LONG   see op_linear
//               SF NF ROWS AW KEPT WORD CASCADES   derived, not to be set
//   w_ready: the next word of weights is there. w_step: it is used in this cycle if w_en; w_addr is its address. w_data
//   has it two cycles of w_en later. Words are used in the order of addresses, over and over; word nf * SF + sf has
//   w[nf * OUT_LANES + p][sf * IN_LANES + s] at bit (p * IN_LANES + s) * W_W; with OF > 1 see op_linear_meet.
//   latency: IN / IN_LANES + 4 + (max(IN_E, W_E) > 0 ? 1 : 0) + (OF > 1 || IN_E == 0 && W_E == 0 && IN_W +
//       W_W > 8 && (MULT == "auto" || MULT == "dsp") ? 1 : 0) + (LONG > 0 ? 4 + (CASCADES - 1) / 2 : MULT ==
//       "chain" || TREE_PIPE == 2 ? (clog2(KEPT) + 1) / 2 : clog2(KEPT)) + 2 * min(PSH_W, 1) + (M_W > 0 ? 3 : 1)
//   ii: GROUPS * (IN / IN_LANES) * (OUT / OUT_LANES)   order: elements ascending, lanes innermost
//   front: NF > 1 ? SF : 0   flow: steps(SF * NF, s < SF, s % SF == SF - 1, FRONT + TAIL + 1) + u_skid
//   let: STORE = NF > 1 && SF > 1 ? 1 : 0; LINES = (SF + 63) / 64 * ((XW + (SF > 32 ? 7 : 13)) / (SF > 32 ? 8 :
//       14)); BLOCKS = (XW + 35) / 36 * ((SF + 511) / 512); IN_BLOCK = STORE && 8 * LINES > 129 * BLOCKS ? 1 : 0
//   let: PAGES = (SF + 15) / 16; CELLS = PAGES * ((XW + 3) / 4); FEW = STORE && CELLS <= 20 * BLOCKS ? 1 : 0
//   lut: FRONT + 8 + (NF > 1 ? XW : 0) + (STORE && IN_BLOCK == 0 ? 8 * LINES : 0)
//   lut4: FRONT + (NF > 1 ? XW + 2 : 0) + FEW * (4 * CELLS + (PAGES > 1) * (XW * (2 * PAGES - 1) / 3 + PAGES))
//   ff: FRONT + TAIL + 2 + 2 * XW + (NF > 1 ? XW + 1 : 0) + (STORE && SF > 32 ? XW : 0) - (IN_BLOCK ? XW : 0)
//   bram: (LUT_IN == 4 ? STORE && FEW == 0 : IN_BLOCK) ? BLOCKS : 0
//   parts: u_walk + u_flags + u_nf + u_consts + u_meet + (SETS > 1 ? u_used : 0) + (MULT == "pack" ? OUT_LANES /
//       SHARE * u_shared : OUT_LANES * u_lane) + u_skid
`default_nettype none
module op_linear_fed #(
    parameter integer IN          = 16,
    parameter integer OUT         = 8,
    parameter integer IN_LANES    = 4,
    parameter integer OUT_LANES   = 2,
    parameter integer IN_W        = 8,
    parameter integer IN_SIGNED   = 1,
    parameter integer IN_E        = 0,
    parameter integer IN_NAN      = 0,
    parameter integer W_W         = 8,
    parameter integer W_E         = 0,
    parameter integer DOT_W       = 20,
    parameter integer BIAS_W      = 16,
    parameter integer PSH_W       = 0,
    parameter integer T_W         = 21,
    parameter integer M_W         = 0,
    parameter integer SHIFT       = 7,
    parameter integer ZERO        = 0,
    parameter integer OUT_W       = 8,
    parameter integer OUT_SIGNED  = 1,
    parameter integer ROUND       = 0,
    parameter integer OVER        = 0,
    parameter         CONSTS      = "",
    parameter [31:0]  CONSTS_SUM  = 32'd0,
    parameter         MULT        = "auto",
    parameter integer TREE_PIPE   = 1,
    parameter integer GROUPS      = 1,
    parameter integer SETS        = 1,
    parameter integer SWEEPS      = 1,
    parameter integer KEEP        = 1,
    parameter integer OF          = 1,
    parameter integer LONG        = 0,
    parameter integer SF          = IN / IN_LANES,
    parameter integer NF          = OUT / OUT_LANES,
    parameter integer ROWS        = NF * GROUPS,
    parameter integer AW          = SF * ROWS > 1 ? $clog2(SF * ROWS) : 1,
    parameter integer KEPT        = IN_LANES / OF * KEEP,
    parameter integer WORD        = OUT_LANES * KEPT * (W_W + $clog2(OF)),
    parameter integer CASCADES    = LONG > 0 ? (KEPT + LONG - 1) / LONG : 0
) (
    input  wire                              clk,
    input  wire                              rst,
    input  wire [         IN_LANES*IN_W-1:0] in_data,
    input  wire                              in_valid,
    output wire                              in_ready,
    output wire                              w_en,
    output wire                              w_step,
    output wire [                    AW-1:0] w_addr,
    input  wire                              w_ready,
    input  wire [                  WORD-1:0] w_data,
    output wire [       OUT_LANES*OUT_W-1:0] out_data,
    output wire                              out_valid,
    input  wire                              out_ready
);
  localparam integer SF_W = SF > 1 ? $clog2(SF) : 1;
  localparam integer ROW_W = ROWS > 1 ? $clog2(ROWS) : 1;
  localparam integer XW = IN_LANES * IN_W;
  localparam integer KW = M_W + PSH_W + BIAS_W;
  localparam integer SHARE = LONG == 0 && IN_W + W_W < 9 ? 4 : 2;  // lanes to a DSP where MULT is pack
  localparam integer OWN = OF > 1 ? 1 : 0;  // each lane has data of its own, behind a register
  /* verilator lint_off WIDTH */  // strings of different lengths are compared
  localparam integer CHAIN = MULT == "chain" ? 1 : 0;
  // A register more where multipliers take it in: the wire from a memory in LUTs to them is long.
  localparam integer HOLD = OWN != 0 || IN_E == 0 && W_E == 0 && IN_W + W_W > 8 &&
      (MULT == "auto" || MULT == "dsp") ? 1 : 0;
  /* verilator lint_on WIDTH */
  // Memory 2, operands HOLD, product 1 or 2, tree: stages before the sum over the beats. Of cascades see num_chain.
  localparam integer FRONT = LONG > 0 ? 7 + (CASCADES - 1) / 2 : CHAIN != 0 ? (KEPT > 4 ? 5 : KEPT > 1 ? 4 : 3) + OWN :
      3 + HOLD + (IN_E > 0 || W_E > 0 ? 1 : 0) + ($clog2(KEPT) + TREE_PIPE - 1) / TREE_PIPE;
  localparam integer REST = CHAIN != 0 ? $clog2((KEPT + 7) / 8) / 2 : 0;  // sum of cascades after it
  localparam integer WAIT = PSH_W > 0 ? FRONT - 1 + REST : FRONT - 2;  // until the constants are read
  localparam integer TAIL = REST + (PSH_W > 0 ? 2 : 0) + (M_W > 0 ? 3 : 1);  // then shift and bias; cast

  generate
    if (SF * IN_LANES != IN || NF * OUT_LANES != OUT || TREE_PIPE < 1 || TREE_PIPE > 2) begin : g_bad_lanes
      IN_LANES_must_divide_IN_and_OUT_LANES_must_divide_OUT_and_TREE_PIPE_be_1_or_2 u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together: if the last stage is empty or there is room behind.
  logic en;

  // Stage 0: which beat of the vector meets which weights.
  wire [SF_W-1:0] sf, after;
  wire [ROW_W-1:0] row, row_k;
  wire step, fresh, sf_first, sf_last;
  assign in_ready = en && fresh && w_ready;
  assign w_en = en;
  assign w_step = step;
  op_linear_walk #(.SF(SF), .NF(NF), .GROUPS(GROUPS)) u_walk (
      .clk(clk), .rst(rst), .en(en), .valid(in_valid), .ready(w_ready), .step(step), .fresh(fresh),
      .sf_first(sf_first), .sf_last(sf_last), .sf(sf), .after(after), .row(row), .addr(w_addr)
  );
  wire unused_sf = &{1'b0, sf, after};  // a vector of one beat, or one that is used once, has no store

  // Stages 1 and 2: the beat, beside the weight memory's two registers.
  logic [XW-1:0] x_new, x;
  always_ff @(posedge clk) if (en) x_new <= in_data;
  generate
    if (NF == 1) begin : g_straight
      always_ff @(posedge clk) if (en) x <= x_new;
    end else begin : g_replay
      logic [XW-1:0] x_old;
      logic fresh_q;
      if (SF == 1) begin : g_hold
        always_ff @(posedge clk) if (en && fresh) x_old <= in_data;
      end else begin : g_buffer
        (* no_rw_check *) logic [XW-1:0] store[0:SF-1];  // what is being written is not yet read
        always_ff @(posedge clk) if (en && fresh) store[sf] <= in_data;
        logic [XW-1:0] word;  // a beat ahead: of a block RAM, whose second register is x_old
        always_ff @(posedge clk) if (en && step) word <= store[after];
        always_ff @(posedge clk) if (en) x_old <= SF > 32 ? word : store[sf];
      end
      always_ff @(posedge clk)
        if (en) begin
          fresh_q <= fresh;
          x <= fresh_q ? x_new : x_old;
        end
    end
  endgenerate

  // Flags travel with the beat to the sum over the beats; the last beat of a vector makes the result.
  wire sum_valid, sum_first, sum_last;
  num_delay #(.WIDTH(2), .DEPTH(FRONT)) u_flags (
      .clk(clk), .en(en), .in({sf_first, sf_last}), .out({sum_first, sum_last})
  );
  logic [FRONT-1:0] moving;
  logic [TAIL:0] done;
  assign sum_valid = moving[FRONT-1];
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

  // Constants arrive where they are used: the sum's first beat, or the shift after the sum.
  wire [OUT_LANES*KW-1:0] konst;
  num_delay #(.WIDTH(ROW_W), .DEPTH(WAIT)) u_nf (.clk(clk), .en(en), .in(row), .out(row_k));
  wire [FRONT+TAIL:0] passed = {done, moving};
  wire read_k = passed[WAIT-1];
  wire last_k;  // the last beat of a vector: its row is used
  generate
    if (SETS > 1) begin : g_used
      num_delay #(.WIDTH(1), .DEPTH(WAIT)) u_used (.clk(clk), .en(en), .in(sf_last), .out(last_k));
    end else begin : g_always
      assign last_k = 1'b1;
    end
  endgenerate
  mem_sets #(
      .WIDTH(OUT_LANES * KW), .DEPTH(ROWS), .SETS(SETS), .SWEEPS(SWEEPS), .IMAGE(CONSTS), .IMAGE_SUM(CONSTS_SUM)
  ) u_consts (
      .clk(clk), .rst(rst), .en(en), .step(read_k && last_k), .addr(row_k), .data(konst)
  );

  wire [(OWN != 0 ? OUT_LANES : 1)*KEPT*IN_W-1:0] x_to;
  wire [OUT_LANES*KEPT*W_W-1:0] w_to;
  op_linear_meet #(
      .IN_LANES(IN_LANES), .OUT_LANES(OUT_LANES), .IN_W(IN_W), .W_W(W_W), .KEEP(KEEP), .OF(OF), .HOLD(HOLD)
  ) u_meet (
      .clk(clk), .en(en), .x(x), .w(w_data), .x_out(x_to), .w_out(w_to)
  );
  wire [OUT_LANES*OUT_W-1:0] y;
  generate
    /* verilator lint_off WIDTH */  // strings of different lengths are compared
    if (MULT == "pack") begin : g_pack
      /* verilator lint_on WIDTH */
      if (OUT_LANES % SHARE != 0 || IN_E != 0 || W_E != 0 || OWN != 0) begin : g_bad_pack
        SHARE_must_divide_OUT_LANES_and_operands_be_shared_integers_where_MULT_is_pack u_bad ();
      end
      for (genvar p = 0; p < OUT_LANES / SHARE; p++) begin : g_shared
        op_linear_shared #(
            .IN_LANES(KEPT), .IN_W(IN_W), .IN_SIGNED(IN_SIGNED), .W_W(W_W), .DOT_W(DOT_W), .BIAS_W(BIAS_W),
            .PSH_W(PSH_W), .T_W(T_W), .M_W(M_W), .SHIFT(SHIFT), .ZERO(ZERO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED),
            .ROUND(ROUND), .OVER(OVER), .TREE_PIPE(TREE_PIPE), .ONE_BEAT(SF == 1 ? 1 : 0), .LONG(LONG)
        ) u_shared (
            .clk(clk), .en(en), .x(x_to), .w(w_to[p*SHARE*KEPT*W_W+:SHARE*KEPT*W_W]), .first(sum_first),
            .valid(sum_valid), .konst(konst[p*SHARE*KW+:SHARE*KW]), .y(y[p*SHARE*OUT_W+:SHARE*OUT_W])
        );
      end
    end else begin : g_lanes
      for (genvar p = 0; p < OUT_LANES; p++) begin : g_lane
        op_linear_lane #(
            .IN_LANES(KEPT), .IN_W(IN_W), .IN_SIGNED(IN_SIGNED), .IN_E(IN_E), .IN_NAN(IN_NAN), .W_W(W_W),
            .W_E(W_E), .DOT_W(DOT_W), .BIAS_W(BIAS_W), .PSH_W(PSH_W), .T_W(T_W), .M_W(M_W), .SHIFT(SHIFT), .ZERO(ZERO),
            .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER), .MULT(MULT), .TREE_PIPE(TREE_PIPE),
            .ONE_BEAT(SF == 1 ? 1 : 0)
        ) u_lane (
            .clk(clk), .en(en), .x(x_to[p*OWN*KEPT*IN_W+:KEPT*IN_W]), .w(w_to[p*KEPT*W_W+:KEPT*W_W]),
            .first(sum_first), .valid(sum_valid), .konst(konst[p*KW+:KW]), .y(y[p*OUT_W+:OUT_W])
        );
      end
    end
  endgenerate

  wire out_room;
  wire no_room = out_valid && !out_ready && (done[TAIL] || !out_room);  // in the next cycle
  always_ff @(posedge clk) en <= rst || !no_room || !(en ? done[TAIL-1] : done[TAIL]);
  stream_skid #(.WIDTH(OUT_LANES * OUT_W)) u_skid (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(done[TAIL]), .in_ready(out_room), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
