// SPDX-License-Identifier: Apache-2.0

package mem_test

import (
	"strings"
	"testing"

	"lathe/rtl"
	"lathe/rtl/formaltest"
)

// proven is a proof of a memory and a fault that it refutes.
type proven struct {
	module, set string // parameters: name value ...
	properties  string
	free        string // modules
	depth       int
	induct      int
	fault       formaltest.Mutant
}

func (c proven) proof() formaltest.Proof {
	p := formaltest.Proof{Module: c.module, Properties: c.properties, Depth: c.depth, Induct: c.induct,
		Free: strings.Fields(c.free)}
	words := strings.Fields(c.set)
	for i := 0; i < len(words); i += 2 {
		p.Params = append(p.Params, rtl.Param{Name: words[i], Value: words[i+1]})
	}
	return p
}

func (c proven) prove(t *testing.T) {
	c.proof().Prove(t)
	c.refute(t)
}

func (c proven) refute(t *testing.T) { c.proof().Refute(t, c.fault) }

const begin = `
  reg f_past = 1'b0;
  always @(posedge clk) f_past <= 1'b1;
  always @* assume (rst == !f_past);
`

// Beats of the memory come for what was asked, and beat f_k holds f_d.
const asked = begin + `
  (* anyconst *) wire [7:0] f_k;
  (* anyconst *) wire [1:0] f_d;
  reg [7:0] f_asked, f_came;
  reg f_wait;
  reg [15:0] f_at;
  reg [7:0] f_len;
  always @(posedge clk) begin
    f_asked <= rst ? 8'd0 : f_asked + (ask_valid && ask_ready ? ask_len + 8'd1 : 8'd0);
    f_came  <= rst ? 8'd0 : f_came + {7'd0, beat_valid};
    f_wait  <= ask_valid && !ask_ready && !rst;
    f_at    <= ask_at;
    f_len   <= ask_len;
  end
  always @* begin
    if (beat_valid) assume (f_past && f_came != f_asked);
    if (beat_valid && f_came == f_k) assume (beat_data == f_d);
    if (f_past && f_wait) assert (ask_valid && ask_at == f_at && ask_len == f_len);
  end
`

// A word is used when it is there; two enabled cycles later it must be seen. f_next says that the word that is used now
// is beat f_k.
const used = `
  reg [1:0] f_seen;
  reg [7:0] f_used;
  always @(posedge clk) begin
    f_used <= rst ? 8'd0 : f_used + {7'd0, en && step};
    if (en) f_seen <= {f_seen[0], step && f_next};
    if (rst) f_seen <= 2'd0;
  end
  always @* begin
    if (step) assume (ready);
    if (f_past && f_seen[1]) assert (data == f_d);
  end
  always @* cover (f_past && f_seen[1] && f_used == 8'd4);
`

// quick are proofs of a few seconds; those behind the tag long take longer.
var quick = []proven{
	// Bursts within 4 KiB: a page is 512 beats of 64 bits, a set 10 of them, from whatever place on.
	{"mem_fetch", "WIDTH 64 BITS 64 DEPTH 10 SETS 3 BURST 4 BUFFER 64 AT 1024", begin + `
  always @* if (f_past) begin
    assert (at[1:0] == 2'd0 && start[8:0] == 9'd0);
    if (ask_valid) assert ({1'b0, ask_at[8:0]} + {2'b0, ask_len} < 10'd512);
  end
  always @* cover (f_past && ask_valid && ask_at == 16'd1544);
`, "stream_fifo stream_skid", 16, 2,
		formaltest.Mutant{Module: "mem_fetch", Old: "start + AT_W'(STRIDE)", New: "start + AT_W'(BEATS)"}},
	{"mem_stream", "WIDTH 2 BITS 2 DEPTH 3 SETS 1 BURST 2 BUFFER 2", asked + `
  wire f_next = f_used == f_k;
` + used, "", 16, 0, formaltest.Mutant{Module: "mem_stream", Old: "q0 <= word", New: "q0 <= beat_data"}},
	{"mem_hold", "WIDTH 2 BITS 2 DEPTH 2 SETS 1 BURST 2 BUFFER 2", asked + `
  wire f_next = {7'd0, f_used[0]} == f_k;
  always @* if (f_past) assert (f_asked <= 8'd2);
` + used, "", 16, 0, formaltest.Mutant{Module: "mem_hold", Old: "from_last = from == DW'(DEPTH - 1)",
		New: "from_last = from == DW'(DEPTH - 2)"}},
	// The address is that of the word in its set, and the next set comes after so many sweeps.
	{"mem_sets", "WIDTH 1 DEPTH 3 SETS 2 SWEEPS 2", begin + `
  reg [7:0] f_used;  // words
  always @(posedge clk) f_used <= rst || (en && step && f_used == 8'd11) ? 8'd0 : f_used + {7'd0, en && step};
  always @* if (f_past) begin
    if (step) assume ({6'd0, addr} == f_used % 8'd3);
    assert (f_used < 8'd12);
    assert ((f_used >= 8'd6) == (\g_sets.base != 0) && (\g_sets.base == 0 || \g_sets.base == 3));
    assert (\g_sets.sweep == (f_used / 8'd3 % 8'd2 == 8'd1));
    if (step) assert ({5'd0, \u_rom.addr } == f_used % 8'd3 + (f_used >= 8'd6 ? 8'd3 : 8'd0));
  end
  always @* cover (f_past && f_used == 8'd0 && \g_sets.sweep == 0 && step);
`, "mem_rom", 16, 2, formaltest.Mutant{Module: "mem_sets", Old: "if (ends && last) base", New: "if (ends) base"}},
}

func TestProofs(t *testing.T) {
	for _, c := range quick {
		t.Run(c.module, func(t *testing.T) {
			t.Parallel()
			c.prove(t)
		})
	}
}
