// SPDX-License-Identifier: Apache-2.0

package formaltest

import (
	"fmt"
	"strings"
)

// Frames are the properties of a module whose beats of output follow from the number of beats that came in, whatever
// they hold: it keeps to Receiver, makes up no beat and loses none. It takes streams in_*, or a_* and b_*, and gives
// out_*.
type Frames struct {
	// In and Out are widths, one for each stream.
	In  []int
	Out int
	// Most is how many beats may have left, an expression of 8 bits of the beats that have come: f_in, or f_a and f_b.
	Most string
	// Late is the number of cycles, without a beat in and with room for what leaves, after which exactly so many have
	// left, and a module with one input takes the next beat.
	Late int
	// More are further assertions about f_out and what has come, Verilog.
	More string
	// Also are declarations that More uses, Verilog.
	Also string
}

// Print is the text of the properties. Once out of reset the module stays so.
func (f Frames) Print() string {
	names := []string{"in"}
	if len(f.In) == 2 {
		names = []string{"a", "b"}
	}
	var b strings.Builder
	b.WriteString(Start)
	var moves []string
	for i, n := range names {
		b.WriteString(Another(n, f.In[i]))
		moves = append(moves, fmt.Sprintf("(%s_valid && %[1]s_ready)", n))
		fmt.Fprintf(&b, `
  reg [7:0] f_%s;
  always @(posedge clk) f_%[1]s <= rst ? 8'd0 : f_%[1]s + {7'd0, %s};
`, n, moves[i])
	}
	b.WriteString(Receiver("out", "out_valid", "out_ready", "out_data", f.Out))
	takes := ""
	if len(names) == 1 {
		takes = " && in_ready"
	}
	b.WriteString(strings.NewReplacer("$most", f.Most, "$moves", strings.Join(moves, " || "), "$late", fmt.Sprint(f.Late),
		"$takes", takes, "$more", f.More).Replace(f.Also + `
  reg [7:0] f_out, f_calm;
  wire [7:0] f_most = $most;
  always @(posedge clk) begin
    f_out  <= rst ? 8'd0 : f_out + {7'd0, out_valid && out_ready};
    f_calm <= rst || $moves || !out_ready ? 8'd0 : f_calm == 8'd$late ? f_calm : f_calm + 8'd1;
  end
  always @* if (f_past) begin
    assume (!rst);
    assert (f_out <= f_most && (!out_valid || f_out < f_most));
    if (f_calm == 8'd$late) assert (f_out == f_most$takes);
    $more
  end
  always @* cover (f_past && !f_rst && f_calm == 8'd$late && f_out != 8'd0);
`))
	return b.String()
}
