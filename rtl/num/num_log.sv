// SPDX-License-Identifier: Apache-2.0
// num_log: -log(d * 2^(SPAN - shift - 23)) with 24 fraction bits, for d = x + up in 2^23 .. 2^24: octaves, and lines
//   between 512 points of one.
//   parameters  SPAN  the greatest shift
//               S_W   bits of the shift
//   in: {shift, up, x}, x of 24 bits, up of one
//   latency: 5   ii: 1   order: as it comes
//   lut: 70 + 2 * SPAN
//   ff: 140 + 2 * SPAN
//   dsp: 1
//   bram: 2
`default_nettype none
module num_log #(
    parameter integer SPAN = 8,
    parameter integer S_W  = SPAN > 0 ? $clog2(SPAN + 1) : 1
) (
    input  wire                    clk,
    input  wire                    en,
    input  wire        [S_W+24:0] in,
    output reg  signed [     28:0] out
);
  // points lists log(1 + i/512), rounded to 24 fraction bits, and what the next one exceeds it by: twice the area
  // tangent of z = 1 / (1025 + 2*i), which is z + z^3/3 and nothing more in 56 fraction bits.
  function [39*512-1:0] points(input integer count);
    integer i;
    reg [63:0] sum, z, cube;
    reg [23:0] point, next;
    begin
      sum = 64'd0;
      point = 24'd0;
      for (i = 0; i < count; i = i + 1) begin
        z = (64'd1 << 56) / (64'd1025 + 64'(i) + 64'(i));
        cube = z >> 26;
        cube = (cube * cube * cube) >> 34;
        sum = sum + ((z + cube / 64'd3) << 1);
        z = (sum + (64'd1 << 31)) >> 32;
        next = z[23:0];
        points[39*i+:39] = {point, 15'(next - point)};
        point = next;
      end
    end
  endfunction
  localparam [39*512-1:0] POINTS = points(512);

  // octaves lists -log(2) * (SPAN - shift + carry), of log(2) with 40 fraction bits, by {shift, carry}.
  localparam integer O_N = 2 * SPAN + 2;
  function [29*O_N-1:0] octaves(input integer count);
    integer i, n;
    reg [43:0] v;
    begin
      for (i = 0; i < count; i = i + 1) begin
        n = SPAN - i / 2 + i % 2;
        v = 44'(n) * 44'd762123384786 + 44'd32768;
        v = v >> 16;
        octaves[29*i+:29] = 29'd0 - v[28:0];
      end
    end
  endfunction
  localparam [29*O_N-1:0] OCTAVES = octaves(O_N);

  (* rom_style = "block" *) reg [38:0] m[0:511];
  initial for (int i = 0; i < 512; i++) m[i] = POINTS[39*i+:39];

  logic [24:0] d;
  logic [S_W-1:0] shift;
  reg [38:0] word, s;
  logic [13:0] rest, rest_q;
  reg signed [28:0] base, base_q, near;
  logic [28:0] rise;
  always_ff @(posedge clk) if (en) begin
    d <= {1'b0, in[23:0]} + 25'(in[24]);
    shift <= in[25+:S_W];
    word <= m[d[22:14]];
    rest <= d[13:0];
    base <= OCTAVES[29*{shift, d[24]}+:29];
    s <= word;
    rest_q <= rest;
    base_q <= base;
    rise <= 29'(s[14:0]) * 29'(rest_q);
    near <= base_q - $signed({5'd0, s[38:15]});
    out <= near - $signed({14'd0, rise[28:14]}) - $signed({28'd0, rise[13]});
  end
  wire unused = &{1'b0, d, rise[12:0]};
endmodule
`default_nettype wire
