// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/emit"
	"lathe/internal/difftest"
	"lathe/ir"
	"lathe/ir/op/stream"
	"lathe/ir/unit"
	"lathe/lower/schedule/timing"
	"lathe/lower/schedule/tokens"
	"lathe/sim"
)

// flowFrames are the frames whose cycles are compared.
const flowFrames = 8

// compareFlow compares the cycles of frames and the most beats in FIFOs, as the flow lines of modules have them, with
// hardware that nobody disturbs: m holds graphs side by side as design d.
func compareFlow(t *testing.T, r *rand.Rand, graphs []*ir.Graph, d *emit.Design, m *sim.Model) {
	t.Helper()
	g := difftest.Merge("merged", graphs)
	samples := difftest.Samples(r, g, flowFrames)
	run, err := sim.RunDesign(t.Context(), m, g, d, samples, sim.Input{MaxIdle: 50_000, Occupancy: true})
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	held := map[string]int{}
	for path, most := range run.Result.Occupancy() {
		for _, u := range d.Units {
			if u.Depth > 0 && sim.InCore(path, u.Instance) {
				held[u.Node] = most
			}
		}
	}
	in, out := run.Result.In, run.Result.Out
	for i, one := range graphs {
		if _, _, err := timing.Units(&unit.Cache{}, one); err != nil {
			t.Fatal(err)
		}
		times, err := tokens.Run(t.Context(), one, &unit.Cache{}, flowFrames)
		if err != nil || !times.Done {
			t.Errorf("done %v, %v\n%s", times != nil && times.Done, err, difftest.Describe(one))
		} else {
			from := in[0].First[0]
			for k := range one.In {
				from = min(from, in[k].First[0])
			}
			for k := range one.Out {
				compareCycles(t, one, fmt.Sprintf("first beats of output %d", k), times.First[k], out[k].First, from)
				compareCycles(t, one, fmt.Sprintf("last beats of output %d", k), times.Last[k], out[k].Last, from)
			}
			compareFifos(t, one, times, held, i)
		}
		in, out = in[len(one.In):], out[len(one.Out):]
	}
}

// compareCycles holds cycles of frames, which hardware counts from another cycle, to what the flow says.
func compareCycles(t *testing.T, g *ir.Graph, what string, want, got []int, from int) {
	t.Helper()
	since := make([]int, len(got))
	for f, c := range got {
		since[f] = c - from
	}
	if !slices.Equal(want, since) {
		t.Errorf("%s leave at %v, the flow says %v\n%s", what, since, want, difftest.Describe(g))
	}
}

// compareFifos holds the FIFOs of case i, each of which held so many beats at most, to the beats that are predicted.
func compareFifos(t *testing.T, g *ir.Graph, times *tokens.Times, held map[string]int, i int) {
	t.Helper()
	for _, n := range g.Nodes {
		if n.Op != stream.Fifo {
			continue
		}
		if got := held[fmt.Sprintf("c%d_%s", i, n.Name)]; got != times.Most[n] || got > n.HW.Fifo {
			t.Errorf("%s of %d beats held %d, predicted %d\n%s%s", n.Name, n.HW.Fifo, got, times.Most[n],
				difftest.DescribeFifos(g), difftest.Describe(g))
		}
	}
}
