// SPDX-License-Identifier: Apache-2.0
// op_reorder: keeps a frame and gives its beats in another order: beat BASE + i0*S0 + ... + i5*S5 of the frame, for
//   indices i0 below D0 (outermost) to i5 below D5. Transposes, reversed and repeated axes are of this kind.
//   Two frames are kept: one is written while the other is read.
//   parameters  WIDTH           bits of a beat
//               BEATS           beats of a frame that comes in
//               D0, D1, D2, D3, D4, D5  sizes of the axes of the result, in beats
//               S0, S1, S2, S3, S4, S5  what a step along each of them is worth, in beats; negative ones step back
//               BASE            the first beat
//               GROUPS          such frames in one frame of the caller
//               STYLE           "auto", "block", "distributed" or "ultra": where the frames lie
//   latency: BEATS + 3   ii: GROUPS * max(BEATS, D0 * D1 * D2 * D3 * D4 * D5)   order: as above
//   flow: memory(2 * BEATS, BEATS, D0 * D1 * D2 * D3 * D4 * D5, BEATS, 0, 2) + u_out
//   lut: 41 + 5 * AW + 11 * CW / 2
//   ff: 2 * AW + 6 * CW + 6
//   parts: u_frames + u_out
`default_nettype none
module op_reorder #(
    parameter integer WIDTH = 8,
    parameter integer BEATS = 6,
    parameter integer D0    = 1,
    parameter integer D1    = 1,
    parameter integer D2    = 1,
    parameter integer D3    = 1,
    parameter integer D4    = 2,
    parameter integer D5    = 3,
    parameter integer S0    = 0,
    parameter integer S1    = 0,
    parameter integer S2    = 0,
    parameter integer S3    = 0,
    parameter integer S4    = 1,
    parameter integer S5    = 2,
    parameter integer BASE  = 0,
    parameter integer GROUPS = 1,
    parameter         STYLE = "auto"
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    output wire [WIDTH-1:0] out_data,
    output wire             out_valid,
    input  wire             out_ready
);
  localparam integer AW = $clog2(2 * BEATS);
  // Going back from the last index of an axis to its first takes away (D - 1) * S.
  localparam integer B5 = (D5 - 1) * S5;
  localparam integer B4 = (D4 - 1) * S4 + B5;
  localparam integer B3 = (D3 - 1) * S3 + B4;
  localparam integer B2 = (D2 - 1) * S2 + B3;
  localparam integer B1 = (D1 - 1) * S1 + B2;
  localparam integer D01 = D0 > D1 ? D0 : D1;
  localparam integer D23 = D2 > D3 ? D2 : D3;
  localparam integer D45 = D4 > D5 ? D4 : D5;
  localparam integer D03 = D01 > D23 ? D01 : D23;
  localparam integer CW = $clog2((D03 > D45 ? D03 : D45) + 1);

  generate
    if (BEATS < 1 || D0 < 1 || D1 < 1 || D2 < 1 || D3 < 1 || D4 < 1 || D5 < 1 || GROUPS < 1) begin : g_bad
      BEATS_and_D0_to_D5_and_GROUPS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  logic wbank, rbank;
  logic [1:0] full;
  logic [AW-1:0] wplace, rplace;
  wire en;

  // Writing: one bank, then the other, as long as they are free.
  assign in_ready = !full[wbank];
  wire write = in_valid && in_ready;
  wire wlast = wplace == AW'(BEATS - 1);

  // Reading: an odometer of six wheels; every wheel that moves has a jump of its own.
  wire read = full[rbank] && en;
  logic [CW-1:0] i0, i1, i2, i3, i4, i5;
  wire e5 = i5 == CW'(D5 - 1);
  wire e4 = e5 && i4 == CW'(D4 - 1);
  wire e3 = e4 && i3 == CW'(D3 - 1);
  wire e2 = e3 && i2 == CW'(D2 - 1);
  wire e1 = e2 && i1 == CW'(D1 - 1);
  wire e0 = e1 && i0 == CW'(D0 - 1);
  wire [AW-1:0] jump = e1 ? AW'(S0 - B1) : e2 ? AW'(S1 - B2) : e3 ? AW'(S2 - B3) : e4 ? AW'(S3 - B4) :
      e5 ? AW'(S4 - B5) : AW'(S5);
  always_ff @(posedge clk) begin
    if (write) wplace <= wlast ? AW'(0) : wplace + AW'(1);
    if (write && wlast) begin
      wbank       <= !wbank;
      full[wbank] <= 1'b1;
    end
    if (read) begin
      i5 <= e5 ? CW'(0) : i5 + CW'(1);
      if (e5) i4 <= e4 ? CW'(0) : i4 + CW'(1);
      if (e4) i3 <= e3 ? CW'(0) : i3 + CW'(1);
      if (e3) i2 <= e2 ? CW'(0) : i2 + CW'(1);
      if (e2) i1 <= e1 ? CW'(0) : i1 + CW'(1);
      if (e1) i0 <= e0 ? CW'(0) : i0 + CW'(1);
      rplace <= e0 ? AW'(BASE) : rplace + jump;
      if (e0) begin
        rbank       <= !rbank;
        full[rbank] <= 1'b0;
      end
    end
    if (rst) begin
      wbank  <= 1'b0;
      rbank  <= 1'b0;
      full   <= 2'b00;
      wplace <= AW'(0);
      rplace <= AW'(BASE);
      {i0, i1, i2, i3, i4, i5} <= {6{CW'(0)}};
    end
  end

  logic [1:0] moving;
  always_ff @(posedge clk) begin
    if (en) moving <= {moving[0], full[rbank]};
    if (rst) moving <= 2'd0;
  end

  wire [WIDTH-1:0] data;
  mem_ram #(
      .WIDTH(WIDTH),
      .DEPTH(2 * BEATS),
      .STYLE(STYLE)
  ) u_frames (
      .clk  (clk),
      .we   (write),
      .waddr(wbank ? wplace + AW'(BEATS) : wplace),
      .wdata(in_data),
      .en   (en),
      .raddr(rbank ? rplace + AW'(BEATS) : rplace),
      .rdata(data)
  );

  wire room;
  assign en = room || !moving[1];
  stream_skid #(.WIDTH(WIDTH)) u_out (
      .clk(clk),
      .rst(rst),
      .in_data(data),
      .in_valid(moving[1]),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
