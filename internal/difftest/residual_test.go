// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lathe/ir"
	"lathe/ir/unit"
	"lathe/lower"
	"lathe/lower/tokens"
)

// TestResidual compares networks whose values fork and meet again on all engines, in hardware under stalls too; their
// FIFOs hold what was predicted, and one beat fewer than they could.
func TestResidual(t *testing.T) {
	var designs []*ir.Graph
	for i := range residualCases {
		r := Rand("residual", i)
		g := Residual(r, i%Residuals)
		t.Run(fmt.Sprint("slow/", i), func(t *testing.T) { compareSlow(t, g, r, exactSamples) })
		t.Run(fmt.Sprint("pjrt/", i), func(t *testing.T) { comparePJRT(t, g, r, 0) })
		s := scheduled(t, g, i/Residuals%2 == 1)
		if err := tokens.Check(t.Context(), s, &unit.Cache{}); err != nil {
			t.Errorf("%v\n%s", err, Describe(s))
		}
		neverStops(t, r, s)
		designs = append(designs, s)
	}
	for i := 0; i < len(designs); i += Residuals {
		group := designs[i:min(i+Residuals, len(designs))]
		t.Run(fmt.Sprint("rtl/", i/Residuals), func(t *testing.T) {
			t.Parallel()
			compareRTL(t, Rand("residuals", i), group, chainFrames, i == 0)
		})
	}
}

// neverStops runs a scheduled graph beat by beat under stalls of many kinds.
func neverStops(t *testing.T, r *rand.Rand, g *ir.Graph) {
	t.Helper()
	if err := lower.Time(g); err != nil {
		t.Fatal(err)
	}
	for _, percent := range []int{2, 10, 30, 60, 90, 97} {
		times, err := tokens.RunStalled(t.Context(), g, &unit.Cache{}, 5, func(int) bool { return r.IntN(100) < percent })
		if err != nil || !times.Done {
			t.Errorf("%d %% stalls: %v\n%s%s", percent, err, describeFifos(g), Describe(g))
		}
	}
}
