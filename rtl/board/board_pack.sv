// SPDX-License-Identifier: Apache-2.0
// board_pack: writes packets as board_unpack reads them. start, while idle, sends one; kind, number and length are then
//   taken. The payload comes from outside: data must be the byte at addr a cycle later, as memories give it.
//   latency: 1   ii: 1   order: as it comes
//   lut: 210
//   ff: 155
`default_nettype none
module board_pack (
    input  wire        clk,
    input  wire        rst,
    input  wire        start,
    output wire        idle,
    input  wire [7:0]  kind,
    input  wire [31:0] number,
    input  wire [23:0] length,
    output wire [23:0] addr,
    input  wire [7:0]  data,
    output wire [7:0]  out_data,
    output wire        out_valid,
    input  wire        out_ready
);
  localparam [2:0] NONE = 3'd0, OPEN = 3'd1, HEAD = 3'd2, LOAD = 3'd3, SUM = 3'd4, CLOSE = 3'd5;
  reg [2:0] part;
  reg [23:0] count, last;  // bytes of the part that are sent, and the number of the last one of the payload
  reg empty;
  reg [63:0] first;  // of the packet, the next byte in the low bits
  reg [31:0] crc;
  reg [1:0] wait_left;  // cycles until code and special are there
  reg escaped;
  wire mark = part == OPEN || part == CLOSE;
  reg [7:0] code;  // the next byte, before it is written as two
  reg special;
  wire fire = out_valid && out_ready;
  wire over = part == HEAD ? count == 24'd7 : part == LOAD ? count == last : part == SUM ? count == 24'd3 : 1'b1;
  wire [31:0] next;

  board_crc u_crc (.crc(crc), .data(code), .next(next));
  assign idle = part == NONE;
  assign addr = count;
  assign out_valid = !idle && wait_left == 2'd0;
  assign out_data = mark ? 8'hc0 : !special ? code : !escaped ? 8'hdb : code == 8'hc0 ? 8'hdc : 8'hdd;

  always_ff @(posedge clk) begin
    if (wait_left != 2'd0) wait_left <= wait_left - 2'd1;
    if (wait_left == 2'd2) code <= part == HEAD ? first[7:0] : part == LOAD ? data : ~crc[7:0];
    if (wait_left == 2'd1) special <= code == 8'hc0 || code == 8'hdb;
    if (idle && start) begin
      part      <= OPEN;
      first     <= {length, number, kind};
      last      <= length - 24'd1;
      empty     <= length == 24'd0;
      crc       <= 32'hffffffff;
      count     <= 24'd0;
      escaped   <= 1'b0;
      wait_left <= 2'd0;
    end else if (fire && !mark && special && !escaped) begin
      escaped <= 1'b1;
    end else if (fire) begin
      escaped   <= 1'b0;
      wait_left <= 2'd3;
      count     <= over ? 24'd0 : count + 24'd1;
      if (part == HEAD) first <= {8'd0, first[63:8]};
      if (part == HEAD || part == LOAD) crc <= next;
      if (part == SUM) crc <= {8'd0, crc[31:8]};
      if (over)
        case (part)
          OPEN: part <= HEAD;
          HEAD: part <= empty ? SUM : LOAD;
          LOAD: part <= SUM;
          SUM: part <= CLOSE;
          default: part <= NONE;
        endcase
    end
    if (rst) part <= NONE;
  end
endmodule
`default_nettype wire
