// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"fmt"
	"slices"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/difftest"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/unit"
	"lathe/lower/schedule/tokens"
	"lathe/lower/schedule/tokens/beat"
	"lathe/sim"
)

// paceFrames are simulated; the second half of them is steady.
const paceFrames = 8

// TestPaces runs every unit of a design alone, with nobody who holds it up: a sample takes exactly the cycles that its
// header says, also where the design around it is slower.
func TestPaces(t *testing.T) {
	all := [][2]string{{"digits-resnet", "mx"}, {"digits-dscnn", "wide"}, {"digits-qdq", "serial"}}
	for _, c := range tools.Few(1, all) {
		comparePaces(t, c[0], c[1])
	}
}

func comparePaces(t *testing.T, model, plan string) {
	t.Run(model+"/"+plan, func(t *testing.T) {
		t.Parallel()
		e := engines(t)
		j := job(t, model, "model.onnx", plan, 0)
		var units []lone
		for _, u := range j.HW.Schedule.Units {
			if u.Module != "" {
				units = append(units, alone(j.HW.Scheduled, u.Node, u.II))
			}
		}
		var graphs []*ir.Graph
		for _, u := range units {
			graphs = append(graphs, u.graph)
		}
		g := difftest.Merge("paces", graphs)
		out := undisturbed(t, e, g).Out
		at := 0
		for _, u := range units {
			ii := steady(out[at].First)
			if at += len(u.graph.Out); ii != float64(u.ii) {
				t.Errorf("%s (%s) takes %g cycles a sample, predicted %d", u.node.Name, u.node.Op.Name, ii, u.ii)
			}
		}
		t.Logf("%d units", len(units))
	})
}

// lone is a unit of a design as a graph of its own.
type lone struct {
	graph *ir.Graph
	node  *ir.Node
	ii    int
}

// alone cuts a node out of a scheduled graph: its streams become inputs, its readers outputs.
func alone(whole *ir.Graph, name string, ii int) lone {
	c := whole.Clone()
	n := c.Find(name)
	g := &ir.Graph{Name: name, Stage: c.Stage}
	for i, a := range n.Args {
		if !a.IsConst() {
			in := &ir.Node{Name: fmt.Sprintf("in%d", i), Op: leaf.Input, Type: a.Type, Attrs: &ir.Input{}}
			in.HW.OutLanes = lanesInto(a)
			in.HW.InLanes = in.HW.OutLanes
			n.Args[i], g.In, a = in, append(g.In, in), in
		}
		g.Nodes = append(g.Nodes, a)
	}
	g.Nodes = append(g.Nodes, n)
	for i := range max(n.HW.Branches, 1) {
		g.Out = append(g.Out, ir.Output{Name: fmt.Sprintf("out%d", i), Node: n})
	}
	return lone{g, n, ii}
}

// lanesInto are the lanes of the stream of n, which wires pass on.
func lanesInto(n *ir.Node) int {
	for n.Op.Traits.Wire && n.HW.OutLanes == 0 {
		n = n.Args[0]
	}
	return n.HW.OutLanes
}

// undisturbed simulates random samples without stalls.
func undisturbed(t *testing.T, e driver.Engines, g *ir.Graph) *sim.Result {
	t.Helper()
	d, err := verilog.Emit(g, verilog.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.Build(t.Context(), sim.DesignSpec(d, e.Cache, true, false))
	if err != nil {
		t.Fatal(err)
	}
	samples, err := driver.RandomSamples(g, paceFrames, 1)
	if err != nil {
		t.Fatal(err)
	}
	run, err := sim.RunDesign(t.Context(), m, g, d, samples, sim.Input{})
	if err != nil {
		t.Fatal(err)
	}
	return run.Result
}

// steady is the distance of frames in the second half of a run.
func steady(first []int) float64 {
	from, end := len(first)/2, len(first)-1
	return float64(first[end]-first[from]) / float64(end-from)
}

// TestBeats compares whole designs with their run as tokens: on every stream between two units, and on every branch of
// a fork, the first and the last beat of each sample move in the cycle that was predicted.
func TestBeats(t *testing.T) {
	all := [][2]string{{"digits-resnet", "mx"}, {"digits-cnn", "fps"}, {"digits-qdq-mlp", "mxmix"}}
	for _, c := range tools.Few(1, all) {
		compareBeats(t, c[0], c[1])
	}
}

func compareBeats(t *testing.T, model, plan string) {
	t.Run(model+"/"+plan, func(t *testing.T) {
		t.Parallel()
		e := engines(t)
		g := job(t, model, "model.onnx", plan, 0).HW.Scheduled
		times, streams, err := tokens.Watch(t.Context(), g, &unit.Cache{}, paceFrames)
		if err != nil || !times.Done {
			t.Fatal(times, err)
		}
		r := undisturbed(t, e, g)
		if r.FirstIn[0] != 0 {
			t.Fatalf("the first beat enters in cycle %d", r.FirstIn[0])
		}
		if ii := times.II(); r.IICycles != ii {
			t.Errorf("%g cycles a sample, predicted %g", r.IICycles, ii)
		}
		at, wrong := 0, 0
		same := func(n *ir.Node, s *beat.Counter) {
			got := r.Tap[at]
			if at++; !slices.Equal(got.First, s.First) || !slices.Equal(got.Last, s.Last) {
				if wrong++; wrong < 5 {
					t.Errorf("%s (%s): samples begin at %v and end at %v, predicted %v and %v", n.Name, n.Op.Name, got.First,
						got.Last, s.First, s.Last)
				}
			}
		}
		for _, forks := range []bool{false, true} { // taps on branches stand behind the others
			for _, n := range g.Nodes {
				if (n.HW.Branches > 0) != forks {
					continue
				}
				for _, s := range streams[n] {
					same(n, s)
				}
			}
		}
		if at != len(r.Tap) {
			t.Errorf("%d of %d streams compared", at, len(r.Tap))
		}
		t.Logf("%d streams", at)
	})
}
