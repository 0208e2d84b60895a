// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/stream"
	"lathe/rtl/netlist"
	"lathe/sim"
)

// chain is a scheduled graph of one relu for each name, called after it.
func chain(t *testing.T, graph string, names ...string) *ir.Graph {
	t.Helper()
	f := format.Fixed{W: 5, F: 2, Signed: true}
	hw := ir.HW{Widths: ir.Widths{InLanes: 2, OutLanes: 2, StreamIn: 2}}
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{1, 4}, Format: f}, HW: hw}
	g := &ir.Graph{Name: graph, Stage: ir.StageScheduled, In: []*ir.Node{x}, Nodes: []*ir.Node{x}}
	last := x
	for _, name := range names {
		n, err := ir.NewNode(pointwise.Relu, name, "a/b.onnx: "+name+" (Relu) \"*/ verilator lint_off", nil, last)
		if err != nil {
			t.Fatal(err)
		}
		n.HW = hw
		g.Nodes, last = append(g.Nodes, n), n
	}
	g.Out = []ir.Output{{Name: "y", Node: last}}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestForeignNames emits nodes called after every keyword, and after what else users and exporters write.
func TestForeignNames(t *testing.T) {
	tools.Need(t, "verilator", "iverilog")
	names := []string{"/a/b/Relu", "/a/b_Relu", "0", "a-b", "a b", "ä", "clk", "rst", "in_data", "Wire", "s_x", "__", "$1"}
	names = append(names, "y", "i", "sum")
	names = append(names, netlist.Keywords...)
	d, err := Emit(chain(t, "module", names...), Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, u := range d.Units[1:] {
		if seen[strings.ToLower(u.Instance)] || u.Instance == "" {
			t.Errorf("instance name %q of node %q is empty or used twice", u.Instance, u.Node)
		}
		seen[strings.ToLower(u.Instance)] = true
	}
	if err := sim.Lint(t.Context(), tools.CacheDir(t), d.Top, d.Files); err != nil {
		t.Error(err)
	}
	if err := sim.Elaborate(t.Context(), tools.CacheDir(t), d.Top, d.Files); err != nil {
		t.Error(err)
	}
}

// TestNumberedNames: names of one family look alike, whichever of them the library uses, and 1'b0 is none of them.
func TestNumberedNames(t *testing.T) {
	ids := newNames()
	for _, c := range [][2]string{{"c1", "n_c1"}, {"c2", "n_c2"}, {"conv1", "conv1"}, {"b0", "b0"}, {"y", "n_y"}} {
		if got := ids.pick(c[0]); got != c[1] {
			t.Errorf("%s became %s, not %s", c[0], got, c[1])
		}
	}
}

// TestFork prints a value with three readers, of which one is a wire, and an input that nobody reads.
func TestFork(t *testing.T) {
	tools.Need(t, "verilator", "iverilog")
	g := chain(t, "g", "a", "b")
	a, hw := g.Find("a"), g.Find("a").HW
	flat, err := ir.NewNode(move.Reshape, "flat", "", &move.ReshapeAttrs{Shape: []int{4}}, a)
	if err != nil {
		t.Fatal(err)
	}
	unused := *g.In[0]
	unused.Name, flat.HW = "unused", hw
	g.Nodes, g.In = append(g.Nodes, flat, &unused), append(g.In, &unused)
	g.Out = append(g.Out, ir.Output{Name: "z", Node: a}, ir.Output{Name: "f", Node: flat})
	stream.InsertForks(g)
	fork := g.Find("a.fork")
	fork.HW.InLanes, fork.HW.OutLanes, fork.HW.StreamIn = 2, 2, 2
	d, err := Emit(g, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Files {
		text := string(f.Data)
		for _, want := range []string{".in_valid(s__a_fork_valid[0])", "assign out1_valid = s__a_fork_valid[2];",
			"assign s__a_fork_ready[1] = out2_ready;", "wire [2:0] s__a_fork_ready;", "assign in1_ready = 1'b1;"} {
			if f.Name == "g_core.sv" && !strings.Contains(text, want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		}
	}
	if err := sim.Lint(t.Context(), tools.CacheDir(t), d.Top, d.Files); err != nil {
		t.Error(err)
	}
	if err := sim.Elaborate(t.Context(), tools.CacheDir(t), d.Top, d.Files); err != nil {
		t.Error(err)
	}
}

// TestTopNames keeps the design's modules apart from those that exist already.
func TestTopNames(t *testing.T) {
	d, err := Emit(chain(t, "stream_skid", "r"), Options{})
	if err != nil || d.Top != "stream_skid_top" {
		t.Errorf("top %v, %v", d, err)
	}
	for _, top := range []string{"stream_skid", "lathe_top", "9x", "wire"} {
		if _, err := Emit(chain(t, "g", "r"), Options{Top: top}); diag.CodeOf(err) != "L0622" {
			t.Errorf("top %q: %v", top, err)
		}
	}
}

// TestRefused names what streams cannot do: a value that is read twice without a fork.
func TestRefused(t *testing.T) {
	g := chain(t, "g", "a", "b")
	g.Out = append(g.Out, ir.Output{Name: "z", Node: g.Find("a")})
	if _, err := Emit(g, Options{}); diag.CodeOf(err) != "L0430" || !strings.Contains(err.Error(), "a (Relu)") {
		t.Errorf("two readers and no fork: %v", err)
	}
	stream.InsertForks(g)
	g.Find("a.fork").HW = ir.HW{Widths: ir.Widths{InLanes: 2, OutLanes: 2, StreamIn: 2}, Adapter: ir.Adapter{Branches: 3}}
	_, err := Emit(g, Options{})
	if diag.CodeOf(err) != "L0430" || !strings.Contains(err.Error(), "3 branches and 2 readers") {
		t.Errorf("a fork with a branch that nobody reads: %v", err)
	}
	g.Stage = ir.StageQuantized
	if _, err := Emit(g, Options{}); diag.CodeOf(err) != "L0621" {
		t.Errorf("a graph that is not scheduled: %v", err)
	}
}
