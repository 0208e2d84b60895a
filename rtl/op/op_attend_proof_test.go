// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"fmt"
	"testing"

	"lathe/rtl"
	"lathe/rtl/formaltest"
)

// attendProof is about two queries and two keys of one feature: score f_k is the product of its query and its key,
// whichever came first and however they and the scores were held up, and 0 for a key that the query does not see.
func attendProof(causal, depth int) formaltest.Proof {
	p := formaltest.Proof{Module: "op_attend_scores", Depth: depth}
	for name, value := range map[string]int{"QUERIES": 2, "KEYS": 2, "HEADS": 1, "GROUPS": 1, "SIZE": 1, "ROW": 2, "F": 1,
		"R": 1, "A_W": 1, "A_SIGNED": 0, "B_W": 1, "B_SIGNED": 0, "CAUSAL": causal, "SHIFT": 0, "OUT_W": 2} {
		p.Params = append(p.Params, rtl.Param{Name: name, Value: fmt.Sprint(value)})
	}
	p.Properties = formaltest.Sender("a", 1) + formaltest.Another("b", 1) +
		formaltest.Receiver("out", "out_valid", "out_ready", "out_data", 2) + fmt.Sprintf(`
  reg [7:0] f_a_n, f_b_n, f_out_n;
  (* anyconst *) wire [7:0] f_k;
  (* anyconst *) wire f_q, f_d;
  wire f_blind = %d && !f_k[1] && f_k[0];
  always @(posedge clk) begin
    f_a_n   <= rst ? 8'd0 : f_a_n + {7'd0, a_valid && a_ready};
    f_b_n   <= rst ? 8'd0 : f_b_n + {7'd0, b_valid && b_ready};
    f_out_n <= rst ? 8'd0 : f_out_n + {7'd0, out_valid && out_ready};
  end
  always @* begin
    if (f_past) assume (!rst);
    if (a_valid && f_a_n == {1'b0, f_k[7:1]}) assume (a_data == f_q);
    if (b_valid && f_b_n == {1'b0, f_k[7:2], f_k[0]}) assume (b_data == f_d);
  end
  always @* if (f_past && out_valid && f_out_n == f_k) assert (out_data == {1'b0, f_q && f_d && !f_blind});
  always @* cover (f_past && !f_rst && f_out_n == 8'd5);
`, causal)
	return p
}

// partsProof is about two queries of two parts, and two keys of two parts, which all have one feature: step f_k reads
// the key of its own part, whose number follows from that of the step, whenever keys came and steps were made.
func partsProof(depth int) formaltest.Proof {
	p := formaltest.Proof{Module: "op_attend_feed", Depth: depth}
	for name, value := range map[string]int{"QUERIES": 2, "KEYS": 2, "AHEAD": 0, "HEADS": 2, "GROUPS": 2, "PARTS": 2,
		"ROW": 2, "R": 1, "BEATS": 1, "CAUSAL": 1, "SUM": 0, "A_W": 1, "B_W": 1} {
		p.Params = append(p.Params, rtl.Param{Name: name, Value: fmt.Sprint(value)})
	}
	p.Properties = formaltest.Sender("a", 1) + formaltest.Another("b", 1) + `
  reg [4:0] f_b_n, f_n, f_n_1, f_n_2;
  reg f_1, f_2;
  (* anyconst *) wire [4:0] f_k;  // frame, query, part, key
  (* anyconst *) wire f_d;
  wire f_blind = !f_k[2] && f_k[0];
  wire [4:0] f_key = {1'b0, f_k[4:3], f_k[0], f_k[1]};
  always @(posedge clk) begin
    f_b_n <= rst ? 5'd0 : f_b_n + {4'd0, b_valid && b_ready};
    f_n   <= rst ? 5'd0 : f_n + {4'd0, en && step};
    if (en) {f_1, f_2, f_n_1, f_n_2} <= {step, f_1, f_n, f_n_1};
    if (rst) {f_1, f_2} <= 2'd0;
  end
  always @* begin
    if (f_past) assume (!rst);
    if (b_valid && f_b_n == f_key) assume (b_data == f_d);
  end
  always @* if (f_past && f_2 && f_n_2 == f_k) assert (b_words == (f_d && !f_blind));
  always @* if (f_past && step && f_n == f_k && !f_blind) assert (f_key < f_b_n);
  always @* cover (f_past && !f_rst && f_n == 5'd9);
`
	return p
}

