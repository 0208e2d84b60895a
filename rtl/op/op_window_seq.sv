// SPDX-License-Identifier: Apache-2.0
// op_window_seq: sliding windows, part of a pixel a beat, read one after the other from one memory of whole rows.
//   The next rows are written while a row of windows is read. A window starts when its last pixel is written.
//   parameters  H W C          input frame: rows, columns, channels
//               KH KW          rows, columns of the window
//               SH SW          stride
//               DH DW          dilation
//               PT PL PB PR    padding on top, left, bottom, right
//               IN_LANES       channels a beat, divides C, multiple of OUT_LANES
//               OUT_LANES      channels a beat, divides C / GROUPS
//               E_W            bits of an element
//               PAD            code of padding
//               GROUPS         channel groups, outermost inside a window
//               NB             rows of memory; with the default neither side ever waits for the other without need
//               LINE_STYLE     memory of rows, see mem_ram
//   latency: (min(H - 1, max(0, (KH - 1) * DH - PT)) * W + min(W - 1, max(0, (KW - 1) * DW - PL)) + 1)
//       * C / IN_LANES + 3
//   ii: max(H * W * C / IN_LANES, ((H + PT + PB - (KH - 1) * DH - 1) / SH + 1)
//       * ((W + PL + PR - (KW - 1) * DW - 1) / SW + 1) * KH * KW * C / OUT_LANES)
//   order: windows row-major; in a window group, ky, kx, channel
//   let: BEATS = KH * KW * C / OUT_LANES; TOP = s / BEATS / OW * SH - PT; LEFT = s / BEATS % OW * SW - PL
//   flow: memory(NB * ROW, H * ROW, OH * OW * BEATS, (min(max(TOP + KS - 1, 0), H - 1) * W
//       + min(max(LEFT + KSW - 1, 0), W - 1) + 1) * CF, min(max(TOP, 0), H) * ROW, 2) + u_skid
//   lut: 90 + 6 * AW + OUT_LANES * E_W
//   lut4: 90 + 18 * AW + (OUT_LANES - 1) * E_W
//   ff: 47 + 7 * AW
//   parts: u_track + u_ram + u_pick + u_skid
`default_nettype none
module op_window_seq #(
    parameter integer H          = 8,
    parameter integer W          = 8,
    parameter integer C          = 4,
    parameter integer KH         = 3,
    parameter integer KW         = 3,
    parameter integer SH         = 1,
    parameter integer SW         = 1,
    parameter integer DH         = 1,
    parameter integer DW         = 1,
    parameter integer PT         = 1,
    parameter integer PL         = 1,
    parameter integer PB         = 1,
    parameter integer PR         = 1,
    parameter integer IN_LANES   = 4,
    parameter integer OUT_LANES  = 4,
    parameter integer E_W        = 8,
    parameter integer PAD        = 0,
    parameter integer GROUPS     = 1,
    parameter integer NB         = 2 * H,
    parameter         LINE_STYLE = "auto"
) (
    input  wire                     clk,
    input  wire                     rst,
    input  wire [ IN_LANES*E_W-1:0] in_data,
    input  wire                     in_valid,
    output wire                     in_ready,
    output wire [OUT_LANES*E_W-1:0] out_data,
    output wire                     out_valid,
    input  wire                     out_ready
);
  localparam integer KS = (KH - 1) * DH + 1;
  localparam integer KSW = (KW - 1) * DW + 1;
  localparam integer OH = (H + PT + PB - KS) / SH + 1;
  localparam integer OW = (W + PL + PR - KSW) / SW + 1;
  localparam integer CF = C / IN_LANES;  // words of a pixel
  localparam integer SUB = IN_LANES / OUT_LANES;  // beats of a word
  localparam integer SUBW = SUB > 1 ? $clog2(SUB) : 1;
  localparam integer CB = C / GROUPS / OUT_LANES;  // beats of one tap of one group
  localparam integer JUMP = H - (OH - 1) * SH;  // rows from the last sweep of a frame to the next frame's first
  localparam integer ROW = W * CF;
  localparam integer DEPTH = NB * ROW;
  localparam integer AW = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam integer XW = $clog2(W) + 1;
  localparam integer SXW = $clog2(W + PL + PR + KSW + SW) + 2;
  localparam integer YW = $clog2(((OH - 1) * SH + KS > H ? (OH - 1) * SH + KS : H) + PT + 1) + 1;
  localparam integer BW = $clog2(NB) + 1;
  localparam integer ROW_STEP = (SH % NB) * ROW;  // addresses modulo DEPTH
  localparam integer ROW_JUMP = (((JUMP % NB) + NB) % NB) * ROW;
  localparam integer ROW_TAP = (DH % NB) * ROW;
  localparam integer ROW_0 = ((NB - PT % NB) % NB) * ROW;
  localparam integer EDGE = KSW - 1 - PL;  // column at the right of the first window
  localparam integer NEED_0 = EDGE < 0 ? 0 : EDGE < W ? EDGE : W - 1;
  localparam integer EDGE_1 = OW > 1 ? EDGE + SW : EDGE;
  localparam integer NEED_1 = EDGE_1 < 0 ? 0 : EDGE_1 < W ? EDGE_1 : W - 1;

  // less is step - DEPTH modulo 2^(AW + 1): both sums are made at once.
  function automatic [AW-1:0] wrap(input [AW-1:0] a, input [AW-1:0] step, input [AW:0] less);
    logic [AW:0] beyond;
    begin
      beyond = {1'b0, a} + less;
      wrap = beyond[AW] ? a + step : beyond[AW-1:0];
    end
  endfunction

  // Writer
  logic [AW-1:0] wr_addr;
  logic [$clog2(CF):0] wr_c;
  wire write = in_valid && in_ready;
  wire wr_pixel = write && wr_c == ($clog2(CF) + 1)'(CF - 1);
  always_ff @(posedge clk) begin
    if (write) begin
      wr_addr <= wr_addr == AW'(DEPTH - 1) ? AW'(0) : wr_addr + 1'b1;
      wr_c <= wr_pixel ? '0 : wr_c + 1'b1;
    end
    if (rst) begin
      wr_addr <= '0;
      wr_c <= '0;
    end
  end

  // Reader: nested counters, each with a flag for its end; e_* is the end of a loop and of all loops inside it, in a
  // register too, so that a turn reaches u_track within one LUT of it.
  logic [$clog2(CB):0] cb;
  logic [$clog2(KW):0] kx;
  logic [$clog2(KH):0] ky;
  logic [$clog2(GROUPS):0] g;
  logic [$clog2(OW):0] ox;
  logic kx_end, ky_end, g_end, ox_end;
  logic e_c, e_x, e_y, e_g, e_o;
  wire c_next = CB == 1 || (!e_c && cb == ($clog2(CB) + 1)'(CB - 2));
  wire kx_next = KW == 1 || (!e_x && (e_c ? kx == ($clog2(KW) + 1)'(KW - 2) : kx_end));
  wire ky_next = KH == 1 || (!e_y && (e_x ? ky == ($clog2(KH) + 1)'(KH - 2) : ky_end));
  wire g_next = GROUPS == 1 || (!e_g && (e_y ? g == ($clog2(GROUPS) + 1)'(GROUPS - 2) : g_end));
  wire ox_next = OW == 1 || (!e_o && (e_g ? ox == ($clog2(OW) + 1)'(OW - 2) : ox_end));

  // What a window must wait for is known a window before.
  logic [XW-1:0] need_x, need_next;
  logic signed [SXW-1:0] edge_x;  // column at the right of the window after the next one
  logic [$clog2(OW):0] edge_ox;
  wire edge_end = edge_ox == ($clog2(OW) + 1)'(OW - 1);
  wire ready, at_end, run;
  wire issue = ready && run;
  wire signed [YW-1:0] top, top_next;
  wire [XW-1:0] wr_x;
  wire [BW-1:0] wr_bank, top_bank;
  op_window_track #(
      .H(H), .W(W), .KS(KS), .SH(SH), .PT(PT), .OH(OH), .NB(NB)
  ) u_track (
      .clk(clk), .rst(rst), .wrote(wr_pixel), .room(in_ready), .wr_x(wr_x), .wr_bank(wr_bank), .need_x(need_x),
      .need_next(need_next), .step(issue && e_g), .ready(ready), .turn(issue && e_o), .top(top), .top_next(top_next),
      .top_bank(top_bank), .at_end(at_end)
  );

  // Place of the current beat: row y at address row_addr, part sub of the word that lies x_addr further, in column x;
  // tap_addr and left_addr are those of the first word of the tap, and of the group's tap at the left.
  logic signed [SXW-1:0] x, win_x;
  logic [AW-1:0] x_addr, tap_addr, left_addr, win_x_addr, row_addr, top_addr;
  logic signed [YW-1:0] y;
  logic [$clog2(SUB):0] sub, group_sub;
  wire sub_end = sub == ($clog2(SUB) + 1)'(SUB - 1);
  wire [AW-1:0] next_addr = x_addr + AW'(sub_end);
  wire [$clog2(SUB):0] next_sub = sub_end ? '0 : sub + 1'b1;
  wire signed [SXW-1:0] next_win_x = e_o ? SXW'(-PL) : win_x + SXW'(SW);
  wire [AW-1:0] next_win_x_addr = e_o ? AW'(-(PL * CF)) : win_x_addr + AW'(SW * CF);
  wire [AW-1:0] next_tap_addr = e_g ? next_win_x_addr : e_y ? next_addr - AW'((KW - 1) * DW * CF)
      : e_x ? left_addr : tap_addr + AW'(DW * CF);
  wire [AW-1:0] next_top_addr = wrap(
      top_addr, at_end ? AW'(ROW_JUMP) : AW'(ROW_STEP),
      at_end ? (AW + 1)'(ROW_JUMP - DEPTH) : (AW + 1)'(ROW_STEP - DEPTH)
  );
  wire hit = $unsigned(x) < SXW'(W) && $unsigned(y) < YW'(H);  // and neither is negative

  always_ff @(posedge clk) begin
    if (issue) begin
      cb <= e_c ? '0 : cb + 1'b1;
      e_c <= c_next;
      e_x <= c_next && kx_next;
      e_y <= c_next && kx_next && ky_next;
      e_g <= c_next && kx_next && ky_next && g_next;
      e_o <= c_next && kx_next && ky_next && g_next && ox_next;
      {kx_end, ky_end, g_end, ox_end} <= {kx_next, ky_next, g_next, ox_next};
      x_addr <= next_addr;
      sub <= e_g ? '0 : e_c && !e_y ? group_sub : next_sub;
      if (e_c) begin
        kx <= e_x ? '0 : kx + 1'b1;
        x <= e_g ? next_win_x : e_x ? win_x : x + SXW'(DW);
        x_addr <= next_tap_addr;
        tap_addr <= next_tap_addr;
      end
      if (e_x) begin
        ky <= e_y ? '0 : ky + 1'b1;
        y <= e_o ? top_next : e_y ? top : y + YW'(DH);
        row_addr <= e_o ? next_top_addr : e_y ? top_addr : wrap(row_addr, AW'(ROW_TAP), (AW + 1)'(ROW_TAP - DEPTH));
      end
      if (e_y) begin
        g <= e_g ? '0 : g + 1'b1;
        left_addr <= next_tap_addr;
        group_sub <= e_g ? '0 : next_sub;
      end
      if (e_g) begin
        ox <= e_o ? '0 : ox + 1'b1;
        win_x <= next_win_x;
        win_x_addr <= next_win_x_addr;
        need_x <= need_next;
        need_next <= edge_x[SXW-1] ? XW'(0) : $unsigned(edge_x) >= SXW'(W) ? XW'(W - 1) : edge_x[XW-1:0];
        edge_x <= edge_end ? SXW'(EDGE) : edge_x + SXW'(SW);
        edge_ox <= edge_end ? '0 : edge_ox + 1'b1;
      end
      if (e_o) top_addr <= next_top_addr;
    end
    if (rst) begin
      {cb, kx, ky, g, ox, sub, group_sub} <= '0;
      {kx_end, ky_end, g_end, ox_end} <= {KW == 1, KH == 1, GROUPS == 1, OW == 1};
      {e_c, e_x, e_y, e_g} <= {CB == 1, CB * KW == 1, CB * KW * KH == 1, CB * KW * KH * GROUPS == 1};
      e_o <= CB * KW * KH * GROUPS * OW == 1;
      {x, win_x} <= {2{SXW'(-PL)}};
      {x_addr, tap_addr, left_addr, win_x_addr} <= {4{AW'(-(PL * CF))}};
      {row_addr, top_addr} <= {2{AW'(ROW_0)}};
      y <= YW'(-PT);
      need_x <= XW'(NEED_0);
      need_next <= XW'(NEED_1);
      edge_x <= SXW'(EDGE + 2 % OW * SW);
      edge_ox <= ($clog2(OW) + 1)'(2 % OW);
    end
  end

  // Memory with two registers, then part of the word or padding, in a skid: a stall does not reach the counters in its
  // cycle. What is being written is not yet read.
  wire [IN_LANES*E_W-1:0] word;
  logic read_valid, read_hit, word_valid, word_hit;
  logic [SUBW-1:0] read_sub, word_sub;
  wire [OUT_LANES*E_W-1:0] part;
  op_pick #(
      .N(SUB), .WIDTH(OUT_LANES * E_W)
  ) u_pick (
      .in(word), .sel(word_sub), .out(part)
  );
  wire [AW-1:0] rd_addr = row_addr + x_addr;
  wire beat_ready;
  assign run = !word_valid || beat_ready;
  mem_ram #(
      .WIDTH(IN_LANES * E_W), .DEPTH(DEPTH), .STYLE(LINE_STYLE)
  ) u_ram (
      .clk(clk), .we(write), .waddr(wr_addr), .wdata(in_data), .en(run), .raddr(rd_addr), .rdata(word)
  );
  always_ff @(posedge clk) begin
    if (run) begin
      {word_valid, word_hit, word_sub} <= {read_valid, read_hit, read_sub};
      {read_valid, read_hit, read_sub} <= {ready, hit, sub[SUBW-1:0]};
    end
    if (rst) {read_valid, word_valid} <= 2'b00;
  end
  stream_skid #(
      .WIDTH(OUT_LANES * E_W)
  ) u_skid (
      .clk(clk), .rst(rst), .in_data(word_hit ? part : {OUT_LANES{E_W'(PAD)}}), .in_valid(word_valid),
      .in_ready(beat_ready), .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
  wire unused = &{1'b0, wr_x, wr_bank, top_bank};
endmodule
`default_nettype wire
