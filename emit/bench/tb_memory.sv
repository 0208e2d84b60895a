// SPDX-License-Identifier: Apache-2.0
// tb_memory: a memory with an AXI4 port, for simulation: the contents of a file, which are read, and a cache, which is
// written and read. It answers bursts in order, after up to latency cycles, with gaps between beats and back-pressure
// on all channels. What breaks a rule of AXI, an access outside, a file of another length, and a read from where
// nothing was ever written end the simulation. Bytes that were never written read as anything.
//   parameters  BITS        bits of RDATA and WDATA
//               BYTES       length of the file; 0: there is none
//               FILE        its name
//               BASE        address of its first byte
//               CACHE       bytes of the cache; 0: there is none
//               CACHE_BASE  address of its first byte
//               WORD        the most beats of a word of the cache: what is written makes so many readable, since a word
//                           that holds several tokens is read when the first of them is there
`default_nettype none
module tb_memory #(
    parameter integer BITS       = 128,
    parameter integer BYTES      = 4096,
    parameter         FILE       = "",
    parameter [63:0]  BASE       = 64'd0,
    parameter integer CACHE      = 0,
    parameter [63:0]  CACHE_BASE = 64'd0,
    parameter integer WORD       = 1
) (
    input  wire              clk,
    input  wire              rst_n,
    input  wire [      31:0] seed,
    input  wire [      31:0] stalls,   // percent of cycles in which each channel holds still
    input  wire [      31:0] latency,  // cycles
    input  wire [      63:0] araddr,
    input  wire [       7:0] arlen,
    input  wire [       2:0] arsize,
    input  wire [       1:0] arburst,
    input  wire              arvalid,
    output reg               arready,
    output reg  [  BITS-1:0] rdata,
    output wire [       1:0] rresp,
    output reg               rlast,
    output reg               rvalid,
    input  wire              rready,
    input  wire [      63:0] awaddr,
    input  wire [       7:0] awlen,
    input  wire [       2:0] awsize,
    input  wire [       1:0] awburst,
    input  wire              awvalid,
    output wire              awready,
    input  wire [  BITS-1:0] wdata,
    input  wire [BITS/8-1:0] wstrb,
    input  wire              wlast,
    input  wire              wvalid,
    output wire              wready,
    output wire [       1:0] bresp,
    output wire              bvalid,
    input  wire              bready
);
  localparam integer SIZE = BITS / 8;
  localparam integer BEATS = BYTES / SIZE;
  localparam integer ALL = BEATS + CACHE / SIZE;
  reg [BITS-1:0] words[0:ALL-1];
  reg written[0:ALL-1];
  integer file, got, k;

  initial begin
    for (k = 0; k < ALL; k = k + 1) written[k] = k < BEATS;
    if (BYTES != 0) begin
      file = $fopen(FILE, "rb");
      if (file == 0) $fatal(1, "FAIL: %0s is not there", FILE);
      got = $fread(words, file, 0, BEATS);
      if (got != BYTES) $fatal(1, "FAIL: %0s has %0d bytes, not %0d", FILE, got, BYTES);
      if ($fgetc(file) != -1) $fatal(1, "FAIL: %0s has more than %0d bytes", FILE, BYTES);
      $fclose(file);
      for (k = 0; k < BEATS; k = k + 1) words[k] = turned(words[k]);
    end
  end

  // $fread puts the first byte on top.
  function [BITS-1:0] turned(input [BITS-1:0] word);
    integer i;
    for (i = 0; i < SIZE; i = i + 1) turned[8*i+:8] = word[BITS-8-8*i+:8];
  endfunction

  wire hold_address, hold_data;
  tb_stall pace_address (.clk(clk), .rst_n(rst_n), .seed(seed + 32'd11), .percent(stalls), .stall(hold_address));
  tb_stall pace_data (.clk(clk), .rst_n(rst_n), .seed(seed + 32'd12), .percent(stalls), .stall(hold_data));

  // Bursts under way: at most 16.
  reg [63:0] at[0:15];
  reg [7:0] length[0:15];
  reg [31:0] due[0:15];
  reg [3:0] first, next;
  reg [4:0] count;
  reg [8:0] beat;
  reg [31:0] now, state;
  reg waiting;
  reg [63:0] waiting_at;
  wire take = arvalid === 1'b1 && arready;
  wire [63:0] bytes = ({56'd0, arlen} + 64'd1) * SIZE;
  wire cached = CACHE != 0 && araddr >= CACHE_BASE && araddr + bytes <= CACHE_BASE + CACHE;
  wire [63:0] from = cached ? (araddr - CACHE_BASE) / SIZE + BEATS : (araddr - BASE) / SIZE;
  wire sends = count != 5'd0 && now - due[first] < 32'h80000000 && !hold_data && (!rvalid || rready);
  wire ends = beat == {1'b0, length[first]};
  assign rresp = 2'b00;

  always @(posedge clk)
    if (!rst_n) begin
      arready <= 1'b0;
      rvalid  <= 1'b0;
      rlast   <= 1'b0;
      first   <= 4'd0;
      next    <= 4'd0;
      count   <= 5'd0;
      beat    <= 9'd0;
      now     <= 32'd0;
      state   <= seed ^ 32'h2545f491;
      waiting <= 1'b0;
    end else begin
      now     <= now + 32'd1;
      state   <= state * 32'd1664525 + 32'd1013904223;
      arready <= count < 5'd14 && !hold_address;
      if (arvalid !== 1'b0 && arvalid !== 1'b1) $fatal(1, "FAIL: ARVALID is unknown");
      if (rready !== 1'b1 && rready !== 1'b0) $fatal(1, "FAIL: RREADY is unknown");
      if (waiting && (arvalid !== 1'b1 || araddr !== waiting_at))
        $fatal(1, "FAIL: a read address changed while it waits");
      waiting    <= arvalid === 1'b1 && !arready;
      waiting_at <= araddr;
      if (take) begin
        if (arsize != $clog2(SIZE) || arburst != 2'b01)
          $fatal(1, "FAIL: ARSIZE %0d or ARBURST %b", arsize, arburst);
        if (araddr % SIZE != 0 || araddr[63:12] != (araddr + bytes - 64'd1) >> 12)
          $fatal(1, "FAIL: a burst of %0d bytes at %h is not aligned or crosses 4 KiB", bytes, araddr);
        if (!cached && (BYTES == 0 || araddr < BASE || araddr - BASE + bytes > BYTES))
          $fatal(1, "FAIL: read of %0d bytes at %h, outside of %0s, which has %0d bytes at %h", bytes, araddr,
                 BYTES == 0 ? "the cache" : FILE, BYTES == 0 ? CACHE : BYTES, BYTES == 0 ? CACHE_BASE : BASE);
        if (!written[from]) $fatal(1, "FAIL: read of %0d bytes at %h, where nothing was written", bytes, araddr);
        at[next]     <= from;
        length[next] <= arlen;
        due[next]    <= now + (latency == 32'd0 ? 32'd0 : (state >> 8) % (latency + 32'd1));
        next         <= next + 4'd1;
      end
      count <= count + (take ? 5'd1 : 5'd0) - (sends && ends ? 5'd1 : 5'd0);
      if (!rvalid || rready) begin
        rvalid <= sends;
        rlast  <= sends && ends;
        rdata  <= sends ? words[at[first]+{55'd0, beat}] : {BITS{1'bx}};
      end
      if (sends) begin
        beat <= ends ? 9'd0 : beat + 9'd1;
        if (ends) first <= first + 4'd1;
      end
    end

  generate
    if (CACHE != 0) begin : g_cache
      wire write;
      wire [63:0] write_at;
      wire [BITS-1:0] write_data;
      wire [SIZE-1:0] write_strb;
      tb_writes #(.BITS(BITS), .BYTES(CACHE), .BASE(CACHE_BASE)) writes (
          .clk(clk), .rst_n(rst_n), .seed(seed), .stalls(stalls), .latency(latency), .awaddr(awaddr), .awlen(awlen),
          .awsize(awsize), .awburst(awburst), .awvalid(awvalid), .awready(awready), .wdata(wdata), .wstrb(wstrb),
          .wlast(wlast), .wvalid(wvalid), .wready(wready), .bresp(bresp), .bvalid(bvalid), .bready(bready),
          .write(write), .write_at(write_at), .write_data(write_data), .write_strb(write_strb));
      integer i;
      always @(posedge clk)
        if (write) begin
          for (i = 0; i < SIZE; i = i + 1)
            if (write_strb[i]) words[BEATS+write_at][8*i+:8] <= write_data[8*i+:8];
          for (i = 0; i < WORD; i = i + 1) if (write_at + BEATS + i < ALL) written[BEATS+write_at+i] <= 1'b1;
        end
    end else begin : g_none
      assign awready = 1'b0;
      assign wready = 1'b0;
      assign bresp = 2'b00;
      assign bvalid = 1'b0;
    end
  endgenerate
endmodule
`default_nettype wire
