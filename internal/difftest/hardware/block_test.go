// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"testing"

	"lathe/internal/difftest"
)

// TestBlocksRTL compares simulated hardware with the reference engine, under stalls.
func TestBlocksRTL(t *testing.T) {
	for _, kind := range difftest.BlockKinds {
		graphs := difftest.Blocks(t, kind, rtlCases)
		for i, g := range graphs {
			difftest.Schedule(difftest.Rand(kind+" lanes", i), g)
		}
		for i := 0; i < len(graphs); i += perDesign {
			t.Run(fmt.Sprint(kind, "/", i/perDesign), func(t *testing.T) {
				t.Parallel()
				r := difftest.Rand(kind+" on rtl", i)
				compareRTL(t, r, graphs[i:min(i+perDesign, len(graphs))], rtlSamples, i == 0)
			})
		}
	}
}
