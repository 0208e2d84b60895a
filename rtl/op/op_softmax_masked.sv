// SPDX-License-Identifier: Apache-2.0
// op_softmax_masked: softmax along rows, with op_softmax_core's integers, of the elements that a mask lets through. A
//   frame has ROWS rows of x, stream a, and a mask of N bits, stream b: bit j is 1 where element j of every row takes
//   part; where CAUSAL, of row r only up to element r / HEADS + OFFSET. The others give 0; a row of which none takes
//   part is 0. The mask is taken with the first row, beat by beat, and kept for the others.
//   parameters  ROWS               rows of a frame
//               N, LANES           elements of a row, and of a beat: a divisor of N
//               IN_W, SIGNED       bits of x, up to 16, 1: two's complement
//               K, K_SHIFT         factor scale * log2(e) * 2^(K_SHIFT+20), 24 bits, the first one 1, and right shift
//               OUT_W, OUT_SIGNED  bits of p, 1: two's complement
//               FO                 fraction bits of p, up to 16
//               CAUSAL             0 or 1
//               HEADS, OFFSET      rows of a token, and the last element that the first token sees
//   latency: 2 * N / LANES + 2 * clog2(LANES) + (IN_W <= 8 ? 37 : 42)
//   ii: ROWS * max(N / LANES, 26)   order: as the input
//   turns: 0, BEATS
//   flow: steps(ROWS * BEATS, s < BEATS ? 3 : 1, 1, 0) + u_core
//   lut: (ROWS > 1 ? LANES + C_W + 12 : 1) + (CAUSAL == 0 ? 0 : LANES)
//   ff: ROWS > 1 ? C_W + R_W : 0
//   parts: (ROWS == 1 ? 0 : BEATS > 1 ? mem_ram.u_mask : num_delay.u_mask) + (CAUSAL == 0 ? 0 : u_seen) + u_core
`default_nettype none
module op_softmax_masked #(
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
    parameter integer CAUSAL     = 0,
    parameter integer HEADS      = 1,
    parameter integer OFFSET     = 0
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [ LANES*IN_W-1:0] a_data,
    input  wire                   a_valid,
    output wire                   a_ready,
    input  wire [      LANES-1:0] b_data,
    input  wire                   b_valid,
    output wire                   b_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer BEATS = N / LANES;
  localparam integer C_W = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer R_W = $clog2(ROWS + 1);

  generate
    if (ROWS < 1) begin : g_bad
      ROWS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  wire fresh;  // the mask comes from outside
  wire room;
  wire there = a_valid && (b_valid || !fresh);
  wire move = there && room;
  assign a_ready = room && (b_valid || !fresh);
  assign b_ready = room && a_valid && fresh;

  wire [LANES-1:0] open;  // by the mask
  generate
    if (ROWS == 1) begin : g_once
      assign fresh = 1'b1;
      assign open = b_data;
    end else begin : g_keep
      logic [C_W-1:0] count;  // beats of the row before this one
      logic [R_W-1:0] row;
      wire row_end = count == C_W'(BEATS - 1);
      wire [C_W-1:0] next = row_end ? C_W'(0) : count + C_W'(1);
      assign fresh = row == R_W'(0);
      always_ff @(posedge clk) begin
        if (move) count <= next;
        if (move && row_end) row <= row == R_W'(ROWS - 1) ? R_W'(0) : row + R_W'(1);
        if (rst) begin
          count <= C_W'(0);
          row   <= R_W'(0);
        end
      end
      // The memory is a cycle late, so it reads what the next beat needs. With a single beat that is what is written.
      wire [LANES-1:0] kept;
      if (BEATS == 1) begin : g_beat
        num_delay #(.WIDTH(LANES), .DEPTH(1)) u_mask (.clk(clk), .en(move && fresh), .in(b_data), .out(kept));
      end else begin : g_row
        mem_ram #(.WIDTH(LANES), .DEPTH(BEATS), .LATENCY(1)) u_mask (
            .clk(clk), .we(move && fresh), .waddr(count), .wdata(b_data), .en(1'b1), .raddr(move ? next : count),
            .rdata(kept)
        );
      end
      assign open = fresh ? b_data : kept;
    end
  endgenerate

  wire [LANES-1:0] live;
  generate
    if (CAUSAL == 0) begin : g_all
      assign live = open;
      wire unused = move;
    end else begin : g_some
      wire [LANES-1:0] seen;
      op_softmax_seen #(
          .ROWS(ROWS), .N(N), .LANES(LANES), .CAUSAL(CAUSAL), .HEADS(HEADS), .OFFSET(OFFSET)
      ) u_seen (
          .clk(clk), .rst(rst), .move(move), .seen(seen)
      );
      assign live = open & seen;
    end
  endgenerate

  op_softmax_core #(
      .N(N), .LANES(LANES), .IN_W(IN_W), .SIGNED(SIGNED), .K(K), .K_SHIFT(K_SHIFT), .OUT_W(OUT_W),
      .OUT_SIGNED(OUT_SIGNED), .FO(FO), .MASKED(1)
  ) u_core (
      .clk(clk), .rst(rst), .in_data(a_data), .in_live(live), .in_valid(there), .in_ready(room),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
