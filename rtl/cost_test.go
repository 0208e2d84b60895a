// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"slices"
	"testing"

	"lathe/internal/diag"
	"lathe/ir/target"
)

// cost evaluates a module with parameters given as pairs of name and text.
func cost(t *testing.T, module string, pairs ...string) Cost {
	t.Helper()
	h, err := Lookup(module)
	if err != nil {
		t.Fatal(err)
	}
	var set []Param
	for i := 0; i < len(pairs); i += 2 {
		set = append(set, Param{Name: pairs[i], Value: pairs[i+1]})
	}
	c, err := h.Cost(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCost holds the evaluation of cost lines to values worked out by hand from the headers. How near the lines come to
// what Yosys counts, TestModuleCosts of sim/area says.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		module string
		set    []string
		want   Cost
	}{
		{"stream_skid", []string{"WIDTH", "32"}, Cost{LUT: 35, FF: 66}},
		{"num_mul", []string{"A_W", "8", "B_W", "8"}, Cost{FF: 16, DSP: 1}},
		{"num_mul", []string{"A_W", "4", "B_W", "4"}, Cost{LUT: 19, FF: 8}},
		{"num_mul", []string{"A_W", "20", "B_W", "20"}, Cost{LUT: 23, FF: 40, DSP: 2}},
		{"num_mul_pair", []string{"X_W", "8", "W_W", "8"}, Cost{LUT: 2, FF: 32, DSP: 1}},
		{"num_add_tree", []string{"N", "36", "IN_W", "12", "PIPE", "2"}, Cost{LUT: 452, FF: 192}},
		{"stream_fifo", []string{"WIDTH", "100", "DEPTH", "1000"}, Cost{LUT: 44, FF: 133, BRAM: 6}},
		{"mem_rom", []string{"WIDTH", "32", "DEPTH", "512", "STYLE", `"auto"`}, Cost{FF: 32, BRAM: 1}},
		{"mem_rom", []string{"WIDTH", "256", "DEPTH", "256", "STYLE", `"block"`}, Cost{FF: 256, BRAM: 8}},
		{"mem_rom", []string{"WIDTH", "16", "DEPTH", "64", "STYLE", `"distributed"`}, Cost{LUT: 16, FF: 22}},
	} {
		if got := cost(t, c.module, c.set...); got != c.want {
			t.Errorf("%s %v: %+v, want %+v", c.module, c.set, got, c.want)
		}
	}
}

// TestCostParts holds a module to the sum of what it contains.
func TestCostParts(t *testing.T) {
	dot := cost(t, "num_dot", "N", "8", "A_W", "8", "B_W", "8", "PIPE", "2")
	want := cost(t, "num_mul", "A_W", "8", "B_W", "8").Times(8).Add(
		cost(t, "num_add_tree", "N", "8", "IN_W", "16", "PIPE", "2"))
	if dot != want || dot.DSP != 8 {
		t.Errorf("num_dot: %+v, want %+v", dot, want)
	}
}

func TestCostErrors(t *testing.T) {
	bad := func(body string, code diag.Code) {
		t.Helper()
		text := "// SPDX-License-Identifier: Apache-2.0\n// m: a module.\n//   latency: 1   ii: 1   order: any\n" + body +
			"module m #(\n  parameter integer W = 4\n) (\n  input wire clk\n);\n" +
			"  stream_skid #(.WIDTH(W)) u_skid ();\nendmodule\n"
		h, err := ReadHeader(File{Name: "m.sv", Data: []byte(text)})
		if err == nil {
			_, err = h.Cost(nil, nil)
		}
		if diag.CodeOf(err) != code {
			t.Errorf("%q: %v, want %s", body, err, code)
		}
	}
	bad("", "L0655")
	bad("//   lut: NOSUCH\n", "L0603")
	bad("//   lut: 3 +\n", "L0602")
	bad("//   lut: 1\n//   parts: 2 * u_other\n", "L0603")
	bad("//   lut: 1\n//   parts: f(u_skid)\n", "L0603")
	bad("//   lut: 1\n//   parts: W == 4 ? NO * u_skid : 0\n", "L0603")
}

