// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"testing"

	"lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/difftest"
)

// TestBlocksPJRT compares StableHLO on PJRT with the reference engine.
func TestBlocksPJRT(t *testing.T) {
	for _, kind := range difftest.BlockKinds {
		t.Run(kind, func(t *testing.T) {
			graphs := difftest.Blocks(t, kind, pjrtCases/2)
			for _, g := range graphs {
				if _, err := golden.Print(g, 1, false); err != nil {
					t.Fatalf("%v\n%s", err, difftest.Describe(g))
				}
			}
			pjrttest.Engine(t)
			for i := 0; i < len(graphs); i += PerProgram {
				Compare(t, difftest.Merge(kind, graphs[i:min(i+PerProgram, len(graphs))]), difftest.Rand(kind+" on pjrt", i), 0)
			}
		})
	}
}
