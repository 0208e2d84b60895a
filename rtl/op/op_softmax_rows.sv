// SPDX-License-Identifier: Apache-2.0
// op_softmax_rows: beats of rows that are read when the row is whole.
//   parameters  WIDTH    bits of a beat
//               DEPTH    beats that it holds, a power of two
//               BEATS    beats of a row
//               LATENCY  of the memory, 1 or 2 enabled cycles
//   whole: one more row may be read. read: a beat is read in this cycle, if en.
//   latency: LATENCY   ii: 1   order: as it comes
//   flow: memory(DEPTH, BEATS, BEATS, BEATS, s, LATENCY)
//   lut: clog2(DEPTH) + 5
//   ff: 3 * clog2(DEPTH) + 4
//   parts: DEPTH > 64 ? u_block : u_lines
`default_nettype none
module op_softmax_rows #(
    parameter integer WIDTH   = 9,
    parameter integer DEPTH   = 16,
    parameter integer BEATS   = 12,
    parameter integer LATENCY = 1
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] in_data,
    input  wire             write,
    output wire             room,
    input  wire             whole,
    input  wire             en,
    output wire             read,
    output wire [WIDTH-1:0] out_data
);
  localparam integer AW = $clog2(DEPTH);

  generate
    if (DEPTH != 1 << AW || AW < 1 || BEATS > DEPTH) begin : g_bad
      DEPTH_must_be_a_power_of_two_and_hold_a_row u_bad ();
    end
  endgenerate

  // Counters of beats with one bit more than the addresses: written, read, and those of whole rows.
  logic [AW:0] written, taken, ready;
  logic full;
  wire [AW:0] next = written + (AW + 1)'(1);
  wire take = read && en;
  assign room = !full;
  assign read = ready != taken;
  always_ff @(posedge clk) begin
    if (write) written <= next;
    if (take) taken <= taken + (AW + 1)'(1);
    if (write != take) full <= write && next == {!taken[AW], taken[AW-1:0]};
    if (whole) ready <= ready + (AW + 1)'(BEATS);
    if (rst) begin
      written <= (AW + 1)'(0);
      taken   <= (AW + 1)'(0);
      ready   <= (AW + 1)'(0);
      full    <= 1'b0;
    end
  end

  generate
    if (DEPTH > 64) begin : g_block
      mem_ram #(.WIDTH(WIDTH), .DEPTH(DEPTH), .STYLE("block"), .LATENCY(LATENCY)) u_block (
          .clk(clk), .we(write), .waddr(written[AW-1:0]), .wdata(in_data), .en(en), .raddr(taken[AW-1:0]),
          .rdata(out_data)
      );
    end else begin : g_lines
      mem_ram #(.WIDTH(WIDTH), .DEPTH(DEPTH), .STYLE("distributed"), .LATENCY(LATENCY)) u_lines (
          .clk(clk), .we(write), .waddr(written[AW-1:0]), .wdata(in_data), .en(en), .raddr(taken[AW-1:0]),
          .rdata(out_data)
      );
    end
  endgenerate
endmodule
`default_nettype wire
