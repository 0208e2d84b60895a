// SPDX-License-Identifier: Apache-2.0
// op_pad: puts BEFORE beats of VALUE before every BODY beats, and AFTER of them behind. The first beat is taken and
//   kept before those that stand before it leave, so that nothing leaves before something came.
//   parameters  LANES   elements a beat
//               W       bits of an element
//               VALUE   what is put in, the code of each element
//               BEFORE  beats put before a turn
//               BODY    beats of a turn that come in
//               AFTER   beats put behind a turn
//               GROUPS  turns of a frame
//   latency: 1   ii: GROUPS * (BEFORE + BODY + AFTER)   order: as it comes
//   turns: BEFORE + AFTER
//   flow: steps(TURN, s == 0 || s > BEFORE && s < BEFORE + BODY, 1, 0) + u_out
//   lut: LANES * W + 2 * CW + 4
//   ff: CW + 1
//   parts: u_out
`default_nettype none
module op_pad #(
    parameter integer LANES  = 1,
    parameter integer W      = 8,
    parameter [W-1:0] VALUE  = 0,
    parameter integer BEFORE = 1,
    parameter integer BODY   = 2,
    parameter integer AFTER  = 1,
    parameter integer GROUPS = 1
) (
    input  wire               clk,
    input  wire               rst,
    input  wire [LANES*W-1:0] in_data,
    input  wire               in_valid,
    output wire               in_ready,
    output wire [LANES*W-1:0] out_data,
    output wire               out_valid,
    input  wire               out_ready
);
  localparam integer TURN = BEFORE + BODY + AFTER;
  localparam integer CW = TURN > 1 ? $clog2(TURN) : 1;

  generate
    if (BEFORE < 0 || AFTER < 0 || BODY < 1 || GROUPS < 1) begin : g_bad
      BODY_and_GROUPS_must_be_at_least_1_and_BEFORE_and_AFTER_not_negative u_bad ();
    end
  endgenerate

  wire room;
  logic [CW-1:0] place;
  logic [LANES*W-1:0] kept;
  wire start = place == CW'(0);
  wire first = place == CW'(BEFORE);
  wire past = AFTER > 0 && place >= CW'(BEFORE + BODY);
  wire body = !past && (BEFORE == 0 || place >= CW'(BEFORE));
  wire takes = BEFORE == 0 ? body : start || (body && !first);
  wire valid = in_valid || !takes;
  assign in_ready = room && takes;
  always_ff @(posedge clk) begin
    if (valid && room) place <= place == CW'(TURN - 1) ? CW'(0) : place + CW'(1);
    if (BEFORE > 0 && start && room) kept <= in_data;
    if (rst) place <= CW'(0);
  end

  stream_skid #(.WIDTH(LANES * W)) u_out (
      .clk(clk),
      .rst(rst),
      .in_data(!body ? {LANES{VALUE}} : BEFORE > 0 && first ? kept : in_data),
      .in_valid(valid),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
