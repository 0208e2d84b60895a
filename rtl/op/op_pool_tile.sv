// SPDX-License-Identifier: Apache-2.0
// op_pool_tile: pool whose windows do not overlap and have no padding: one step of maximum or sum for each input beat.
//   A memory holds the partial results of one row of windows. Rows and columns outside all windows are dropped.
//   A beat takes three steps: its window's partial result is read, then chosen, then folded and written back.
//   parameters  H W C   input frame: rows, columns, channels
//               KH KW   rows, columns of the window
//               SH SW   stride, at least the window
//               LANES   channels a beat, divides C
//               E_W     bits of an element
//               SIGNED  1: two's complement
//               SUM     0: maximum; 1: sum
//               ACC_W   bits of a result
//               LINE_STYLE   the memory, see mem_ram
//   latency: ((KH - 1) * W + KW - 1) * C / LANES + 4   ii: H * W * C / LANES   order: as the input
//   let: X = s / CF % W; Y = s / CF / W
//   flow: steps(H * W * CF, 1, X % SW == KW - 1 && Y % SH == KH - 1 && X / SW < OW && Y / SH < OH, 3) + u_skid
//   lut: 55 + D
//   lut4: 88 + 2 * D
//   ff: 36 + 2 * AW + 2 * LANES * E_W + 2 * D
//   parts: u_ram + u_fold + u_skid
`default_nettype none
module op_pool_tile #(
    parameter integer H          = 4,
    parameter integer W          = 4,
    parameter integer C          = 4,
    parameter integer KH         = 2,
    parameter integer KW         = 2,
    parameter integer SH         = 2,
    parameter integer SW         = 2,
    parameter integer LANES      = 2,
    parameter integer E_W        = 8,
    parameter integer SIGNED     = 1,
    parameter integer SUM        = 0,
    parameter integer ACC_W      = 8,
    parameter         LINE_STYLE = "auto"
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [  LANES*E_W-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*ACC_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer OH = (H - KH) / SH + 1;
  localparam integer OW = (W - KW) / SW + 1;
  localparam integer CF = C / LANES;
  localparam integer D = LANES * ACC_W;
  localparam integer KEEP = KH > 1 ? OW : 1;  // windows in progress at once
  localparam integer DEPTH = KEEP * CF;
  localparam integer AW = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam integer CW = $clog2(CF) + 1;
  localparam integer XW = $clog2(W) + 1;
  localparam integer YW = $clog2(H) + 1;

  generate
    if (C % LANES != 0 || KH > SH || KW > SW || KH > H || KW > W) begin : g_bad
      LANES_must_divide_C_and_windows_must_neither_overlap_nor_exceed_the_frame u_bad ();
    end
  endgenerate

  // Column x = ox * SW + kx of row y = oy * SH + ky
  logic [CW-1:0] c;
  logic [XW-1:0] x, kx, ox;
  logic [YW-1:0] y, ky, oy;
  logic [AW-1:0] addr;
  wire c_end = c == CW'(CF - 1);
  wire x_end = c_end && x == XW'(W - 1);
  wire y_end = x_end && y == YW'(H - 1);
  wire kx_end = kx == XW'(SW - 1);
  wire ky_end = ky == YW'(SH - 1);
  wire used = kx < XW'(KW) && ky < YW'(KH) && ox < XW'(OW) && oy < YW'(OH);
  wire first = kx == XW'(0) && ky == YW'(0);
  wire last = kx == XW'(KW - 1) && ky == YW'(KH - 1);
  wire restart = x_end || (c_end && KH == 1 && kx_end);  // the partial results are back at address 0
  wire [AW-1:0] next_addr = restart ? AW'(0) : c_end && !kx_end ? addr - AW'(CF - 1) : addr + AW'(1);
  wire take = in_valid && in_ready;

  always_ff @(posedge clk) begin
    if (take) begin
      c <= c_end ? CW'(0) : c + CW'(1);
      addr <= next_addr;
      if (c_end) begin
        x  <= x_end ? XW'(0) : x + XW'(1);
        kx <= x_end || kx_end ? XW'(0) : kx + XW'(1);
        ox <= x_end ? XW'(0) : kx_end ? ox + XW'(1) : ox;
      end
      if (x_end) begin
        y  <= y_end ? YW'(0) : y + YW'(1);
        ky <= y_end || ky_end ? YW'(0) : ky + YW'(1);
        oy <= y_end ? YW'(0) : ky_end ? oy + YW'(1) : oy;
      end
    end
    if (rst) begin
      {c, x, kx, ox, y, ky, oy} <= '0;
      addr <= '0;
    end
  end

  // All steps move or stand together. What one of the two beats before has made of the same window is not yet in the
  // memory when a beat reads it.
  wire [D-1:0] stored;
  logic [D-1:0] acc, newest;
  logic [LANES*E_W-1:0] beat_1, beat_2;
  logic [AW-1:0] addr_1, addr_2;
  logic first_1, first_2, used_1, used_2, last_1, last_2, made;
  logic follows_1, follows_2;  // the beat before, and the one before that, are of the same window
  wire room;
  wire [D-1:0] folded;
  wire run = room || !made;
  assign in_ready = run;
  mem_ram #(
      .WIDTH(D), .DEPTH(DEPTH), .STYLE(LINE_STYLE), .LATENCY(1)
  ) u_ram (
      .clk(clk), .we(run && used_2), .waddr(addr_2), .wdata(folded), .en(run), .raddr(addr), .rdata(stored)
  );
  always_ff @(posedge clk) begin
    if (run) begin
      {beat_1, addr_1, first_1} <= {in_data, addr, first};
      {beat_2, addr_2, first_2} <= {beat_1, addr_1, first_1};
      follows_1 <= used_1 && addr_1 == addr;
      follows_2 <= used_2 && addr_2 == addr;
      acc <= follows_1 ? folded : follows_2 ? newest : stored;
      newest <= folded;
      {used_1, last_1} <= {in_valid && used, in_valid && used && last};
      {made, used_2, last_2} <= {last_2, used_1, last_1};
    end
    if (rst) {used_1, used_2, last_1, last_2, made} <= '0;
  end
  op_pool_fold #(
      .LANES(LANES),
      .IN_W(E_W),
      .SIGNED(SIGNED),
      .SUM(SUM),
      .ACC_W(ACC_W)
  ) u_fold (
      .first(first_2),
      .in(beat_2),
      .acc(acc),
      .out(folded)
  );

  stream_skid #(
      .WIDTH(D)
  ) u_skid (
      .clk(clk),
      .rst(rst),
      .in_data(newest),
      .in_valid(made),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
