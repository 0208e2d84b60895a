// SPDX-License-Identifier: Apache-2.0
// board_drain: takes a frame of an output of the core, from start on, and holds it for whoever reads it, at
//   addresses that count through all outputs; outside of them rdata is rest. done: the frame is there. fault, until the
//   next reset: a beat came that belongs to no frame, or its mark of the last beat was wrong.
//   parameters  BYTES   bytes of a beat
//               BEATS   beats of a frame
//               OFFSET  address of the first byte
//   latency: BYTES + 1   ii: (BYTES + 1) * BEATS   order: byte k of beat i is byte BYTES*i+k of the frame
//   lut: 60 + 4 * clog2(BEATS)
//   ff: 8 * BYTES + 2 * clog2(BEATS) + clog2(BYTES) + 12
//   parts: u_memory
`default_nettype none
module board_drain #(
    parameter integer BYTES  = 1,
    parameter integer BEATS  = 10,
    parameter integer OFFSET = 0
) (
    input  wire               clk,
    input  wire               rst,
    input  wire               start,
    output wire               done,
    output reg                fault,
    input  wire [8*BYTES-1:0] in_data,
    input  wire               in_last,
    input  wire               in_valid,
    output wire               in_ready,
    input  wire [23:0]        raddr,
    input  wire [7:0]         rest,
    output wire [7:0]         rdata
);
  localparam integer SIZE = BYTES * BEATS;
  localparam integer BW = 8 * BYTES;
  localparam integer AW = SIZE > 1 ? $clog2(SIZE) : 1;
  localparam integer PW = BYTES > 1 ? $clog2(BYTES) : 1;
  localparam integer LW = $clog2(BEATS + 1);
  localparam integer DEPTH = 1 << AW;
  localparam integer PART_LAST = BYTES - 1;
  localparam [1:0] IDLE = 2'd0, WAIT = 2'd1, STORE = 2'd2;
  wire [23:0] at = raddr - OFFSET[23:0];
  wire mine = at < SIZE[23:0];  // which is false in front of OFFSET, too
  reg [1:0] step;
  reg [AW-1:0] waddr;
  reg [PW-1:0] part;
  reg [LW-1:0] left;
  reg [BW-1:0] beat;  // the next byte in the low bits
  wire [7:0] word;

  mem_ram #(.WIDTH(8), .DEPTH(DEPTH), .LATENCY(1)) u_memory (
      .clk(clk),
      .we(step == STORE),
      .waddr(waddr),
      .wdata(beat[7:0]),
      .en(1'b1),
      .raddr(at[AW-1:0]),
      .rdata(word)
  );
  assign done = step == IDLE && !start;
  assign in_ready = step == WAIT;
  assign rdata = mine ? word : rest;

  always_ff @(posedge clk) begin
    case (step)
      IDLE: begin
        waddr <= {AW{1'b0}};
        part  <= {PW{1'b0}};
        left  <= BEATS[LW-1:0];
        if (start) step <= WAIT;
        if (in_valid && !start) fault <= 1'b1;
      end
      WAIT: begin
        beat <= in_data;
        if (in_valid) begin
          step <= STORE;
          if (in_last != (left == LW'(1))) fault <= 1'b1;
        end
      end
      default: begin
        beat  <= BW'({8'd0, beat} >> 8);
        waddr <= waddr + 1'b1;
        part  <= part == PART_LAST[PW-1:0] ? {PW{1'b0}} : part + 1'b1;
        if (part == PART_LAST[PW-1:0]) begin
          left <= left - 1'b1;
          step <= left == LW'(1) ? IDLE : WAIT;
        end
      end
    endcase
    if (rst) begin
      step  <= IDLE;
      fault <= 1'b0;
    end
  end
endmodule
`default_nettype wire
