// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"strconv"
	"testing"

	"lathe/ir"
	"lathe/ir/target"
	"lathe/ir/unit"
	"lathe/lower/lowertest"
	"lathe/lower/quantize"
	"lathe/rtl"
)

// TestFamilies holds what families state of memories to the cost lines of the modules.
func TestFamilies(t *testing.T) {
	cost := func(f *target.Family, name, style string, width, depth int) rtl.Cost {
		h, err := rtl.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := h.Cost([]rtl.Param{{Name: "WIDTH", Value: strconv.Itoa(width)},
			{Name: "DEPTH", Value: strconv.Itoa(depth)}, {Name: "STYLE", Value: strconv.Quote(style)}}, f)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, f := range target.Families() {
		const width = 112 // whole LUTs of any family
		if c := cost(f, "mem_ram", "distributed", width, deepest); f.Memory.Deep != 0 &&
			f.Memory.Deep != (c.LUT+width-1)/width {
			t.Errorf("%s: %d LUTs for each bit of %d words; mem_ram has %d for %d", f.Name, f.Memory.Deep, deepest, c.LUT,
				width)
		}
		words := f.Memory.Worth << f.Inputs / 16
		a, b := cost(f, "mem_rom", "auto", 16, words), cost(f, "mem_rom", "auto", 16, words+1)
		if a.BRAM != 0 || b.BRAM != 1 {
			t.Errorf("%s: %d words of 16 bits take %+v, one more %+v", f.Name, words, a, b)
		}
	}
}

// TestLineStores puts line buffers into LUTs only where LUTs can be RAM.
func TestLineStores(t *testing.T) {
	for _, c := range []struct {
		part string
		luts bool
	}{{"xc7z020", true}, {"ecp5-85k", true}, {"ice40-up5k", false}} {
		p := lowertest.Plan(t, "[target]\npart = \""+c.part+"\"\n[fold]\nmode = \"balance\"")
		q, _, err := quantize.Run(t.Context(), lowertest.Classifier(t), p, quantize.Calibration{}, quantize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b := newBalancer(&evaluator{ctx: t.Context(), plan: p, graph: q})
		if err := b.try(0, nil); err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(b.table.Nodes, func(n *ir.Node) bool { return n.Op.Traits.Windows })
		words := b.words(layerMemory{placed{layer: at}, true})
		if !slices.Contains(words, unit.StoreBlock) || slices.Contains(words, unit.StoreLUT) != c.luts {
			t.Errorf("%s: %q", c.part, words)
		}
	}
}
