// SPDX-License-Identifier: Apache-2.0

package area

import (
	"fmt"
	"testing"

	"lathe/internal/tools"
	"lathe/ir/target"
	"lathe/rtl"
)

// TestECP5Costs counts modules for an ECP5, all in one run of Yosys, and holds the cost lines of their headers to the
// counts: DSPs and block RAMs exactly, LUTs within 3 cells and an eighth, FFs within 2 cells and a tenth.
func TestECP5Costs(t *testing.T) {
	tools.Need(t, "yosys")
	device, err := target.Find("ecp5-85k")
	if err != nil {
		t.Fatal(err)
	}
	modules := []single{
		{"stream_skid", []string{"WIDTH", "32"}},
		{"num_mul", []string{"A_W", "8", "B_W", "8"}},
		{"num_mul", []string{"A_W", "17", "A_SIGNED", "0", "B_W", "18"}},
		{"num_delay", []string{"WIDTH", "8", "DEPTH", "5"}},
		{"num_add_tree", []string{"N", "12", "IN_W", "12", "PIPE", "1"}},
		{"num_requant", []string{"IN_W", "21", "SHIFT", "8", "OUT_W", "13", "OVER", "2"}},
		{"op_linear_meet", []string{"IN_LANES", "8", "KEEP", "2", "OF", "4"}},
		{"op_linear_meet", []string{"IN_LANES", "16", "KEEP", "3", "OF", "8"}},
		{"op_linear_meet", []string{"IN_LANES", "16", "KEEP", "2", "OF", "16"}},
		{"mem_ram", []string{"WIDTH", "32", "DEPTH", "32"}},
		{"mem_ram", []string{"WIDTH", "16", "DEPTH", "480"}},
		{"stream_fifo", []string{"WIDTH", "32", "DEPTH", "8"}},
	}
	dir := t.TempDir()
	r := counted(t, dir, besides(t, dir, modules), "modules", Options{Device: device})
	counts, found := make([]Cells, len(modules)), 0
	for _, in := range r.Instances {
		var i int
		if n, _ := fmt.Sscanf(in.Path, "modules/u%d", &i); n == 1 && in.Depth == 1 {
			counts[i] = in.Cells
			found++
		}
	}
	if found != len(modules) {
		t.Fatalf("%d of %d modules are counted", found, len(modules))
	}
	near := func(predicted, counted, few, share int) bool {
		return max(predicted-counted, counted-predicted) <= few+counted/share
	}
	for i, m := range modules {
		h, err := rtl.Lookup(m.module)
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.Cost(m.params(), device.Family)
		if err != nil {
			t.Fatal(err)
		}
		c := counts[i]
		if !near(p.LUT, c.LUT, 3, 8) || !near(p.FF, c.FF, 2, 10) || p.DSP != c.DSP || p.BRAM != c.BRAM18 {
			t.Errorf("%s: its header says %+v, Yosys counts %+v", m, p, c)
		}
	}
}

// TestFamilyCounts: Yosys maps a multiplier and a memory to each family that it knows, and all cells are counted.
func TestFamilyCounts(t *testing.T) {
	tools.Need(t, "yosys")
	modules := []single{{"num_mul", []string{"A_W", "8", "B_W", "8"}}, {"stream_fifo", []string{"WIDTH", "16", "DEPTH",
		"512"}}}
	for _, c := range []struct {
		part string
		dsp  int
	}{{"ice40-up5k", 1}, {"ice40-hx8k", 0}, {"gowin-gw1nr-9", 0}} {
		device, err := target.Find(c.part)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		r, err := Count(t.Context(), dir, besides(t, dir, modules), "modules", Options{Device: device})
		if err != nil {
			t.Errorf("%s: %v", c.part, err)
			continue
		}
		if r.Total.DSP != c.dsp || r.Total.LUT == 0 || r.Total.FF == 0 || r.Total.BRAM() == 0 {
			t.Errorf("%s: %+v", c.part, r.Total)
		}
	}
}
