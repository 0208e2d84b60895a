// SPDX-License-Identifier: Apache-2.0
// op_softmax_exp: 2^-y for y = (top - x) * K / 2^K_SHIFT in units of 2^-20, rounded to 24 and to 32 fraction bits, each
//   from the same value of more bits; 0 where the element is not live.
//   Up to 8 bits of x both are looked up by the difference; wider ones take 256 samples of 2^-f and the lines between
//   them.
//   parameters  IN_W     bits of x and top, unsigned
//               K        factor, 24 bits
//               K_SHIFT  right shift of the product
//               MASKED   0: all elements are live
//               LOG      1: top - x in place of the 24 fraction bits
//   e: with 32 fraction bits in the low 33 bits, with 24 of them above.
//   latency: IN_W <= 8 ? 3 : 8   ii: 1   order: as it comes
//   lut: IN_W <= 8 ? IN_W + 1 : IN_W + 133
//   ff: IN_W <= 8 ? IN_W + MASKED + 34 : 2 * IN_W + 195 + 2 * MASKED
//   dsp: IN_W <= 8 ? 0 : 2
//   bram: IN_W <= 8 ? 1 : 2
//   parts: (IN_W <= 8 ? 0 : u_rest + u_shift + u_none) + LOG * u_far
`default_nettype none
module op_softmax_exp #(
    parameter integer IN_W    = 8,
    parameter [23:0]  K       = 24'd12102203,
    parameter integer K_SHIFT = 7,
    parameter integer MASKED  = 0,
    parameter integer LOG     = 0,
    parameter integer WORD    = LOG != 0 ? IN_W : 25
) (
    input  wire            clk,
    input  wire            en,
    input  wire [IN_W-1:0] top,
    input  wire [IN_W-1:0] x,
    input  wire            live,
    output wire [WORD+32:0] e
);
  // sample is 2^(24 - i/256), rounded: a product of 2^(-1/256), 2^(-2/256), 2^(-4/256), ... with 48 fraction bits.
  localparam [8*48-1:0] POWERS = {
    48'hb504f333f9de, 48'hd744fccad69d, 48'heac0c6e7dd24, 48'hf5257d152487,
    48'hfa83b2db722a, 48'hfd3e0c0cf487, 48'hfe9e115c7b90, 48'hff4ecb59511f
  };
  function [24:0] sample(input integer i);
    integer b;
    reg [127:0] v;
    begin
      v = 128'd1 << 48;
      for (b = 0; b < 8; b = b + 1)
        if (((i >> b) & 1) != 0) v = (v * {80'd0, POWERS[48*b+:48]} + (128'd1 << 47)) >> 48;
      if (i == 256) v = v >> 1;
      v = (v + (128'd1 << 23)) >> 24;
      sample = v[24:0];
    end
  endfunction

  // line is 2^-f at f / 2^20, with 24 fraction bits.
  function [24:0] line(input integer f);
    reg [63:0] a, b;
    begin
      a = {39'd0, sample(f >> 12)};
      b = {39'd0, sample((f >> 12) + 1)};
      a = a - (((a - b) * {52'd0, f[11:0]} + 64'd2048) >> 12);
      line = a[24:0];
    end
  endfunction

  // both is e with 32 fraction bits and, above, what its own upper bits lack to be e with 24.
  function [33:0] both(input integer t);
    reg [63:0] y, v;
    begin
      y = (64'(t) * {40'd0, K}) >> K_SHIFT;
      v = {39'd0, line(32'(y[19:0]))} << 9;
      v = y[63:26] != 38'd0 ? 64'd0 : v >> y[25:20];
      y = (v + 64'd1) >> 1;
      v = ((v >> 1) + 64'd128) >> 8;
      both = {v[24:0] != y[32:8], y[32:0]};
    end
  endfunction

  logic [IN_W-1:0] t;
  logic dead;
  always_ff @(posedge clk)
    if (en) begin
      t <= top - x;
      dead <= !live;
    end

  wire [24:0] coarse;
  generate
    if (LOG != 0) begin : g_far
      num_delay #(.WIDTH(IN_W), .DEPTH(IN_W <= 8 ? 2 : 7)) u_far (.clk(clk), .en(en), .in(t), .out(e[33+:WORD]));
      wire unused_coarse = &{1'b0, coarse};
    end else begin : g_coarse
      assign e[33+:WORD] = coarse;
    end
  endgenerate

  generate
    if (IN_W <= 8) begin : g_table
      // Where elements may be dead, a second half holds their zeros.
      localparam integer A_W = MASKED != 0 ? IN_W + 1 : IN_W;
      (* rom_style = "block" *) reg [33:0] m[0:(1<<A_W)-1];
      initial for (int i = 0; i < 1 << A_W; i++) m[i] = i < 1 << IN_W ? both(i) : 34'd0;
      reg [33:0] word, found;
      always_ff @(posedge clk)
        if (en) begin
          word <= m[A_W'({dead, t})];
          found <= word;
        end
      assign coarse = found[32:8] + {24'd0, found[33]};
      assign e[32:0] = found[32:0];
      wire unused = dead;
    end else begin : g_lines
      (* rom_style = "block" *) reg [40:0] m[0:255];  // a sample, and what it exceeds the next one by
      initial for (int i = 0; i < 256; i++) m[i] = {sample(i), 16'(sample(i) - sample(i + 1))};
      logic [IN_W+23:0] prod;
      wire [63:0] y = 64'(prod) >> K_SHIFT;
      wire [11:0] rest;
      wire [5:0] shift;
      wire none;
      num_delay #(.WIDTH(12), .DEPTH(2)) u_rest (.clk(clk), .en(en), .in(y[11:0]), .out(rest));
      num_delay #(.WIDTH(6), .DEPTH(4)) u_shift (.clk(clk), .en(en), .in(y[25:20]), .out(shift));
      logic dead_q;
      num_delay #(.WIDTH(1), .DEPTH(5)) u_none (.clk(clk), .en(en), .in(y[63:26] != 38'd0 || dead_q), .out(none));
      always_ff @(posedge clk) if (en) dead_q <= dead && MASKED != 0;
      reg [40:0] word, s;
      logic [24:0] base, g;
      logic [27:0] fall;
      logic [33:0] part, v;
      logic [1:0] far;
      always_ff @(posedge clk)
        if (en) begin
          prod <= (IN_W + 24)'(t) * (IN_W + 24)'(K);
          word <= m[y[19:12]];
          s <= word;
          base <= s[40:16];
          fall <= 28'(s[15:0]) * 28'(rest);
          g <= base - 25'(fall[27:12]) - 25'(fall[11]);
          part <= {g, 9'd0} >> shift[3:0];
          far <= shift[5:4];
          v <= none ? 34'd0 : part >> {far, 4'd0};
        end
      assign coarse = v[33:9] + {24'd0, v[8]};
      assign e[32:0] = v[33:1] + {32'd0, v[0]};
      wire unused = &{1'b0, v, fall};
    end
  endgenerate
endmodule
`default_nettype wire
