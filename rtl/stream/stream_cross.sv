// SPDX-License-Identifier: Apache-2.0
// stream_cross: queue between two clocks that need no relation. Pointers cross as Gray codes, of which a sample in the
//   middle of a step is the old or the new one, through two registers. Both sides must be in reset at the same time,
//   as stream_restart sees to. At equal clocks 8 places keep the full rate.
//   parameters  WIDTH  bits of the payload
//               AW     2^AW beats; AW is 2 or more
//   Constraints for the tool that places: from wr_gray to wr_seen_0 and from rd_gray to rd_seen_0 less than a period of
//   skew; from the memory to out_data a period of out_clk.
//   latency: 4   ii: 1   order: as it comes
//   lut: 8 * (AW > 5 ? (1 << (AW - 6)) * ((WIDTH + 6) / 7) : (WIDTH + 13) / 14) + 4 * AW
//   ff: WIDTH + 8 * AW + 7
`default_nettype none
module stream_cross #(
    parameter integer WIDTH = 8,
    parameter integer AW    = 4
) (
    input  wire             in_clk,
    input  wire             in_rst,
    input  wire [WIDTH-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    input  wire             out_clk,
    input  wire             out_rst,
    output reg  [WIDTH-1:0] out_data,
    output reg              out_valid,
    input  wire             out_ready
);
  (* ram_style = "distributed" *) reg [WIDTH-1:0] m[0:(1<<AW)-1];
  reg [AW:0] wr, wr_gray;  // beats that came, modulo twice the places
  reg [AW:0] rd, rd_gray;  // beats that were read
  (* ASYNC_REG = "TRUE" *) reg [AW:0] wr_seen_0, wr_seen;  // wr_gray as the reader knows it
  (* ASYNC_REG = "TRUE" *) reg [AW:0] rd_seen_0, rd_seen;  // rd_gray as the writer knows it
  wire [AW:0] wr_next = wr + 1'b1;
  wire [AW:0] rd_next = rd + 1'b1;
  generate
    if (AW < 2) begin : bad
      AW_must_be_at_least_2 u ();
    end
  endgenerate

  // Full: a whole round ahead, which in Gray code flips the two upper bits.
  assign in_ready = !in_rst && wr_gray != {~rd_seen[AW:AW-1], rd_seen[AW-2:0]};
  wire write = in_valid && in_ready;

  always_ff @(posedge in_clk) if (write) m[wr[AW-1:0]] <= in_data;

  always_ff @(posedge in_clk) begin
    rd_seen_0 <= rd_gray;
    rd_seen   <= rd_seen_0;
    if (write) begin
      wr      <= wr_next;
      wr_gray <= wr_next ^ (wr_next >> 1);
    end
    if (in_rst) begin
      wr        <= {(AW + 1) {1'b0}};
      wr_gray   <= {(AW + 1) {1'b0}};
      rd_seen_0 <= {(AW + 1) {1'b0}};
      rd_seen   <= {(AW + 1) {1'b0}};
    end
  end

  wire take = !out_valid || out_ready;
  wire read = take && wr_seen != rd_gray;

  always_ff @(posedge out_clk) if (take) out_data <= m[rd[AW-1:0]];

  always_ff @(posedge out_clk) begin
    wr_seen_0 <= wr_gray;
    wr_seen   <= wr_seen_0;
    if (take) out_valid <= read;
    if (read) begin
      rd      <= rd_next;
      rd_gray <= rd_next ^ (rd_next >> 1);
    end
    if (out_rst) begin
      out_valid <= 1'b0;
      rd        <= {(AW + 1) {1'b0}};
      rd_gray   <= {(AW + 1) {1'b0}};
      wr_seen_0 <= {(AW + 1) {1'b0}};
      wr_seen   <= {(AW + 1) {1'b0}};
    end
  end
endmodule
`default_nettype wire
