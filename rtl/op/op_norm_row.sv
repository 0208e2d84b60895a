// SPDX-License-Identifier: Apache-2.0
// op_norm_row: brings s and r of a row of op_norm from where they are computed to where its beats are.
//   parameters  S_W, R_W  bits of s and r
//               DEPTH     rows whose s and r may come before the beats of the first of them are taken; 0: s and r stay
//                         where they are until then, and r_valid comes three cycles before r
//   take says that the first step of a row is made. s_out is that row's from the second move (en) on, r_out from the
//   third, until it is the next row's.
//   latency: 3   ii: 1   order: as they come
//   lut: DEPTH > 0 ? 2 : 4
//   ff: 2 + S_W + R_W + (DEPTH > 0 ? S_W + 2 * R_W : 1)
//   parts: DEPTH > 0 ? u_s + u_r : 0
`default_nettype none
module op_norm_row #(
    parameter integer S_W   = 11,
    parameter integer R_W   = 32,
    parameter integer DEPTH = 0
) (
    input  wire           clk,
    input  wire           rst,
    input  wire [S_W-1:0] s,
    input  wire           s_valid,
    input  wire [R_W-1:0] r,
    input  wire           r_valid,
    output wire           ready,
    input  wire           en,
    input  wire           take,
    output reg  [S_W-1:0] s_out,
    output reg  [R_W-1:0] r_out
);
  logic [1:0] first;  // the step one and two moves ago was a row's first
  wire [S_W-1:0] s_row;
  wire [R_W-1:0] r_row;
  always_ff @(posedge clk)
    if (en) begin
      first <= {first[0], take};
      if (first[0]) s_out <= s_row;
      if (first[1]) r_out <= r_row;
    end

  generate
    if (DEPTH == 0) begin : g_stay
      logic waits;
      always_ff @(posedge clk) begin
        if (r_valid) waits <= 1'b1;
        else if (take) waits <= 1'b0;
        if (rst) waits <= 1'b0;
      end
      assign ready = waits;
      assign s_row = s;
      assign r_row = r;
      wire unused_s = s_valid;
    end else begin : g_queue
      wire [S_W-1:0] s_next;
      wire [R_W-1:0] r_next;
      logic [S_W-1:0] s_now;
      logic [R_W-1:0] r_now, r_then;
      wire s_room, r_room, s_there;  // places are as many as rows
      stream_fifo #(.WIDTH(S_W), .DEPTH(DEPTH)) u_s (
          .clk(clk), .rst(rst), .in_data(s), .in_valid(s_valid), .in_ready(s_room), .out_data(s_next),
          .out_valid(s_there), .out_ready(take)
      );
      stream_fifo #(.WIDTH(R_W), .DEPTH(DEPTH)) u_r (
          .clk(clk), .rst(rst), .in_data(r), .in_valid(r_valid), .in_ready(r_room), .out_data(r_next),
          .out_valid(ready), .out_ready(take)
      );
      always_ff @(posedge clk)
        if (en) begin
          {s_now, r_now} <= {s_next, r_next};
          r_then <= r_now;
        end
      assign s_row = s_now;
      assign r_row = r_then;
      wire unused_room = &{1'b0, s_room, r_room, s_there};
    end
  endgenerate
endmodule
`default_nettype wire
