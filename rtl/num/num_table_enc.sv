// SPDX-License-Identifier: Apache-2.0
// num_table_enc: fixed values to codes by thresholds: the code of the last step that begins at the value or below it.
//   A comparison for each step but the first, then the code of the last one that held.
//   parameters  LANES            elements a beat
//               IN_W, IN_SIGNED  bits of a value, 1: two's complement
//               OUT_W            bits of a code
//               STEPS            number of steps, 1 to 256
//               FROM             least value of step k at bit k * IN_W, ascending; of step 0 it is not looked at
//               CODES            code of step k at bit k * OUT_W
//               BEATS            beats of a frame
//   latency: 2   ii: BEATS   order: as it comes
//   lut: LANES * ((STEPS - 1) * (IN_W + 1) / 2 + OUT_W * (STEPS + 2) / 3) + 2
//   ff: LANES * (STEPS - 1) + 1
//   parts: u_skid
`default_nettype none
module num_table_enc #(
    parameter integer LANES     = 2,
    parameter integer IN_W      = 8,
    parameter integer IN_SIGNED = 1,
    parameter integer OUT_W     = 2,
    parameter integer STEPS     = 2,
    parameter [ STEPS*IN_W-1:0] FROM  = 0,
    parameter [STEPS*OUT_W-1:0] CODES = 0,
    parameter integer BEATS     = 1
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
    if (LANES < 1 || BEATS < 1 || STEPS < 1 || STEPS > 256 || IN_W < 1 || OUT_W < 1) begin : g_bad
      LANES_BEATS_and_widths_must_be_at_least_1_and_STEPS_1_to_256 u_bad ();
    end
  endgenerate

  wire out_room;
  logic valid;
  wire en = out_room || !valid;
  assign in_ready = en;
  always_ff @(posedge clk) begin
    if (en) valid <= in_valid;
    if (rst) valid <= 1'b0;
  end

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      // One more bit makes both kinds of numbers signed.
      wire [IN_W-1:0] x = in_data[i*IN_W+:IN_W];
      wire signed [IN_W:0] xs = {IN_SIGNED != 0 && x[IN_W-1], x};
      wire [STEPS:0] reached;
      logic [STEPS:0] held;
      wire unused_xs = &{1'b0, xs};  // by a single step
      assign reached[0] = 1'b1;
      assign reached[STEPS] = 1'b0;
      for (genvar k = 1; k < STEPS; k++) begin : g_step
        wire [IN_W-1:0] from = FROM[k*IN_W+:IN_W];
        wire signed [IN_W:0] at = {IN_SIGNED != 0 && from[IN_W-1], from};
        assign reached[k] = xs >= at;
      end
      always_ff @(posedge clk) if (en) held <= reached;
      for (genvar b = 0; b < OUT_W; b++) begin : g_bit
        wire [STEPS-1:0] ones;  // the code of the last step has this bit
        for (genvar k = 0; k < STEPS; k++) begin : g_last
          assign ones[k] = CODES[k*OUT_W+b] && held[k] && !held[k+1];
        end
        assign y[i*OUT_W+b] = |ones;
      end
    end
  endgenerate

  stream_skid #(.WIDTH(LANES * OUT_W)) u_skid (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(valid), .in_ready(out_room),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
