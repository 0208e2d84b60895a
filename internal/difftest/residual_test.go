// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/op/stream"
	"lathe/ir/unit"
	"lathe/lower"
	"lathe/lower/tokens"
	"lathe/sim"
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
			compareRTL(t, Rand("residuals", i), Merge("residuals", group), chainFrames, i == 0)
			compareFlow(t, Rand("residual flows", i), group, 8)
			compareFifos(t, Rand("residual fifos", i).IntN(1000), group)
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

// compareFifos holds the FIFOs of graphs in hardware, without stalls, to the beats that are predicted.
func compareFifos(t *testing.T, seed int, graphs []*ir.Graph) {
	t.Helper()
	g := Merge("flow", graphs)
	d, err := verilog.Emit(g, verilog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.Build(t.Context(), sim.DesignSpec(d, tools.CacheDir(t), false, false))
	if err != nil {
		t.Fatal(err)
	}
	const frames = 8
	run, err := sim.RunDesign(t.Context(), m, g, d, Samples(Rand("fifos", seed), g, frames), sim.Input{Occupancy: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for path, most := range run.Result.Occupancy() {
		for _, u := range d.Units {
			if u.Depth > 0 && sim.InCore(path, u.Instance) {
				seen[u.Node] = most
			}
		}
	}
	for i, one := range graphs {
		times, err := tokens.Run(t.Context(), one, &unit.Cache{}, frames)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range one.Nodes {
			if got := seen[fmt.Sprintf("c%d_%s", i, n.Name)]; n.Op == stream.Fifo && (got != times.Most[n] || got > n.HW.Fifo) {
				t.Errorf("case %d: %s of %d beats held %d, predicted %d\n%s%s", i, n.Name, n.HW.Fifo, got, times.Most[n],
					describeFifos(one), Describe(one))
			}
		}
	}
}
