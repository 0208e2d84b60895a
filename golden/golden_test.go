// SPDX-License-Identifier: Apache-2.0

package golden_test

import (
	"math/rand/v2"
	"testing"

	"lathe/emit/verilog"
	"lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/ir/ref"
	"lathe/sim"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }

// mlp is a scheduled network of two linear layers with relu between them.
func mlp(t *testing.T, style ir.Style) *ir.Graph {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	fixed := func(text string) format.Format {
		f, err := format.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	g := &ir.Graph{Name: "two_layers", Stage: ir.StageScheduled}
	constant := func(name string, f format.Format, shape ...int) *ir.Node {
		codes := make([]int64, ir.Type{Shape: shape}.Elems())
		for i := range codes {
			codes[i] = int64(r.IntN(255)) - 127
		}
		n := &ir.Node{Name: name, Op: leaf.Const, Type: ir.Type{Shape: shape, Format: f},
			Attrs: &ir.Const{Data: ir.CodeBlob(codes)}}
		g.Nodes = append(g.Nodes, n)
		return n
	}
	node := func(o *ir.Op, name string, f format.Format, in, out int, args ...*ir.Node) *ir.Node {
		n, err := ir.NewNode(o, name, "test: "+name, nil, args...)
		if err != nil {
			t.Fatal(err)
		}
		n.Type.Format = f
		n.HW = ir.HW{Widths: ir.Widths{InLanes: in, OutLanes: out}, Style: style}
		g.Nodes = append(g.Nodes, n)
		return n
	}
	lanes := [3]int{4, 3, 2}
	if style == ir.StyleUnroll {
		lanes = [3]int{8, 6, 4}
	}
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{},
		Type: ir.Type{Shape: []int{1, 8}, Format: fixed("fixed(8,4)")},
		HW:   ir.HW{Widths: ir.Widths{InLanes: lanes[0], OutLanes: lanes[0]}}}
	g.In, g.Nodes = []*ir.Node{x}, []*ir.Node{x}
	h := node(sum.Linear, "fc1", fixed("fixed(8,1)"), lanes[0], lanes[1], x, constant("w1", fixed("fixed(8,6)"), 6, 8),
		constant("b1", fixed("fixed(16,9)"), 6))
	a := node(pointwise.Relu, "relu1", fixed("ufixed(8,2)"), lanes[1], lanes[1], h)
	y := node(sum.Linear, "fc2", fixed("fixed(12,2)"), lanes[1], lanes[2], a, constant("w2", fixed("fixed(8,7)"), 4, 6))
	g.Out = []ir.Output{{Name: "y", Node: y}}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestEnginesAgree runs one small network through every engine.
func TestEnginesAgree(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	for _, style := range []ir.Style{ir.StyleFold, ir.StyleUnroll} {
		t.Run(style.String(), func(t *testing.T) { enginesAgree(t, mlp(t, style)) })
	}
}

func enginesAgree(t *testing.T, g *ir.Graph) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(3, 4))
	samples := make([]ref.Sample, 200)
	for s := range samples {
		v := ir.NewTensor(g.In[0].Type)
		for i := range v.Codes {
			v.Codes[i] = int64(r.IntN(256)) - 128
		}
		samples[s] = ref.Sample{v}
	}
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	want, err := p.Run(ctx, samples)
	if err != nil {
		t.Fatal(err)
	}
	nodes := []*ir.Node{g.Out[0].Node}
	same := func(engine string, got []ref.Sample) {
		t.Helper()
		n, bad, first, err := golden.Compare(engine, nodes, want, got)
		if err != nil || bad > 0 || n != 200*4 {
			t.Fatalf("%s: %d of %d codes differ, first %v, error %v", engine, bad, n, first, err)
		}
	}
	got, err := golden.RunPJRT(ctx, pjrttest.Engine(t), g, samples, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	same("pjrt", got)
	d, err := verilog.Emit(g, verilog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.Build(ctx, sim.DesignSpec(d, tools.CacheDir(t), true, false))
	if err != nil {
		t.Fatal(err)
	}
	stall := []sim.Stall{{Percent: 30}}
	run, err := sim.RunDesign(ctx, m, g, d, samples, sim.Input{Seed: 1, Idle: stall, Back: stall})
	if err != nil {
		t.Fatal(err)
	}
	same("rtl", run.Outputs)
	t.Logf("latency %d, ii %g", run.Result.LatencyCycles, run.Result.IICycles)
}
