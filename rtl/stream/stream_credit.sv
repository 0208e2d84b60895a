// SPDX-License-Identifier: Apache-2.0
// stream_credit: handshake and output memory of a pipeline that never stops, so that its registers need no enable. A
//   beat comes in only if there is a place for it behind the pipeline (a credit), whatever the receiver does meanwhile.
//   parameters  WIDTH  bits of the payload
//               ROWS   registers of the pipeline
//   codes: what the pipeline makes of the beat that came in ROWS cycles before.
//   latency: ROWS + 1   ii: 1   order: as it comes
//   flow: credit(ROWS, PLACES)
//   let: AW = clog2(ROWS + 2)
//   let: PLACES = 1 << AW
//   lut: 4 * AW + 2 + 8 * (PLACES > 32 ? (WIDTH + 6) / 7 : (WIDTH + 13) / 14)
//   ff: ROWS + 5 * AW + 4
`default_nettype none
module stream_credit #(
    parameter integer WIDTH = 8,
    parameter integer ROWS  = 6
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] codes,
    input  wire             in_valid,
    output reg              in_ready,
    output wire [WIDTH-1:0] out_data,
    output reg              out_valid,
    input  wire             out_ready
);
  // A place is taken for ROWS + 2 cycles at least: so many places let a beat pass in every cycle.
  localparam integer AW = $clog2(ROWS + 2);
  localparam integer PLACES = 1 << AW;

  generate
    if (ROWS < 1) begin : g_bad
      ROWS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  (* ram_style = "distributed" *) logic [WIDTH-1:0] m[0:PLACES-1];
  logic [ROWS-1:0] valid_q;  // the rows of the pipeline that hold a beat
  logic [AW-1:0] waddr, raddr;
  // Beats in the memory, and places that no beat has claimed: out_valid is held != 0, in_ready is free != 0.
  logic [AW:0] held, free;
  wire enters = in_valid && in_ready;
  wire arrives = valid_q[ROWS-1];
  wire read = out_valid && out_ready;
  assign out_data = m[raddr];

  always_ff @(posedge clk) if (arrives) m[waddr] <= codes;
  always_ff @(posedge clk) begin
    valid_q <= ROWS'({valid_q, enters});
    if (arrives) waddr <= waddr + AW'(1);
    if (read) raddr <= raddr + AW'(1);
    if (arrives != read) begin
      held <= arrives ? held + (AW + 1)'(1) : held - (AW + 1)'(1);
      out_valid <= arrives || held != (AW + 1)'(1);
    end
    if (enters != read) begin
      free <= read ? free + (AW + 1)'(1) : free - (AW + 1)'(1);
      in_ready <= read || free != (AW + 1)'(1);
    end
    if (rst) begin
      valid_q <= ROWS'(0);
      waddr <= AW'(0);
      raddr <= AW'(0);
      held <= (AW + 1)'(0);
      free <= (AW + 1)'(PLACES);
      in_ready <= 1'b1;
      out_valid <= 1'b0;
    end
  end
endmodule
`default_nettype wire
