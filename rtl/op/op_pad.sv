// SPDX-License-Identifier: Apache-2.0
// op_pad: puts BEFORE beats of VALUE before every BODY beats, and AFTER of them behind. The beats before wait for the
//   first beat that they stand before, so that nothing leaves before something came.
//   parameters  LANES   elements a beat
//               W       bits of an element
//               VALUE   what is put in, the code of each element
//               BEFORE  beats put before a turn
//               BODY    beats of a turn that come in
//               AFTER   beats put behind a turn
//               GROUPS  turns of a frame
//   latency: 2   ii: GROUPS * (BEFORE + BODY + AFTER)   order: as it comes
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

  wire [LANES*W-1:0] x;
  wire x_valid, room;
  logic [CW-1:0] place;
  wire past = AFTER > 0 && place >= CW'(BEFORE + BODY);
  wire body = !past && (BEFORE == 0 || place >= CW'(BEFORE));
  wire valid = past || x_valid;
  always_ff @(posedge clk) begin
    if (valid && room) place <= place == CW'(TURN - 1) ? CW'(0) : place + CW'(1);
    if (rst) place <= CW'(0);
  end

  stream_skid #(.WIDTH(LANES * W)) u_in (
      .clk(clk),
      .rst(rst),
      .in_data(in_data),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .out_data(x),
      .out_valid(x_valid),
      .out_ready(room && body)
  );
  stream_skid #(.WIDTH(LANES * W)) u_out (
      .clk(clk),
      .rst(rst),
      .in_data(body ? x : {LANES{VALUE}}),
      .in_valid(valid),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
