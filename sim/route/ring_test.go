// SPDX-License-Identifier: Apache-2.0

package route

import (
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/ir/target"
)

// holds are the cells of a part, by the table of parts.
func holds(t *testing.T, part string) Cells {
	t.Helper()
	o, err := target.Find(part)
	if err != nil {
		t.Fatal(err)
	}
	return Cells{LUT: o.LUT, FF: o.FF, DSP: o.DSP, BRAM: o.BRAM}
}

// ringed routes the design of folder in a ring.
func ringed(t *testing.T, part, family string) *Report {
	t.Helper()
	o := Options{Part: part, Tools: tools.NeedRoute(t, family), LogDir: t.TempDir(), Seeds: 1}
	r, err := Route(t.Context(), folder(t), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Pins != Ringed || r.Clocks[0].Name != "clk" {
		t.Errorf("pins %q, clocks %v", r.Pins, r.Clocks)
	}
	if r.Holds != holds(t, part) {
		t.Errorf("the part holds %+v", r.Holds)
	}
	if r.Layer() == "(wrapper)" {
		t.Errorf("slowest in %q: %+v", r.Layer(), r.Path)
	}
	return r
}

// TestRing: iCE40 has no design without pins. All of the design is left in a ring, and keeps its names.
func TestRing(t *testing.T) {
	r := ringed(t, "ice40-up5k", "ice40")
	// the sum 24, the product 12, the wrapper 12, and the ring 24 for 12 bits in and 12 out
	if r.FF != 72 || r.DSP != 1 {
		t.Errorf("cells %+v, want 72 flip-flops and 1 multiplier", r.Cells)
	}
	layers := map[string]Cells{}
	for _, l := range r.Layers {
		layers[l.Node] = l.Cells
	}
	if layers["sum"].FF != 24 || layers["product"].FF != 12 || layers["product"].DSP != 1 || layers[""].FF != 36 {
		t.Errorf("layers %+v", layers)
	}
}

// TestGowin: nextpnr takes no Gowin design whose pins are not fixed, and this Yosys makes no multipliers for it.
func TestGowin(t *testing.T) {
	r := ringed(t, "gowin-gw1nr-9", "himbaechel_gowin")
	var sum Cells
	for _, l := range r.Layers {
		sum.LUT, sum.FF = sum.LUT+l.LUT, sum.FF+l.FF
	}
	if r.FF < 60 || r.FF > 72 || sum.FF != r.FF || sum.LUT != r.LUT || r.DSP != 0 {
		t.Errorf("cells %+v, of the layers %+v, want the sum of these and up to 72 flip-flops", r.Cells, r.Layers)
	}
	if !strings.Contains(string(r.FloorPlan), "<rect") {
		t.Error("an empty floor plan")
	}
}
