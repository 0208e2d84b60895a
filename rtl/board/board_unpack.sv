// SPDX-License-Identifier: Apache-2.0
// board_unpack: takes packets out of the bytes of a line. A packet stands between two bytes c0: kind, number (4 bytes),
//   length (3), so many bytes of payload, CRC-32 of all these (4), each number with its low byte first. In between, c0
//   is db dc and db is db dd. head is high for a cycle once the first eight bytes are known, we for each byte of
//   payload, before it is known whether the packet is whole; done at its end, with whole. Whatever is lost, added or
//   changed on the line ends in a packet that is not whole, and the next c0 begins another one.
//   latency: 1   ii: 1   order: as it comes
//   lut: 100
//   ff: 165
`default_nettype none
module board_unpack (
    input  wire        clk,
    input  wire        rst,
    input  wire [7:0]  in_data,
    input  wire        in_valid,
    input  wire        in_broken,  // a byte was not received
    output wire [7:0]  kind,
    output wire [31:0] number,
    output wire [23:0] length,
    output reg         head,
    output reg         we,
    output reg  [23:0] addr,       // of the byte of payload
    output reg  [7:0]  data,
    output reg         done,
    output reg         whole
);
  reg [63:0] first;  // the first eight bytes, which enter at the top
  reg [3:0] got;  // of them
  reg [23:0] at;  // bytes behind them
  reg [2:0] sum;  // bytes behind the payload, at most 5
  reg [31:0] crc;
  reg escape, bad;
  wire mark = in_data == 8'hc0;
  wire [7:0] code = !escape ? in_data : in_data == 8'hdc ? 8'hc0 : 8'hdb;
  wire wrong = escape && in_data != 8'hdc && in_data != 8'hdd;
  wire [31:0] next;
  wire more = at != length;  // the payload goes on

  board_crc u_crc (.crc(crc), .data(code), .next(next));
  assign {length, number, kind} = first;

  always_ff @(posedge clk) begin
    head <= 1'b0;
    we   <= 1'b0;
    done <= 1'b0;
    if (in_broken) bad <= 1'b1;
    if (in_valid && mark) begin
      done   <= got != 4'd0 || bad;
      whole  <= got == 4'd8 && !more && sum == 3'd4 && crc == 32'hdebb20e3 && !bad && !escape;
      got    <= 4'd0;
      at     <= 24'd0;
      sum    <= 3'd0;
      crc    <= 32'hffffffff;
      escape <= 1'b0;
      bad    <= 1'b0;
    end else if (in_valid && !escape && in_data == 8'hdb) begin
      escape <= 1'b1;
    end else if (in_valid) begin
      escape <= 1'b0;
      crc    <= next;
      if (wrong) bad <= 1'b1;
      if (got != 4'd8) begin
        first <= {code, first[63:8]};
        got   <= got + 4'd1;
        head  <= got == 4'd7;
      end else if (more) begin
        at <= at + 24'd1;
        we <= 1'b1;
      end else if (sum != 3'd5) begin
        sum <= sum + 3'd1;
      end
      addr <= at;
      data <= code;
    end
    if (rst) begin
      got    <= 4'd0;
      at     <= 24'd0;
      sum    <= 3'd0;
      crc    <= 32'hffffffff;
      escape <= 1'b0;
      bad    <= 1'b0;
      head   <= 1'b0;
      we     <= 1'b0;
      done   <= 1'b0;
    end
  end
endmodule
`default_nettype wire
