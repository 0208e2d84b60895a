// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"fmt"
	"strings"
	"testing"

	"lathe/rtl"
	"lathe/rtl/formaltest"
)

// The cases here are small; those behind the tag long cover more widths and depths.

func TestSkidProof(t *testing.T) {
	skidProof(8).Prove(t)
	skidProof(8).Refute(t, formaltest.Mutant{Module: "stream_skid", Old: "spare_data <= next;",
		New: "spare_data <= in_data;"})
	skidProof(8).Refute(t, formaltest.Mutant{Module: "stream_skid", Old: "in_ready = !spare_valid",
		New: "in_ready = 1'b1"})
}

func TestFifoProof(t *testing.T) {
	fifoProof(2, 3).Prove(t)
	fifoProof(2, 3).Refute(t, formaltest.Mutant{Module: "stream_fifo", Old: "used != FULL", New: "used <= FULL"})
	fifoProof(2, 3).Refute(t, formaltest.Mutant{Module: "stream_fifo", Old: "waddr == LAST",
		New: "waddr == LAST - 1'b1"})
}

func TestCreditProof(t *testing.T) {
	creditProof(1, 2).Prove(t)
	for _, m := range [][2]string{{"free != (AW + 1)'(1)", "free != (AW + 1)'(0)"},
		{"{valid_q, enters}", "{valid_q, in_valid}"}, {"out_valid <= arrives ||", "out_valid <="},
		{"if (read) raddr", "if (out_ready) raddr"}} {
		creditProof(1, 2).Refute(t, formaltest.Mutant{Module: "stream_credit", Old: m[0], New: m[1]})
	}
}

func TestForkProof(t *testing.T) {
	forkProof(4, 2).Prove(t)
	forkProof(4, 2).Refute(t, formaltest.Mutant{Module: "stream_fork", Old: ": taken | out_ready", New: ": out_ready"})
}

func TestJoinProof(t *testing.T) {
	f := formaltest.Formula{Module: "stream_join", Text: joinText}
	f.Prove(t)
	f.Refute(t, formaltest.Mutant{Module: "stream_join", Old: "a_ready   = b_valid && out_ready",
		New: "a_ready = out_ready"})
	f.Refute(t, formaltest.Mutant{Module: "stream_join", Old: "a_valid && b_valid", New: "a_valid && out_ready"})
}

func params(pairs ...any) []rtl.Param {
	var out []rtl.Param
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, rtl.Param{Name: pairs[i].(string), Value: fmt.Sprint(pairs[i+1])})
	}
	return out
}

// skidState ties what a skid holds to the counters; u is the place of the skid in the module.
func skidState(u string) string {
	return strings.ReplaceAll(`
  always @* if (f_past) begin
    assert (f_held == {7'd0, out_valid} + {7'd0, $spare_valid });
    assert (out_valid || !$spare_valid );
    if (f_inside && f_at == 8'd1) assert ($spare_data == f_d);
    assert (in_ready == !$spare_valid );
  end
`, "$", u)
}

