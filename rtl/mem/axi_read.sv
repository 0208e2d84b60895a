// SPDX-License-Identifier: Apache-2.0
// axi_read: the one read port of a design to a memory outside, AXI4, shared by CLIENTS that ask for bursts. Each is
//   looked at in turn, one a cycle, and one that asks has its burst. Data come back in the order of the bursts, to a
//   client at a time, which must have room for what it asked: RREADY is always high.
//   parameters  CLIENTS  number of clients
//               BITS     bits of RDATA, a power of two from 32 to 1024
//               AT_W     bits of an address in beats
//               QUEUE    bursts that are on their way at once
//               LATE     clients from this one on read at another base
//   base, late: byte addresses of beat 0; their low 12 bits are ignored. ask_at, ask_len of client i: the first beat of
//   a burst and its beats less one. They must not cross 4 KiB. beat_valid: beat_data are for this client. error: a beat
//   came with RRESP SLVERR or DECERR, or RLAST was wrong; it stays until reset.
//   latency: 3   ii: 1   order: as bursts are granted
//   let: CW = CLIENTS > 1 ? clog2(CLIENTS) : 1
//   lut: AT_W + 4 + (LATE > 0 && LATE < CLIENTS ? CW : 0)
//   ff: BITS + CLIENTS + CW + 74
//   parts: u_turn + u_order
`default_nettype none
module axi_read #(
    parameter integer CLIENTS = 2,
    parameter integer BITS    = 128,
    parameter integer AT_W    = 16,
    parameter integer QUEUE   = 16,
    parameter integer LATE    = CLIENTS
) (
    input  wire                    clk,
    input  wire                    rst,
    input  wire [            63:0] base,
    input  wire [            63:0] late,
    input  wire [     CLIENTS-1:0] ask_valid,
    input  wire [CLIENTS*AT_W-1:0] ask_at,
    input  wire [   CLIENTS*8-1:0] ask_len,
    output wire [     CLIENTS-1:0] ask_ready,
    output reg  [        BITS-1:0] beat_data,
    output reg  [     CLIENTS-1:0] beat_valid,
    output reg  [            63:0] araddr,
    output reg  [             7:0] arlen,
    output wire [             2:0] arsize,
    output wire [             1:0] arburst,
    output reg                     arvalid,
    input  wire                    arready,
    input  wire [        BITS-1:0] rdata,
    input  wire [             1:0] rresp,
    input  wire                    rlast,
    input  wire                    rvalid,
    output wire                    rready,
    output reg                     error
);
  localparam integer CW = CLIENTS > 1 ? $clog2(CLIENTS) : 1;
  localparam integer SIZE = $clog2(BITS / 8);

  generate
    if (BITS < 32 || BITS > 1024 || (1 << $clog2(BITS)) != BITS || AT_W + SIZE > 63) begin : g_bad
      BITS_must_be_a_power_of_two_from_32_to_1024 u_bad ();
    end
  endgenerate

  assign arsize = SIZE[2:0];
  assign arburst = 2'b01;  // INCR
  assign rready = 1'b1;

  // The burst that goes out next.
  localparam integer ASK_W = AT_W + 8;
  wire [CLIENTS*ASK_W-1:0] asks;
  generate
    for (genvar i = 0; i < CLIENTS; i++) begin : g_ask
      assign asks[i*ASK_W+:ASK_W] = {ask_len[i*8+:8], ask_at[i*AT_W+:AT_W]};
    end
  endgenerate
  wire taken;
  wire [AT_W-1:0] taken_at;
  wire [7:0] taken_len;
  wire [CW-1:0] taken_by;
  wire order_room;
  wire issue = taken && order_room && (!arvalid || arready);
  axi_turn #(.CLIENTS(CLIENTS), .WIDTH(ASK_W)) u_turn (
      .clk(clk), .rst(rst), .ask_valid(ask_valid), .ask_data(asks), .ask_ready(ask_ready), .taken(taken),
      .taken_data({taken_len, taken_at}), .taken_by(taken_by), .issue(issue)
  );
  wire [63:0] from;
  generate
    if (LATE <= 0) begin : g_late
      assign from = late;
      wire unused = &{1'b0, base};
    end else if (LATE >= CLIENTS) begin : g_base
      assign from = base;
      wire unused = &{1'b0, late};
    end else begin : g_both
      assign from = 32'(taken_by) >= LATE ? late : base;
    end
  endgenerate
  wire [63:0] offset = {{(64 - AT_W - SIZE) {1'b0}}, taken_at, {SIZE{1'b0}}};

  always_ff @(posedge clk) begin
    if (!arvalid || arready) begin
      arvalid <= issue;
      araddr  <= {from[63:12] + offset[63:12], offset[11:0]};
      arlen   <= taken_len;
    end
    if (rst) arvalid <= 1'b0;
  end

  // Whose data come, and how many of them.
  wire [CW-1:0] owner;
  wire [7:0] owner_len;
  wire owned, ends;
  stream_fifo #(
      .WIDTH(CW + 8),
      .DEPTH(QUEUE)
  ) u_order (
      .clk(clk), .rst(rst), .in_data({taken_by, taken_len}), .in_valid(issue), .in_ready(order_room),
      .out_data({owner, owner_len}), .out_valid(owned), .out_ready(ends)
  );
  logic [7:0] beat;
  assign ends = owned && rvalid && beat == owner_len;
  wire wrong = rvalid && (rresp[1] || !owned || rlast != (beat == owner_len));
  always_ff @(posedge clk) begin
    beat_data <= rdata;
    for (int i = 0; i < CLIENTS; i++) beat_valid[i] <= rvalid && owned && owner == CW'(i);
    if (rvalid) beat <= ends ? 8'd0 : beat + 8'd1;
    error <= error || wrong;
    if (rst) begin
      beat_valid <= {CLIENTS{1'b0}};
      beat       <= 8'd0;
      error      <= 1'b0;
    end
  end
  wire unused = &{1'b0, from[11:0], rresp[0]};
endmodule
`default_nettype wire
