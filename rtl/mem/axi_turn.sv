// SPDX-License-Identifier: Apache-2.0
// axi_turn: gives CLIENTS that ask their turns at one port: each is looked at in turn, one a cycle, and what it asks is
//   taken and waits until it is issued.
//   parameters  CLIENTS  number of clients
//               WIDTH    bits of what one asks
//   taken: taken_data was asked by client taken_by. issue: it leaves in this cycle; only while something is taken.
//   latency: 1   ii: 1   order: as clients are looked at
//   let: CW = CLIENTS > 1 ? clog2(CLIENTS) : 1
//   lut: 4 * CLIENTS + 3 + WIDTH * (CLIENTS - 1) * 7 / 10
//   ff: WIDTH + CLIENTS + 2 * CW + 1
`default_nettype none
module axi_turn #(
    parameter integer CLIENTS = 2,
    parameter integer WIDTH   = 24,
    parameter integer CW      = CLIENTS > 1 ? $clog2(CLIENTS) : 1
) (
    input  wire                     clk,
    input  wire                     rst,
    input  wire [      CLIENTS-1:0] ask_valid,
    input  wire [CLIENTS*WIDTH-1:0] ask_data,
    output wire [      CLIENTS-1:0] ask_ready,
    output reg                      taken,
    output reg  [        WIDTH-1:0] taken_data,
    output reg  [           CW-1:0] taken_by,
    input  wire                     issue
);
  logic [CW-1:0] at;  // the client that is looked at
  logic [CLIENTS-1:0] here;  // one bit: at
  wire moves = !taken || issue;
  assign ask_ready = moves ? here : {CLIENTS{1'b0}};
  logic [WIDTH-1:0] here_data;
  always_comb begin
    here_data = {WIDTH{1'b0}};
    for (int i = 0; i < CLIENTS; i++)  // no index: a product with WIDTH would take a DSP
      here_data = here_data | (ask_data[i*WIDTH+:WIDTH] & {WIDTH{here[i]}});
  end

  always_ff @(posedge clk) begin
    if (moves) begin
      at         <= at == CW'(CLIENTS - 1) ? CW'(0) : at + CW'(1);
      here       <= at == CW'(CLIENTS - 1) ? CLIENTS'(1) : here << 1;
      taken      <= |(ask_valid & here);
      taken_data <= here_data;
      taken_by   <= at;
    end
    if (rst) begin
      at    <= CW'(0);
      here  <= CLIENTS'(1);
      taken <= 1'b0;
    end
  end
endmodule
`default_nettype wire
