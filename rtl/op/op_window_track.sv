// SPDX-License-Identifier: Apache-2.0
// op_window_track: which pixels of a circular buffer of NB image rows are written, needed and free.
//   A writer fills the rows of endless frames one pixel after the other; a reader sweeps over them, one sweep per
//   row of windows, and never looks above the first row of its sweep again. Both only count rows and compare columns.
//   room and ready are registers, so that neither side's handshake begins with an addition: each is made of what it
//   will be for every way in which the reader and the writer may move in this cycle. What differs from sweep to sweep
//   is computed sweeps ahead, and moves up at a turn.
//   parameters  H   rows of a frame
//               W   pixels of a row
//               KS  rows that a window spans, dilation included
//               SH  rows from one sweep to the next
//               PT  padding rows above the frame
//               OH  sweeps of a frame
//               NB  rows of the buffer
//               COLUMNS   1: of the first row of a sweep, the columns before need_x are not read again; else unknown
//               XW BW YW  bits of columns, of rows of the buffer, of rows of the frame
//   latency: 1   ii: 1   order: row-major
//   lut: 100
//   ff: 48
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

  // Three sweeps ahead its top, two and one ahead its first and last row, then how many rows the turn after the next
  // frees and needs
  logic signed [YW-1:0] top_3;
  logic end_3, end_2, end_1;
  logic [HW-1:0] first_2, first_1;
  logic [HW-1:0] last_2;
  logic signed [CW-1:0] last_1;  // as the sweep after it counts, whose frame may be another one
  wire [HW-1:0] frees = (end_1 ? HW'(H) : first_2) - first_1;
  wire [HW-1:0] needs = HW'(CW'(last_2) - last_1);
  logic freeing;  // the next turn frees rows
  always_ff @(posedge clk) begin
    if (turn) begin
      top_3 <= end_3 ? YW'(-PT) : top_3 + YW'(SH);
      end_3 <= OH == 1 || (!end_3 && top_3 == YW'((OH - 2) * SH - PT));
      end_2 <= end_3;
      first_2 <= top_3 < YW'(0) ? HW'(0) : top_3 > YW'(H) ? HW'(H) : top_3[HW-1:0];
      last_2 <= top_3 < YW'(1 - KS) ? HW'(0) : top_3 > YW'(H - KS) ? HW'(H - 1) : HW'(top_3) + HW'(KS - 1);
      end_1 <= end_2;
      first_1 <= first_2;
      last_1 <= CW'(last_2) - (end_2 ? CW'(H) : CW'(0));
      at_end <= end_1;
      freeing <= frees != HW'(0);
      top <= top_next;
    end
    if (rst) begin
      top_3 <= YW'(top_of(3));
      end_3 <= 1'(end_of(3));
      end_2 <= 1'(end_of(2));
      first_2 <= HW'(first_at(top_of(2)));
      last_2 <= HW'(last_at(top_of(2)));
      end_1 <= 1'(end_of(1));
      first_1 <= HW'(first_at(top_of(1)));
      last_1 <= CW'(last_at(top_of(1)) - H * end_of(1));
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
  wire [XW-1:0] wr_next = wr_x + 1'b1;
  wire row_done = wrote && wr_x == XW'(W - 1);

  // A row in hand is read up to the writer's column, and written up to the reader's.
  wire past = step ? (wrote ? wr_x >= need_next : wr_x > need_next) : (wrote ? wr_x >= need_x : wr_x > need_x);
  wire behind = COLUMNS != 0 && freeing && !turn && (step
      ? (row_done ? need_next != XW'(0) : wrote ? wr_next < need_next : wr_x < need_next)
      : (row_done ? need_x != XW'(0) : wrote ? wr_next < need_x : wr_x < need_x));

  always_ff @(posedge clk) begin
    if (wrote) wr_x <= row_done ? XW'(0) : wr_next;
    if (row_done) wr_bank <= wr_bank == BW'(NB - 1) ? BW'(0) : wr_bank + 1'b1;
    if (turn) top_bank <= bank_step >= BW'(NB) ? bank_step - BW'(NB) : bank_step;
    space <= (turn ? space_turn : space) - (row_done ? CW'(1) : CW'(0));
    space_turn <= space_turn + (turn ? CW'(frees) : CW'(0)) - (row_done ? CW'(1) : CW'(0));
    lead <= (turn ? lead_turn : lead) + (row_done ? CW'(1) : CW'(0));
    lead_turn <= lead_turn - (turn ? CW'(needs) : CW'(0)) + (row_done ? CW'(1) : CW'(0));
    if (row_done) begin
      room <= turn ? space_turn > CW'(1) : space > CW'(1) || (space == CW'(1) && behind);
      ready <= turn ? lead_turn >= CW'(0) : lead >= CW'(0);
    end else begin
      room <= turn ? space_turn > CW'(0) : space > CW'(0) || (space == CW'(0) && behind);
      ready <= turn ? lead_turn > CW'(0) || (lead_turn == CW'(0) && past) : lead > CW'(0) || (lead == CW'(0) && past);
    end
    if (rst) begin
      wr_x <= XW'(0);
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
