// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/ref"
	"lathe/lower/plan"
	"lathe/train/model"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }

const examples = "../../examples"

// quantized is an example under a plan, as it is trained.
func quantized(t *testing.T, example, toml string) (*model.Model, *driver.Quantized) {
	t.Helper()
	dir := filepath.Join(examples, example)
	s := driver.Source{Model: filepath.Join(dir, "model.onnx"), Calibrate: filepath.Join(dir, "inputs.npz")}
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.ParseWith("plan.toml", []byte(toml), plan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.QuantizeUnder(context.Background(), g, p)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Quantized(q.Graph, q.Report.Lowered, q.Report.Grids)
	if err != nil {
		t.Fatal(err)
	}
	return m, q
}

// shaken are the parameters, moved at random as far as training may move them.
func shaken(m *model.Model, seed uint64) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 3))
	var out [][]float32
	for _, p := range m.Params {
		most := 0.0
		for _, v := range p.Start {
			most = max(most, math.Abs(float64(v)))
		}
		x := make([]float32, len(p.Start))
		for i, v := range p.Start {
			x[i] = v + float32(r.NormFloat64()*most/16)
		}
		out = append(out, x)
	}
	return out
}

// TestExact compares each value of the forward pass with that of the graph that ships: the values of its codes.
func TestExact(t *testing.T) {
	for _, c := range tools.Few(8, []struct {
		example, plan string
		approximate   bool
	}{
		{"digits-mlp", "", false},
		{"digits-mlp", "[quantize]\ndata = \"fixed(6)\"\nweight = \"fixed(3)\"\n", false},
		{"digits-cnn", "", false},
		{"digits-resnet", "", false},
		{"digits-dscnn", "", false},
		{"digits-vit", "", false},
		{"tiny-bert", "", false},
		{"tiny-gpt2", "", false},
		{"tiny-llama", "", false},
		{"digits-gru", "", false},
		{"digits-lstm", "", false},
		{"digits-mlp", "[quantize]\ndata = \"float(4,3)\"\nweight = \"float(4,3)\"\n", false},
		{"digits-mlp", "[quantize]\ndata = \"log(5)\"\nweight = \"log(4)\"\n", false},
		{"digits-mlp", "[quantize]\nweight = \"binary*0.125\"\n", false},
		{"digits-mlp", "[quantize]\nweight = \"ternary*0.25\"\n", false},
		{"digits-mlp", "[quantize]\nweight = \"ternary*[0]\"\n", true},
		{"digits-mlp", "[quantize]\nweight = \"residual(2)*[0]\"\n", true},
		{"digits-mlp", "[quantize]\nweight = \"codebook(nf4)*[0]\"\n", true},
		{"digits-mlp", "[quantize]\ndata = \"mxint8\"\nweight = \"mxint8\"\n", true},
		{"digits-mlp", "[quantize]\ndata = \"mxfp8\"\nweight = \"mxfp8\"\n", true},
		{"digits-mlp", "[quantize]\ndata = \"int(8)*0.03\"\nweight = \"int(4)*[0]\"\n", false},
		{"digits-mlp", "[[input]]\nname = \"x\"\nexponents = [0" + strings.Repeat(", 1, -1, 2", 21) + "]\n", false},
	}) {
		t.Run(c.example+" "+c.plan, func(t *testing.T) { compare(t, c.example, c.plan, c.approximate) })
	}
}

// TestExactChannels does so where channels have lost places.
func TestExactChannels(t *testing.T) {
	for _, c := range []struct{ example, plan string }{
		{"digits-mlp", channels("1", "ufixed", 5) + channels("x", "ufixed", 4) + channels("3", "ufixed", 6)},
		{"digits-mlp", channels("2", "fixed", 6) + "[quantize]\nround = \"floor\"\n"},
		{"digits-cnn", channels("relu1", "ufixed", 4)},
	} {
		t.Run(c.example+" "+c.plan, func(t *testing.T) { compare(t, c.example, c.plan, false) })
	}
}

// channels is a rule that gives the channels of a node of an example formats of their own, the first one none.
func channels(node, format string, bits int) string {
	n := map[string]int{"x": 64, "relu1": 8}[node]
	if n == 0 {
		n = 32
	}
	list := []string{`"none"`}
	for c := range n - 1 {
		list = append(list, fmt.Sprintf("%q", fmt.Sprintf("%s(%d,%d)", format, 2+c%(bits-1), bits-2-c%2)))
	}
	return fmt.Sprintf("[[quantize.rule]]\nname = %q\nchannels = [%s]\n", node, strings.Join(list, ", "))
}

// lost are places that channels lose, drawn at random: none, some or all.
func lost(m *model.Model, seed uint64) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 4))
	var out [][]float32
	for _, e := range m.Each {
		x := make([]float32, len(e.Bits))
		for c, w := range e.Bits {
			x[c] = float32(r.Float64()*float64(w+2) - 1)
		}
		out = append(out, x)
	}
	return out
}

