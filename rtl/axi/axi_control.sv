// SPDX-License-Identifier: Apache-2.0
// axi_control: registers of a design behind AXI4-Lite: who it is, run and reset, counts of frames and of cycles in
//   which beats wait, errors, an interrupt. emit/shell/registers.go describes each register. Addresses and data of
//   writes may come in any order; a write to no register or to one that is read only, and a read of none, are answered
//   by SLVERR and change nothing.
//   parameters  ID         of the design, 64 bits
//               IN_BYTES   bytes of a frame of all inputs
//               OUT_BYTES  bytes of a frame of all outputs
//               INS        inputs
//               OUTS       outputs
//   latency: 2   ii: 2   order: as it comes
//   lut: 225
//   ff: 325
`default_nettype none
module axi_control #(
    parameter [63:0] ID = 64'd0,
    parameter integer IN_BYTES = 64,
    parameter integer OUT_BYTES = 10,
    parameter integer INS = 1,
    parameter integer OUTS = 1
) (
    input  wire            clk,
    input  wire            rst,
    input  wire [7:0]      awaddr,
    input  wire            awvalid,
    output wire            awready,
    input  wire [31:0]     wdata,
    input  wire [3:0]      wstrb,
    input  wire            wvalid,
    output wire            wready,
    output reg  [1:0]      bresp,
    output reg             bvalid,
    input  wire            bready,
    input  wire [7:0]      araddr,
    input  wire            arvalid,
    output wire            arready,
    output reg  [31:0]     rdata,
    output reg  [1:0]      rresp,
    output reg             rvalid,
    input  wire            rready,
    // the streams, the first in the low bit
    input  wire [INS-1:0]  in_valid,
    input  wire [INS-1:0]  in_ready,
    input  wire [INS-1:0]  in_inside,
    input  wire [INS-1:0]  in_misplaced,
    input  wire            in_frame,
    input  wire [OUTS-1:0] out_valid,
    input  wire [OUTS-1:0] out_ready,
    input  wire            out_frame,
    input  wire            core_error,
    output reg             run,
    output reg             core_rst,
    output wire            irq
);
  localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10;
  reg aw_held, w_held;
  reg [7:0] aw;
  reg [31:0] w;
  reg [3:0] strobe;
  reg [3:0] hold;  // cycles of reset that are left
  reg [2:0] errors;
  reg [1:0] enable, pending;
  reg [31:0] frames_in, frames_out, waits_in, waits_out, limit, still;
  reg [31:0] under_way;  // frames that have come in and not gone out
  reg errs;  // core_error of the cycle before

  wire moves = |(in_valid & in_ready) || |(out_valid & out_ready);
  wire idle = under_way == 32'd0 && !in_frame && in_inside == {INS{1'b0}};
  wire stuck = limit != 32'd0 && still == limit;
  // the units behind the streams are reset a cycle later than this one, and tell of what came before
  wire came = in_frame && !core_rst;
  wire left = out_frame && !core_rst;
  wire [2:0] raised = {stuck, |in_misplaced && !core_rst, core_error && !errs};
  wire put = aw_held && w_held && !bvalid;
  wire [31:0] mask = {{8{strobe[3]}}, {8{strobe[2]}}, {8{strobe[1]}}, {8{strobe[0]}}};
  wire [31:0] ones = w & mask;
  wire writes = put && aw[1:0] == 2'd0;
  wire known = aw == 8'h0c || aw == 8'h14 || aw == 8'h18 || aw == 8'h1c || aw == 8'h38;
  reg [31:0] value;
  reg none;

  assign awready = !aw_held;
  assign wready = !w_held;
  assign arready = !rvalid;
  assign irq = |(enable & pending);

  always_comb begin
    none = 1'b0;
    case (araddr)
      8'h00: value = ID[31:0];
      8'h04: value = ID[63:32];
      8'h08: value = 32'd1;
      8'h0c: value = {31'd0, run};
      8'h10: value = {28'd0, core_error, core_rst, run, idle};
      8'h14: value = {29'd0, errors};
      8'h18: value = {30'd0, enable};
      8'h1c: value = {30'd0, pending};
      8'h20: value = IN_BYTES;
      8'h24: value = OUT_BYTES;
      8'h28: value = frames_in;
      8'h2c: value = frames_out;
      8'h30: value = waits_in;
      8'h34: value = waits_out;
      8'h38: value = limit;
      default: begin
        value = 32'd0;
        none  = 1'b1;
      end
    endcase
  end

  always_ff @(posedge clk) begin
    if (awvalid && awready) begin
      aw_held <= 1'b1;
      aw      <= awaddr;
    end
    if (wvalid && wready) begin
      w_held <= 1'b1;
      w      <= wdata;
      strobe <= wstrb;
    end
    if (bvalid && bready) bvalid <= 1'b0;
    if (put) begin
      aw_held <= 1'b0;
      w_held  <= 1'b0;
      bvalid  <= 1'b1;
      bresp   <= known ? OKAY : SLVERR;
    end
    if (rvalid && rready) rvalid <= 1'b0;
    if (arvalid && arready) begin
      rvalid <= 1'b1;
      rdata  <= value;
      rresp  <= none ? SLVERR : OKAY;
    end

    errs <= core_error;
    if (hold != 4'd0) hold <= hold - 4'd1;
    core_rst <= hold != 4'd0;
    if (came) frames_in <= frames_in + 32'd1;
    if (left) frames_out <= frames_out + 32'd1;
    if (came != left) under_way <= came ? under_way + 32'd1 : under_way - 32'd1;
    if (|(in_valid & ~in_ready)) waits_in <= waits_in + 32'd1;
    if (|(out_valid & ~out_ready)) waits_out <= waits_out + 32'd1;
    still   <= idle || moves || core_rst ? 32'd0 : stuck ? still : still + 32'd1;
    errors  <= (errors & ~(writes && aw == 8'h14 ? ones[2:0] : 3'd0)) | raised;
    pending <= (pending & ~(writes && aw == 8'h1c ? ones[1:0] : 2'd0)) | {|raised, left};
    if (core_rst) under_way <= 32'd0;
    if (writes && aw == 8'h0c && strobe[0]) begin
      run <= w[0];
      if (w[1]) hold <= 4'd15;
    end
    if (writes && aw == 8'h18) enable <= (enable & ~mask[1:0]) | ones[1:0];
    if (writes && aw == 8'h38) limit <= (limit & ~mask) | ones;
    if (rst) begin
      aw_held    <= 1'b0;
      w_held     <= 1'b0;
      bvalid     <= 1'b0;
      rvalid     <= 1'b0;
      run        <= 1'b0;
      hold       <= 4'd15;
      core_rst   <= 1'b1;
      errors     <= 3'd0;
      enable     <= 2'd0;
      pending    <= 2'd0;
      frames_in  <= 32'd0;
      frames_out <= 32'd0;
      under_way     <= 32'd0;
      waits_in   <= 32'd0;
      waits_out  <= 32'd0;
      limit      <= 32'd0;
      still      <= 32'd0;
      errs       <= 1'b0;
    end
  end
endmodule
`default_nettype wire
