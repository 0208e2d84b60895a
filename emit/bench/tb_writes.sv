// SPDX-License-Identifier: Apache-2.0
// tb_writes: the writing channels of tb_memory. Addresses and data come independently; a burst is written up to latency
// cycles after its address, and answered up to so many cycles later, both in order. Until then reads see what was there
// before. What breaks a rule of AXI, and a write outside, end the simulation.
//   parameters  BITS   bits of WDATA
//               BYTES  bytes of the memory
//               BASE   address of its first byte
//   write: in this cycle beat write_at is written, where strobes are set.
`default_nettype none
module tb_writes #(
    parameter integer BITS  = 128,
    parameter integer BYTES = 4096,
    parameter [63:0]  BASE  = 64'd0
) (
    input  wire              clk,
    input  wire              rst_n,
    input  wire [      31:0] seed,
    input  wire [      31:0] stalls,
    input  wire [      31:0] latency,
    input  wire [      63:0] awaddr,
    input  wire [       7:0] awlen,
    input  wire [       2:0] awsize,
    input  wire [       1:0] awburst,
    input  wire              awvalid,
    output reg               awready,
    input  wire [  BITS-1:0] wdata,
    input  wire [BITS/8-1:0] wstrb,
    input  wire              wlast,
    input  wire              wvalid,
    output reg               wready,
    output wire [       1:0] bresp,
    output reg               bvalid,
    input  wire              bready,
    output wire              write,
    output wire [      63:0] write_at,
    output wire [  BITS-1:0] write_data,
    output wire [BITS/8-1:0] write_strb
);
  localparam integer SIZE = BITS / 8;
  wire hold_address, hold_data, hold_answer;
  tb_stall pace_address (.clk(clk), .rst_n(rst_n), .seed(seed + 32'd13), .percent(stalls), .stall(hold_address));
  tb_stall pace_data (.clk(clk), .rst_n(rst_n), .seed(seed + 32'd14), .percent(stalls), .stall(hold_data));
  tb_stall pace_answer (.clk(clk), .rst_n(rst_n), .seed(seed + 32'd15), .percent(stalls), .stall(hold_answer));

  // Addresses, data and answers that wait: at most 16 each.
  reg [63:0] at[0:15];
  reg [7:0] length[0:15];
  reg [31:0] due[0:15], answer[0:15];
  reg [BITS-1:0] data[0:15];
  reg [SIZE-1:0] strobes[0:15];
  reg last[0:15];
  reg [3:0] at_first, at_next, data_first, data_next, answer_first, answer_next;
  reg [4:0] at_count, data_count, answer_count;
  reg [7:0] beat;
  reg [31:0] now, state;
  reg at_waits, data_waits;
  reg [63:0] at_before;
  reg [BITS+SIZE:0] data_before;
  wire take_at = awvalid === 1'b1 && awready;
  wire take_data = wvalid === 1'b1 && wready;
  wire [63:0] bytes = ({56'd0, awlen} + 64'd1) * SIZE;
  wire ends = write && beat == length[at_first];
  wire answers = answer_count != 5'd0 && now - answer[answer_first] < 32'h80000000 && !hold_answer &&
      (!bvalid || bready);
  // Before a reset nothing is known of what waits: without rst_n it would be written, somewhere.
  assign write = rst_n && at_count != 5'd0 && data_count != 5'd0 && answer_count < 5'd15 &&
      now - due[at_first] < 32'h80000000;
  assign write_at = at[at_first] + {56'd0, beat};
  assign write_data = data[data_first];
  assign write_strb = strobes[data_first];
  assign bresp = 2'b00;

  function [31:0] later(input [31:0] from, input [31:0] random);
    later = from + (latency == 32'd0 ? 32'd0 : random % (latency + 32'd1));
  endfunction

  integer i;
  always @(posedge clk)
    if (!rst_n) begin
      awready      <= 1'b0;
      wready       <= 1'b0;
      bvalid       <= 1'b0;
      at_first     <= 4'd0;
      at_next      <= 4'd0;
      at_count     <= 5'd0;
      data_first   <= 4'd0;
      data_next    <= 4'd0;
      data_count   <= 5'd0;
      answer_first <= 4'd0;
      answer_next  <= 4'd0;
      answer_count <= 5'd0;
      beat         <= 8'd0;
      now          <= 32'd0;
      state        <= seed ^ 32'h9e3779b9;
      at_waits     <= 1'b0;
      data_waits   <= 1'b0;
    end else begin
      now     <= now + 32'd1;
      state   <= state * 32'd1664525 + 32'd1013904223;
      awready <= at_count < 5'd14 && !hold_address;
      wready  <= data_count < 5'd14 && !hold_data;
      if (awvalid !== 1'b0 && awvalid !== 1'b1) $fatal(1, "FAIL: AWVALID is unknown");
      if (wvalid !== 1'b0 && wvalid !== 1'b1) $fatal(1, "FAIL: WVALID is unknown");
      if (bready !== 1'b1 && bready !== 1'b0) $fatal(1, "FAIL: BREADY is unknown");
      if (at_waits && (awvalid !== 1'b1 || awaddr !== at_before))
        $fatal(1, "FAIL: a write address changed while it waits");
      if (data_waits && (wvalid !== 1'b1 || {wdata, wstrb, wlast} !== data_before))
        $fatal(1, "FAIL: data of a write changed while they wait");
      at_waits    <= awvalid === 1'b1 && !awready;
      at_before   <= awaddr;
      data_waits  <= wvalid === 1'b1 && !wready;
      data_before <= {wdata, wstrb, wlast};
      if (take_at) begin
        if (awsize != $clog2(SIZE) || awburst != 2'b01)
          $fatal(1, "FAIL: AWSIZE %0d or AWBURST %b", awsize, awburst);
        if (awaddr % SIZE != 0 || awaddr[63:12] != (awaddr + bytes - 64'd1) >> 12)
          $fatal(1, "FAIL: a write of %0d bytes at %h is not aligned or crosses 4 KiB", bytes, awaddr);
        if (awaddr < BASE || awaddr - BASE + bytes > BYTES)
          $fatal(1, "FAIL: write of %0d bytes at %h, outside of the cache, which has %0d bytes at %h", bytes, awaddr,
                 BYTES, BASE);
        at[at_next]     <= (awaddr - BASE) / SIZE;
        length[at_next] <= awlen;
        due[at_next]    <= later(now, state >> 8);
        at_next         <= at_next + 4'd1;
      end
      if (take_data) begin
        for (i = 0; i < SIZE; i = i + 1)
          if (wstrb[i] !== 1'b0 && (wstrb[i] !== 1'b1 || ^wdata[8*i+:8] === 1'bx))
            $fatal(1, "FAIL: byte %0d of WDATA or its strobe is unknown", i);
        data[data_next]    <= wdata;
        strobes[data_next] <= wstrb;
        last[data_next]    <= wlast;
        data_next          <= data_next + 4'd1;
      end
      if (write) begin
        if (last[data_first] !== ends) $fatal(1, "FAIL: WLAST is wrong at beat %0d of %0d", beat, length[at_first]);
        data_first <= data_first + 4'd1;
        beat       <= ends ? 8'd0 : beat + 8'd1;
      end
      if (ends) begin
        at_first            <= at_first + 4'd1;
        answer[answer_next] <= later(now, state >> 12);
        answer_next         <= answer_next + 4'd1;
      end
      at_count     <= at_count + (take_at ? 5'd1 : 5'd0) - (ends ? 5'd1 : 5'd0);
      data_count   <= data_count + (take_data ? 5'd1 : 5'd0) - (write ? 5'd1 : 5'd0);
      answer_count <= answer_count + (ends ? 5'd1 : 5'd0) - (answers ? 5'd1 : 5'd0);
      if (!bvalid || bready) bvalid <= answers;
      if (answers) answer_first <= answer_first + 4'd1;
    end
endmodule
`default_nettype wire
