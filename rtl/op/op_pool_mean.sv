// SPDX-License-Identifier: Apache-2.0
// op_pool_mean: sums become means, lane by lane: out = over(round(in * 2^LSHIFT / DIV)), exact division.
//   parameters  LANES          lanes
//               IN_W           bits of a sum
//               SIGNED         1: two's complement
//               LSHIFT         out = over(round(in * 2^LSHIFT / DIV)), one rounding; may be negative
//               DIV            divisor, >= 1; a power of two needs no stages
//               OUT_W          bits of the output
//               OUT_SIGNED     1: two's complement
//               ROUND OVER     as num_requant
//   latency: 1 + (clog2(DIV + 1) > clog2(DIV) ? 0 : 4)   ii: 1   order: as it comes
//   lut: 2
//   ff: STAGES
//   parts: LANES * u_div + u_skid
`default_nettype none
module op_pool_mean #(
    parameter integer LANES      = 2,
    parameter integer IN_W       = 12,
    parameter integer SIGNED     = 1,
    parameter integer LSHIFT     = 0,
    parameter integer DIV        = 9,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0
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
  localparam integer STAGES = $clog2(DIV + 1) > $clog2(DIV) ? 0 : 4;
  wire [LANES*OUT_W-1:0] mean;
  wire mean_valid, room;
  wire en = room || !mean_valid;
  assign in_ready = en;

  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      num_div_const #(
          .IN_W(IN_W),
          .IN_SIGNED(SIGNED),
          .LSHIFT(LSHIFT),
          .N(DIV),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER),
          .PIPE(STAGES != 0 ? 1 : 0)
      ) u_div (
          .clk(clk),
          .en (en),
          .in (in_data[i*IN_W+:IN_W]),
          .out(mean[i*OUT_W+:OUT_W])
      );
    end
    if (STAGES == 0) begin : g_direct
      assign mean_valid = in_valid;
    end else begin : g_staged
      logic [STAGES-1:0] moving;
      always_ff @(posedge clk) begin
        if (en) moving <= {moving[STAGES-2:0], in_valid};
        if (rst) moving <= '0;
      end
      assign mean_valid = moving[STAGES-1];
    end
  endgenerate

  stream_skid #(
      .WIDTH(LANES * OUT_W)
  ) u_skid (
      .clk(clk),
      .rst(rst),
      .in_data(mean),
      .in_valid(mean_valid),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