// TestLineBuffers holds every module with a line buffer to the kind of memory that it is told to have, and to nothing
// else that depends on it but the registers behind LUTs.
func TestLineBuffers(t *testing.T) {
	modules := 0
	for _, m := range Modules() {
		h, err := Lookup(m)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(h.Params, func(p ParamDecl) bool { return p.Name == "LINE_STYLE" }) {
			continue
		}
		modules++
		with := func(style string) Cost { return cost(t, m, "LINE_STYLE", `"`+style+`"`) }
		lut, block, ultra := with("distributed"), with("block"), with("ultra")
		if block.BRAM == lut.BRAM || block.LUT >= lut.LUT || block.FF >= lut.FF || block.URAM+lut.URAM > 0 ||
			ultra.URAM != (block.BRAM-lut.BRAM) || ultra.BRAM != lut.BRAM || ultra.LUT != block.LUT || ultra.FF != block.FF {
			t.Errorf("%s: %+v in LUTs, %+v in block RAM, %+v in UltraRAM", m, lut, block, ultra)
		}
		if auto := cost(t, m); auto != lut && auto != block {
			t.Errorf("%s: %+v where synthesis places it", m, auto)
		}
	}
	if modules < 14 {
		t.Errorf("%d modules have line buffers", modules)
	}
}

// TestUltra counts the UltraRAM of the weights of 12 layers of the shape of DeiT-Tiny: queries, keys, values and their
// projection in units of 16 by 8 products, two layers in units of 16 by 32. A word is what a cycle uses.
func TestUltra(t *testing.T) {
	blocks := 0
	for _, width := range []int{16 * 8 * 8, 16 * 8 * 8, 16 * 8 * 8, 16 * 8 * 8, 16 * 32 * 8, 16 * 32 * 8} {
		o := &Outside{Module: "mem_hold", Width: width, Depth: 288, Sets: 12, Sweeps: 197, Port: 128, Burst: 16, Buffer: 32,
			Style: "ultra"}
		c, err := o.cost(nil)
		if err != nil {
			t.Fatal(err)
		}
		blocks += c.URAM
	}
	if blocks != 4*15+2*57 {
		t.Errorf("%d blocks", blocks)
	}
}

// TestCostOfFamily: DSPs are as wide as those of the family, and delays are shift registers where LUTs can be that.
func TestCostOfFamily(t *testing.T) {
	for _, c := range []struct {
		part, module string
		set          []Param
		want         Cost
	}{
		{"xczu9eg", "num_mul", pairs("A_W", "27", "B_W", "18"), Cost{FF: 45, DSP: 1}},
		{"xc7a35t", "num_mul", pairs("A_W", "27", "B_W", "18"), Cost{LUT: 28, FF: 45, DSP: 2}},
		{"ecp5-85k", "num_mul", pairs("A_W", "27", "B_W", "18"), Cost{LUT: 28, FF: 45, DSP: 2}},
		{"ecp5-85k", "num_mul", pairs("A_W", "4", "B_W", "4"), Cost{FF: 8, DSP: 1}},
		{"ice40-hx8k", "num_mul", pairs("A_W", "4", "B_W", "4"), Cost{LUT: 19, FF: 8}},
		{"xczu9eg", "num_delay", pairs("WIDTH", "8", "DEPTH", "20"), Cost{LUT: 8}},
		{"ecp5-85k", "num_delay", pairs("WIDTH", "8", "DEPTH", "20"), Cost{FF: 160}},
	} {
		d, err := target.Find(c.part)
		if err != nil {
			t.Fatal(err)
		}
		h, err := Lookup(c.module)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.Cost(c.set, d.Family); err != nil || got != c.want {
			t.Errorf("%s %v on %s: %+v, %v; want %+v", c.module, c.set, c.part, got, err, c.want)
		}
	}
	for _, name := range Modules() {
		h, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for family := range target.Usual().Names() {
			if h.has(family) {
				t.Errorf("%s has a parameter %s, which cost lines ask of the family", name, family)
			}
		}
	}
}

// pairs are parameters given by name and text.
func pairs(texts ...string) (set []Param) {
	for i := 0; i < len(texts); i += 2 {
		set = append(set, Param{Name: texts[i], Value: texts[i+1]})
	}
	return set
}
