// SPDX-License-Identifier: Apache-2.0
// op_softmax_seen: which elements of a row take part in softmax: the first LIVE ones and, where CAUSAL, of row r only
//   those up to r / HEADS + OFFSET.
//   parameters  ROWS           rows of a frame
//               N, LANES       elements of a row, and of a beat: a divisor of N
//               LIVE           up to N
//               CAUSAL         0 or 1
//               HEADS, OFFSET  rows of a token, and the last element that the first token sees
//   move: go on to the next beat. seen: of this beat, the elements that take part.
//   latency: 0   ii: 1   order: counters
//   let: C_W = clog2(N / LANES + 1); J_W = clog2(N + 1) + 1; Q_W = clog2((LEAST < 0 ? 0 - LEAST : 0) + N + 2) + 1;
//       T_W = clog2(ROWS + 1) + clog2(HEADS + 1)
//   lut: CAUSAL == 0 ? J_W + LANES / 2 + 6 : 2 * J_W + 2 * Q_W + T_W
//   ff: C_W + J_W + (CAUSAL == 0 ? 0 : Q_W + T_W)
`default_nettype none
module op_softmax_seen #(
    parameter integer ROWS   = 2,
    parameter integer N      = 16,
    parameter integer LANES  = 1,
    parameter integer LIVE   = N,
    parameter integer CAUSAL = 0,
    parameter integer HEADS  = 1,
    parameter integer OFFSET = 0
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             move,
    output wire [LANES-1:0] seen
);
  localparam integer LEAST = CAUSAL == 0 || OFFSET >= LIVE ? LIVE : OFFSET + 1;  // elements that the first row sees
  localparam integer BEATS = N / LANES;
  localparam integer C_W = $clog2(BEATS + 1);
  localparam integer J_W = $clog2(N + 1) + 1;

  generate
    if (ROWS < 1 || LIVE < 0 || LIVE > N || CAUSAL < 0 || CAUSAL > 1 || HEADS < 1) begin : g_bad
      ROWS_and_HEADS_must_be_at_least_1_and_LIVE_at_most_N_and_CAUSAL_0_or_1 u_bad ();
    end
  endgenerate

  logic [C_W-1:0] count;  // beats of the row before this one
  wire row_end = count == C_W'(BEATS - 1);
  // Of the elements that take part, how many are in this beat or behind it; below 0 where the last one is before.
  logic signed [J_W-1:0] left;
  wire [J_W-1:0] most;  // of them in the next row
  always_ff @(posedge clk) begin
    if (move) begin
      count <= row_end ? C_W'(0) : count + C_W'(1);
      left  <= row_end ? most : left - J_W'(LANES);
    end
    if (rst) begin
      count <= C_W'(0);
      left  <= J_W'(LEAST < 0 ? 0 : LEAST);
    end
  end

  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      assign seen[i] = left > J_W'(i);
    end
    if (CAUSAL == 0) begin : g_length
      assign most = J_W'(LIVE);
    end else begin : g_causal
      // For the next row: its number, that of its head, and the elements that its token sees, below 0 where it stands
      // before the first one.
      localparam integer Q_W = $clog2((LEAST < 0 ? -LEAST : 0) + N + 2) + 1;
      localparam integer R_W = $clog2(ROWS + 1);
      localparam integer H_W = $clog2(HEADS + 1);
      logic signed [Q_W-1:0] reach;
      logic [R_W-1:0] row;
      logic [H_W-1:0] head;
      wire last_row = row == R_W'(ROWS - 1);
      wire last_head = head == H_W'(HEADS - 1);
      assign most = reach[Q_W-1] ? J_W'(0) : J_W'(reach);
      always_ff @(posedge clk) begin
        if (move && row_end) begin
          row  <= last_row ? R_W'(0) : row + R_W'(1);
          head <= last_row || last_head ? H_W'(0) : head + H_W'(1);
          if (last_row) reach <= Q_W'(LEAST);
          else if (last_head && reach != Q_W'(LIVE)) reach <= reach + Q_W'(1);
        end
        if (rst) begin
          row   <= R_W'(ROWS > 1 ? 1 : 0);
          head  <= H_W'(ROWS > 1 && HEADS > 1 ? 1 : 0);
          reach <= Q_W'(ROWS > 1 && HEADS == 1 && LEAST < LIVE ? LEAST + 1 : LEAST);
        end
      end
    end
  endgenerate
endmodule
`default_nettype wire
