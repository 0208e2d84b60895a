// SPDX-License-Identifier: Apache-2.0
// tb_sink: takes an AXI4-Stream, holding it back now and then, and compares every beat with a file. Complains of a beat
// that differs, unknown bits, a wrong TLAST, a payload that changes while it waits, and beats beyond the last. Not for
// synthesis.
//   parameters  WIDTH        bits of TDATA
//               LANES        elements of a beat
//               LANE_WIDTH   bits of an element; what lies above the elements counts as lane LANES
//               BEATS        beats of the file
//               FRAME        beats of a sample, the last of which TLAST marks, or of a token
//               TOKENS       tokens of TOKENS_FILE; 0: there are none
//               FILE         the beats, one hexadecimal word a line
//               TOKENS_FILE  a hexadecimal word a token, as in tb_source
//               NAME, UNIT   of the stream, and what FRAME beats are, for messages
`default_nettype none
module tb_sink #(
    parameter integer WIDTH = 8,
    parameter integer LANES = 1,
    parameter integer LANE_WIDTH = 8,
    parameter integer BEATS = 1,
    parameter integer FRAME = 1,
    parameter integer TOKENS = 0,
    parameter         FILE = "",
    parameter         TOKENS_FILE = "",
    parameter         NAME = "stream",
    parameter         UNIT = "sample"
) (
    input  wire             clk,
    input  wire             rst_n,
    input  wire [31:0]      seed,
    input  wire [31:0]      stalls,
    input  wire [WIDTH-1:0] tdata,
    input  wire             tvalid,
    output wire             tready,
    input  wire             tlast,
    output reg  [31:0]      count,  // beats that were taken
    output reg  [31:0]      held,   // cycles in which a beat was held back
    output reg              failed
);
  reg [WIDTH-1:0] beats[0:BEATS-1];
  reg [WIDTH-1:0] waiting;  // the payload of the cycle before
  reg waited;               // it was not taken
  wire stall;
  reg [35:0] tokens[0:(TOKENS > 0 ? TOKENS : 1)-1];  // those for which something comes out first
  integer from, to;
  wire [35:0] token = TOKENS > 0 ? tokens[count/FRAME] : 36'd2;
  wire last = token[1] && count % FRAME == FRAME - 1;

  initial $readmemh(FILE, beats);
  initial
    if (TOKENS > 0) begin
      $readmemh(TOKENS_FILE, tokens);
      to = 0;
      for (from = 0; from < TOKENS; from = from + 1)
        if (!tokens[from][3]) begin
          tokens[to] = tokens[from];
          to = to + 1;
        end
    end

  tb_stall pace (
      .clk(clk),
      .rst_n(rst_n),
      .seed(seed),
      .percent(stalls),
      .stall(stall)
  );
  assign tready = rst_n && !stall;

  // Names the first lane that differs.
  task differs;
    integer lane;
    reg [LANE_WIDTH-1:0] got, want;
    begin
      lane = 0;
      got  = tdata[LANE_WIDTH-1:0];
      want = beats[count][LANE_WIDTH-1:0];
      while (lane < LANES && got === want) begin
        lane = lane + 1;
        got  = LANE_WIDTH'(tdata >> (lane * LANE_WIDTH));
        want = LANE_WIDTH'(beats[count] >> (lane * LANE_WIDTH));
      end
      $display("FAIL: %0s: %0s %0d, beat %0d, lane %0d: got %h, want %h (whole beat: got %h, want %h)", NAME, UNIT,
               count / FRAME, count % FRAME, lane, got, want, tdata, beats[count]);
    end
  endtask

  always @(posedge clk)
    if (!rst_n) begin
      count  <= 32'd0;
      held   <= 32'd0;
      waited <= 1'b0;
      failed <= 1'b0;
    end else if (!failed) begin
      waiting <= tdata;
      waited  <= tvalid && !tready;
      failed  <= 1'b1;  // unless nothing below complains
      if (tvalid !== 1'b0 && tvalid !== 1'b1) $display("FAIL: %0s: TVALID is unknown after beat %0d", NAME, count);
      else if (waited && (!tvalid || tdata !== waiting))
        $display("FAIL: %0s: beat %0d changed or vanished while it waited", NAME, count);
      else if (tvalid && count >= BEATS) $display("FAIL: %0s: a beat more than the %0d expected", NAME, BEATS);
      else if (tvalid && tready && tdata !== beats[count]) differs;
      else if (tvalid && tready && tlast !== last)
        $display("FAIL: %0s: %0s %0d, beat %0d: TLAST is %b", NAME, UNIT, count / FRAME, count % FRAME, tlast);
      else failed <= 1'b0;
      if (tvalid && tready) count <= count + 32'd1;
      if (tvalid && !tready) held <= held + 32'd1;
    end
endmodule
`default_nettype wire
