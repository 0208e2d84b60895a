// SPDX-License-Identifier: Apache-2.0
// mem_ram: memory with one write port and one read port on one clock. The data of a read address appear LATENCY
// enabled cycles later: one register in the memory, the second behind it, neither with reset, so that both fold into
// a block RAM.
// A read of the address that is written in the same cycle gives undefined data.
//   parameters  WIDTH    bits of a word
//               DEPTH    words
//               STYLE    "auto", "block", "distributed" or "ultra"
//               LATENCY  1 or 2
//   latency: LATENCY   ii: 1   order: one word an enabled cycle
//   let: PAGES = (DEPTH + 63) / 64; LINES = (WIDTH + (DEPTH > 32 ? 6 : 13)) / (DEPTH > 32 ? 7 : 14) * PAGES;
//       PICK = PAGES > 1 ? WIDTH * ((PAGES + 2) / 4) + PAGES : 0; BYTES = (WIDTH + 8) / 9; BLOCKS = min((BYTES *
//       ((DEPTH + 511) / 512) + 3) / 4, (BYTES * ((DEPTH + 1023) / 1024) + 1) / 2, BYTES * ((DEPTH + 2047) / 2048),
//       (WIDTH + 3) / 4 * ((DEPTH + 4095) / 4096), (WIDTH + 1) / 2 * ((DEPTH + 8191) / 8192), WIDTH * ((DEPTH +
//       16383) / 16384)); ULTRA = STYLE == "ultra" ? 1 : 0; IN_BLOCK = STYLE == "block" || ULTRA == 1 ||
//       (STYLE == "auto" && 8 * LINES + PICK > 92 * BLOCKS) ? 1 : 0; FAR = (DEPTH + 4095) / 4096
//   let: SHORT = (DEPTH + 15) / 16
//   lut: ULTRA == 1 ? (FAR > 1 ? WIDTH * ((FAR + 2) / 4) + 2 : 0) : IN_BLOCK || DEPTH < 2 ? 0 : 8 * LINES + PICK
//   lut4: IN_BLOCK || DEPTH < 2 ? 0 : 4 * SHORT * ((WIDTH + 3) / 4) + (SHORT > 1 ? WIDTH * (2 * SHORT - 1) / 3 +
//       SHORT : 0)
//   ff: (IN_BLOCK ? LATENCY - 1 : LATENCY) * WIDTH
//   bram: IN_BLOCK && ULTRA == 0 ? BLOCKS : 0
//   uram: ULTRA == 1 ? min((WIDTH + 71) / 72 * FAR, (WIDTH + 35) / 36 * ((DEPTH + 8191) / 8192)) : 0
`default_nettype none
module mem_ram #(
    parameter integer WIDTH = 8,
    parameter integer DEPTH = 16,
    parameter         STYLE = "auto",
    parameter integer LATENCY = 2
) (
    input  wire                                       clk,
    input  wire                                       we,
    input  wire [(DEPTH > 1 ? $clog2(DEPTH) : 1)-1:0] waddr,
    input  wire [WIDTH-1:0]                           wdata,
    input  wire                                       en,
    input  wire [(DEPTH > 1 ? $clog2(DEPTH) : 1)-1:0] raddr,
    output wire [WIDTH-1:0]                           rdata
);
  (* ram_style = STYLE, no_rw_check *) reg [WIDTH-1:0] m[0:DEPTH-1];
  reg [WIDTH-1:0] word;

  always_ff @(posedge clk) if (we) m[waddr] <= wdata;
  always_ff @(posedge clk) if (en) word <= m[raddr];

  generate
    // verilator lint_off WIDTH
    if (STYLE != "auto" && STYLE != "block" && STYLE != "distributed" && STYLE != "ultra") begin : bad_style
      // verilator lint_on WIDTH
      STYLE_must_be_auto_block_distributed_or_ultra u ();
    end
    if (LATENCY == 1) begin : one
      assign rdata = word;
    end else if (LATENCY == 2) begin : two
      reg [WIDTH-1:0] q;
      always_ff @(posedge clk) if (en) q <= word;
      assign rdata = q;
    end else begin : bad
      LATENCY_must_be_1_or_2 u ();
    end
  endgenerate
endmodule
`default_nettype wire
