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
//   let: CW = CLIENTS > 1 ? clog2(CLIENTS) : 1
//   lut: 4 * CLIENTS + AT_W + 12 + (AT_W + 9 * BITS / 8) * (CLIENTS - 1) * 2 / 3
//   ff: 2 * AT_W + 9 * BITS / 4 + 2 * CLIENTS + 2 * CW + 60
//   parts: u_order
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

  // The client that is looked at, and what was taken of one.
  logic [CW-1:0] at, taken_by;
  logic [CLIENTS-1:0] here;  // one bit: at
  logic taken;
  logic [AT_W-1:0] taken_at, here_at;
  logic [BITS-1:0] taken_data, here_data;
  logic [BYTES-1:0] taken_strb, here_strb;
  wire order_room;
  wire issue = taken && order_room && (!awvalid || awready) && (!wvalid || wready);
  wire take = (!taken || issue) && |(put_valid & here);
  assign put_ready = !taken || issue ? here : {CLIENTS{1'b0}};
  always_comb begin
    here_at   = {AT_W{1'b0}};
    here_data = {BITS{1'b0}};
    here_strb = {BYTES{1'b0}};
    for (int i = 0; i < CLIENTS; i++) begin
      here_at   = here_at | (put_at[i*AT_W+:AT_W] & {AT_W{here[i]}});
      here_data = here_data | (put_data[i*BITS+:BITS] & {BITS{here[i]}});
      here_strb = here_strb | (put_strb[i*BYTES+:BYTES] & {BYTES{here[i]}});
    end
  end
  wire [63:0] offset = {{(64 - AT_W - SIZE) {1'b0}}, taken_at, {SIZE{1'b0}}};

  always_ff @(posedge clk) begin
    if (!taken || issue) begin
      at         <= at == CW'(CLIENTS - 1) ? CW'(0) : at + CW'(1);
      here       <= at == CW'(CLIENTS - 1) ? CLIENTS'(1) : here << 1;
      taken      <= take;
      taken_at   <= here_at;
      taken_data <= here_data;
      taken_strb <= here_strb;
      taken_by   <= at;
    end
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
      at      <= CW'(0);
      here    <= CLIENTS'(1);
      taken   <= 1'b0;
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