// TestExactSteps does so where steps are trained: fraction bits, real steps of weights, of data, of both.
func TestExactSteps(t *testing.T) {
	const lsq = "[train]\nscales = \"lsq\"\n[quantize]\n"
	for _, c := range tools.Few(3, []struct {
		example, plan string
		scales        int
	}{
		{"digits-mlp", lsq + "data = \"int(8)*0.03\"\nweight = \"int(4)*0.05\"\n", 5},
		{"digits-mlp", lsq + "data = \"fixed(4)\"\nunsigned = true\nweight = \"fixed(3)\"\n", 5},
		{"digits-cnn", lsq + "data = \"fixed(6)\"\nweight = \"int(4)*0.05\"\n", 5},
		{"digits-mlp", lsq + "data = \"int(6,z=3)*0.11\"\nweight = \"fixed(4)\"\n", 5},
		{"digits-mlp", lsq + "data = \"fixed(5,2,round=floor)\"\nweight = \"int(3,over=sym)*0.11\"\n", 5},
		{"digits-cnn", lsq, 5},
		{"digits-resnet", lsq, 0},
		{"digits-dscnn", lsq, 0},
		{"digits-vit", lsq, 0},
		{"digits-gru", lsq, 0},
		{"tiny-llama", lsq, 0},
	}) {
		t.Run(c.example+" "+c.plan, func(t *testing.T) {
			if got := compare(t, c.example, c.plan, false); c.scales > 0 && got != c.scales {
				t.Errorf("%d steps are trained, not %d", got, c.scales)
			}
		})
	}
}

// moved are steps that training may come to, drawn at random, some further than they may go.
func moved(m *model.Model, seed uint64) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 5))
	var out [][]float32
	for _, s := range m.Scales {
		x := s.Leaf()
		for i := range x {
			if x[i] = float32(r.NormFloat64() * 2); !s.Powers {
				x[i] = float32(math.Exp2(r.NormFloat64()))
			}
		}
		out = append(out, x)
	}
	return out
}

// compare runs the forward pass on a few samples, and the graph that ships, and counts the steps that are trained.
func compare(t *testing.T, example, toml string, approximate bool) (scales int) {
	m, q := quantized(t, example, toml)
	if q.Plan.Train.Scales == "lsq" {
		if _, err := m.LearnScales(nil); err != nil {
			t.Fatal(err)
		}
	}
	values, places, steps := shaken(m, 1), lost(m, 1), moved(m, 1)
	shipped, err := m.Ship(values, nil, places, steps)
	if err != nil {
		t.Fatal(err)
	}
	file, err := npz.Read(filepath.Join(examples, example, "inputs.npz"))
	if err != nil {
		t.Fatal(err)
	}
	floats, _, err := driver.Samples(q.Float, file)
	if err != nil {
		t.Fatal(err)
	}
	entered, _, err := driver.Samples(shipped, file)
	if err != nil {
		t.Fatal(err)
	}
	floats, entered = floats[:8], entered[:8]
	got := forward(t, m, q.Float, values, places, steps, floats)
	traces := traced(t, shipped, entered)
	for at, all := range got {
		n := shipped.Nodes[at]
		wrong, total := 0, 0
		for s := range entered {
			want, err := traces[s][at].Decode()
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range want {
				if total++; float64(float32(w)) != all[s*len(want)+i] {
					wrong++
				}
			}
		}
		most := 0
		if len(m.Approximate) > 0 {
			most = total / 20 // by a step, at ties of sums that floats do not hold
		}
		if wrong > most {
			t.Errorf("%s (%s, %s): %d of %d values are not those of hardware", n.Name, n.Op.Name, n.Type.Format, wrong, total)
		}
	}
	if approximate != (len(m.Approximate) > 0) {
		t.Errorf("sums that are not exact: %v", m.Approximate)
	}
	return len(m.Scales)
}

// forward are the values of each node for samples, by the place of the node.
func forward(t *testing.T, m *model.Model, float *ir.Graph, values, places, steps [][]float32,
	samples []ref.Sample) map[int][]float64 {
	t.Helper()
	b := hlo.New("main")
	f, err := m.Prepare(b, model.Exact)
	if err != nil {
		t.Fatal(err)
	}
	var params, in []hlo.Value
	var args []hlo.Array
	for i, p := range m.Params {
		params = append(params, b.Arg(p.Name, hlo.TypeOf(hlo.F32, p.Shape...)))
		args = append(args, hlo.FromFloat32s(p.Shape, values[i]))
	}
	for i, n := range float.In {
		dims := append([]int{len(samples)}, n.Type.Shape...)
		in = append(in, b.Arg(n.Name, hlo.TypeOf(hlo.F32, dims...)))
		var x []float32
		for _, s := range samples {
			x = append(x, s[i].Floats...)
			for _, id := range s[i].Codes {
				x = append(x, float32(id))
			}
		}
		args = append(args, hlo.FromFloat32s(dims, x))
	}
	for i, x := range places {
		f.Places = append(f.Places, b.Arg(m.Each[i].Node, hlo.TypeOf(hlo.F32, len(x))))
		args = append(args, hlo.FromFloat32s([]int{len(x)}, x))
	}
	for i, x := range steps {
		f.Scales = append(f.Scales, b.Arg(m.Scales[i].Node, hlo.TypeOf(hlo.F32, len(x))))
		args = append(args, hlo.FromFloat32s([]int{len(x)}, x))
	}
	if _, err := f.Run(params, in); err != nil {
		t.Fatal(err)
	}
	var nodes []int
	var results []hlo.Value
	for i, n := range m.Graph().Nodes {
		if v, ok := f.Values[n.Name]; ok {
			nodes, results = append(nodes, i), append(results, v)
		}
	}
	b.Return(results...)
	out := map[int][]float64{}
	for k, a := range pjrttest.Run(t, b, args...) {
		out[nodes[k]] = a.Float64s()
	}
	return out
}

// traced are the values of all nodes of g, by sample.
func traced(t *testing.T, g *ir.Graph, samples []ref.Sample) [][]*ir.Tensor {
	t.Helper()
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]*ir.Tensor, len(samples))
	if err := p.Trace(t.Context(), samples, func(s int, v []*ir.Tensor) error { out[s] = v; return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}
