// SPDX-License-Identifier: Apache-2.0
// board_link: a serial line on one side, one sample at a time for the core on the other: receiver, packets, session,
//   sender. Whatever happens on the line, a result that is sent is that of the sample with its number.
//   parameters  STEP       2^20 times the rate of bits divided by the clock, rounded
//               ID         of the design, 64 bits
//               IN_BYTES   bytes of a sample
//               OUT_BYTES  bytes of its results
//               KHZ        the clock
//               TIMEOUT    cycles in which a sample must come through the core
//   latency: 3   ii: 1   order: as it comes
//   lut: 20
//   ff: 2
//   parts: u_rx + u_unpack + u_session + u_pack + u_tx
`default_nettype none
module board_link #(
    parameter integer STEP = 41943,
    parameter [63:0] ID = 64'd0,
    parameter integer IN_BYTES = 64,
    parameter integer OUT_BYTES = 10,
    parameter integer KHZ = 75000,
    parameter integer TIMEOUT = 1000000
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        rx,
    output wire        tx,
    output wire [7:0]  led,
    output wire        busy,
    output wire        we,
    output wire        wbank,
    output wire [23:0] waddr,
    output wire [7:0]  wdata,
    output wire        start,
    output wire        bank,
    input  wire        finished,
    input  wire        fault,
    output wire [23:0] raddr,
    input  wire [7:0]  rdata,
    input  wire        core_error,
    output wire        core_rst,
    output reg         core_rst_n
);
  wire [7:0] rx_data, kind, out_kind, own_data, tx_data;
  wire rx_valid, rx_broken, head, load, done, whole, taking, send, idle, own, tx_valid, tx_ready, working;
  wire [31:0] number, out_number;
  wire [23:0] length, out_length;

  board_rx #(.STEP(STEP)) u_rx (
      .clk(clk),
      .rst(rst),
      .rx(rx),
      .data(rx_data),
      .valid(rx_valid),
      .broken(rx_broken)
  );
  board_unpack u_unpack (
      .clk(clk),
      .rst(rst),
      .in_data(rx_data),
      .in_valid(rx_valid),
      .in_broken(rx_broken),
      .kind(kind),
      .number(number),
      .length(length),
      .head(head),
      .we(load),
      .addr(waddr),
      .data(wdata),
      .done(done),
      .whole(whole)
  );
  board_session #(
      .ID(ID),
      .IN_BYTES(IN_BYTES),
      .OUT_BYTES(OUT_BYTES),
      .KHZ(KHZ),
      .TIMEOUT(TIMEOUT)
  ) u_session (
      .clk(clk),
      .rst(rst),
      .head(head),
      .done(done),
      .whole(whole),
      .kind(kind),
      .number(number),
      .length(length),
      .taking(taking),
      .fill(wbank),
      .start(start),
      .bank(bank),
      .finished(finished),
      .fault(fault),
      .core_error(core_error),
      .core_rst(core_rst),
      .send(send),
      .idle(idle),
      .out_kind(out_kind),
      .out_number(out_number),
      .out_length(out_length),
      .raddr(raddr[5:0]),
      .own(own),
      .rdata(own_data),
      .busy(working),
      .led(led)
  );
  board_pack u_pack (
      .clk(clk),
      .rst(rst),
      .start(send),
      .idle(idle),
      .kind(out_kind),
      .number(out_number),
      .length(out_length),
      .addr(raddr),
      .data(own ? own_data : rdata),
      .out_data(tx_data),
      .out_valid(tx_valid),
      .out_ready(tx_ready)
  );
  board_tx #(.STEP(STEP)) u_tx (
      .clk(clk),
      .rst(rst),
      .in_data(tx_data),
      .in_valid(tx_valid),
      .in_ready(tx_ready),
      .tx(tx)
  );
  assign we = load && taking;
  assign busy = working || !tx_ready || core_rst;
  initial core_rst_n = 1'b0;
  always_ff @(posedge clk) core_rst_n <= !core_rst;
endmodule
`default_nettype wire
