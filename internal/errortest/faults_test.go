// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"lathe/emit"
	"lathe/emit/bench"
	"lathe/emit/verilog"
	"lathe/frontend"
	"lathe/golden"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/stream"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
	"lathe/ir/ref"
	"lathe/ir/unit"
	"lathe/lower"
	"lathe/lower/float"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize"
	"lathe/lower/schedule"
	"lathe/lower/schedule/tokens"
	"lathe/rtl"
	"lathe/rtl/netlist"
)

// faults provoke the errors that no command shows unless Lathe itself, or a caller of its packages, is wrong; those of
// tools and engines stand in toolFaults, those of kernels in kernelFaults.
var faults = join(graphFaults, stageFaults, blockFaults, toolFaults, kernelFaults, graphKernelFaults, gpuFaults,
	productFaults, ptxFaults, trainFaults, searchFaults, boardFaults)

func join(tables ...map[diag.Code]func(t *testing.T) error) map[diag.Code]func(t *testing.T) error {
	all := map[diag.Code]func(t *testing.T) error{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// TestFaults demands of every fault its code.
func TestFaults(t *testing.T) {
	var known []diag.Code
	for _, e := range diag.Catalogue() {
		known = append(known, e.Code)
	}
	for _, code := range slices.Sorted(maps.Keys(faults)) {
		if !slices.Contains(known, code) {
			t.Errorf("%s is not in the catalogue", code)
		}
		t.Run(string(code), func(t *testing.T) {
			err := faults[code](t)
			t.Log(err)
			if diag.CodeOf(err) != code {
				t.Errorf("got %q", diag.CodeOf(err))
			}
			var told *diag.Error
			deviceSide := gpuFaults[code] != nil || kernelFaults[code] != nil || productFaults[code] != nil
			if deviceSide && errors.As(err, &told) && told.Hint == "" && len(told.Notes) == 0 {
				t.Error("no word on what to do about it")
			}
		})
	}
}

// input is an input node of a format (nil: float).
func input(name string, f format.Format, shape ...int) *ir.Node {
	n := &ir.Node{Name: name, Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(shape...)}
	if f != nil {
		n.Type.Format = f
	}
	return n
}

// graph has the nodes, of which the inputs are its inputs and the last is its output.
func graph(stage ir.Stage, nodes ...*ir.Node) *ir.Graph {
	g := &ir.Graph{Name: "g", Stage: stage, Nodes: nodes, Out: []ir.Output{{Name: "y", Node: nodes[len(nodes)-1]}}}
	for _, n := range nodes {
		if n.Op == leaf.Input {
			g.In = append(g.In, n)
		}
	}
	return g
}

// inLanes gives every node one lane.
func inLanes(g *ir.Graph) *ir.Graph {
	for _, n := range g.Nodes {
		n.HW = ir.HW{Widths: ir.Widths{InLanes: 1, OutLanes: 1, StreamIn: 1}}
	}
	return g
}

// forked is x + o(x), scheduled without a FIFO.
func forked(t *testing.T, o *ir.Op) *ir.Graph {
	t.Helper()
	x := input("x", format.Fixed{W: 8, Signed: true}, 1, 8)
	y := add(t, o, "y", x)
	g := graph(ir.StageQuantized, x, y, add(t, pointwise.Add, "z", x, y))
	stream.InsertForks(g)
	for _, n := range g.Nodes {
		n.HW = ir.HW{Widths: ir.Widths{InLanes: 1, OutLanes: 1, StreamIn: 1},
			Adapter: ir.Adapter{Branches: n.HW.Branches}, Timing: ir.Timing{Latency: 1, II: 8}}
	}
	g.Stage = ir.StageScheduled
	return g
}

// add makes a node of operation o, in the format of its first argument.
func add(t *testing.T, o *ir.Op, name string, args ...*ir.Node) *ir.Node {
	t.Helper()
	n, err := ir.NewNode(o, name, "", nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// imported is model.onnx as imported.
func imported(t *testing.T) *ir.Graph {
	t.Helper()
	g, err := frontend.Load(fixtures+"/model.onnx", frontend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// strange is a format that only the reference knows: its name is not that of a fixed-point format.
type strange struct{ format.Format }

func (strange) String() string           { return "strange(8)" }
func (s strange) CodeSet() format.Format { return s }

var graphFaults = map[diag.Code]func(t *testing.T) error{
	"L0302": func(t *testing.T) error {
		x := input("x", nil, 1, 8)
		y := add(t, pointwise.Relu, "y", x)
		return graph(ir.StageFloat, y, x).Check()
	},
	"L0303": func(t *testing.T) error {
		g := graph(ir.StageFloat, input("x", nil, 1, 8))
		g.Out[0].Node = nil
		return g.Check()
	},
	"L0304": func(t *testing.T) error {
		x := input("x", nil, 1, 8)
		return graph(ir.StageFloat, x, add(t, pointwise.Relu, "x", x)).Check()
	},
	"L0310": func(t *testing.T) error {
		x := input("x", strange{format.Fixed{W: 8, Signed: true}}, 1, 8)
		_, err := golden.Print(graph(ir.StageQuantized, x, add(t, pointwise.Relu, "y", x)), 1, false)
		return err
	},
	"L0312": func(t *testing.T) error {
		p, err := ref.New(imported(t))
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Run(t.Context(), []ref.Sample{{}})
		return err
	},
	"L0335": func(t *testing.T) error {
		x, i := input("x", nil, 3), input("i", ir.Int64, 1)
		n, err := ir.NewNode(whole.Gather, "y", "", &column.AxisAttrs{}, x, i)
		if err != nil {
			t.Fatal(err)
		}
		p, err := ref.New(graph(ir.StageFloat, x, i, n))
		if err != nil {
			t.Fatal(err)
		}
		at := ir.NewTensor(i.Type)
		at.Codes[0] = 4
		_, err = p.Run(t.Context(), []ref.Sample{{ir.NewTensor(x.Type), at}})
		return err
	},
	"L0313": func(t *testing.T) error {
		x := input("x", nil, 1, 8)
		return graph(ir.StageFloat, x, add(t, pointwise.Clip, "y", x)).Check()
	},
	"L0317": func(t *testing.T) error {
		f := format.Fixed{W: 40, Signed: true}
		a, b := input("a", f, 1, 8), input("b", f, 1, 8)
		_, err := golden.Print(graph(ir.StageQuantized, a, b, add(t, pointwise.Mul, "y", a, b)), 1, false)
		return err
	},
	"L0330": func(t *testing.T) error {
		f := format.Fixed{W: 8, Signed: true}
		n := add(t, pointwise.Add, "y", input("a", f, 2, 3), input("b", f, 1, 3))
		n.HW = ir.HW{Widths: ir.Widths{InLanes: 1, OutLanes: 1}}
		_, err := pointwise.Add.RTL(n)
		return err
	},
	"L0331": func(t *testing.T) error {
		x := input("x", format.Fixed{W: 8, Signed: true}, 2)
		n, err := ir.NewNode(move.Concat, "y", "", &move.ConcatAttrs{}, x, x, x)
		if err != nil {
			t.Fatal(err)
		}
		_, err = move.Concat.RTL(n)
		return err
	},
	"L0340": func(t *testing.T) error {
		w := &ir.Node{Name: "w", Op: leaf.Const, Attrs: &ir.Const{Data: ir.CodeBlob([]int64{100_000, 100_000})},
			Type: ir.Type{Shape: []int{1, 2}, Format: format.Affine{W: 20, Signed: true, Scale: 0.3, Axis: format.PerTensor}}}
		y := add(t, sum.Linear, "fc", input("x", format.Fixed{W: 40, Signed: true}, 1, 2), w)
		y.Type.Format = format.Fixed{W: 8, Signed: true}
		_, err := sum.Linear.Eval(y)
		return err
	},
	"L0810": func(*testing.T) error {
		b := hlo.New("main")
		b.Return(b.Add(b.Arg("x", hlo.TypeOf(hlo.I32, 3)), b.Arg("y", hlo.TypeOf(hlo.I32, 4))))
		return b.Err()
	},
	"L0820": func(t *testing.T) error {
		_, _, _, err := golden.Compare("rtl", nil, []ref.Sample{{}}, nil)
		return err
	},
	"L0915": func(t *testing.T) error {
		_, err := driver.RandomSamples(imported(t), 10, 1)
		return err
	},
	"L0917": func(*testing.T) error {
		mask := input(float.LengthsMask, nil, 1, 4)
		mask.Attrs.(*ir.Input).Lengths = true
		_, _, err := driver.Samples(graph(ir.StageFloat, input("x", nil, 1, 4), mask), &npz.File{Path: "x.npz",
			Arrays: []npz.Array{npz.Float32Array("x", []int{1, 4}, make([]float32, 4)), npz.Int64Array("lengths", []int{1},
				[]int64{9})}})
		return err
	},
}

var stageFaults = map[diag.Code]func(t *testing.T) error{
	"L0405": func(t *testing.T) error {
		spoil := func(g *ir.Graph) {
			for _, n := range g.Nodes {
				if n.IsConst() && n.Type.IsFloat() {
					n.Attrs = &ir.Const{Data: ir.FloatBlob(make([]float32, n.Type.Elems()))}
				}
			}
		}
		_, _, err := lower.Quantize(t.Context(), imported(t), plan.Default(), quantize.Calibration{},
			quantize.Options{Options: pass.Options{Verify: true, Shuffle: spoil}})
		return err
	},
	"L0411": func(t *testing.T) error {
		_, _, err := lower.Schedule(t.Context(), imported(t), plan.Default(), schedule.Options{})
		return err
	},
	"L0414": func(t *testing.T) error {
		soft := *pointwise.Relu
		soft.RTL = nil
		x := input("x", format.Fixed{W: 8, Signed: true}, 1, 8)
		_, _, err := lower.Schedule(t.Context(), graph(ir.StageQuantized, x, add(t, &soft, "y", x)), plan.Default(),
			schedule.Options{})
		return err
	},
	"L0415": func(t *testing.T) error {
		f := format.Fixed{W: 8, Signed: true}
		x, w := input("x", f, 1, 8), input("w", f, 4, 8)
		one := *sum.Linear
		one.RTL = func(*ir.Node) (*rtl.Unit, error) { return &rtl.Unit{Module: "op_linear"}, nil }
		_, err := verilog.Emit(inLanes(graph(ir.StageScheduled, x, w, add(t, &one, "fc", x, w))), verilog.Options{})
		return err
	},
	"L0430": func(t *testing.T) error {
		x := input("x", format.Fixed{W: 8, Signed: true}, 1, 8)
		g := inLanes(graph(ir.StageScheduled, x, add(t, pointwise.Relu, "y", x)))
		g.Out = append(g.Out, ir.Output{Name: "again", Node: g.Out[0].Node})
		return g.Check()
	},
	"L0431": func(t *testing.T) error {
		x := input("x", format.Fixed{W: 8, Signed: true}, 1, 8)
		g := inLanes(graph(ir.StageScheduled, x, add(t, pointwise.Relu, "y", x)))
		g.Out[0].Node.HW.StreamIn = 2
		return g.Check()
	},
	"L0433": func(t *testing.T) error {
		hungry := *pointwise.Relu
		hungry.RTL = func(*ir.Node) (*rtl.Unit, error) { // nine beats for eight
			return &rtl.Unit{Module: "op_slice", Params: []rtl.Param{{Name: "BEATS", Value: "9"}, {Name: "FIRST", Value: "1"},
				{Name: "RUN", Value: "8"}, {Name: "EVERY", Value: "8"}, {Name: "COUNT", Value: "1"}}}, nil
		}
		_, _, err := tokens.Size(t.Context(), forked(t, &hungry), &unit.Cache{})
		return err
	},
	"L0720": func(t *testing.T) error {
		slow := *pointwise.Relu
		slow.RTL = func(*ir.Node) (*rtl.Unit, error) {
			params := []rtl.Param{{Name: "BEATS", Value: "8"}, {Name: "D5", Value: "8"}, {Name: "S5", Value: "1"}}
			for _, axis := range []string{"D0", "D1", "D2", "D3", "D4"} {
				params = append(params, rtl.Param{Name: axis, Value: "1"})
			}
			return &rtl.Unit{Module: "op_reorder", Params: params}, nil
		}
		// all of a frame goes in before the first beat comes out, and no FIFO
		return tokens.Check(t.Context(), forked(t, &slow), &unit.Cache{})
	},
	"L0721": func(t *testing.T) error {
		g := forked(t, pointwise.Relu)
		g.Find("y").HW.Fifo = 4
		check := &driver.Check{Fifos: []driver.Fifo{{Node: "y", Depth: 3, Predicted: 3, Quiet: 3}}}
		return check.Overflows(&driver.Hardware{Scheduled: g})
	},
	"L0601": func(*testing.T) error {
		_, err := rtl.Lookup("op_magic")
		return err
	},
	"L0602": func(*testing.T) error {
		_, err := rtl.ReadHeader(rtl.File{Name: "op_x.sv", Data: []byte("// op_x: nothing.\nmodule op_x (); endmodule\n")})
		return err
	},
	"L0655": func(*testing.T) error {
		h, err := rtl.ReadHeader(rtl.File{Name: "m.sv",
			Data: []byte("// m: a module.\n//   latency: 0   ii: 1   order: any\nmodule m (\n  input wire clk\n);\n")})
		if err == nil {
			_, err = h.Cost(nil, nil)
		}
		return err
	},
	"L0603": func(*testing.T) error {
		_, err := rtl.ParseExpr("3 +")
		return err
	},
	"L0604": func(t *testing.T) error {
		h, err := rtl.Lookup("stream_skid")
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.Width("sideways", nil)
		return err
	},
	"L0621": func(t *testing.T) error {
		_, err := verilog.Emit(imported(t), verilog.Options{})
		return err
	},
	"L0623": func(*testing.T) error {
		return (&netlist.Module{Name: "m", Items: []netlist.Item{netlist.Wire{Name: "w"}}}).Check(rtl.Signature)
	},
	"L0624": func(t *testing.T) error {
		x := input("x", format.Fixed{W: 8, Signed: true}, 1, 8)
		broken := *pointwise.Relu
		broken.RTL = func(*ir.Node) (*rtl.Unit, error) { return nil, errWithoutCode }
		_, err := verilog.Emit(inLanes(graph(ir.StageScheduled, x, add(t, &broken, "y", x))), verilog.Options{})
		return err
	},
	"L0660": func(t *testing.T) error {
		_, err := bench.Files(&emit.Design{Ports: []emit.Port{{}}}, bench.Vectors{Samples: 1})
		return err
	},
}
