// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/difftest"
	"lathe/internal/difftest/programs"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
)

// TestOtherBlocks runs a block format of another scale and size on all engines: nothing outside of a format knows them.
func TestOtherBlocks(t *testing.T) {
	for _, c := range []struct{ w, k, row, out int }{{5, 4, 10, 6}, {9, 6, 12, 4}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			g := difftest.OtherBlocks(c.w, c.k, c.row, c.out)
			if err := g.Check(); err != nil {
				t.Fatal(err)
			}
			pjrttest.Engine(t)
			programs.Compare(t, g, difftest.Rand("other on pjrt", c.w), 0)
			difftest.Schedule(difftest.Rand("other lanes", c.w), g)
			compareRTL(t, difftest.Rand("other on rtl", c.w), []*ir.Graph{g}, rtlSamples, true)
		})
	}
}

// TestCodedBlocks runs blocks whose elements are no integers, of one format and mixed, with tails, on all engines.
func TestCodedBlocks(t *testing.T) {
	pjrttest.Engine(t)
	var graphs []*ir.Graph
	for i, c := range tools.Few(3, []struct{ data, weight string }{
		{"mxfp(e4m3,4)", "mxfp(e4m3,4)"}, {"mxfp(e2m1,4,round=away)", "mxint(8,4)"}, {"mxint(6,6)", "mxfp(e3m2,6)"},
		{"bfp(5,4,5)", "bfp(7,4,8,bias=130)"}, {"bfp(9,6,8,round=floor)", "mxfp(e2m3,6)"},
		{"bminifloat(3,2,4,6)", "bminifloat(2,4,4,8)"}, {"bminifloat(4,1,6,8,round=zero)", "bfp(6,6,8)"},
		{"blog(5,4,6)", "blog(4,4,8)"},
		{"mxint(6,4)", "mxint(8,2x4)"}, {"mxfp(e2m3,5)", "mxfp(e2m1,3x5)"},
		{"mxint(7,6,dialect=mase)", "mxint(5,6,dialect=mase)"},
		{"bfp(6,5,6,dialect=mase)", "bfp(8,5,8,dialect=mase)"}, {"blog(4,6,8,round=log)", "mxint(8,6)"},
		{"mxfp(float(3,1,bias=9),5)", "blog(5,5,8)"},
	}) {
		var f [2]format.Block
		for k, text := range []string{c.data, c.weight} {
			parsed, err := format.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			f[k] = parsed.(format.Block)
		}
		g := difftest.SumOfBlocks(f[0], f[1], 10+i%3*2, 3+i%3)
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
		programs.Compare(t, g, difftest.Rand("coded on pjrt", i), 0)
		difftest.Schedule(difftest.Rand("coded lanes", i), g)
		graphs = append(graphs, g)
	}
	compareRTL(t, difftest.Rand("coded on rtl", 0), graphs, rtlSamples, true)
}
