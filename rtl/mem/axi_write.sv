// SPDX-License-Identifier: Apache-2.0
// axi_write: the one write port of a design to a memory outside, AXI4, shared by CLIENTS that put a beat at a time, of
//   which strobes choose the bytes. Each is looked at in turn, one a cycle. Every beat is a burst of its own: what is
//   written is little beside what is read.
//   parameters  CLIENTS  number of clients
//               BITS     bits of WDATA, a power of two from 32 to 1024
//               AT_W     bits of an address in beats
//               QUEUE    writes that are on their way at once
//   base: byte address of beat 0; its low 12 bits are ignored. done of client i: a write of it, the oldest, is in the
//   memory. error: one was answered by SLVERR or DECERR, or there was none to answer; it stays until reset.
//   Cycles are those of one client and a memory that is always ready; no bench measures them.
//   latency: 2   ii: 1   order: as beats are granted
//   lut: AT_W + 9
//   ff: AT_W + 9 * BITS / 8 + CLIENTS + 59
//   parts: u_turn + u_order
`default_nettype none
module axi_write #(
    parameter integer CLIENTS = 2,
    parameter integer BITS    = 128,
    parameter integer AT_W    = 16,
    parameter integer QUEUE   = 16
) (
    input  wire                      clk,
    input  wire                      rst,
    input  wire [              63:0] base,
    input  wire [       CLIENTS-1:0] put_valid,
    input  wire [  CLIENTS*AT_W-1:0] put_at,
    input  wire [  CLIENTS*BITS-1:0] put_data,
    input  wire [CLIENTS*BITS/8-1:0] put_strb,
    output wire [       CLIENTS-1:0] put_ready,
    output reg  [       CLIENTS-1:0] done,
    output reg  [              63:0] awaddr,
    output wire [               7:0] awlen,
    output wire [               2:0] awsize,
    output wire [               1:0] awburst,
    output reg                       awvalid,
    input  wire                      awready,
    output reg  [          BITS-1:0] wdata,
    output reg  [        BITS/8-1:0] wstrb,
    output wire                      wlast,
    output reg                       wvalid,
    input  wire                      wready,
    input  wire [               1:0] bresp,
    input  wire                      bvalid,
    output wire                      bready,
    output reg                       error
);
  localparam integer CW = CLIENTS > 1 ? $clog2(CLIENTS) : 1;
  localparam integer SIZE = $clog2(BITS / 8);
  localparam integer BYTES = BITS / 8;

  generate
    if (BITS < 32 || BITS > 1024 || (1 << $clog2(BITS)) != BITS || AT_W + SIZE > 63) begin : g_bad
      BITS_must_be_a_power_of_two_from_32_to_1024 u_bad ();
    end
  endgenerate

  assign awlen = 8'd0;
  assign awsize = SIZE[2:0];
  assign awburst = 2'b01;  // INCR
  assign wlast = 1'b1;
  assign bready = 1'b1;

  // The beat that goes out next.
  localparam integer PUT_W = AT_W + BITS + BYTES;
  wire [CLIENTS*PUT_W-1:0] puts;
  generate
    for (genvar i = 0; i < CLIENTS; i++) begin : g_put
      assign puts[i*PUT_W+:PUT_W] = {put_strb[i*BYTES+:BYTES], put_data[i*BITS+:BITS], put_at[i*AT_W+:AT_W]};
    end
  endgenerate
  wire taken;
  wire [AT_W-1:0] taken_at;
  wire [BITS-1:0] taken_data;
  wire [BYTES-1:0] taken_strb;
  wire [CW-1:0] taken_by;
  wire order_room;
  wire issue = taken && order_room && (!awvalid || awready) && (!wvalid || wready);
  axi_turn #(.CLIENTS(CLIENTS), .WIDTH(PUT_W)) u_turn (
      .clk(clk), .rst(rst), .ask_valid(put_valid), .ask_data(puts), .ask_ready(put_ready), .taken(taken),
      .taken_data({taken_strb, taken_data, taken_at}), .taken_by(taken_by), .issue(issue)
  );
  wire [63:0] offset = {{(64 - AT_W - SIZE) {1'b0}}, taken_at, {SIZE{1'b0}}};

  always_ff @(posedge clk) begin
    if (awready) awvalid <= 1'b0;
    if (wready) wvalid <= 1'b0;
    if (issue) begin
      awvalid <= 1'b1;
      awaddr  <= {base[63:12] + offset[63:12], offset[11:0]};
      wvalid  <= 1'b1;
      wdata   <= taken_data;
      wstrb   <= taken_strb;
    end
    if (rst) begin
      awvalid <= 1'b0;
      wvalid  <= 1'b0;
    end
  end

  // Whose writes are answered.
  wire [CW-1:0] owner;
  wire owned;
  stream_fifo #(
      .WIDTH(CW),
      .DEPTH(QUEUE)
  ) u_order (
      .clk(clk), .rst(rst), .in_data(taken_by), .in_valid(issue), .in_ready(order_room), .out_data(owner),
      .out_valid(owned), .out_ready(bvalid)
  );
  always_ff @(posedge clk) begin
    for (int i = 0; i < CLIENTS; i++) done[i] <= bvalid && owned && owner == CW'(i);
    error <= error || (bvalid && (bresp[1] || !owned));
    if (rst) begin
      done  <= {CLIENTS{1'b0}};
      error <= 1'b0;
    end
  end
  wire unused = &{1'b0, base[11:0], bresp[0]};
endmodule
`default_nettype wire
