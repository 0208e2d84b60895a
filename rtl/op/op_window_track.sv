// SPDX-License-Identifier: Apache-2.0
// op_window_track: which pixels of a circular buffer of NB image rows are written, needed and free.
//   A writer fills the rows of endless frames one pixel after the other; a reader sweeps over them, one sweep per
//   row of windows, and never looks above the first row of its sweep again. Both only count rows and compare columns.
//   parameters  H   rows of a frame
//               W   pixels of a row
//               KS  rows that a window spans, dilation included
//               SH  rows from one sweep to the next
//               PT  padding rows above the frame
//               OH  sweeps of a frame
//               NB  rows of the buffer
//   latency: 1   ii: 1   order: row-major
//   lut: 100
//   ff: 28
`default_nettype none
module op_window_track #(
    parameter integer H  = 8,
    parameter integer W  = 8,
    parameter integer KS = 3,
    parameter integer SH = 1,
    parameter integer PT = 1,
    parameter integer OH = 8,
    parameter integer NB = 4,
    parameter integer XW = $clog2(W) + 1,
    parameter integer BW = $clog2(NB) + 1,
    parameter integer YW = $clog2(2 * H + KS + SH * OH + PT + NB) + 2
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire                 wrote,     // a pixel is written in this cycle, allowed only if room
    output wire                 room,
    output logic [XW-1:0]       wr_x,      // its column
    output logic [BW-1:0]       wr_bank,   // its row of the buffer
    input  wire [XW-1:0]        need_x,    // column of the last row of the sweep that the reader waits for
    output wire                 ready,     // that pixel is written
    input  wire [XW-1:0]        done_x,    // columns of the sweep's first row that are not read again, 0 for unknown
    input  wire                 turn,      // the reader finishes its sweep in this cycle
    output logic signed [YW-1:0] top,      // first row of the sweep within the frame, negative in the padding
    output logic [BW-1:0]       top_bank,  // its row of the buffer, modulo NB in the padding too
    output wire                 at_end     // the sweep is the last of its frame
);
  localparam integer JUMP = H - (OH - 1) * SH;  // rows from the last sweep of a frame to the first of the next
  localparam integer LAST_0 = KS - 1 < PT ? 0 : KS - 1 - PT < H ? KS - 1 - PT : H - 1;
  localparam integer TOP_END = (OH - 1) * SH - PT;
  localparam integer STEP_BANK = SH % NB;
  localparam integer JUMP_BANK = ((JUMP % NB) + NB) % NB;
  localparam integer TOP_BANK_0 = (NB - PT % NB) % NB;

  // First and last row of the frame that a sweep from row y reads.
  function automatic signed [YW-1:0] first_of(input signed [YW-1:0] y);
    first_of = y < YW'(0) ? YW'(0) : y > YW'(H) ? YW'(H) : y;
  endfunction
  function automatic signed [YW-1:0] last_of(input signed [YW-1:0] y);
    last_of = y < YW'(1 - KS) ? YW'(0) : y > YW'(H - KS) ? YW'(H - 1) : y + YW'(KS - 1);
  endfunction

  logic signed [YW-1:0] space;  // rows from the writer's to the first that is still occupied
  logic signed [YW-1:0] lead;  // whole rows written beyond the last row of the sweep, which counts as -1
  wire signed [YW-1:0] top_next = at_end ? YW'(-PT) : top + YW'(SH);
  wire signed [YW-1:0] frees = (at_end ? YW'(H) : first_of(top_next)) - first_of(top);
  wire signed [YW-1:0] needs = last_of(top_next) - last_of(top) + (at_end ? YW'(H) : YW'(0));
  wire row_done = wrote && wr_x == XW'(W - 1);
  wire [BW-1:0] bank_step = top_bank + (at_end ? BW'(JUMP_BANK) : BW'(STEP_BANK));

  assign at_end = top == YW'(TOP_END);
  assign room = space > YW'(0) || (space == YW'(0) && frees != YW'(0) && wr_x < done_x);
  assign ready = lead > YW'(0) || (lead == YW'(0) && wr_x > need_x);

  always_ff @(posedge clk) begin
    if (wrote) wr_x <= row_done ? XW'(0) : wr_x + 1'b1;
    if (row_done) wr_bank <= wr_bank == BW'(NB - 1) ? BW'(0) : wr_bank + 1'b1;
    if (turn) begin
      top <= top_next;
      top_bank <= bank_step >= BW'(NB) ? bank_step - BW'(NB) : bank_step;
    end
    space <= space + (turn ? frees : YW'(0)) - (row_done ? YW'(1) : YW'(0));
    lead <= lead - (turn ? needs : YW'(0)) + (row_done ? YW'(1) : YW'(0));
    if (rst) begin
      wr_x <= XW'(0);
      wr_bank <= BW'(0);
      top <= YW'(-PT);
      top_bank <= BW'(TOP_BANK_0);
      space <= YW'(NB);
      lead <= YW'(-LAST_0);
    end
  end
endmodule
`default_nettype wire
