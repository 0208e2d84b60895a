// SPDX-License-Identifier: Apache-2.0
// op_window_rows: the vertical half of a window generator. One pixel in; one column of KH pixels out, for each column
//   of each row of windows. NB row memories are written in turn and all read at the same column.
//   A row is free again column by column while the last sweep over it runs.
//   parameters  H W     input frame: rows, columns
//               KH      rows of the window
//               SH DH   stride, dilation
//               PT PB   padding on top, at the bottom
//               PIXEL   elements of a pixel
//               E_W     bits of an element
//               PAD     code of padding
//               NB      row memories, at least (KH - 1) * DH + 1 or H
//               LINE_STYLE   their kind, see mem_ram; one register behind them, so UltraRAM is slower than elsewhere
//   latency: min(H - 1, max(0, (KH - 1) * DH - PT)) * W + 3
//   ii: max(H, (H + PT + PB - (KH - 1) * DH - 1) / SH + 1) * W   order: columns row-major, pixel ky innermost
//   let: TOP = s / W * SH - PT; OLD = min(max(TOP, 0), H); NEXT = s / W == OH - 1 ? H : min(max(TOP + SH, 0), H)
//   flow: memory(NB * W, H * W, OH * W, min(max(TOP + KS - 1, 0), H - 1) * W + s % W + 1,
//       OLD * W + (NEXT > OLD ? s % W : 0), 1) + u_skid
//   lut: KH * (D + 12) + 3 * XW
//   ff: 2 * XW + 2 + KH * 4
//   parts: u_track + NB * u_ram + KH * u_pick + u_skid
`default_nettype none
module op_window_rows #(
    parameter integer H          = 8,
    parameter integer W          = 8,
    parameter integer KH         = 3,
    parameter integer SH         = 1,
    parameter integer DH         = 1,
    parameter integer PT         = 1,
    parameter integer PB         = 1,
    parameter integer PIXEL      = 4,
    parameter integer E_W        = 8,
    parameter integer PAD        = 0,
    parameter integer NB         = 4,
    parameter         LINE_STYLE = "auto"
) (
    input  wire                    clk,
    input  wire                    rst,
    input  wire [   PIXEL*E_W-1:0] in_data,
    input  wire                    in_valid,
    output wire                    in_ready,
    output wire [KH*PIXEL*E_W-1:0] out_data,
    output wire                    out_valid,
    input  wire                    out_ready
);
  localparam integer KS = (KH - 1) * DH + 1;
  localparam integer OH = (H + PT + PB - KS) / SH + 1;
  localparam integer D = PIXEL * E_W;
  localparam integer XW = $clog2(W) + 1;
  localparam integer AW = W > 1 ? $clog2(W) : 1;
  localparam integer BW = $clog2(NB) + 1;
  localparam integer PW = NB > 1 ? $clog2(NB) : 1;
  localparam integer YW = $clog2(((OH - 1) * SH + KS > H ? (OH - 1) * SH + KS : H) + PT + 1) + 1;

  generate
    if (NB < KS && NB < H) begin : g_bad
      NB_must_be_at_least_the_rows_of_a_window u_bad ();
    end
  endgenerate

  logic [XW-1:0] x, x_next;
  logic x_end;
  wire ready, at_end;
  logic column_valid;
  wire column_ready;
  wire run = !column_valid || column_ready;
  wire issue = ready && run;
  wire write = in_valid && in_ready;
  wire signed [YW-1:0] top, top_next;
  wire [XW-1:0] wr_x;
  wire [BW-1:0] wr_bank, top_bank;
  op_window_track #(
      .H(H), .W(W), .KS(KS), .SH(SH), .PT(PT), .OH(OH), .NB(NB), .COLUMNS(1)
  ) u_track (
      .clk(clk), .rst(rst), .wrote(write), .room(in_ready), .wr_x(wr_x), .wr_bank(wr_bank), .need_x(x),
      .need_next(x_next), .step(issue), .ready(ready), .turn(issue && x_end), .top(top), .top_next(top_next),
      .top_bank(top_bank), .at_end(at_end)
  );

  always_ff @(posedge clk) begin
    if (issue) begin
      x <= x_next;
      x_end <= x_next == XW'(W - 1);
      x_next <= x_next == XW'(W - 1) ? XW'(0) : x_next + 1'b1;
    end
    if (run) column_valid <= ready;
    if (rst) begin
      x <= '0;
      x_end <= W == 1;
      x_next <= W == 1 ? XW'(0) : XW'(1);
      column_valid <= 1'b0;
    end
  end

  wire [NB*D-1:0] rows;
  wire [KH*D-1:0] column;
  generate
    for (genvar b = 0; b < NB; b++) begin : g_bank
      mem_ram #(
          .WIDTH(D), .DEPTH(W), .STYLE(LINE_STYLE), .LATENCY(1)
      ) u_ram (
          .clk(clk), .we(write && wr_bank == BW'(b)), .waddr(wr_x[AW-1:0]), .wdata(in_data), .en(run),
          .raddr(x[AW-1:0]), .rdata(rows[b*D+:D])
      );
    end
    for (genvar k = 0; k < KH; k++) begin : g_tap
      localparam integer STEP = (k * DH) % NB;
      wire signed [YW-1:0] y = top + YW'(k * DH);
      wire [BW-1:0] sum = top_bank + BW'(STEP);
      wire [BW-1:0] next_bank = sum >= BW'(NB) ? sum - BW'(NB) : sum;
      logic [PW-1:0] bank;
      logic hit;
      wire [D-1:0] pixel;
      always_ff @(posedge clk) begin
        if (run) begin
          bank <= next_bank[PW-1:0];
          hit <= $unsigned(y) < YW'(H);  // and not negative
        end
      end
      op_pick #(
          .N(NB),
          .WIDTH(D)
      ) u_pick (
          .in (rows),
          .sel(bank),
          .out(pixel)
      );
      assign column[k*D+:D] = hit ? pixel : {PIXEL{E_W'(PAD)}};
      wire unused = &{1'b0, next_bank};
    end
  endgenerate
  stream_skid #(
      .WIDTH(KH * D)
  ) u_skid (
      .clk(clk), .rst(rst), .in_data(column), .in_valid(column_valid), .in_ready(column_ready),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
  wire unused = &{1'b0, at_end, top_next, wr_x};
endmodule
`default_nettype wire
