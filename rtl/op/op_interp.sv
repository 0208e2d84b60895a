// SPDX-License-Identifier: Apache-2.0
// op_interp: a smooth function by parabolas between samples: the definition "interp" of functions with many input bits.
//   x has F fraction bits; below 5 it is shifted to 5. Inside -2^D <= x < 2^D, R = max(F, 5) - 4 and u = x + 2^(D + F)
//   give a segment i = u >> R, whose word holds f0, c1 and c2, and r = u mod 2^R:
//   y = over(round((f0 + (((c1 + ((c2 * r) >> R)) * r) >> R)) / 2^6)). Outside y is what EDGE says.
//   parameters  LANES             elements a beat
//               IN_W, IN_SIGNED   bits of x, 1: two's complement
//               F, D              fraction bits of x, may be negative; the logarithm of the domain's end
//               FO                fraction bits of y, may be negative
//               OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               EDGE              outside, left and right: 0: 0 and x, 1: 0 and 1, 2: -1 and 1
//               V_W, C1_W, C2_W   bits of f0, c1 and c2, two's complement
//               BEATS             beats of a frame
//               IMAGE, IMAGE_SUM  image: word i of 2^(D + 5), {c2, c1, f0} f0 in the low bits; one memory a lane
//               ROM_STYLE         "auto", "block" or "distributed"
//               MULT              "auto", "dsp" or "lut", see num_mul
//   latency: 7   ii: BEATS   order: as it comes
//   lut: 2
//   ff: 6
//   parts: LANES * u_lane + u_skid
`default_nettype none
module op_interp #(
    parameter integer LANES      = 1,
    parameter integer IN_W       = 16,
    parameter integer IN_SIGNED  = 1,
    parameter integer F          = 12,
    parameter integer D          = 3,
    parameter integer FO         = 12,
    parameter integer OUT_W      = 16,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer EDGE       = 0,
    parameter integer V_W        = 22,
    parameter integer C1_W       = 16,
    parameter integer C2_W       = 10,
    parameter integer BEATS      = 1,
    parameter         IMAGE      = "",
    parameter [31:0]  IMAGE_SUM  = 32'd0,
    parameter         ROM_STYLE  = "block",
    parameter         MULT       = "auto"
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
    if (LANES < 1 || BEATS < 1 || D < 0 || D > 6) begin : g_bad
      LANES_and_BEATS_must_be_at_least_1_and_D_0_to_6 u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together.
  wire en;
  logic [5:0] moving;
  assign in_ready = en;
  always_ff @(posedge clk) begin
    if (en) moving <= {moving[4:0], in_valid};
    if (rst) moving <= 6'd0;
  end

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      op_interp_lane #(
          .IN_W(IN_W), .IN_SIGNED(IN_SIGNED), .F(F), .D(D), .FO(FO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND), .OVER(OVER), .EDGE(EDGE), .V_W(V_W), .C1_W(C1_W), .C2_W(C2_W), .IMAGE(IMAGE),
          .IMAGE_SUM(IMAGE_SUM), .ROM_STYLE(ROM_STYLE), .MULT(MULT)
      ) u_lane (
          .clk(clk), .en(en), .in(in_data[i*IN_W+:IN_W]), .y(y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  wire out_room;
  assign en = out_room || !moving[5];
  stream_skid #(.WIDTH(LANES * OUT_W)) u_skid (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(moving[5]), .in_ready(out_room), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
