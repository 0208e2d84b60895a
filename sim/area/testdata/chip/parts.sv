// SPDX-License-Identifier: Apache-2.0
// chip_*: the parts of chip, one for each kind of cell.
`default_nettype none
// module not_one (a comment must not count as a module)
module chip_add #(
    parameter integer W = 8
) (
    input  wire         clk,
    input  wire [W-1:0] a,
    input  wire [W-1:0] b,
    output reg  [W-1:0] y
);
  always_ff @(posedge clk) y <= a + b;
endmodule

module chip_pass #(
    parameter integer W = 8
) (
    input  wire         clk,
    input  wire [W-1:0] a,
    input  wire [W-1:0] b,
    output wire [W-1:0] y
);
  chip_add #(.W(W)) inner (.clk(clk), .a(a), .b(b), .y(y));
endmodule

module chip_rom #(
    parameter IMAGE = ""
) (
    input  wire        clk,
    input  wire [ 8:0] addr,
    output reg  [35:0] q
);
  (* rom_style = "block" *) reg [35:0] m[0:511];
  initial if (IMAGE != "") $readmemh(IMAGE, m);
  always_ff @(posedge clk) q <= m[addr];
endmodule

module chip_mul (
    input  wire               clk,
    input  wire signed [ 7:0] a,
    input  wire signed [ 7:0] b,
    output reg  signed [15:0] p
);
  always_ff @(posedge clk) p <= a * b;
endmodule

module chip_delay (
    input  wire clk,
    input  wire a,
    output wire y
);
  reg [31:0] s;
  always_ff @(posedge clk) s <= {s[30:0], a};
  assign y = s[31];
endmodule

module chip_ram (
    input  wire       clk,
    input  wire       we,
    input  wire [5:0] wa,
    input  wire [5:0] ra,
    input  wire [7:0] d,
    output wire [7:0] q
);
  (* ram_style = "distributed" *) reg [7:0] m[0:63];
  always_ff @(posedge clk) if (we) m[wa] <= d;
  assign q = m[ra];
endmodule
`default_nettype wire
