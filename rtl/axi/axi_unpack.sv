// SPDX-License-Identifier: Apache-2.0
// axi_unpack: makes a frame of BEATS beats of each packet of a DMA engine: the bytes that in_keep marks, one beat
//   behind the other. Where a packet ends early, zeros complete its frame; what it has behind the frame is dropped.
//   At each such beat wrong is high, and the next packet begins with a frame in any case. Bytes are kept from the first
//   of a beat on; a beat with gaps, or whose end lies inside a unit of gcd(IN_BYTES, OUT_BYTES) bytes, is wrong, too.
//   parameters  IN_BYTES   of a beat of a packet
//               OUT_BYTES  of a beat of the design
//               BEATS      of a frame
//   latency: 1   ii: 1   order: as it comes
//   flow: 0
//   lut: 6 * (IN_BYTES + OUT_BYTES) * clog2(IN_BYTES + OUT_BYTES) + 100
//   ff: 8 * (IN_BYTES + OUT_BYTES) + clog2(IN_BYTES + OUT_BYTES + 1) + clog2(BEATS) + 3
`default_nettype none
module axi_unpack #(
    parameter integer IN_BYTES = 4,
    parameter integer OUT_BYTES = 1,
    parameter integer BEATS = 64
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [8*IN_BYTES-1:0]  in_data,
    input  wire [IN_BYTES-1:0]    in_keep,
    input  wire                   in_valid,
    output wire                   in_ready,
    input  wire                   in_last,
    output wire [8*OUT_BYTES-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready,
    output wire                   out_last,
    output reg                    wrong
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
  localparam integer HW = $clog2(ALL + 1), BW = BEATS > 1 ? $clog2(BEATS) : 1, LAST = BEATS - 1;
  localparam integer BITS = 8 * UNIT;
  localparam [IN_BYTES-1:0] ONES = ~({IN_BYTES{1'b1}} << UNIT);

  reg [BITS*ALL-1:0] hold;  // units that wait, the first in the low bits; zeros above them
  reg [HW-1:0] have;        // how many
  reg ending;               // the last of the packet has come
  reg spill;                // its frame is complete, and its end has not come
  reg [BW-1:0] at;

  wire take = in_valid && in_ready;
  wire give = out_valid && out_ready;
  wire enough = have >= OUT[HW-1:0];
  wire done = give && out_last;

  // units of the beat, and whether just these are kept as a whole
  reg [HW-1:0] count;
  reg [IN_BYTES-1:0] full;
  wire [8*IN_BYTES-1:0] kept;
  generate
    if (BEATS < 1 || IN_BYTES < 1 || OUT_BYTES < 1) begin : bad
      BEATS_and_bytes_must_be_at_least_1 u ();
    end
    for (genvar b = 0; b < IN_BYTES; b = b + 1) begin : mask
      assign kept[8*b +: 8] = in_keep[b] ? in_data[8*b +: 8] : 8'd0;
    end
  endgenerate

  always_comb begin
    count = {HW{1'b0}};
    full  = {IN_BYTES{1'b0}};
    for (int i = 0; i < IN; i = i + 1) begin
      if (|(in_keep >> (UNIT * i) & ONES)) begin
        count = HW'(i + 1);
        full  = ~({IN_BYTES{1'b1}} << (UNIT * (i + 1)));
      end
    end
  end

  wire some = count != {HW{1'b0}};
  wire torn = in_keep != full;
  wire [HW-1:0] left = !give ? have : enough ? have - OUT[HW-1:0] : {HW{1'b0}};
  // a beat that comes in while one leaves finds nothing else: there was one at most
  wire [BITS*ALL-1:0] beat = {{(BITS*OUT){1'b0}}, kept};
  wire [BITS*ALL-1:0] more = give ? beat : hold | beat << (BITS * have);

  assign in_ready = !rst && !ending && (spill || have <= OUT[HW-1:0]);
  assign out_valid = !spill && (enough || ending);
  assign out_data = hold[8*OUT_BYTES-1:0];
  assign out_last = at == LAST[BW-1:0];

  always_ff @(posedge clk) begin
    wrong <= take && some && (torn || spill || done) || give && !enough || done && left != {HW{1'b0}};
    if (done) begin  // what is left, and what comes now, is behind the frame
      have   <= {HW{1'b0}};
      ending <= 1'b0;
      spill  <= !ending && !(take && in_last);
    end else if (spill) begin
      if (take && in_last) spill <= 1'b0;
    end else begin
      have <= take ? left + count : left;
      if (take && in_last) ending <= 1'b1;
    end
    if (give) at <= out_last ? {BW{1'b0}} : at + 1'b1;
    if (rst) begin
      have   <= {HW{1'b0}};
      ending <= 1'b0;
      spill  <= 1'b0;
      at     <= {BW{1'b0}};
      wrong  <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    hold <= done || rst ? {(BITS*ALL){1'b0}} : take && !spill ? more : give ? hold >> (BITS * OUT) : hold;
  end
endmodule
`default_nettype wire
