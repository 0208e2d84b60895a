// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/unit"
	"lathe/lower"
	"lathe/lower/tokens"
	"lathe/sim"
)

// TestFlow compares the cycles of all frames, as the flow lines of modules have them for every operation, with hardware
// that nobody disturbs.
func TestFlow(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	var graphs []*ir.Graph
	for _, o := range Ops() {
		if o.RTL == nil {
			continue
		}
		found, _ := hardware(t, o)
		graphs = append(graphs, found...)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(graphs), func(i, k int) { graphs[i], graphs[k] = graphs[k], graphs[i] })
	for i := 0; i < len(graphs); i += perDesign {
		t.Run(fmt.Sprint(i/perDesign), func(t *testing.T) {
			t.Parallel()
			compareFlow(t, Rand("flow", i), graphs[i:min(i+perDesign, len(graphs))], 5)
		})
	}
}

// TestFlowChains does the same for networks of several operations with random lanes, whose units hold each other up.
func TestFlowChains(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	var graphs []*ir.Graph
	for i := range 2 * len(Chains) {
		r := Rand("flow", i)
		g := Chain(r, Chains[i%len(Chains)])
		Schedule(r, g)
		graphs = append(graphs, g)
	}
	for i := 0; i < len(graphs); i += chainsPerDesign {
		t.Run(fmt.Sprint(i/chainsPerDesign), func(t *testing.T) {
			t.Parallel()
			compareFlow(t, Rand("flow chains", i), graphs[i:min(i+chainsPerDesign, len(graphs))], 6)
		})
	}
}

// compareFlow runs graphs side by side in hardware without stalls, and each by itself as tokens.
func compareFlow(t *testing.T, r *rand.Rand, graphs []*ir.Graph, frames int) {
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
	run, err := sim.RunDesign(t.Context(), m, g, d, Samples(r, g, frames), sim.Input{MaxIdle: 50_000})
	if err != nil {
		t.Fatalf("%v\n%s", err, Describe(g))
	}
	at, in := 0, 0
	for i, one := range graphs {
		out, from := run.Result.Out[at:at+len(one.Out)], run.Result.In[in].First[0]
		for k := range one.In {
			from = min(from, run.Result.In[in+k].First[0])
		}
		at, in = at+len(one.Out), in+len(one.In)
		if err := lower.Time(one); err != nil {
			t.Fatal(err)
		}
		times, err := tokens.Run(t.Context(), one, &unit.Cache{}, frames)
		if err != nil || !times.Done {
			t.Errorf("done %v, %v\n%s", times != nil && times.Done, err, Describe(one))
			continue
		}
		for k := range one.Out {
			got := out[k]
			for _, side := range []struct {
				name      string
				want, got []int
			}{{"first", times.First[k], got.First}, {"last", times.Last[k], got.Last}} {
				for f := range side.got {
					side.got[f] -= from
				}
				if !slices.Equal(side.want, side.got) {
					t.Errorf("case %d, output %d: %s beats of frames leave at %v, the flow says %v\n%s", i, k, side.name, side.got,
						side.want, Describe(one))
				}
			}
		}
	}
}
