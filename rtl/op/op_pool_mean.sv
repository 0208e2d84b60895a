// SPDX-License-Identifier: Apache-2.0
// op_pool_mean: sums become means, lane by lane: out = over(round(in * 2^LSHIFT / DIV)), exact division; or, between
//   scales with a real ratio, out = over(ZERO + round((in - SUB) * M / 2^SHIFT)).
//   parameters  LANES          lanes
//               IN_W           bits of a sum
//               SIGNED         1: two's complement
//               LSHIFT         out = over(round(in * 2^LSHIFT / DIV)), one rounding; may be negative
//               DIV            divisor, >= 1; a power of two needs no stages
//               OUT_W          bits of the output
//               OUT_SIGNED     1: two's complement
//               ROUND OVER     as num_requant
//               M_W M          bits of the factor M, 0: exact division; M itself
//               SUB SHIFT ZERO see above
//   latency: 1 + (M_W == 0 && clog2(DIV + 1) > clog2(DIV) ? 0 : 4)   ii: 1   order: as it comes
//   lut: 2 + (M_W ? LANES * TW : 0)
//   ff: STAGES + (M_W ? LANES * TW : 0)
//   parts: LANES * (M_W ? u_rescale : u_div) + u_skid
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
    parameter integer OVER       = 0,
    parameter integer M_W        = 0,
    parameter [63:0]  M          = 64'd0,
    parameter integer SUB        = 0,
    parameter integer SHIFT      = 0,
    parameter integer ZERO       = 0
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
  localparam integer STAGES = M_W == 0 && $clog2(DIV + 1) > $clog2(DIV) ? 0 : 4;
  localparam integer TW = (IN_W > 32 ? IN_W : 32) + 1;  // bits of in - SUB at most
  localparam signed [31:0] LESS = SUB;
  wire [LANES*OUT_W-1:0] mean;
  wire mean_valid, room;
  wire en = room || !mean_valid;
  assign in_ready = en;

  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      if (M_W == 0) begin : g_divide
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
      end else begin : g_rescale
        wire signed [IN_W:0] sum = {SIGNED != 0 ? in_data[i*IN_W+IN_W-1] : 1'b0, in_data[i*IN_W+:IN_W]};
        wire signed [TW-1:0] t;
        num_delay #(.WIDTH(TW), .DEPTH(1)) u_sum (.clk(clk), .en(en), .in(TW'(sum) - TW'(LESS)), .out(t));
        num_rescale #(
            .IN_W(TW),
            .M_W(M_W > 0 ? M_W : 1),
            .SHIFT(SHIFT),
            .ZERO(ZERO),
            .OUT_W(OUT_W),
            .OUT_SIGNED(OUT_SIGNED),
            .ROUND(ROUND),
            .OVER(OVER)
        ) u_rescale (
            .clk(clk),
            .en (en),
            .in (t),
            .m  (M[(M_W>0?M_W:1)-1:0]),
            .out(mean[i*OUT_W+:OUT_W])
        );
      end
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

  wire unused_top = &{1'b0, M, LESS};
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
