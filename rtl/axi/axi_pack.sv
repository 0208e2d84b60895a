// SPDX-License-Identifier: Apache-2.0
// axi_pack: makes a packet for a DMA engine of each frame of a design, byte behind byte: out_keep marks the bytes of a
//   beat that are filled, of the last one fewer than all. There is a pause of a cycle behind each packet.
//   parameters  IN_BYTES   of a beat of the design
//               OUT_BYTES  of a beat of a packet
//   latency: 1   ii: 1   order: as it comes
//   flow: 0
//   lut: 6 * (IN_BYTES + OUT_BYTES) * clog2(IN_BYTES + OUT_BYTES)
//   ff: 8 * (IN_BYTES + OUT_BYTES) + clog2(IN_BYTES + OUT_BYTES + 1) + 1
`default_nettype none
module axi_pack #(
    parameter integer IN_BYTES = 5,
    parameter integer OUT_BYTES = 4
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [8*IN_BYTES-1:0]  in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    input  wire                   in_last,
    output wire [8*OUT_BYTES-1:0] out_data,
    output wire [OUT_BYTES-1:0]   out_keep,
    output wire                   out_valid,
    input  wire                   out_ready,
    output wire                   out_last
);
  function integer gcd(input integer a, input integer b);
    integer x, y, rest;
    begin
      x = a;
      y = b;
      while (y != 0) begin
        rest = x % y;
        x = y;
        y = rest;
      end
      gcd = x;
    end
  endfunction
  localparam integer UNIT = gcd(IN_BYTES, OUT_BYTES);
  localparam integer IN = IN_BYTES / UNIT, OUT = OUT_BYTES / UNIT, ALL = IN + OUT;
  localparam integer HW = $clog2(ALL + 1);
  localparam integer BITS = 8 * UNIT;

  reg [BITS*ALL-1:0] hold;  // units that wait, the first in the low bits; zeros above them
  reg [HW-1:0] have;        // how many
  reg ending;               // the last of the packet has come

  wire take = in_valid && in_ready;
  wire give = out_valid && out_ready;
  wire enough = have >= OUT[HW-1:0];
  wire [HW-1:0] left = !give ? have : enough ? have - OUT[HW-1:0] : {HW{1'b0}};
  // a beat that comes in while one leaves finds nothing else: there was one at most
  wire [BITS*ALL-1:0] beat = {{(BITS*OUT){1'b0}}, in_data};
  wire [BITS*ALL-1:0] more = give ? beat : hold | beat << (BITS * have);

  generate
    if (IN_BYTES < 1 || OUT_BYTES < 1) begin : bad
      bytes_must_be_at_least_1 u ();
    end
    for (genvar i = 0; i < OUT; i = i + 1) begin : unit
      localparam integer N = i;
      assign out_keep[UNIT*i +: UNIT] = {UNIT{have > N[HW-1:0]}};
    end
  endgenerate
  assign in_ready = !ending && have <= OUT[HW-1:0];
  assign out_valid = enough || ending;
  assign out_data = hold[8*OUT_BYTES-1:0];
  assign out_last = ending && have <= OUT[HW-1:0];

  always_ff @(posedge clk) begin
    have <= take ? left + IN[HW-1:0] : left;
    if (take && in_last) ending <= 1'b1;
    if (give && out_last) ending <= 1'b0;
    if (rst) begin
      have   <= {HW{1'b0}};
      ending <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    hold <= rst ? {(BITS*ALL){1'b0}} : take ? more : give ? hold >> (BITS * OUT) : hold;
  end
endmodule
`default_nettype wire
