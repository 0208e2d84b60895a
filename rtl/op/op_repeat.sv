// SPDX-License-Identifier: Apache-2.0
// op_repeat: gives every run of BEATS beats TIMES times: a value that broadcasts along an axis. The run leaves as it
//   comes in, and is kept for the other times. A beat out is COPIES times the beat in, side by side.
//   parameters  WIDTH   bits of a beat that comes in
//               COPIES  of it in a beat out
//               BEATS   beats of a run
//               TIMES   how often a run leaves, 1 or more
//               GROUPS  runs of a frame
//   latency: 1   ii: GROUPS * BEATS * TIMES   order: outer axes, times, run
//   turns: GROUPS * BEATS / COPIES
//   flow: steps(BEATS * TIMES, s < BEATS, 1, 0) + u_out
//   lut: 2 * PW + 2 * TW + 8
//   ff: PW + TW + 2
//   parts: u_out
`default_nettype none
module op_repeat #(
    parameter integer WIDTH  = 8,
    parameter integer COPIES = 1,
    parameter integer BEATS  = 2,
    parameter integer TIMES  = 2,
    parameter integer GROUPS = 1
) (
    input  wire                    clk,
    input  wire                    rst,
    input  wire [       WIDTH-1:0] in_data,
    input  wire                    in_valid,
    output wire                    in_ready,
    output wire [COPIES*WIDTH-1:0] out_data,
    output wire                    out_valid,
    input  wire                    out_ready
);
  localparam integer PW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer TW = TIMES > 1 ? $clog2(TIMES) : 1;

  generate
    if (BEATS < 1 || TIMES < 1 || COPIES < 1 || GROUPS < 1) begin : g_bad
      BEATS_and_TIMES_and_COPIES_and_GROUPS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  logic [PW-1:0] place;
  logic [TW-1:0] turn;
  wire room;
  wire first = turn == TW'(0);  // the run comes in
  wire valid = !first || in_valid;
  wire moves = valid && room;
  wire last = place == PW'(BEATS - 1);
  wire [PW-1:0] next = last ? PW'(0) : place + PW'(1);
  assign in_ready = room && first;
  always_ff @(posedge clk) begin
    if (moves) begin
      place <= next;
      if (last) turn <= turn == TW'(TIMES - 1) ? TW'(0) : turn + TW'(1);
    end
    if (rst) begin
      place <= PW'(0);
      turn  <= TW'(0);
    end
  end

  // What is kept is read one beat ahead.
  wire [WIDTH-1:0] kept;
  generate
    if (BEATS == 1) begin : g_one
      logic [WIDTH-1:0] beat;
      always_ff @(posedge clk) if (moves && first) beat <= in_data;
      assign kept = beat;
      wire unused_next = &{1'b0, next};
    end else begin : g_run
      mem_ram #(
          .WIDTH(WIDTH),
          .DEPTH(BEATS),
          .LATENCY(1)
      ) u_run (
          .clk  (clk),
          .we   (moves && first),
          .waddr(place),
          .wdata(in_data),
          .en   (moves),
          .raddr(next),
          .rdata(kept)
      );
    end
  endgenerate

  stream_skid #(.WIDTH(COPIES * WIDTH)) u_out (
      .clk(clk),
      .rst(rst),
      .in_data({COPIES{first ? in_data : kept}}),
      .in_valid(valid),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
