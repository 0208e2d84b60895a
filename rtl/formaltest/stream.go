// SPDX-License-Identifier: Apache-2.0

package formaltest

import (
	"fmt"
	"strings"
)

// Stream prints the properties of docs/stream.md for a module with the ports in_* and out_*: what the sender is assumed
// to keep to, what the module must keep to, and that things happen at all. It also declares
//
//	f_past           1 from the second cycle on; the first one is a reset
//	f_in_n, f_out_n  beats that came in and went out since the last reset, modulo 256
//	f_k, f_d         any number of a beat and any data: input beat f_k is assumed to be f_d
//	f_held, f_at     beats inside, and how many of them stand before beat f_k
//	f_inside         beat f_k is inside
//
// for properties of the state, which induction needs. Width is that of in_data; one beat goes out for every beat that
// comes in.
func Stream(width int) string {
	return Sender("in", width) + Receiver("out", "out_valid", "out_ready", "out_data", width) + fmt.Sprintf(`
  reg [7:0] f_in_n, f_out_n;
  (* anyconst *) wire [7:0] f_k;
  (* anyconst *) wire [%d:0] f_d;
  wire [7:0] f_held = f_in_n - f_out_n;
  wire [7:0] f_at = f_k - f_out_n;
  wire f_inside = f_at < f_held;
  always @(posedge clk) begin
    f_in_n  <= f_in_n + {7'd0, in_valid && in_ready};
    f_out_n <= f_out_n + {7'd0, out_valid && out_ready};
    if (rst) {f_in_n, f_out_n} <= 16'd0;
  end
  always @* if (in_valid && f_in_n == f_k) assume (in_data == f_d);
  always @* if (f_past && out_valid) begin
    assert (f_held != 8'd0);
    if (f_out_n == f_k) assert (out_data == f_d);
  end
  always @* cover (f_past && !f_rst && f_out_n == 8'd3 && f_held == 8'd0);
`, width-1)
}

// Sender prints what the sender of stream prefix_* is assumed to keep to, and declares f_past and f_rst, the reset of
// the cycle before. A module has one; further streams have Another.
func Sender(prefix string, width int) string { return Start + Another(prefix, width) }

// Another is Sender without these declarations.
func Another(prefix string, width int) string {
	return strings.NewReplacer("$p", prefix, "$w", fmt.Sprint(width-1)).Replace(`
  reg f_$p_wait;
  reg [$w:0] f_$p_data;
  always @(posedge clk) begin
    f_$p_wait <= $p_valid && !$p_ready && !rst;
    f_$p_data <= $p_data;
  end
  always @* begin
    if (f_past && f_$p_wait) assume ($p_valid && $p_data == f_$p_data);
    if (f_past && f_rst) assume (!$p_valid);
  end
`)
}

// Receiver prints what the module must keep to at an output stream of the given signals: a beat stays until it is
// taken, and there is none in the cycle behind a reset.
func Receiver(name, valid, ready, data string, width int) string {
	return strings.NewReplacer("$n", name, "$v", valid, "$r", ready, "$d", data, "$w", fmt.Sprint(width-1)).Replace(`
  reg f_$n_wait;
  reg [$w:0] f_$n_data;
  always @(posedge clk) begin
    f_$n_wait <= $v && !$r && !rst;
    f_$n_data <= $d;
  end
  always @* begin
    if (f_past && f_$n_wait) assert ($v && $d == f_$n_data);
    if (f_past && f_rst) assert (!$v);
    cover (f_past && f_$n_wait && $r);
  end
`)
}

// Start declares f_past and f_rst, the reset of the cycle before; a module whose streams have no Sender begins with it.
const Start = `
  reg f_past = 1'b0, f_rst = 1'b1;
  always @(posedge clk) begin
    f_past <= 1'b1;
    f_rst  <= rst;
  end
  always @* if (!f_past) assume (rst);
`
