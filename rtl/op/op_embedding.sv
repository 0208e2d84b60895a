// SPDX-License-Identifier: Apache-2.0
// op_embedding: rows of a table by their numbers: of every id that comes in, BEATS beats of the image leave. An id
//   beyond the table gives its last row.
//   parameters  IDS               ids of a frame
//               ID_W              bits of an id, which is unsigned
//               ROWS              rows of the table
//               BEATS             beats of a row
//               WIDTH             bits of a beat
//               IMAGE, IMAGE_SUM  image: ROWS * BEATS words, row after row
//               ROM_STYLE         "auto", "block" or "distributed"
//   latency: 6   ii: IDS * BEATS   order: rows as the ids come
//   turns: 1
//   flow: steps(BEATS, s == 0, 1, 5) + u_out
//   lut: BEATS > 1 ? AW + 2 * PW + 6 : 6
//   ff: ID_W + 2 * AW + 3 * PW + 5
//   dsp: (1 << clog2(BEATS)) != BEATS ? (AW > 9 ? 1 : 0) : 0
//   parts: u_rom + u_out
`default_nettype none
module op_embedding #(
    parameter integer IDS       = 4,
    parameter integer ID_W      = 3,
    parameter integer ROWS      = 6,
    parameter integer BEATS     = 2,
    parameter integer WIDTH     = 8,
    parameter         IMAGE     = "",
    parameter [31:0]  IMAGE_SUM = 32'd0,
    parameter         ROM_STYLE = "auto"
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [ ID_W-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    output wire [WIDTH-1:0] out_data,
    output wire             out_valid,
    input  wire             out_ready
);
  localparam integer PW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer DEPTH = ROWS * BEATS;
  localparam integer AW = DEPTH > 1 ? $clog2(DEPTH) : 1;

  generate
    if (IDS < 1 || ID_W < 1 || ROWS < 1 || BEATS < 1 || ID_W > 30) begin : g_bad
      IDS_and_ROWS_and_BEATS_must_be_at_least_1_and_ID_W_1_to_30 u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together; an id stays in front while its row leaves.
  wire en;
  logic [4:0] moving;
  logic [PW-1:0] place;  // in the row
  wire first = place == PW'(0);
  wire step = en && (!first || in_valid);
  assign in_ready = en && first;
  always_ff @(posedge clk) begin
    if (step) place <= place == PW'(BEATS - 1) ? PW'(0) : place + PW'(1);
    if (en) moving <= {moving[3:0], step};
    if (rst) begin
      place  <= PW'(0);
      moving <= 5'd0;
    end
  end

  wire [ID_W-1:0] id;
  generate
    if (ROWS < (1 << ID_W)) begin : g_clamp
      assign id = in_data < ID_W'(ROWS) ? in_data : ID_W'(ROWS - 1);
    end else begin : g_all
      assign id = in_data;
    end
  endgenerate

  logic [ID_W-1:0] row;
  logic [PW-1:0] place_row, place_base;
  logic [AW-1:0] base, addr;
  always_ff @(posedge clk)
    if (en) begin
      if (first) row <= id;
      place_row <= place;
      base <= AW'(row * BEATS);
      place_base <= place_row;
      addr <= base + AW'(place_base);
    end

  wire [WIDTH-1:0] y;
  mem_rom #(
      .WIDTH(WIDTH),
      .DEPTH(DEPTH),
      .IMAGE(IMAGE),
      .IMAGE_SUM(IMAGE_SUM),
      .STYLE(ROM_STYLE)
  ) u_rom (
      .clk (clk),
      .en  (en),
      .addr(addr),
      .data(y)
  );

  wire out_room;
  assign en = out_room || !moving[4];
  stream_skid #(.WIDTH(WIDTH)) u_out (
      .clk(clk),
      .rst(rst),
      .in_data(y),
      .in_valid(moving[4]),
      .in_ready(out_room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
