// SPDX-License-Identifier: Apache-2.0
// op_window_cols: the horizontal half of a window generator. Columns in, W a row; windows of KW columns out, OW a row.
//   A chain of registers holds the newest columns. Windows that hang over the right edge are sent while the first
//   columns of the next row move in if these are there, and otherwise without them: the taps then sit SEL places
//   nearer to the front. Nothing waits for a row that may never come.
//   parameters  W       columns of a row
//               KW      columns of the window
//               SW DW   stride, dilation
//               PL PR   padding on the left, on the right
//               COLUMN  elements of a column
//               E_W     bits of an element
//               PAD     code of padding
//   latency: min(W - 1, max(0, (KW - 1) * DW - PL)) + 1
//   ii: W + max(0, (W + PL + PR - (KW - 1) * DW - 1) / SW + 1 - min(W - 1, max(0, (KW - 1) * DW - PL))
//       - max(1, (W - 2 + 2 * SW - max(0, (KW - 1) * DW - PL)) / SW))
//   order: windows as they come, column kx innermost; latency and ii are those of a row
//   flow: columns(W, FIRST, LAST, SW, AHEAD)
//   lut: KW * D + 60
//   ff: LEN * D + 4 * CW + KW + 12
`default_nettype none
module op_window_cols #(
    parameter integer W      = 8,
    parameter integer KW     = 3,
    parameter integer SW     = 1,
    parameter integer DW     = 1,
    parameter integer PL     = 1,
    parameter integer PR     = 1,
    parameter integer COLUMN = 12,
    parameter integer E_W    = 8,
    parameter integer PAD    = 0
) (
    input  wire                     clk,
    input  wire                     rst,
    input  wire [   COLUMN*E_W-1:0] in_data,
    input  wire                     in_valid,
    output wire                     in_ready,
    output wire [KW*COLUMN*E_W-1:0] out_data,
    output logic                    out_valid,
    input  wire                     out_ready
);
  localparam integer KS = (KW - 1) * DW + 1;
  localparam integer OW = (W + PL + PR - KS) / SW + 1;
  localparam integer D = COLUMN * E_W;
  localparam integer LEN = KS > PL ? KS : PL + 1;  // chain: the last place of a window is due at the front
  localparam integer FIRST = LEN - 1 - PL;  // column at the front of the first window of a row
  localparam integer LAST = FIRST + (OW - 1) * SW;
  localparam integer SEL_MAX = LAST > W - 1 ? LAST - W + 1 : 0;
  localparam integer SELW = SEL_MAX > 0 ? $clog2(SEL_MAX + 1) : 1;
  localparam integer AHEAD = FIRST < W - 1 ? FIRST : W - 1;  // columns of the next row that may overtake windows
  localparam integer CW = $clog2(2 * W + PL + PR + LEN + SW) + 2;

  logic signed [CW-1:0] t;  // next column to take
  logic t_last;  // it is the last of its row; never in the tail
  logic more;  // it may overtake windows
  logic signed [CW-1:0] gap;  // from there to the column at the front of the next window
  logic signed [CW-1:0] gap_sent;  // as it would be if that window were sent
  logic due;  // that column completes the window; not known in the tail, where windows wait for no column
  logic signed [CW-1:0] left;  // column of that window's first place
  logic last, last_next;  // it, the window after it is the last of its row
  logic tail;  // all columns of the row in hand are taken, not all windows sent; t counts in the row after it
  logic done;  // all windows of the row in hand are sent, not all columns taken
  logic [SELW-1:0] sel;

  wire run = !out_valid || out_ready;
  wire may_take = !tail || more;
  wire take = in_valid && may_take && run;
  wire row_end = take && t_last;
  wire send = run && (tail || (in_valid && due));
  wire signed [CW-1:0] taken = !take ? CW'(0) : t_last ? CW'(W - 1) : CW'(-1);
  wire signed [CW-1:0] row_on = !take ? CW'(FIRST - LAST) : t_last ? CW'(FIRST - LAST + W - 1) : CW'(FIRST - LAST - 1);
  wire signed [CW-1:0] on = !take ? CW'(SW) : t_last ? CW'(SW + W - 1) : CW'(SW - 1);
  wire all_sent = !row_end && (done || (send && last && !tail));
  // Whether the next column is due, if no window is sent now, and if one is
  wire [1:0] due_then;
  wire signed [CW-1:0] short_by = gap - (!tail ? CW'(0) : take ? CW'(W) : CW'(W - 1));

  assign in_ready = may_take && run;

  always_ff @(posedge clk) begin
    if (run) out_valid <= send;
    gap <= (send ? gap_sent : gap) + taken;
    gap_sent <= gap_sent + (!send ? taken : last_next ? row_on : on);
    due <= !all_sent && due_then[send];
    done <= all_sent;
    if (take) begin
      t <= t_last ? CW'(0) : t + CW'(1);
      t_last <= t_last ? W == 1 : t == CW'(W - 2);
      more <= t_last ? AHEAD > 0 : AHEAD > 1 && $unsigned(t) < CW'(AHEAD - 1);
    end
    if (send) begin
      left <= last ? CW'(-PL) : left + CW'(SW);
      last <= last_next;
      last_next <= last_next ? OW == 1 : last ? OW == 2 : left == CW'(LAST - FIRST - PL - 2 * SW);
    end
    if (row_end) tail <= !(done || (send && last));
    else if (send && last) tail <= 1'b0;
    if (rst) begin
      t <= '0;
      t_last <= W == 1;
      more <= AHEAD > 0;
      gap <= CW'(FIRST);
      gap_sent <= CW'(OW == 1 ? FIRST : FIRST + SW);
      due <= FIRST == 0 || W == 1;
      left <= CW'(-PL);
      last <= OW == 1;
      last_next <= OW <= 2;
      tail <= 1'b0;
      done <= 1'b0;
      out_valid <= 1'b0;
    end
  end
  always_ff @(posedge clk) if (run) sel <= short_by[SELW-1:0];
  generate
    for (genvar i = 0; i < 2; i++) begin : g_due
      wire signed [CW-1:0] from = i == 0 ? gap : gap_sent;
      wire ahead = !from[CW-1];
      assign due_then[i] = !take ? (t_last ? ahead : from == CW'(0))
          : t_last ? (W == 1 ? ahead : from == CW'(1 - W))
          : t == CW'(W - 2) ? ahead && from != CW'(0) : from == CW'(1);
    end
  endgenerate

  logic [LEN*D-1:0] chain;  // front in the low bits
  generate
    if (LEN == 1) begin : g_one
      always_ff @(posedge clk) if (take) chain <= in_data;
    end else begin : g_chain
      always_ff @(posedge clk) if (take) chain <= {chain[(LEN-1)*D-1:0], in_data};
    end
    for (genvar k = 0; k < KW; k++) begin : g_tap
      localparam integer AT = LEN - 1 - k * DW;  // place of the tap; nearer to the front nothing but padding
      localparam integer SEL = SEL_MAX < AT ? SEL_MAX : AT;
      wire signed [CW-1:0] x = left + CW'(k * DW);
      wire [D-1:0] column;
      logic hit;
      always_ff @(posedge clk) if (run) hit <= $unsigned(x) < CW'(W);  // and not negative
      if (SEL == 0) begin : g_fixed
        assign column = chain[AT*D+:D];
      end else begin : g_choice
        localparam integer PW = $clog2(SEL + 1);
        wire [PW-1:0] nearer = PW'(SEL) - sel[PW-1:0];
        op_pick #(
            .N(SEL + 1),
            .WIDTH(D)
        ) u_pick (
            .in (chain[(AT-SEL)*D+:(SEL+1)*D]),
            .sel(nearer),
            .out(column)
        );
      end
      assign out_data[k*D+:D] = hit ? column : {COLUMN{E_W'(PAD)}};
    end
  endgenerate
  wire unused = &{1'b0, short_by, sel};
endmodule
`default_nettype wire
