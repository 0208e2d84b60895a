// SPDX-License-Identifier: Apache-2.0
// mem_sets: a memory of several sets of words, of which one is read at a time: the weights of layers that share a unit.
//   Addresses are those within a set. A sweep ends where the last word is used; after SWEEPS sweeps, which are a frame,
//   the next set is read, after the last one the first. The data of an address appear two enabled cycles later.
//   parameters  WIDTH      bits of a word
//               DEPTH      words of a set
//               SETS       number of sets, 1: the memory alone
//               SWEEPS     how often a set is read from its first word to its last
//               IMAGE      file name; the sets one after the other
//               IMAGE_SUM  checksum of the file
//               STYLE      "auto", "block" or "distributed"
//   step: the word at addr is used, and the next use is of another one. Cycles without it may read what they like.
//   latency: 2   ii: 1   order: one word an enabled cycle
//   let: AW = clog2(SETS * DEPTH)
//   lut: SETS > 1 ? 2 * AW + 2 * (SWEEPS > 1 ? clog2(SWEEPS) : 0) + 4 : 0
//   ff: SETS > 1 ? AW + (SWEEPS > 1 ? clog2(SWEEPS) : 0) : 0
//   parts: u_rom
`default_nettype none
module mem_sets #(
    parameter integer WIDTH = 8,
    parameter integer DEPTH = 16,
    parameter integer SETS = 1,
    parameter integer SWEEPS = 1,
    parameter         IMAGE = "",
    parameter [31:0]  IMAGE_SUM = 32'd0,
    parameter         STYLE = "auto",
    parameter integer DW = DEPTH > 1 ? $clog2(DEPTH) : 1
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             en,
    input  wire             step,
    input  wire [   DW-1:0] addr,
    output wire [WIDTH-1:0] data
);
  localparam integer AW = SETS * DEPTH > 1 ? $clog2(SETS * DEPTH) : 1;
  localparam integer SW = SWEEPS > 1 ? $clog2(SWEEPS) : 1;
  wire [AW-1:0] at;

  generate
    if (SETS < 1 || SWEEPS < 1) begin : g_bad
      SETS_and_SWEEPS_must_be_at_least_1 u_bad ();
    end
    if (SETS == 1) begin : g_one
      assign at = addr;
      wire unused = &{1'b0, rst, step};
    end else begin : g_sets
      logic [AW-1:0] base;  // of the set
      logic [SW-1:0] sweep;
      wire ends = en && step && (DEPTH == 1 || addr == DW'(DEPTH - 1));
      wire last = sweep == SW'(SWEEPS - 1);
      always_ff @(posedge clk) begin
        if (ends) sweep <= last ? SW'(0) : sweep + SW'(1);
        if (ends && last) base <= base == AW'((SETS - 1) * DEPTH) ? AW'(0) : base + AW'(DEPTH);
        if (rst) begin
          sweep <= SW'(0);
          base  <= AW'(0);
        end
      end
      assign at = DEPTH == 1 ? base : base + AW'(addr);
      wire unused = &{1'b0, addr};  // of one word there is no address
    end
  endgenerate

  mem_rom #(
      .WIDTH(WIDTH), .DEPTH(SETS * DEPTH), .IMAGE(IMAGE), .IMAGE_SUM(IMAGE_SUM), .STYLE(STYLE)
  ) u_rom (
      .clk(clk), .en(en), .addr(at), .data(data)
  );
endmodule
`default_nettype wire
