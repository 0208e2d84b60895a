// SPDX-License-Identifier: Apache-2.0
// board_feed: holds two frames of an input of the core, and sends one of them as a stream that marks its last beat.
//   Bytes are written into bank wbank, at addresses that count through all inputs; start sends the frame of bank.
//   parameters  BYTES   bytes of a beat
//               BEATS   beats of a frame
//               OFFSET  address of the first byte
//   latency: 2 * BYTES + 1   ii: (2 * BYTES + 1) * BEATS   order: byte k of beat i is byte BYTES*i+k of the frame
//   lut: 60 + 4 * clog2(BEATS)
//   ff: 8 * BYTES + 2 * clog2(BEATS) + clog2(BYTES) + 12
//   parts: u_memory
`default_nettype none
module board_feed #(
    parameter integer BYTES  = 1,
    parameter integer BEATS  = 64,
    parameter integer OFFSET = 0
) (
    input  wire               clk,
    input  wire               rst,
    input  wire               we,
    input  wire               wbank,
    input  wire [23:0]        waddr,
    input  wire [7:0]         wdata,
    input  wire               start,
    input  wire               bank,
    output wire               done,
    output wire [8*BYTES-1:0] out_data,
    output wire               out_last,
    output wire               out_valid,
    input  wire               out_ready
);
  localparam integer SIZE = BYTES * BEATS;
  localparam integer BW = 8 * BYTES;
  localparam integer AW = SIZE > 1 ? $clog2(SIZE) : 1;
  localparam integer PW = BYTES > 1 ? $clog2(BYTES) : 1;
  localparam integer LW = $clog2(BEATS + 1);
  localparam integer DEPTH = 2 << AW;
  localparam integer PART_LAST = BYTES - 1;
  localparam [1:0] IDLE = 2'd0, READ = 2'd1, TAKE = 2'd2, SEND = 2'd3;
  wire [23:0] at = waddr - OFFSET[23:0];
  wire mine = at < SIZE[23:0];  // which is false in front of OFFSET, too
  reg [1:0] step;
  reg [AW-1:0] raddr;
  reg rbank;
  reg [PW-1:0] part;
  reg [LW-1:0] left;
  reg [BW-1:0] beat;  // bytes enter at the top
  wire [7:0] rdata;

  mem_ram #(.WIDTH(8), .DEPTH(DEPTH), .LATENCY(1)) u_memory (
      .clk(clk),
      .we(we && mine),
      .waddr({wbank, at[AW-1:0]}),
      .wdata(wdata),
      .en(1'b1),
      .raddr({rbank, raddr}),
      .rdata(rdata)
  );
  assign done = step == IDLE && !start;
  assign out_valid = step == SEND;
  assign out_last = left == LW'(1);
  assign out_data = beat;

  always_ff @(posedge clk) begin
    case (step)
      IDLE: begin
        raddr <= {AW{1'b0}};
        part  <= {PW{1'b0}};
        left  <= BEATS[LW-1:0];
        rbank <= bank;
        if (start) step <= READ;
      end
      READ: step <= TAKE;
      TAKE: begin
        beat  <= BW'({rdata, beat} >> 8);
        raddr <= raddr + 1'b1;
        part  <= part == PART_LAST[PW-1:0] ? {PW{1'b0}} : part + 1'b1;
        step  <= part == PART_LAST[PW-1:0] ? SEND : READ;
      end
      default:
      if (out_ready) begin
        left <= left - 1'b1;
        step <= out_last ? IDLE : READ;
      end
    endcase
    if (rst) step <= IDLE;
  end
endmodule
`default_nettype wire
