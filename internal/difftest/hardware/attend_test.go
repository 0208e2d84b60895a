// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/difftest"
	"lathe/ir"
	"lathe/ir/op/sequence"
)

// TestMaskedCausal compares weights of keys that both a mask and the order of tokens hide, which few draws are.
func TestMaskedCausal(t *testing.T) {
	t.Parallel()
	var graphs []*ir.Graph
	for i := 0; len(graphs) < 3; i++ {
		g, r := difftest.Case(sequence.AttendWeights, i)
		if n := g.Out[0].Node; !n.Attrs.(*sequence.WeightsAttrs).Causal || len(n.Args) < 2 {
			continue
		} else if n.Args[1].Type.Format.Width() > 1 {
			continue // hardware has masks of one bit
		}
		difftest.Schedule(r, g)
		if _, err := verilog.Emit(g, verilog.Options{}); err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, difftest.Describe(g))
		}
		graphs = append(graphs, g)
	}
	compareRTL(t, difftest.Rand("masked causal", 0), graphs, rtlSamples, true)
}
