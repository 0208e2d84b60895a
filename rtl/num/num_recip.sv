// SPDX-License-Identifier: Apache-2.0
// num_recip: floor(2^47 / d) << shift, for d = x + up in 2^23 .. 2^24. One division at a time, without restoring:
//   the quotient has a bit of 1 wherever the remainder after a step is not negative. A pointer says where the next bit
//   goes, so that the shift costs no cycle.
//   parameters  SPAN  the greatest shift
//               S_W   bits of the shift
//   in_data: {shift, up, x}, x of 24 bits, up of one
//   latency: 26   ii: 26   order: as it comes
//   flow: steps(26, s == 0, s == 25, 1)
//   lut: SPAN + 57
//   ff: 2 * SPAN + 107
`default_nettype none
module num_recip #(
    parameter integer SPAN = 8,
    parameter integer S_W  = SPAN > 0 ? $clog2(SPAN + 1) : 1
) (
    input  wire              clk,
    input  wire              rst,
    input  wire [S_W+25-1:0] in_data,
    input  wire              in_valid,
    output wire              in_ready,
    output reg  [ 24+SPAN:0] out_data,
    output reg               out_valid,
    input  wire              out_ready
);
  localparam integer STEPS = 25;

  logic [4:0] count;  // of steps
  logic busy;
  assign in_ready = !busy && (!out_valid || out_ready);
  wire start = in_valid && in_ready;
  wire last = count == 5'(STEPS - 1);
  always_ff @(posedge clk) begin
    if (start) busy <= 1'b1;
    else if (last) busy <= 1'b0;
    count <= busy && !last ? count + 5'd1 : 5'd0;
    if (busy && last) out_valid <= 1'b1;
    else if (out_ready) out_valid <= 1'b0;
    if (rst) begin
      busy <= 1'b0;
      count <= 5'd0;
      out_valid <= 1'b0;
    end
  end

  // A step: twice the remainder, less d, or more d where it is negative.
  logic [23:0] x;
  logic up;
  logic [24:0] rem;
  wire neg = rem[24];
  wire [24:0] next = {rem[23:0], neg == up} + ({25{!neg}} ^ {1'b0, x});
  logic [24+SPAN:0] place;  // of the bit that this step gives
  always_ff @(posedge clk) begin
    if (start) {up, x} <= in_data[24:0];
    rem <= start ? 25'h400000 : next;
    if (start || last) place[23:0] <= 24'd0;
    else place[23:0] <= place[24:1];
    place[24+SPAN:24] <= start ? (SPAN + 1)'(1) << in_data[25+:S_W] : place[24+SPAN:24] >> 1;
  end
  generate
    for (genvar i = 0; i < 25 + SPAN; i++) begin : g_bit
      always_ff @(posedge clk) begin
        if (start) out_data[i] <= 1'b0;
        else if (place[i]) out_data[i] <= !next[24];
      end
    end
  endgenerate
endmodule
`default_nettype wire
