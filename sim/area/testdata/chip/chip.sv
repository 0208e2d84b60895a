// SPDX-License-Identifier: Apache-2.0
// chip: one instance of everything that a count tells apart.
`default_nettype none
module chip (
    input  wire               clk,
    input  wire        [15:0] a,
    input  wire        [15:0] b,
    output wire        [15:0] sum,
    output wire        [ 7:0] small_sums,
    output wire        [35:0] word,
    output wire signed [15:0] product,
    output wire               late,
    output wire        [ 7:0] kept
);
  chip_add #(.W(16)) wide (.clk(clk), .a(a), .b(b), .y(sum));
  generate
    for (genvar i = 0; i < 2; i = i + 1) begin : pair
      chip_pass #(.W(4)) u (.clk(clk), .a(a[4*i +: 4]), .b(b[4*i +: 4]), .y(small_sums[4*i +: 4]));
    end
  endgenerate
  chip_rom #(.IMAGE("chip.mem")) rom (.clk(clk), .addr(a[8:0]), .q(word));
  chip_mul mul (.clk(clk), .a(a[7:0]), .b(b[7:0]), .p(product));
  chip_delay delay (.clk(clk), .a(a[0]), .y(late));
  chip_ram ram (.clk(clk), .we(a[15]), .wa(a[5:0]), .ra(b[5:0]), .d(a[7:0]), .q(kept));
endmodule
`default_nettype wire
