// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"testing"

	"lathe/internal/difftest"
	"lathe/internal/difftest/programs"
	"lathe/ir"
	"lathe/lower"
	"lathe/lower/plan"
	"lathe/lower/schedule"
)

// TestChain compares networks of several operations on all engines: the slow evaluator, PJRT, and hardware with random
// lanes, width converters in between, and with the lanes that lowering chooses.
func TestChain(t *testing.T) {
	var designs []*ir.Graph
	for i := range chainCases {
		ops := difftest.Chains[i%len(difftest.Chains)]
		r := difftest.Rand(ops, i)
		g := difftest.Chain(r, ops)
		t.Run(fmt.Sprint("slow/", i), func(t *testing.T) { difftest.CompareSlow(t, g, r, exactSamples) })
		t.Run(fmt.Sprint("pjrt/", i), func(t *testing.T) { programs.Compare(t, g, r, 0) })
		if i%3 == 2 {
			designs = append(designs, scheduled(t, g, i%2 == 0))
			continue
		}
		difftest.Schedule(r, g)
		designs = append(designs, g)
	}
	for i := 0; i < len(designs); i += chainsPerDesign {
		t.Run(fmt.Sprint("rtl/", i/chainsPerDesign), func(t *testing.T) {
			t.Parallel()
			group := designs[i:min(i+chainsPerDesign, len(designs))]
			compareRTL(t, difftest.Rand("chains", i), group, chainFrames, i == 0)
		})
	}
}

// scheduled is g with the lanes that lowering gives it, folded or unrolled.
func scheduled(t *testing.T, g *ir.Graph, unroll bool) *ir.Graph {
	t.Helper()
	plan := plan.Default()
	if unroll {
		plan.Fold.Mode = "unroll"
	}
	s, _, err := lower.Schedule(t.Context(), g, plan, schedule.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	return s
}
