// SPDX-License-Identifier: Apache-2.0
// op_table: y = image[x], any function of one element by its table. x is taken as an unsigned address: a signed code
//   -1 reads the last word. Each lane has a memory of its own.
//   parameters  LANES             elements a beat
//               IN_W              bits of x, up to 16
//               OUT_W             bits of y
//               BEATS             beats of a frame
//               IMAGE, IMAGE_SUM  image: 2^IN_W words
//               ROM_STYLE         "auto", "block" or "distributed"
//   latency: 3   ii: BEATS   order: as it comes
//   lut: 2
//   ff: 2
//   parts: LANES * u_rom + u_skid
`default_nettype none
module op_table #(
    parameter integer LANES     = 4,
    parameter integer IN_W      = 8,
    parameter integer OUT_W     = 8,
    parameter integer BEATS     = 1,
    parameter         IMAGE     = "",
    parameter [31:0]  IMAGE_SUM = 32'd0,
    parameter         ROM_STYLE = "auto"
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [ LANES*IN_W-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  generate
    if (LANES < 1 || BEATS < 1 || IN_W < 1 || IN_W > 16) begin : g_bad
      LANES_and_BEATS_must_be_at_least_1_and_IN_W_1_to_16 u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together.
  wire en;
  logic [1:0] moving;
  assign in_ready = en;
  always_ff @(posedge clk) begin
    if (en) moving <= {moving[0], in_valid};
    if (rst) moving <= 2'd0;
  end

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      mem_rom #(
          .WIDTH(OUT_W),
          .DEPTH(1 << IN_W),
          .IMAGE(IMAGE),
          .IMAGE_SUM(IMAGE_SUM),
          .STYLE(ROM_STYLE)
      ) u_rom (
          .clk (clk),
          .en  (en),
          .addr(in_data[i*IN_W+:IN_W]),
          .data(y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  wire out_room;
  assign en = out_room || !moving[1];
  stream_skid #(.WIDTH(LANES * OUT_W)) u_skid (
      .clk(clk),
      .rst(rst),
      .in_data(y),
      .in_valid(moving[1]),
      .in_ready(out_room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
