// SPDX-License-Identifier: Apache-2.0

package route

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/tools"
)

// folder is an emitted design of two layers: a sum, and a product behind it.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"design.json": `{"top": "tiny", "core": "tiny_core", "units": [{"node": "sum", "instance": "u_sum"},
			{"node": "product", "instance": "u_mul", "out_lanes": 4, "cost": {"dsp": 1}}]}`,
		"tiny.v": `module tiny (input wire clk, input wire [11:0] a, output reg [11:0] y);
  wire [11:0] q;
  tiny_core core (.clk(clk), .a(a), .y(q));
  always @(posedge clk) y <= q;
endmodule`,
		"core.sv": `module tiny_core (input wire clk, input wire [11:0] a, output wire [11:0] y);
  wire [11:0] s;
  add u_sum (.clk(clk), .a(a), .q(s));
  mul u_mul (.clk(clk), .a(s), .q(y));
endmodule
module add (input wire clk, input wire [11:0] a, output reg [11:0] q);
  reg [11:0] held;
  always @(posedge clk) begin held <= a; q <= q + held; end
endmodule
module mul (input wire clk, input wire [11:0] a, output reg [11:0] q);
  always @(posedge clk) q <= (a * a) ^ {12{a[0]}};
endmodule`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRoute runs the tools on a small design: it finds its cells, and knows the path through the multiplier as the
// slowest, in the names of the design.
func TestRoute(t *testing.T) {
	o := Options{Part: "ecp5-25k", Tools: tools.NeedRoute(t, "ecp5"), LogDir: t.TempDir()}
	r, err := Route(t.Context(), folder(t), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Pins != Bare || r.Bitstream != nil {
		t.Errorf("pins %q, a bitstream of %d bytes", r.Pins, len(r.Bitstream))
	}
	if r.FF != 48 || r.DSP != 1 || r.BRAM != 0 || r.LUT < 24 || r.LUT > 32 {
		t.Errorf("cells %+v, want 48 flip-flops, 1 multiplier, a sum and an exclusive or of 12 bits", r.Cells)
	}
	if r.Holds != holds(t, o.Part) {
		t.Errorf("the part holds %+v", r.Holds)
	}
	if len(r.MHzSeeds) != 2 || r.MHz != max(r.MHzSeeds[0], r.MHzSeeds[1]) || r.Median > r.MHz {
		t.Errorf("best %g, median %g of %v", r.MHz, r.Median, r.MHzSeeds)
	}
	if ns := 1000 / r.MHz; r.Logic+r.Wire < ns-0.01 || r.Logic+r.Wire > ns+0.01 {
		t.Errorf("a path of %g ns at %g MHz", r.Logic+r.Wire, r.MHz)
	}
	product := r.Path[len(r.Path)/2]
	if r.Layer() != "product" || product.Instance != "core.u_mul" || product.Module != "mul" {
		t.Errorf("slowest in %q: %+v", r.Layer(), r.Path)
	}
	layers := map[string]Cells{}
	for _, l := range r.Layers {
		layers[l.Node] = l.Cells
	}
	if layers["sum"].FF != 24 || layers["product"].DSP != 1 || layers["product"].FF != 12 {
		t.Errorf("layers %+v", layers)
	}
	for _, want := range []string{"<svg", "sum (", "product (", "wrapper (", "</svg>"} {
		if !strings.Contains(string(r.FloorPlan), want) {
			t.Errorf("the floor plan lacks %q", want)
		}
	}
	if err := r.Missed(r.MHz + 1); diag.CodeOf(err) != diag.ClockMissed || !strings.Contains(err.Error(), "product") {
		t.Errorf("missed: %v", err)
	}
	if err := r.Missed(r.MHz); err != nil {
		t.Error(err)
	}
}

// TestHash: what synthesis reads changes the hash, and nothing else does.
func TestHash(t *testing.T) {
	dir := folder(t)
	hash := func() string {
		h, err := Hash(dir)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was := hash()
	put(File, "{}")
	if hash() != was {
		t.Error("the result itself changes the hash")
	}
	put("a.mem", "0")
	if hash() == was {
		t.Error("a memory image does not change the hash")
	}
}