// TestPartsProof has a query read the keys of its own part only, and none that have not come.
func TestPartsProof(t *testing.T) {
	t.Parallel()
	p := partsProof(16)
	p.Prove(t)
	for _, m := range []formaltest.Mutant{
		{Module: "op_attend_walk", Old: "PARTS > 1 ? need_q + NW'(1)", New: "PARTS > 1 ? need_q"},
		{Module: "op_attend_walk", Old: "group_ends ? AW'(BEATS)", New: "group_ends ? AW'(0)"},
		{Module: "mem_kv", Old: "token_ends = part_ends && part_last", New: "token_ends = part_ends"},
	} {
		p.Refute(t, m)
	}
}

func TestAttendProof(t *testing.T) {
	t.Parallel()
	p := attendProof(1, 16)
	p.Prove(t)
	p.Refute(t, formaltest.Mutant{Module: "mem_kv", Old: "token >= need", New: "token + NW'(1) >= need"})
	p.Refute(t, formaltest.Mutant{Module: "op_attend_row", Old: "AW'({beat, from})", New: "AW'({beat, into})"})
}

// circleProof is about frames of one query that sees two keys, of which the store holds one frame and ahead keys of
// the next one: step f_k reads key f_k, whenever keys came and steps were made.
func circleProof(ahead, depth int) formaltest.Proof {
	p := formaltest.Proof{Module: "op_attend_feed", Depth: depth}
	for name, value := range map[string]int{"QUERIES": 1, "KEYS": 2, "AHEAD": ahead, "HEADS": 1, "GROUPS": 1, "ROW": 2,
		"R": 1, "BEATS": 1, "SUM": 0, "A_W": 1, "B_W": 1} {
		p.Params = append(p.Params, rtl.Param{Name: name, Value: fmt.Sprint(value)})
	}
	p.Properties = formaltest.Sender("a", 1) + formaltest.Another("b", 1) + fmt.Sprintf(`
  reg [3:0] f_b_n, f_n, f_n_1, f_n_2;
  reg f_1, f_2;
  (* anyconst *) wire [3:0] f_k;
  (* anyconst *) wire f_d;
  always @(posedge clk) begin
    f_b_n <= rst ? 4'd0 : f_b_n + {3'd0, b_valid && b_ready};
    f_n   <= rst ? 4'd0 : f_n + {3'd0, en && step};
    if (en) {f_1, f_2, f_n_1, f_n_2} <= {step, f_1, f_n, f_n_1};
    if (rst) {f_1, f_2} <= 2'd0;
  end
  always @* begin
    if (f_past) assume (!rst);
    if (b_valid && f_b_n == f_k) assume (b_data == f_d);
  end
  always @* if (f_past && f_2 && f_n_2 == f_k) assert (b_words == f_d);
  always @* if (f_past && step) assert (f_n < f_b_n);
  always @* cover (f_past && !f_rst && f_n == 4'd%d);
`, 3+3*ahead)
	return p
}

// TestCircleProof has stores of one frame, and of a part of the next one, never overwrite what is still to be read and
// never read what is not there.
func TestCircleProof(t *testing.T) {
	t.Parallel()
	p := circleProof(1, 13)
	p.Prove(t)
	for _, m := range []formaltest.Mutant{
		{Module: "mem_kv", Old: "token != NW'(FIRST - 1)", New: "token != NW'(FIRST)"},
		{Module: "mem_kv", Old: "(CIRCLE - 1) * TILE", New: "(CIRCLE - 2) * TILE"},
		{Module: "op_attend_walk", Old: "start >= SW'(CIRCLE - FRAME)", New: "start == SW'(CIRCLE - FRAME)"},
		{Module: "op_attend_walk", Old: "slot == SW'(CIRCLE - 1)", New: "slot == SW'(CIRCLE - 2)"},
	} {
		p.Refute(t, m)
	}
	p = circleProof(0, 10)
	p.Prove(t)
	p.Refute(t, formaltest.Mutant{Module: "mem_kv", Old: "held == 2'd0 ||", New: "held != 2'd2 ||"})
}
