// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"testing"

	"lathe/internal/difftest"
	"lathe/internal/difftest/programs"
	"lathe/ir"
	"lathe/ir/op/sequence"
	"lathe/lower"
	"lathe/lower/plan"
	"lathe/lower/quantize"
)

// TestRotary quantizes rotations of pairs, which are built as what they expand to, and compares that on PJRT and in
// hardware with the reference engine, code by code.
func TestRotary(t *testing.T) {
	var designs []*ir.Graph
	o := sequence.Rotary
	for i := 0; len(designs) < chainCases/7; i++ {
		g, r := difftest.Case(o, i)
		if len(g.In) > 1 {
			continue // a scale that is computed
		}
		c := quantize.Calibration{Samples: map[string][]*ir.Tensor{}}
		for _, s := range difftest.Samples(r, g, 8)[4:] {
			c.Samples["x"] = append(c.Samples["x"], s[0])
		}
		q, _, err := lower.Quantize(t.Context(), g, plan.Default(), c, quantize.Options{})
		if err != nil {
			t.Fatalf("%s/%d: %v\n%s", o.Name, i, err, difftest.Describe(g))
		}
		programs.Compare(t, q, r, 0)
		designs = append(designs, scheduled(t, q, len(designs)%2 != 0))
	}
	for i := 0; i < len(designs); i += chainsPerDesign {
		t.Run(fmt.Sprint("rtl/", i/chainsPerDesign), func(t *testing.T) {
			t.Parallel()
			group := designs[i:min(i+chainsPerDesign, len(designs))]
			compareRTL(t, difftest.Rand("rotary", i), group, chainFrames, i == 0)
		})
	}
}
