// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lathe/internal/difftest"
	"lathe/internal/difftest/programs"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/unit"
	"lathe/lower/schedule/timing"
	"lathe/lower/schedule/tokens"
)

// TestResidual compares networks whose values fork and meet again on all engines, in hardware under stalls too; their
// FIFOs hold what was predicted, and one beat fewer than they could.
func TestResidual(t *testing.T) {
	var designs []*ir.Graph
	for i := range residualCases {
		r := difftest.Rand("residual", i)
		g := difftest.Residual(r, i%difftest.Residuals)
		t.Run(fmt.Sprint("slow/", i), func(t *testing.T) { difftest.CompareSlow(t, g, r, exactSamples) })
		t.Run(fmt.Sprint("pjrt/", i), func(t *testing.T) { programs.Compare(t, g, r, 0) })
		s := scheduled(t, g, i/difftest.Residuals%2 == 1)
		if err := tokens.Check(t.Context(), s, &unit.Cache{}); err != nil {
			t.Errorf("%v\n%s", err, difftest.Describe(s))
		}
		neverStops(t, r, s)
		if turn := i / difftest.Residuals; tools.Long || (i+turn)%2 == 0 { // else each shape once, folded or unrolled
			designs = append(designs, s)
		}
	}
	for i := 0; i < len(designs); i += difftest.Residuals {
		group := designs[i:min(i+difftest.Residuals, len(designs))]
		t.Run(fmt.Sprint("rtl/", i/difftest.Residuals), func(t *testing.T) {
			t.Parallel()
			compareRTL(t, difftest.Rand("residuals", i), group, chainFrames, i == 0)
		})
	}
}

// neverStops runs a scheduled graph beat by beat under stalls of many kinds.
func neverStops(t *testing.T, r *rand.Rand, g *ir.Graph) {
	t.Helper()
	if _, _, err := timing.Units(&unit.Cache{}, g); err != nil {
		t.Fatal(err)
	}
	for _, percent := range []int{2, 10, 30, 60, 90, 97} {
		times, err := tokens.RunStalled(t.Context(), g, &unit.Cache{}, 5, func(int) bool { return r.IntN(100) < percent })
		if err != nil || !times.Done {
			t.Errorf("%d %% stalls: %v\n%s%s", percent, err, difftest.DescribeFifos(g), difftest.Describe(g))
		}
	}
}
