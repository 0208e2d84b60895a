// SPDX-License-Identifier: Apache-2.0
// op_slice: takes runs of beats and drops the others: of every BEATS beats, COUNT runs of RUN beats, the first at beat
//   FIRST, EVERY beats from run to run.
//   parameters  WIDTH   bits of a beat
//               BEATS   beats of a turn
//               FIRST   beats before the first run
//               RUN     beats of a run
//               EVERY   beats from one run to the next, at least RUN
//               COUNT   runs of a turn
//               GROUPS  turns of a frame
//               ENDS    1: a turn may be shorter: in has one more bit above, 1 on its last beat
//   latency: FIRST + 1   ii: GROUPS * BEATS   order: as it comes
//   let: KEEP = s >= FIRST && (s - FIRST) / EVERY < COUNT && (s - FIRST) % EVERY < RUN
//   flow: steps(BEATS, 1, KEEP, 0, KEEP == 0) + u_out
//   lut: 2 * PW + EW + 6
//   ff: PW + EW
//   parts: u_out
`default_nettype none
module op_slice #(
    parameter integer WIDTH  = 8,
    parameter integer BEATS  = 4,
    parameter integer FIRST  = 1,
    parameter integer RUN    = 1,
    parameter integer EVERY  = 1,
    parameter integer COUNT  = 1,
    parameter integer GROUPS = 1,
    parameter integer ENDS   = 0
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH+ENDS-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    output wire [WIDTH-1:0] out_data,
    output wire             out_valid,
    input  wire             out_ready
);
  localparam integer PW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer EW = EVERY > 1 ? $clog2(EVERY) : 1;
  localparam integer LAST = FIRST + (COUNT - 1) * EVERY + RUN - 1;
  localparam integer START = (EVERY - FIRST % EVERY) % EVERY;  // the phase that is 0 at beat FIRST

  generate
    if (RUN < 1 || COUNT < 1 || EVERY < RUN || FIRST < 0 || LAST >= BEATS || GROUPS < 1) begin : g_bad
      runs_must_lie_within_BEATS_and_EVERY_must_be_at_least_RUN u_bad ();
    end
  endgenerate

  logic [PW-1:0] place;
  logic [EW-1:0] phase;
  wire room;
  wire begun = FIRST == 0 || place >= PW'(FIRST);
  wire going = LAST == BEATS - 1 || place <= PW'(LAST);
  wire keep = begun && going && (RUN == EVERY || phase < EW'(RUN));
  wire moves = in_valid && in_ready;
  wire wraps = ENDS != 0 ? in_data[WIDTH+ENDS-1] : place == PW'(BEATS - 1);
  assign in_ready = room || !keep;
  always_ff @(posedge clk) begin
    if (moves) begin
      place <= wraps ? PW'(0) : place + PW'(1);
      phase <= wraps ? EW'(START) : phase == EW'(EVERY - 1) ? EW'(0) : phase + EW'(1);
    end
    if (rst) begin
      place <= PW'(0);
      phase <= EW'(START);
    end
  end

  stream_skid #(.WIDTH(WIDTH)) u_out (
      .clk(clk),
      .rst(rst),
      .in_data(in_data[WIDTH-1:0]),
      .in_valid(in_valid && keep),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
