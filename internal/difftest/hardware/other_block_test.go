// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/difftest"
	"lathe/internal/difftest/programs"
	"lathe/ir"
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
