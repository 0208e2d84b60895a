// SPDX-License-Identifier: Apache-2.0
// op_softmax_sum: adds up rows of numbers with 32 fraction bits and divides, or takes the logarithm: S is the sum,
//   a = bitlen(S) - 24, d = (S + 2^(a-1)) >> a, and the factor of a row floor(2^47 / d) << (9 + SPAN - a), or what
//   num_log makes of d and 9 + SPAN - a. Factors wait in a queue. All but its reader runs freely: a division takes 26
//   cycles, and rows must not follow each other in less.
//   parameters  LANES  numbers a beat
//               SPAN   floor(log2) of the numbers of a row
//               LOG    1: minus the logarithm, 29 bits
//               QUEUE  factors that may wait, a power of two
//   add: a beat of in is there; last: it is the last one of the row. whole: one more factor is there in the next cycle.
//   next: the first factor is needed no more.
//   latency: clog2(LANES) + (LOG == 0 ? 29 : 8)   ii: LOG == 0 ? 26 : 1   order: as it comes
//   lut: (SPAN < 4 ? 84 : 111 + 11 * SPAN / 5) + 6 * LOG
//   ff: 69 + SPAN + clog2(SPAN + 1) + 2 * clog2(LANES) + 6 * LOG + 2 * clog2(QUEUE)
//   parts: u_tree + (LOG == 0 ? u_recip : u_log)
`default_nettype none
module op_softmax_sum #(
    parameter integer LANES = 1,
    parameter integer SPAN  = 7,
    parameter integer LOG   = 0,
    parameter integer QUEUE = 8,
    parameter integer F_W   = LOG != 0 ? 29 : 25 + SPAN
) (
    input  wire                clk,
    input  wire                rst,
    input  wire [33*LANES-1:0] in,
    input  wire                add,
    input  wire                last,
    output wire                whole,
    input  wire                next,
    output wire [     F_W-1:0] factor
);
  localparam integer TREE = $clog2(LANES);
  localparam integer S_W = 33 + SPAN;
  localparam integer L_W = SPAN > 0 ? $clog2(SPAN + 1) : 1;

  wire [33+$clog2(LANES)-1:0] beat;
  num_add_tree #(.N(LANES), .IN_W(33), .IN_SIGNED(0), .PIPE(1)) u_tree (.clk(clk), .en(1'b1), .in(in), .out(beat));
  wire unused_beat = &{1'b0, beat};  // a sum of less than a power of two needs no bit more
  wire add_q, last_q;
  generate
    if (TREE == 0) begin : g_direct
      assign {add_q, last_q} = {add, last};
    end else begin : g_wait
      logic [TREE-1:0] adding, ending;
      always_ff @(posedge clk) begin
        adding <= TREE'({adding, add});
        ending <= TREE'({ending, last});
        if (rst) adding <= TREE'(0);
      end
      assign {add_q, last_q} = {adding[TREE-1], ending[TREE-1]};
    end
  endgenerate

  // The sum stands for one cycle: beats of the next row may follow.
  logic [S_W-1:0] sum;
  logic first, summed;
  always_ff @(posedge clk) begin
    if (add_q) sum <= (first ? S_W'(0) : sum) + S_W'(beat);
    if (add_q) first <= last_q;
    summed <= add_q && last_q;
    if (rst) begin
      first  <= 1'b1;
      summed <= 1'b0;
    end
  end

  // Shifted right by 8 and the place of the leading one, of which the last two bits follow a cycle later.
  logic [L_W-1:0] lead;
  always_comb begin
    lead = L_W'(0);
    for (int i = 1; i <= SPAN; i++) if (sum[32+i]) lead = L_W'(i);
  end
  wire [S_W-9:0] far = sum[S_W-1:8] >> {lead >> 2, 2'd0};
  logic [27:0] part;
  logic [1:0] near;
  logic [L_W-1:0] shift;
  logic divide;
  always_ff @(posedge clk) begin
    part <= 28'(far);
    near <= 2'(lead);
    shift <= L_W'(SPAN) - lead;
    divide <= summed && !rst;
  end
  wire [27:0] d = part >> near;
  wire unused = &{1'b0, far, d[27:25], sum[7:0]};  // nothing is there above the leading one

  wire [F_W-1:0] result;
  generate
    if (LOG == 0) begin : g_divide
      wire idle;  // always
      num_recip #(.SPAN(SPAN)) u_recip (
          .clk(clk), .rst(rst), .in_data({shift, d[0], d[24:1]}), .in_valid(divide), .in_ready(idle), .out_data(result),
          .out_valid(whole), .out_ready(1'b1)
      );
      wire unused_idle = idle;
    end else begin : g_log
      logic [4:0] on;  // registers of the logarithm
      assign whole = on[4];
      num_log #(.SPAN(SPAN)) u_log (.clk(clk), .en(1'b1), .in({shift, d[0], d[24:1]}), .out(result));
      always_ff @(posedge clk) on <= rst ? 5'd0 : {on[3:0], divide};
    end
  endgenerate

  localparam integer Q_W = $clog2(QUEUE);
  (* ram_style = "distributed" *) logic [F_W-1:0] queue[0:QUEUE-1];
  logic [Q_W-1:0] head, tail;
  always_ff @(posedge clk) if (whole) queue[tail] <= result;
  assign factor = queue[head];
  always_ff @(posedge clk) begin
    if (whole) tail <= tail + Q_W'(1);
    if (next) head <= head + Q_W'(1);
    if (rst) {head, tail} <= {2 * Q_W{1'b0}};
  end
endmodule
`default_nettype wire
