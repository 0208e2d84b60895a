// SPDX-License-Identifier: Apache-2.0
// op_window_track: which pixels of a circular buffer of NB image rows are written, needed and free.
//   A writer fills the rows of endless frames one pixel after the other; a reader sweeps over them, one sweep per
//   row of windows, and never looks above the first row of its sweep again. Both only count rows and compare columns.
//   room and ready are registers, so that neither side's handshake begins with an addition: each is chosen from what it
//   will be for every way in which the reader and the writer may move in this cycle. What differs from sweep to sweep
//   is computed sweeps ahead, and moves up at a turn.
//   parameters  H   rows of a frame
//               W   pixels of a row
//               KS  rows that a window spans, dilation included
//               SH  rows from one sweep to the next
//               PT  padding rows above the frame
//               OH  sweeps of a frame
//               NB  rows of the buffer
//               COLUMNS   1: need_x is the column that is read next: it grows by one at a step, and begins anew at a
//                         turn; of the first row of a sweep, the columns before it are not read again. 0: unknown
//               XW BW YW  bits of columns, of rows of the buffer, of rows of the frame
//   latency: 1   ii: 1   order: row-major
//   lut: 100
//   lut4: 24 + 32 * XW
//   ff: SRL ? 48 : 37 + 11 * XW
`default_nettype none
module op_window_track #(
    parameter integer H       = 8,
    parameter integer W       = 8,
    parameter integer KS      = 3,
    parameter integer SH      = 1,
    parameter integer PT      = 1,
    parameter integer OH      = 8,
    parameter integer NB      = 4,
    parameter integer COLUMNS = 0,
    parameter integer XW      = $clog2(W) + 1,
    parameter integer BW      = $clog2(NB) + 1,
    parameter integer YW      = $clog2(((OH - 1) * SH + KS > H ? (OH - 1) * SH + KS : H) + PT + 1) + 1
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire                 wrote,     // a pixel is written in this cycle, allowed only if room
    output logic                room,
    output logic [XW-1:0]       wr_x,      // its column
    output logic [BW-1:0]       wr_bank,   // its row of the buffer
    input  wire [XW-1:0]        need_x,    // column of the last row of the sweep that the reader waits for
    input  wire [XW-1:0]        need_next, // the column after it, of the next sweep at a turn
    input  wire                 step,      // the reader goes on to that in this cycle
    output logic                ready,     // pixel need_x is written
    input  wire                 turn,      // the reader finishes its sweep in this cycle, and so steps
    output logic signed [YW-1:0] top,      // first row of the sweep within the frame, negative in the padding
    output wire signed [YW-1:0] top_next,  // that of the next sweep
    output logic [BW-1:0]       top_bank,  // its row of the buffer, modulo NB in the padding too
    output logic                at_end     // the sweep is the last of its frame
);
  localparam integer JUMP = H - (OH - 1) * SH;  // rows from the last sweep of a frame to the first of the next
  localparam integer LAST_0 = KS - 1 < PT ? 0 : KS - 1 - PT < H ? KS - 1 - PT : H - 1;
  localparam integer STEP_BANK = SH % NB;
  localparam integer JUMP_BANK = ((JUMP % NB) + NB) % NB;
  localparam integer TOP_BANK_0 = (NB - PT % NB) % NB;
  localparam integer HW = $clog2(H + 1);  // bits of a row that exists
  localparam integer CW = $clog2(NB + H + 1) + 1;  // bits of a signed number of rows

  // First rows of the sweeps after reset, and what follows from those
  function automatic integer top_of(input integer sweep);
    top_of = (sweep % OH) * SH - PT;
  endfunction
  function automatic integer first_at(input integer y);
    first_at = y < 0 ? 0 : y > H ? H : y;
  endfunction
  function automatic integer last_at(input integer y);
    last_at = y + KS < 1 ? 0 : y + KS > H ? H - 1 : y + KS - 1;
  endfunction
  function automatic integer end_of(input integer sweep);
    end_of = sweep % OH == OH - 1 ? 1 : 0;
  endfunction
  localparam integer FREES_0 = (OH == 1 ? H : first_at(top_of(1))) - first_at(-PT);
  localparam integer NEEDS_0 = last_at(top_of(1)) - LAST_0 + (OH == 1 ? H : 0);

  // Four sweeps ahead its top and bottom, three and two ahead its first and last row, then how many rows the turn after
  // the next frees and needs
  logic signed [YW-1:0] top_4, bottom_4;
  logic end_4, end_3, end_2, end_1;
  logic [HW-1:0] first_3, first_2;
  logic [HW-1:0] last_3;
  logic signed [CW-1:0] last_2;  // as the sweep after it counts, whose frame may be another one
  logic [HW-1:0] frees, needs;
  logic freeing;  // the next turn frees rows
  always_ff @(posedge clk) begin
    if (turn) begin
      top_4 <= end_4 ? YW'(-PT) : top_4 + YW'(SH);
      bottom_4 <= end_4 ? YW'(KS - 1 - PT) : bottom_4 + YW'(SH);
      end_4 <= OH == 1 || (!end_4 && top_4 == YW'((OH - 2) * SH - PT));
      end_3 <= end_4;
      first_3 <= top_4[YW-1] ? HW'(0) : $unsigned(top_4) > YW'(H) ? HW'(H) : top_4[HW-1:0];
      last_3 <= bottom_4[YW-1] ? HW'(0) : $unsigned(bottom_4) > YW'(H - 1) ? HW'(H - 1) : bottom_4[HW-1:0];
      end_2 <= end_3;
      first_2 <= first_3;
      last_2 <= CW'(last_3) - (end_3 ? CW'(H) : CW'(0));
      end_1 <= end_2;
      frees <= (end_2 ? HW'(H) : first_3) - first_2;
      needs <= HW'(CW'(last_3) - last_2);
      at_end <= end_1;
      freeing <= frees != HW'(0);
      top <= top_next;
    end
    if (rst) begin
      top_4 <= YW'(top_of(4));
      bottom_4 <= YW'(top_of(4) + KS - 1);
      end_4 <= 1'(end_of(4));
      end_3 <= 1'(end_of(3));
      first_3 <= HW'(first_at(top_of(3)));
      last_3 <= HW'(last_at(top_of(3)));
      end_2 <= 1'(end_of(2));
      first_2 <= HW'(first_at(top_of(2)));
      last_2 <= CW'(last_at(top_of(2)) - H * end_of(2));
      end_1 <= 1'(end_of(1));
      frees <= HW'((end_of(1) != 0 ? H : first_at(top_of(2))) - first_at(top_of(1)));
      needs <= HW'(last_at(top_of(2)) - last_at(top_of(1)) + H * end_of(1));
      at_end <= 1'(end_of(0));
      freeing <= FREES_0 != 0;
      top <= YW'(-PT);
    end
  end
  assign top_next = at_end ? YW'(-PT) : top + YW'(SH);

  logic signed [CW-1:0] space;  // rows from the writer's to the first that is still occupied
  logic signed [CW-1:0] lead;  // whole rows written beyond the last row of the sweep, which counts as -1
  logic signed [CW-1:0] space_turn, lead_turn;  // as they would be after the next turn
  wire [BW-1:0] bank_step = top_bank + (at_end ? BW'(JUMP_BANK) : BW'(STEP_BANK));
  logic [XW-1:0] wr_next;  // the column after wr_x, unless that is the last of its row
  logic wr_last;
  wire row_done = wrote && wr_last;

  // A row in hand is read up to the writer's column, and written up to the reader's. Without a turn, the column after a
  // step is need_x + 1. A sign bit and bits of a number cost less than an order. wrote comes late, out of the writer's
  // handshake, so it only chooses between answers.
  wire next_idle = wr_x > need_next;  // the pixel that the reader steps to is written
  wire next_wrote = wr_last || wr_x >= need_next;
  wire past_idle = step ? next_idle : wr_x > need_x;
  wire past_wrote = step ? next_wrote : wr_last || wr_x >= need_x;
  wire part = COLUMNS != 0 && freeing;  // a row in hand is free up to the reader's column
  wire behind_row = part && (step || need_x != XW'(0));
  wire behind_idle = part && (step ? wr_x <= need_x : wr_x < need_x);
  wire behind_wrote = part && (step ? wr_x < need_x : wr_next < need_x);
  wire many = !space[CW-1] && space[CW-2:1] != 0;  // more than one
  wire many_turn = !space_turn[CW-1] && space_turn[CW-2:1] != 0;
  wire one = space == CW'(1);
  wire one_turn = space_turn == CW'(1);
  wire none = space == CW'(0);
  wire room_idle = turn ? many_turn || one_turn : many || one || (none && behind_idle);
  wire room_wrote = turn ? many_turn || (one_turn && !wr_last)
      : many || (one && (!wr_last || behind_row)) || (none && !wr_last && behind_wrote);
  wire ahead = !lead[CW-1] && lead != CW'(0);
  wire ahead_turn = !lead_turn[CW-1] && lead_turn != CW'(0);
  wire level = lead == CW'(0);
  wire level_turn = lead_turn == CW'(0);
  wire ready_idle = turn ? ahead_turn || (level_turn && next_idle) : ahead || (level && past_idle);
  wire ready_wrote = turn ? ahead_turn || (level_turn && next_wrote) : ahead || (level && past_wrote);

  always_ff @(posedge clk) begin
    if (wrote) begin
      wr_x <= wr_last ? XW'(0) : wr_next;
      wr_next <= wr_last ? XW'(1) : wr_next + 1'b1;
      wr_last <= wr_last ? W == 1 : wr_next == XW'(W - 1);
    end
    if (row_done) wr_bank <= wr_bank == BW'(NB - 1) ? BW'(0) : wr_bank + 1'b1;
    if (turn) top_bank <= bank_step >= BW'(NB) ? bank_step - BW'(NB) : bank_step;
    space <= (turn ? space_turn : space) - (row_done ? CW'(1) : CW'(0));
    space_turn <= space_turn + (turn ? CW'(frees) : CW'(0)) - (row_done ? CW'(1) : CW'(0));
    lead <= turn ? lead_turn + CW'(row_done) : lead + CW'(row_done);
    lead_turn <= lead_turn - (turn ? CW'(needs) : CW'(0)) + (row_done ? CW'(1) : CW'(0));
    room <= wrote ? room_wrote : room_idle;
    ready <= wrote ? ready_wrote : ready_idle;
    if (rst) begin
      wr_x <= XW'(0);
      wr_next <= XW'(1);
      wr_last <= W == 1;
      wr_bank <= BW'(0);
      top_bank <= BW'(TOP_BANK_0);
      space <= CW'(NB);
      space_turn <= CW'(NB + FREES_0);
      lead <= CW'(-LAST_0);
      lead_turn <= CW'(-LAST_0 - NEEDS_0);
      room <= 1'b1;
      ready <= 1'b0;
    end
  end
endmodule
`default_nettype wire
