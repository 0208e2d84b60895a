// SPDX-License-Identifier: Apache-2.0
// op_softmax: softmax along rows, with op_softmax_core's integers. Only the first LIVE elements of a row take part and,
//   where CAUSAL, of row r only those up to r / HEADS + OFFSET. The others give 0; a row of which none takes part is 0.
//   parameters  ROWS               rows of a frame
//               N, LANES           elements of a row, and of a beat: a divisor of N
//               IN_W, SIGNED       bits of x, up to 16, 1: two's complement
//               K, K_SHIFT         factor scale * log2(e) * 2^(K_SHIFT+20), 24 bits, the first one 1, and right shift
//               OUT_W, OUT_SIGNED  bits of p, 1: two's complement
//               FO                 fraction bits of p, up to 16
//               LIVE               up to N
//               CAUSAL             0 or 1
//               HEADS, OFFSET      rows of a token, and the last element that the first token sees
//   latency: 2 * N / LANES + 2 * clog2(LANES) + (IN_W <= 8 ? 37 : 42)
//   ii: ROWS * max(N / LANES, 26)   order: as the input
//   flow: u_core
//   let: C_W = clog2(N / LANES + 1); J_W = clog2(N + 1) + 1; Q_W = clog2((LEAST < 0 ? 0 - LEAST : 0) + N + 2) + 1;
//       T_W = clog2(ROWS + 1) + clog2(HEADS + 1)
//   lut: MASKED == 0 ? 0 : CAUSAL == 0 ? J_W + LANES / 2 + 6 : 2 * J_W + 2 * Q_W + T_W
//   ff: MASKED == 0 ? 0 : C_W + J_W + (CAUSAL == 0 ? 0 : Q_W + T_W)
//   parts: u_core
`default_nettype none
module op_softmax #(
    parameter integer ROWS       = 2,
    parameter integer N          = 16,
    parameter integer LANES      = 1,
    parameter integer IN_W       = 8,
    parameter integer SIGNED     = 1,
    parameter [23:0]  K          = 24'd12102203,
    parameter integer K_SHIFT    = 7,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 0,
    parameter integer FO         = 8,
    parameter integer LIVE       = N,
    parameter integer CAUSAL     = 0,
    parameter integer HEADS      = 1,
    parameter integer OFFSET     = 0
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [ LANES*IN_W-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer MASKED = CAUSAL != 0 || LIVE < N ? 1 : 0;
  localparam integer LEAST = CAUSAL == 0 || OFFSET >= LIVE ? LIVE : OFFSET + 1;  // elements that the first row sees

  generate
    if (ROWS < 1 || LIVE < 0 || LIVE > N || CAUSAL < 0 || CAUSAL > 1 || HEADS < 1) begin : g_bad
      ROWS_and_HEADS_must_be_at_least_1_and_LIVE_at_most_N_and_CAUSAL_0_or_1 u_bad ();
    end
  endgenerate

  wire [LANES-1:0] live;
  generate
    if (MASKED == 0) begin : g_all
      assign live = {LANES{1'b1}};
    end else begin : g_some
      localparam integer BEATS = N / LANES;
      localparam integer C_W = $clog2(BEATS + 1);
      localparam integer J_W = $clog2(N + 1) + 1;
      logic [C_W-1:0] count;  // beats of the row before this one
      wire row_end = count == C_W'(BEATS - 1);
      wire move = in_valid && in_ready;
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
      for (genvar i = 0; i < LANES; i++) begin : g_lane
        assign live[i] = left > J_W'(i);
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
    end
  endgenerate

  op_softmax_core #(
      .N(N), .LANES(LANES), .IN_W(IN_W), .SIGNED(SIGNED), .K(K), .K_SHIFT(K_SHIFT), .OUT_W(OUT_W),
      .OUT_SIGNED(OUT_SIGNED), .FO(FO), .MASKED(MASKED)
  ) u_core (
      .clk(clk), .rst(rst), .in_data(in_data), .in_live(live), .in_valid(in_valid), .in_ready(in_ready),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