func skidProof(width int) formaltest.Proof {
	return formaltest.Proof{Module: "stream_skid", Params: params("WIDTH", width), Depth: 12, Induct: 2,
		Properties: formaltest.Stream(width) + skidState(`\`)}
}

// fifoProof ties the memory to the counters: beat f_at lies that far behind the read address, or in a prefetch
// register.
func fifoProof(width, depth int) formaltest.Proof {
	p := formaltest.Proof{Module: "stream_fifo", Params: params("WIDTH", width, "DEPTH", depth), Depth: 10, Induct: 2}
	if depth <= 2 {
		p.Properties = formaltest.Stream(width) + skidState(`\slice.u_skid.`)
		return p
	}
	memory, v0, v1, q0 := `\queue.lutram.m `, "1'b0", "1'b0", "f_d"
	if depth > 64 {
		memory, v0, v1, q0 = `\queue.blockram.m `, `\queue.blockram.v0 `, `\queue.blockram.v1 `, `\queue.blockram.q0 `
	}
	p.Properties = formaltest.Stream(width) + strings.NewReplacer("$m", memory, "$v0", v0, "$v1", v1, "$q0", q0, "$depth",
		fmt.Sprint(depth)).Replace(`
  wire [15:0] f_used = \queue.used ;
  wire [15:0] f_read = \queue.raddr ;
  wire [15:0] f_write = \queue.waddr ;
  wire [15:0] f_ahead = {15'd0, $v0} + {15'd0, $v1};
  wire [15:0] f_place = f_read + {8'd0, f_at} - f_ahead;
  wire [15:0] f_wrapped = f_place >= $depth ? f_place - $depth : f_place;
  wire [15:0] f_end = f_read + f_used;
  always @* if (f_past) begin
    assert ({8'd0, f_held} == f_used + f_ahead);
    assert (f_used <= $depth && f_read < $depth);
    assert (f_write == (f_end >= $depth ? f_end - $depth : f_end));
    if (f_inside && f_at == {7'd0, $v1} && $v0) assert ($q0 == f_d);
    if (f_inside && {8'd0, f_at} >= f_ahead) assert ($m[f_wrapped] == f_d);
  end
`)
	return p
}

// creditProof: beats leave in the order in which they arrived from the pipeline, none is lost, and there are never more
// on their way than find a place.
func creditProof(width, rows int) formaltest.Proof {
	var onWay []string
	for i := range rows {
		onWay = append(onWay, fmt.Sprintf("{15'd0, valid_q[%d]}", i))
	}
	places := 1
	for places < rows+2 {
		places *= 2
	}
	return formaltest.Proof{Module: "stream_credit", Params: params("WIDTH", width, "ROWS", rows), Depth: places + 6,
		Induct: 2,
		Properties: formaltest.Start + formaltest.Receiver("out", "out_valid", "out_ready", "out_data",
			width) + strings.NewReplacer("$places", fmt.Sprint(places), "$way", strings.Join(onWay, " + "), "$w",
			fmt.Sprint(width-1)).Replace(`
  reg [7:0] f_in_n, f_out_n;
  (* anyconst *) wire [7:0] f_k;
  (* anyconst *) wire [$w:0] f_d;
  wire [7:0] f_held = f_in_n - f_out_n;
  wire [7:0] f_at = f_k - f_out_n;
  wire [15:0] f_free = free;
  wire [15:0] f_stored = held;
  wire [15:0] f_read = raddr;
  wire [15:0] f_end = f_read + f_stored;
  wire [15:0] f_place = f_read + {8'd0, f_at};
  always @(posedge clk) begin
    f_in_n  <= f_in_n + {7'd0, arrives};
    f_out_n <= f_out_n + {7'd0, out_valid && out_ready};
    if (rst) {f_in_n, f_out_n} <= 16'd0;
  end
  always @* if (arrives && f_in_n == f_k) assume (codes == f_d);
  always @* if (f_past) begin
    assert (f_free + f_stored + $way == $places);
    assert (in_ready == (f_free != 0) && out_valid == (f_stored != 0));
    assert ({8'd0, f_held} == f_stored);
    assert (waddr == f_end % $places);
    if (f_at < f_held) assert (m[f_place % $places] == f_d);
  end
  always @* cover (f_past && !f_rst && f_out_n == 8'd3 && f_free == $places);
  always @* cover (f_past && !in_ready);
`)}
}

// forkProof lets every branch have beat f_k once, as it came in.
func forkProof(width, n int) formaltest.Proof {
	var b strings.Builder
	b.WriteString(formaltest.Sender("in", width))
	fmt.Fprintf(&b, `
  reg [7:0] f_in_n;
  (* anyconst *) wire [7:0] f_k;
  (* anyconst *) wire [%d:0] f_d;
  always @(posedge clk) f_in_n <= rst ? 8'd0 : f_in_n + {7'd0, in_valid && in_ready};
  always @* if (in_valid && f_in_n == f_k) assume (in_data == f_d);
  always @* if (f_past) begin
    assert (!(&taken));
    assert (taken == 0 || f_in_wait);
    assert (!in_valid || in_ready == &(taken | out_ready));
  end
`, width-1)
	for i := range n {
		valid, ready := fmt.Sprintf("out_valid[%d]", i), fmt.Sprintf("out_ready[%d]", i)
		b.WriteString(formaltest.Receiver(fmt.Sprintf("out%d", i), valid, ready, "out_data", width))
		count := fmt.Sprintf("f_out%d_n", i)
		b.WriteString(strings.NewReplacer("$n", count, "$v", valid, "$r", ready, "$i", fmt.Sprint(i)).Replace(`
  reg [7:0] $n;
  always @(posedge clk) $n <= rst ? 8'd0 : $n + {7'd0, $v && $r};
  always @* if (f_past) begin
    assert ($n == f_in_n + {7'd0, taken[$i]});
    if ($v && $n == f_k) assert (out_data == f_d);
  end
  always @* cover (f_past && !f_rst && $n == 8'd3 && taken[$i]);
`))
	}
	return formaltest.Proof{Module: "stream_fork", Params: params("WIDTH", width, "N", n), Depth: 12, Induct: 2,
		Properties: b.String()}
}

// joinText: all three sides move together, and the output's valid does not depend on its ready.
const joinText = `module formula (
    input wire [2:0] a, input wire [4:0] b, input wire a_valid, b_valid, ready, other, output wire bad
);
  wire [7:0] out, out_other;
  wire a_ready, b_ready, a_other, b_other, valid, valid_other;
  stream_join #(.A_WIDTH(3), .B_WIDTH(5)) u (
      .a_data(a), .a_valid(a_valid), .a_ready(a_ready), .b_data(b), .b_valid(b_valid), .b_ready(b_ready),
      .out_data(out), .out_valid(valid), .out_ready(ready));
  stream_join #(.A_WIDTH(3), .B_WIDTH(5)) v (
      .a_data(a), .a_valid(a_valid), .a_ready(a_other), .b_data(b), .b_valid(b_valid), .b_ready(b_other),
      .out_data(out_other), .out_valid(valid_other), .out_ready(other));
  wire moves = a_valid && b_valid && ready;
  assign bad = out != {b, a} || (a_valid && a_ready) != moves || (b_valid && b_ready) != moves
      || (valid && ready) != moves || valid != valid_other;
endmodule
`
