// SPDX-License-Identifier: Apache-2.0
// mem_checked: weights in a ROM that is read once after reset, before a word of it is used. If what is read is not what
//   the file holds, ready stays low for ever, and error says so.
//   What is read goes into a register of 32 bits that shifts with feedback (x^32 + x^22 + x^2 + x + 1): of each word,
//   the exclusive or of its 32-bit limbs, limb j turned left by j. One wrong bit always changes what it holds at the
//   end.
//   parameters  WIDTH, DEPTH, SETS, SWEEPS, IMAGE, IMAGE_SUM, STYLE   see mem_sets; of several sets, each is read
//                      SWEEPS times, as it is used
//               SIGN   what the register holds at the end; it begins with ones
//   ready: the words are right. step: the word at addr is used in this cycle if en; data has it two cycles of en later.
//   latency: 2   ii: 1   order: one word an enabled cycle
//   let: DW = max(clog2(DEPTH), 1); LEFT = clog2((SETS > 1 ? SETS * SWEEPS : 1) * DEPTH + 1); LIMBS = (WIDTH + 31) / 32
//   lut: 2 * DW + LEFT + 54 + (LIMBS > 1 ? 32 * ((LIMBS + 3) / 5) : 0)
//   ff: DW + LEFT + 69
//   parts: u_sets
`default_nettype none
module mem_checked #(
    parameter integer WIDTH     = 8,
    parameter integer DEPTH     = 16,
    parameter integer SETS      = 1,
    parameter integer SWEEPS    = 1,
    parameter         IMAGE     = "",
    parameter [31:0]  IMAGE_SUM = 32'd0,
    parameter [31:0]  SIGN      = 32'd0,
    parameter         STYLE     = "auto",
    parameter integer DW        = DEPTH > 1 ? $clog2(DEPTH) : 1
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             en,
    input  wire             step,
    input  wire [   DW-1:0] addr,
    output wire             ready,
    output wire [WIDTH-1:0] data,
    output wire             error
);
  localparam integer READS = (SETS > 1 ? SETS * SWEEPS : 1) * DEPTH;
  localparam integer LW = $clog2(READS + 1);
  localparam integer LIMBS = (WIDTH + 31) / 32;

  function [31:0] folded(input [32*LIMBS-1:0] word);
    integer j;
    reg [63:0] twice;
    begin
      folded = 32'd0;
      for (j = 0; j < LIMBS; j = j + 1) begin
        twice  = {2{word[32*j+:32]}};
        folded = folded ^ twice[(32 - j % 32) % 32+:32];
      end
    end
  endfunction

  logic checked, right;
  logic [LW-1:0] left;  // words to be read
  logic [DW-1:0] at;
  logic [1:0] come;  // which of the last words read are in the ROM
  logic folds;
  logic [31:0] fold, sign;
  wire reads = left != LW'(0);

  always_ff @(posedge clk) begin
    left  <= left - LW'(reads);
    at    <= DEPTH == 1 || at == DW'(DEPTH - 1) ? DW'(0) : at + DW'(1);
    come  <= {come[0], reads};
    fold  <= folded((32 * LIMBS)'(data));
    folds <= come[1];
    if (folds) sign <= {sign[30:0], sign[31] ^ sign[21] ^ sign[1] ^ sign[0]} ^ fold;
    if (!reads && come == 2'b00 && !folds) checked <= 1'b1;
    right <= sign == SIGN;
    if (rst) begin
      left    <= LW'(READS);
      at      <= DW'(0);
      come    <= 2'b00;
      folds   <= 1'b0;
      sign    <= 32'hffffffff;
      checked <= 1'b0;
    end
  end
  assign ready = checked && right;
  assign error = checked && !right;

  mem_sets #(
      .WIDTH(WIDTH), .DEPTH(DEPTH), .SETS(SETS), .SWEEPS(SWEEPS), .IMAGE(IMAGE), .IMAGE_SUM(IMAGE_SUM), .STYLE(STYLE)
  ) u_sets (
      .clk(clk), .rst(rst), .en(en || !checked), .step(checked ? step : reads), .addr(checked ? addr : at), .data(data)
  );
endmodule
`default_nettype wire
