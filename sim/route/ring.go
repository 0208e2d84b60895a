// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"strings"

	"lathe/internal/diag"
	"lathe/sim/area"
)

// The ring and the instance of the wrapper in it.
const (
	ringModule  = "lathe_ring"
	ringWrapper = "wrapper"
)

// ring is a command of Yosys that reads a module around the wrapper, for families whose designs need pins: a shift
// register drives all inputs, and another takes all outputs in, one level of logic each. Clocks have their own pins.
// Neighbours are mixed: in a plain shift register each bit equals the register in which the design takes the bit
// before it, and Yosys would make one of both.
func (d *design) ring(dir string) (string, error) {
	all, err := d.ports(dir)
	if err != nil {
		return "", err
	}
	var clocks, bind []string
	in, out := 0, 0
	d.inputs = map[string]bool{}
	for _, p := range all {
		d.inputs[p.name] = p.input
		switch {
		case p.input && strings.HasSuffix(p.name, "clk"):
			clocks = append(clocks, p.name)
			bind = append(bind, fmt.Sprintf(".%s(%s)", p.name, p.name))
		case p.input:
			bind = append(bind, fmt.Sprintf(".%s(held[%d:%d])", p.name, in+p.width-1, in))
			in += p.width
		default:
			bind = append(bind, fmt.Sprintf(".%s(made[%d:%d])", p.name, out+p.width-1, out))
			out += p.width
		}
	}
	if len(clocks) == 0 || in < 3 || out == 0 {
		return "", diag.New(diag.RouteFolder, dir, "no folder of an emitted design: %s lacks a clock, inputs or outputs",
			d.Top).WithHint("emit one first: lathe emit-verilog MODEL -o %s", dir)
	}
	d.root, d.ends = ringModule, append(clocks, "in", "out")
	return fmt.Sprintf(`read_verilog <<RING
module %s (input wire %s, input wire in, output wire out);
  reg [%d:0] held;
  reg [%d:0] seen;
  wire [%d:0] made;
  assign out = seen[%d];
  always @(posedge %s) begin held <= {held, in} ^ ({held, held} >> 1); seen <= {seen, 1'b0} ^ made; end
  %s %s (%s);
endmodule
RING
`, ringModule, strings.Join(clocks, ", "), in-1, out-1, out-1, out-1, clocks[0], d.Top, ringWrapper,
		strings.Join(bind, ", ")), nil
}

// inRing puts the wrapper and all parts of it below the ring.
func (d *design) inRing() {
	parts := map[string]area.Part{ringWrapper: {Module: d.Top, Inputs: d.inputs}}
	for instance, part := range d.parts {
		parts[ringWrapper+"."+instance] = part
	}
	d.parts = parts
}
