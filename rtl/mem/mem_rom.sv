// SPDX-License-Identifier: Apache-2.0
// mem_rom: read-only memory, loaded from a file in $readmemh form. The data of an address appear two enabled cycles
// later, through two registers without reset: in and behind a block RAM, which takes both, or at the address and the
// data of LUTs.
// A missing, short or wrong file ends the simulation at the first clock edge: the words, cut into 32-bit limbs, must
// add up to IMAGE_SUM modulo 2^32.
//   parameters  WIDTH      bits of a word
//               DEPTH      words
//               IMAGE      file name; empty only where nothing is read
//               IMAGE_SUM  checksum of the file
//               STYLE      "auto", "block" or "distributed"
//   latency: 2   ii: 1   order: one word an enabled cycle
//   let: IN_BLOCKS = DEPTH > 1 && (STYLE == "block" || (STYLE == "auto" && MANY))
//   lut: DEPTH <= 2 || IN_BLOCKS ? 0 : DEPTH <= 3 ? min(WIDTH, 4) : DEPTH <= 4 ? min(WIDTH, 10) : DEPTH <= 8 ?
//       (WIDTH > 254 ? 160 : WIDTH - WIDTH * WIDTH / 508) : DEPTH <= 64 ? WIDTH : DEPTH <= 128 ? WIDTH * (DEPTH +
//       64) / 60 : WIDTH * DEPTH / 40
//   lut4: DEPTH <= 2 || IN_BLOCKS ? 0 : DEPTH <= 3 ? min(WIDTH, 6) : DEPTH <= 4 ? min(WIDTH, 11) : DEPTH <= 8 ?
//       min(WIDTH, 100) : DEPTH <= 16 ? WIDTH : WIDTH * DEPTH / (DEPTH <= 32 ? 12 : DEPTH <= 64 ? 10 : 9)
//   ff: DEPTH <= 1 ? 0 : IN_BLOCKS ? WIDTH : clog2(DEPTH) + (DEPTH <= 2 ? min(2, WIDTH) : DEPTH <= 3 ? min(6, WIDTH) :
//       DEPTH <= 4 ? min(14, WIDTH) : DEPTH <= 8 ? (WIDTH > 254 ? 160 : WIDTH - WIDTH * WIDTH / 508) : WIDTH)
//   bram: IN_BLOCKS ? BLOCKS : 0
`default_nettype none
module mem_rom #(
    parameter integer WIDTH = 8,
    parameter integer DEPTH = 16,
    parameter         IMAGE = "",
    parameter [31:0]  IMAGE_SUM = 32'd0,
    parameter         STYLE = "auto"
) (
    input  wire                                       clk,
    input  wire                                       en,
    input  wire [(DEPTH > 1 ? $clog2(DEPTH) : 1)-1:0] addr,
    output reg  [WIDTH-1:0]                           data
);
  // Blocks of 18 Kbit; so many bits that these cost less than LUTs, which is how Yosys decides.
  localparam integer AW = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam integer B36 = (WIDTH + 35) / 36 * ((DEPTH + 511) / 512);
  localparam integer B18 = (WIDTH + 17) / 18 * ((DEPTH + 1023) / 1024);
  localparam integer B9 = (WIDTH + 8) / 9 * ((DEPTH + 2047) / 2048);
  localparam integer B4 = (WIDTH + 3) / 4 * ((DEPTH + 4095) / 4096);
  localparam integer B_WIDE = B36 < B18 ? B36 : B18;
  localparam integer B_NARROW = B9 < B4 ? B9 : B4;
  localparam integer BLOCKS = B_WIDE < B_NARROW ? B_WIDE : B_NARROW;
  localparam integer MANY = WIDTH * DEPTH > 64 * 129 * BLOCKS ? 1 : 0;
  /* verilator lint_off WIDTH */  // strings of different lengths are compared
  localparam integer IN_BLOCKS = STYLE == "block" || (STYLE == "auto" && MANY != 0) ? 1 : 0;
  /* verilator lint_on WIDTH */

`ifdef YOSYS  // whose name for a memory made of LUTs is logic: else every family would choose by its own rule
  (* rom_style = IN_BLOCKS ? "block" : "logic" *)
`else
  (* rom_style = STYLE *)
`endif
  reg [WIDTH-1:0] m[0:DEPTH-1];

  initial if (IMAGE != "") $readmemh(IMAGE, m);

  generate
    if (IN_BLOCKS != 0) begin : g_block
      reg [WIDTH-1:0] word;
      always_ff @(posedge clk)
        if (en) begin
          word <= m[addr];
          data <= word;
        end
    end else begin : g_logic
      reg [AW-1:0] at;
      always_ff @(posedge clk)
        if (en) begin
          at   <= addr;
          data <= m[at];
        end
    end
    // verilator lint_off WIDTH
    if (STYLE != "auto" && STYLE != "block" && STYLE != "distributed") begin : bad
      // verilator lint_on WIDTH
      STYLE_must_be_auto_block_or_distributed u ();
    end
  endgenerate

`ifndef SYNTHESIS
  localparam integer LIMBS = (WIDTH + 31) / 32;
  reg checked = 1'b0;

  function [31:0] limbs(input [32*LIMBS-1:0] value);
    integer j;
    begin
      limbs = 32'd0;
      for (j = 0; j < LIMBS; j = j + 1) limbs = limbs + value[32*j+:32];
    end
  endfunction

  function [31:0] checksum(input [31:0] start);
    integer i;
    begin
      checksum = start;
      for (i = 0; i < DEPTH; i = i + 1) checksum = checksum + limbs((32 * LIMBS)'(m[i]));
    end
  endfunction

  // Nested, since a simulator may evaluate both sides of && and so add up the memory in every cycle.
  always @(posedge clk)
    if (!checked) begin
      checked <= 1'b1;
      if (IMAGE != "" && checksum(0) !== IMAGE_SUM)
        $fatal(1, "%m: memory image %0s has checksum %h, not %h", IMAGE, checksum(0), IMAGE_SUM);
    end
`endif
endmodule
`default_nettype wire
