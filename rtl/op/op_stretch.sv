// SPDX-License-Identifier: Apache-2.0
// op_stretch: gives the runs of a turn in order, each once or several times: SIZE runs of RUNS that come in. Run i that
//   leaves is run (i * STEP + START) / OF, rounded down, or the nearest of the turn. It leaves as it comes in and is
//   kept for the other times.
//   parameters  WIDTH   bits of a beat
//               BEATS   beats of a run
//               RUNS    runs of a turn that come in
//               SIZE    runs of a turn that leave
//               START, STEP, OF  which run leaves: START below OF, STEP at most OF, so that none is left out
//               GROUPS  turns of a frame
//   latency: 1   ii: GROUPS * SIZE * BEATS   order: as it comes
//   turns: BEATS
//   let: RUN = min(max(s / BEATS * STEP + START, 0) / OF, RUNS - 1)
//   let: BEFORE = min(max((s / BEATS - 1) * STEP + START, 0) / OF, RUNS - 1)
//   flow: steps(SIZE * BEATS, s < BEATS || BEFORE < RUN, 1, 0) + u_out
//   lut: PW + SW + RW + 3 * AW + 8 + (BEATS > 1 ? WIDTH : WIDTH / 2)
//   ff: PW + SW + RW + AW + 1 + (BEATS > 1 ? 0 : WIDTH)
//   parts: (BEATS > 1 ? u_run : 0) + u_out
`default_nettype none
module op_stretch #(
    parameter integer WIDTH  = 8,
    parameter integer BEATS  = 2,
    parameter integer RUNS   = 2,
    parameter integer SIZE   = 4,
    parameter integer START  = 0,
    parameter integer STEP   = 1,
    parameter integer OF     = 2,
    parameter integer GROUPS = 1
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    output wire [WIDTH-1:0] out_data,
    output wire             out_valid,
    input  wire             out_ready
);
  localparam integer PW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer SW = SIZE > 1 ? $clog2(SIZE) : 1;
  localparam integer RW = RUNS > 1 ? $clog2(RUNS) : 1;
  localparam integer AW = $clog2((START + OF > 0 ? 2 * OF : OF - START) + 1) + 1;

  generate
    if (BEATS < 1 || RUNS < 1 || GROUPS < 1 || STEP < 1 || STEP > OF || START >= OF
        || (SIZE - 1) * STEP + START < (RUNS - 1) * OF) begin : g_bad
      SIZE_runs_must_visit_all_RUNS_and_BEATS_and_GROUPS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  logic [PW-1:0] place;         // in the run
  logic [SW-1:0] turn;          // of the runs that leave
  logic [RW-1:0] run;           // of those that come in
  logic signed [AW-1:0] phase;  // turn * STEP + START - run * OF
  logic again;                  // the run has come in
  wire room;
  wire valid = again || in_valid;
  wire moves = valid && room;
  wire last = place == PW'(BEATS - 1);
  wire [PW-1:0] next = last ? PW'(0) : place + PW'(1);
  wire ends = turn == SW'(SIZE - 1);
  wire signed [AW-1:0] ahead = phase + AW'(STEP);
  wire steps = ahead >= AW'(OF) && run != RW'(RUNS - 1);
  assign in_ready = room && !again;
  always_ff @(posedge clk) begin
    if (moves) begin
      place <= next;
      if (last) begin
        turn  <= ends ? SW'(0) : turn + SW'(1);
        again <= !ends && !steps;
        run   <= ends ? RW'(0) : run + RW'(steps);
        if (ends) phase <= AW'(START);
        else if (run != RW'(RUNS - 1)) phase <= steps ? ahead - AW'(OF) : ahead;
      end
    end
    if (rst) begin
      place <= PW'(0);
      turn  <= SW'(0);
      run   <= RW'(0);
      phase <= AW'(START);
      again <= 1'b0;
    end
  end

  // What is kept is read one beat ahead.
  wire [WIDTH-1:0] kept;
  generate
    if (BEATS == 1) begin : g_one
      logic [WIDTH-1:0] beat;
      always_ff @(posedge clk) if (moves && !again) beat <= in_data;
      assign kept = beat;
    end else begin : g_run
      mem_ram #(
          .WIDTH(WIDTH),
          .DEPTH(BEATS),
          .LATENCY(1)
      ) u_run (
          .clk  (clk),
          .we   (moves && !again),
          .waddr(place),
          .wdata(in_data),
          .en   (moves),
          .raddr(next),
          .rdata(kept)
      );
    end
  endgenerate

  stream_skid #(.WIDTH(WIDTH)) u_out (
      .clk(clk),
      .rst(rst),
      .in_data(again ? kept : in_data),
      .in_valid(valid),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
