// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/difftest"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/draw"
	"lathe/ir/op/lane"
	"lathe/ir/op/sequence"
	"lathe/lower"
	"lathe/lower/plan"
	"lathe/lower/schedule"
	"lathe/sim"
)

// attention is scores, weights and sums in a row.
type attention struct{ scores, weights, sum *ir.Node }

// drawAttention draws one of few tokens and formats of few bits.
func drawAttention(r *rand.Rand) (*ir.Graph, attention) {
	groups, tokens, keys := draw.Between(r, 1, 2), draw.Between(r, 1, 3), draw.Between(r, 2, 11)
	heads, size := groups*draw.Between(r, 1, 2), draw.Between(r, 1, 6)
	seen := sequence.SeenAttrs{}
	if draw.Chance(r, 40) {
		seen = sequence.SeenAttrs{Causal: true, Offset: draw.Between(r, -1, keys)}
	}
	value := func(name string, n, heads int) *ir.Node {
		f := draw.Fixed(r, 8)
		f.F = f.W - 1
		return draw.Input(name, ir.Type{Shape: []int{1, n, heads, size}, Format: f})
	}
	node := func(name string, o *ir.Op, attrs any, f format.Format, shape []int, args ...*ir.Node) *ir.Node {
		return &ir.Node{Name: name, Op: o, Attrs: attrs, Args: args, Type: ir.Type{Shape: shape, Format: f}}
	}
	q, k, v := value("q", tokens, heads), value("k", keys, groups), value("v", keys, groups)
	rows, other := []int{1, tokens, heads, keys}, seen
	var a attention
	a.scores = node("scores", sequence.AttendScores, &seen, format.Fixed{W: 10, F: 7, Signed: true}, rows, q, k)
	a.weights = node("weights", sequence.AttendWeights, &sequence.WeightsAttrs{SeenAttrs: seen, Scale: 1},
		format.Fixed{W: 8, F: 8}, rows, a.scores)
	a.sum = node("sum", sequence.AttendSum, &other, format.Fixed{W: 9, F: 8, Signed: true},
		[]int{1, tokens, heads, size}, a.weights, v)
	g := &ir.Graph{Name: "attention", Stage: ir.StageQuantized, In: []*ir.Node{q, k, v},
		Nodes: []*ir.Node{q, k, v, a.scores, a.weights, a.sum}, Out: []ir.Output{{Name: "y", Node: a.sum}}}
	return g, a
}

// pad gives the rows of keys a length, before lanes are drawn; where two can share a DSP, they may.
func (a attention) pad(r *rand.Rand, row int) {
	a.scores.HW.RowOut, a.weights.HW.RowIn, a.weights.HW.RowOut, a.sum.HW.RowIn = row, row, row, row
	for _, n := range []*ir.Node{a.scores, a.sum} {
		if _, cause, err := n.Op.DSPCause(n, "pack"); err == nil && cause == "" && draw.Chance(r, 60) {
			n.HW.DSP = "pack"
		}
	}
}

// unpair takes packed products back where the lanes that were drawn make no pairs.
func (a attention) unpair() {
	for _, n := range []*ir.Node{a.scores, a.sum} {
		if n.HW.OutLanes%2 != 0 {
			n.HW.DSP = ""
		}
	}
}

// TestPaddedRows compares attention whose rows of keys end in dead lanes: any length of a row, any lanes that divide
// it, and those that lowering gives for lanes that plans ask for.
func TestPaddedRows(t *testing.T) {
	t.Parallel()
	var graphs []*ir.Graph
	for i := range tools.Sample(4, 8) {
		r := difftest.Rand("padded rows", i)
		g, a := drawAttention(r)
		if i%4 == 3 {
			graphs = append(graphs, planned(t, r, g))
			continue
		}
		keys := a.weights.Type.Row()
		a.pad(r, keys+draw.Between(r, 1, keys-1))
		difftest.Schedule(r, g)
		a.unpair()
		graphs = append(graphs, g)
	}
	compareRTL(t, difftest.Rand("padded rows", 0), graphs, rtlSamples, true)
}

// planned schedules g with lanes of keys that need not divide them.
func planned(t *testing.T, r *rand.Rand, g *ir.Graph) *ir.Graph {
	t.Helper()
	keys := g.Out[0].Node.Args[0].Type.Row()
	lanes := draw.Between(r, 2, keys)
	few := lane.Divisors(lanes)
	plan, err := plan.Parse("plan.toml", fmt.Appendf(nil, "[fold]\ndsp = %q\n[[fold.rule]]\nname = \"scores\"\n"+
		"out_lanes = %d\n[[fold.rule]]\nname = \"weights\"\nin_lanes = %d\n", []string{"one", "pack"}[r.IntN(2)], lanes,
		few[r.IntN(len(few))]))
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := lower.Schedule(t.Context(), g, plan, schedule.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	if row := s.Find("weights").HW.RowIn; keys%lanes != 0 && (row <= keys || row%lanes != 0) {
		t.Errorf("%d lanes for %d keys have rows of %d", lanes, keys, row)
	}
	return s
}

// TestPaddedRowsBroken plants faults in the parameters that say which lanes are dead, and in the order of lanes.
func TestPaddedRowsBroken(t *testing.T) {
	t.Parallel()
	tools.Need(t, "verilator", "g++")
	for i, fault := range [][2]string{{".LIVE(5)", ".LIVE(6)"}, {".LIVE(5)", ".LIVE(4)"},
		{"seen[i] = left > J_W'(i)", "seen[i] = left > J_W'(i - 1)"}, {"left - J_W'(LANES)", "left - J_W'(1)"}} {
		r := difftest.Rand("broken rows", 0)
		g := fiveKeys()
		samples := difftest.Samples(r, g, 6)
		want, err := difftest.Evaluate(t.Context(), g, samples)
		if err != nil {
			t.Fatal(err)
		}
		d, err := verilog.Emit(g, verilog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for k, f := range d.Files {
			if bytes.Contains(f.Data, []byte(fault[0])) {
				found, d.Files[k].Data = true, bytes.ReplaceAll(f.Data, []byte(fault[0]), []byte(fault[1]))
			}
		}
		if !found {
			t.Fatalf("fault %d: %s stands nowhere", i, fault[0])
		}
		m, err := sim.Build(t.Context(), sim.DesignSpec(d, tools.CacheDir(t), false, false))
		if err != nil {
			t.Fatal(err)
		}
		run, err := sim.RunDesign(t.Context(), m, g, d, samples, sim.Input{MaxIdle: 2000, Drain: 50})
		differs := err != nil // it stops
		for s := range samples {
			differs = differs || difftest.Differ(g, want[s], run.Outputs[s], 0) != ""
		}
		if !differs {
			t.Errorf("%s instead of %s makes no difference", fault[1], fault[0])
		}
	}
}

// fiveKeys is attention of five keys in rows of six, of several beats of several lanes.
func fiveKeys() *ir.Graph {
	for i := 0; ; i++ {
		r := difftest.Rand("five keys", i)
		if g, a := drawAttention(r); a.weights.Type.Row() == 5 && !a.sum.Attrs.(*sequence.SeenAttrs).Causal {
			a.pad(r, 6)
			difftest.Schedule(r, g)
			a.unpair()
			if lanes := a.weights.HW.InLanes; lanes == 2 || lanes == 3 {
				return g
			}
		}
	}
}
