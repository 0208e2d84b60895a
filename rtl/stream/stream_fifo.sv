// SPDX-License-Identifier: Apache-2.0
// stream_fifo: queue of at least DEPTH beats at full throughput; in_ready is a function of registers only.
// Up to 64 beats lie in LUT RAM, more in a memory with two prefetch registers behind it, which add two places.
// In simulation, +lathe_occupancy on the command line prints the greatest number of beats held at once.
//   parameters  WIDTH  bits of the payload
//               DEPTH  beats, 1 or more
//   latency: DEPTH > 64 ? 3 : 1   ii: 1   order: as it comes
//   flow: fifo(DEPTH)
//   let: PAGES = (DEPTH + 15) / 16
//   lut: DEPTH <= 2 ? 0 : DEPTH > 64 ? 4 * clog2(DEPTH) + 4 : 5 * clog2(DEPTH) + 3 + 8 * (DEPTH > 32 ? (WIDTH +
//       6) / 7 : (WIDTH + 13) / 14)
//   lut4: DEPTH <= 2 ? 0 : DEPTH > 64 ? 9 * clog2(DEPTH) + 5 : 2 * clog2(DEPTH) * clog2(DEPTH) + 4 + 4 * PAGES *
//       ((WIDTH + 3) / 4) + (PAGES > 1 ? WIDTH * (2 * PAGES - 1) / 3 + PAGES : 0)
//   ff: DEPTH <= 2 ? 0 : DEPTH > 64 ? WIDTH + 3 * clog2(DEPTH) + 3 : 4 * clog2(DEPTH) + 1
//   let: BYTES = (WIDTH + 8) / 9
//   bram: DEPTH <= 64 ? 0 : min((BYTES * ((DEPTH + 511) / 512) + 3) / 4, (BYTES * ((DEPTH + 1023) / 1024) + 1) / 2,
//       BYTES * ((DEPTH + 2047) / 2048), (WIDTH + 3) / 4 * ((DEPTH + 4095) / 4096), (WIDTH + 1) / 2 * ((DEPTH + 8191)
//       / 8192), WIDTH * ((DEPTH + 16383) / 16384))
//   parts: DEPTH <= 2 ? u_skid : 0
`default_nettype none
module stream_fifo #(
    parameter integer WIDTH = 8,
    parameter integer DEPTH = 16
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    output wire [WIDTH-1:0] out_data,
    output wire             out_valid,
    input  wire             out_ready
);
  generate
    if (DEPTH < 1) begin : bad
      DEPTH_must_be_at_least_1 u ();
    end else if (DEPTH <= 2) begin : slice
      stream_skid #(.WIDTH(WIDTH)) u_skid (
          .clk(clk),
          .rst(rst),
          .in_data(in_data),
          .in_valid(in_valid),
          .in_ready(in_ready),
          .out_data(out_data),
          .out_valid(out_valid),
          .out_ready(out_ready)
      );
    end else begin : queue
      localparam integer AW = $clog2(DEPTH);
      localparam integer LAST_INT = DEPTH - 1;
      localparam [AW-1:0] LAST = LAST_INT[AW-1:0];
      localparam [AW:0] FULL = DEPTH[AW:0];
      reg [AW-1:0] waddr, raddr;
      reg [AW:0] used;  // beats in the memory
      wire write = in_valid && in_ready;
      wire read;

      assign in_ready = used != FULL;

      always_ff @(posedge clk) begin
        if (write) waddr <= waddr == LAST ? {AW{1'b0}} : waddr + 1'b1;
        if (read) raddr <= raddr == LAST ? {AW{1'b0}} : raddr + 1'b1;
        if (write != read) used <= write ? used + 1'b1 : used - 1'b1;
        if (rst) begin
          waddr <= {AW{1'b0}};
          raddr <= {AW{1'b0}};
          used  <= {(AW + 1) {1'b0}};
        end
      end

      if (DEPTH <= 64) begin : lutram
        (* ram_style = "distributed" *) reg [WIDTH-1:0] m[0:DEPTH-1];
        always_ff @(posedge clk) if (write) m[waddr] <= in_data;
        assign out_data  = m[raddr];
        assign out_valid = used != {(AW + 1) {1'b0}};
        assign read      = out_valid && out_ready;
      end else begin : blockram
        (* ram_style = "block", no_rw_check *) reg [WIDTH-1:0] m[0:DEPTH-1];
        reg [WIDTH-1:0] q0, q1;  // memory output, then the output register
        reg v0, v1;
        wire take1 = !v1 || out_ready;
        wire take0 = !v0 || take1;
        assign read = take0 && used != {(AW + 1) {1'b0}};
        always_ff @(posedge clk) if (write) m[waddr] <= in_data;
        always_ff @(posedge clk) if (take0) q0 <= m[raddr];
        always_ff @(posedge clk) begin
          if (take1) q1 <= q0;
          if (take1) v1 <= v0;
          if (take0) v0 <= read;
          if (rst) begin
            v0 <= 1'b0;
            v1 <= 1'b0;
          end
        end
        assign out_data  = q1;
        assign out_valid = v1;
      end
    end
  endgenerate

`ifndef SYNTHESIS
  integer held = 0, most = 0;
  wire enters = in_valid && in_ready;
  wire leaves = out_valid && out_ready;
  always_ff @(posedge clk)
    if (rst) held <= 0;
    else begin
      held <= held + (enters ? 1 : 0) - (leaves ? 1 : 0);
      if (held > most) most <= held;
    end
  final if ($test$plusargs("lathe_occupancy")) $display("occupancy %m %0d of %0d", most, DEPTH);
`endif
endmodule
`default_nettype wire
