// SPDX-License-Identifier: Apache-2.0
// board_session: answers packets. Kind 1 asks who is there (answer 81, 40 bytes), 2 brings a sample (82: its results),
//   3 resets the core (83). An answer has the number of what it answers. A sample waits in one of two banks while the
//   core has another one, which is alone in the core from its first beat to its last result: a sample of wrong length,
//   or for which there is no bank, is not answered. e2 is the answer to a sample for which the core was reset, with one
//   byte that says why: 1 nothing came for TIMEOUT cycles, 2 its results did not end where they should.
//   parameters  ID         of the design, 64 bits
//               IN_BYTES   bytes of a sample
//               OUT_BYTES  bytes of its results
//               KHZ        the clock
//               TIMEOUT    cycles in which a sample must come through the core
//   latency: 1   ii: 1   order: as it comes
//   lut: 260
//   ff: 350
`default_nettype none
module board_session #(
    parameter [63:0] ID = 64'd0,
    parameter integer IN_BYTES = 64,
    parameter integer OUT_BYTES = 10,
    parameter integer KHZ = 75000,
    parameter integer TIMEOUT = 1000000
) (
    input  wire        clk,
    input  wire        rst,
    // a packet that came
    input  wire        head,
    input  wire        done,
    input  wire        whole,
    input  wire [7:0]  kind,
    input  wire [31:0] number,
    input  wire [23:0] length,
    output reg         taking,      // its payload is a sample, for bank fill
    output reg         fill,
    // the core
    output reg         start,
    output reg         bank,
    input  wire        finished,
    input  wire        fault,
    input  wire        core_error,
    output reg         core_rst,
    // an answer
    output reg         send,
    input  wire        idle,
    output reg  [7:0]  out_kind,
    output reg  [31:0] out_number,
    output reg  [23:0] out_length,
    input  wire [5:0]  raddr,
    output wire        own,         // the payload of the answer is rdata, no result
    output wire [7:0]  rdata,
    output wire        busy,
    output wire [7:0]  led
);
  localparam [7:0] INFO = 8'h01, RUN = 8'h02, RESET = 8'h03, RESULT = 8'h82, FAILED = 8'he2;
  localparam [1:0] FREE = 2'd0, WORK = 2'd1, TELL = 2'd2, HOLD = 2'd3;
  reg [1:0] state;
  reg [1:0] full;
  reg [31:0] number_0, number_1;  // of the samples in the banks
  reg [31:0] asked_number, reset_number;
  reg asked, reset_asked;  // an answer to kind 1, to kind 3 is due
  reg owed;  // an answer is due behind the reset of the core
  reg [1:0] why;
  reg [4:0] hold;
  reg [31:0] timer;  // cycles that are left
  reg expired;
  reg [7:0] told;  // the byte of info at raddr
  reg [31:0] answered;
  reg [15:0] broken, refused, late, faulty;
  reg [25:0] beat;  // of the light that says that the clock runs

  wire sample = kind == RUN && length == IN_BYTES[23:0];
  wire enters = done && whole && sample && taking;
  wire [319:0] info = {faulty, late, refused, broken, answered, KHZ[31:0], OUT_BYTES[31:0], IN_BYTES[31:0], ID,
      16'd0, 6'd0, core_error, busy, 8'd1, 32'h4548544c};  // behind LTHE and the version of the protocol
  wire [8:0] byte_at = {raddr, 3'd0};

  assign own = out_kind != RESULT;
  assign rdata = out_kind == FAILED ? {6'd0, why} : told;
  assign busy = state != FREE || full != 2'd0 || asked || reset_asked;
  assign led = {core_rst, core_error, late != 16'd0 || faulty != 16'd0, broken != 16'd0 || refused != 16'd0,
      answered[4], full != 2'd0, busy, beat[25]};

  always_ff @(posedge clk) begin
    beat  <= beat + 26'd1;
    told  <= info[byte_at+:8];
    start <= 1'b0;
    send  <= 1'b0;
    if (head) taking <= !(fill ? full[1] : full[0]) && sample;
    if (enters) begin
      full[fill] <= 1'b1;
      fill       <= !fill;
      if (fill) number_1 <= number;
      else number_0 <= number;
    end
    if (done && whole && kind == INFO) begin
      asked        <= 1'b1;
      asked_number <= number;
    end
    if (done && whole && kind == RESET) begin
      reset_asked  <= 1'b1;
      reset_number <= number;
    end
    if (done && !whole && !(&broken)) broken <= broken + 16'd1;
    if (done && whole && !enters && kind != INFO && kind != RESET && !(&refused)) refused <= refused + 16'd1;
    if (done) taking <= 1'b0;

    case (state)
      FREE: begin
        timer   <= TIMEOUT;
        expired <= 1'b0;
        if (fault) begin  // a beat that no sample has asked for
          state <= HOLD;
          if (!(&faulty)) faulty <= faulty + 16'd1;
        end else if (asked) begin
          asked      <= 1'b0;
          state      <= TELL;
          send       <= 1'b1;
          out_kind   <= 8'h81;
          out_number <= asked_number;
          out_length <= 24'd40;
        end else if (bank ? full[1] : full[0]) begin
          start      <= 1'b1;
          state      <= WORK;
          out_number <= bank ? number_1 : number_0;
        end
      end
      WORK: begin
        timer   <= timer - 32'd1;
        expired <= timer == 32'd1;
        if (!start && finished || fault || expired) begin
          full[bank] <= 1'b0;
          bank       <= !bank;
        end
        if (fault || expired) begin
          state      <= HOLD;
          owed       <= 1'b1;
          out_kind   <= FAILED;
          out_length <= 24'd1;
          why        <= fault ? 2'd2 : 2'd1;
          if (fault && !(&faulty)) faulty <= faulty + 16'd1;
          if (!fault && !(&late)) late <= late + 16'd1;
        end else if (!start && finished) begin
          state      <= TELL;
          send       <= 1'b1;
          out_kind   <= RESULT;
          out_length <= OUT_BYTES[23:0];
          answered   <= answered + 32'd1;
        end
      end
      TELL: if (idle && !send) state <= FREE;
      default: begin
        hold <= hold - 5'd1;
        if (hold == 5'd0) begin
          owed     <= 1'b0;
          send     <= owed;
          core_rst <= 1'b0;
          state    <= owed ? TELL : FREE;
        end else core_rst <= 1'b1;
      end
    endcase

    if (reset_asked && (state == FREE || state == WORK)) begin
      reset_asked <= 1'b0;
      full        <= 2'b00;
      fill        <= 1'b0;
      bank        <= 1'b0;
      taking      <= 1'b0;
      start       <= 1'b0;
      send        <= 1'b0;
      asked       <= 1'b0;
      state       <= HOLD;
      owed        <= 1'b1;
      out_kind    <= 8'h83;
      out_number  <= reset_number;
      out_length  <= 24'd0;
    end
    if (rst) begin
      full        <= 2'b00;
      fill        <= 1'b0;
      bank        <= 1'b0;
      taking      <= 1'b0;
      start       <= 1'b0;
      send        <= 1'b0;
      asked       <= 1'b0;
      reset_asked <= 1'b0;
      owed        <= 1'b0;
      state       <= HOLD;
      hold        <= 5'd31;
      core_rst    <= 1'b1;
      answered    <= 32'd0;
      broken      <= 16'd0;
      refused     <= 16'd0;
      late        <= 16'd0;
      faulty      <= 16'd0;
      beat        <= 26'd0;
      out_kind    <= RESULT;
    end
  end
endmodule
`default_nettype wire
