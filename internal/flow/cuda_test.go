// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"lathe/emit/cuda"
	"lathe/golden"
	"lathe/golden/ref"
	"lathe/internal/flow"
	"lathe/internal/npz"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/sim/gpu"
	"lathe/sim/nvrtc"
)

// floatTolerance bounds what float kernels may differ from the reference, as a part of the largest value of a tensor.
const floatTolerance = 1e-5

// kernelModel is an example under a plan; plan "float" runs it as imported, "" at the default plan.
type kernelModel struct{ model, plan string }

// TestKernelExamples runs trained models as CUDA kernels on the emulated device and compares with the reference.
func TestKernelExamples(t *testing.T) {
	dir := tools.NeedNVRTC(t)
	compiler, err := nvrtc.Open(dir, filepath.Join(dir, "modules"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range kernelModels() {
		t.Run(fmt.Sprint(m.model, " ", m.plan), func(t *testing.T) {
			t.Parallel()
			runKernelExample(t, compiler, m)
		})
	}
}

func runKernelExample(t *testing.T, compiler *nvrtc.Compiler, m kernelModel) {
	folder := filepath.Join("..", "..", "examples", m.model)
	s := flow.Source{Model: filepath.Join(folder, "model.onnx")}
	if m.plan != "float" {
		s.Calibrate = filepath.Join(folder, "calib.npz")
		if m.plan != "" {
			s.Plan = filepath.Join("..", "..", "examples", "plans", m.plan+".toml")
		}
	}
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	if m.plan != "float" {
		q, err := s.Quantize(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		g = q.Graph
	}
	g, d, err := flow.EmitCUDA(g, cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := npz.Read(filepath.Join(folder, "inputs.npz"))
	if err != nil {
		t.Fatal(err)
	}
	samples, _, err := flow.Samples(g, file)
	if err != nil {
		t.Fatal(err)
	}
	samples = samples[:min(len(samples), kernelModelSamples)]
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	want, err := p.Run(t.Context(), samples)
	if err != nil {
		t.Fatal(err)
	}
	binaries, err := flow.CompileCUDA(t.Context(), compiler, d, kernelArchs, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range binaries {
		for _, k := range b.Kernels {
			if k.Spill != 0 || k.Stack != 0 {
				t.Errorf("%s on %s spills %d bytes, %d on the stack", k.Kernel, b.Arch, k.Spill, k.Stack)
			}
		}
	}
	device := gpu.Emulated(gpu.EmulatedOptions{})
	defer device.Close()
	got, err := golden.RunCUDA(t.Context(), device, d, flow.ProgramOf(d, binaries), samples, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	compareKernelOutputs(t, g, want, got)
}

func compareKernelOutputs(t *testing.T, g *ir.Graph, want, got []ref.Sample) {
	var nodes []*ir.Node
	exact := true
	for _, o := range g.Out {
		nodes = append(nodes, o.Node)
		exact = exact && !o.Node.Type.IsFloat()
	}
	if exact {
		compared, wrong, first, err := golden.Compare("cuda", nodes, want, got)
		if err != nil || wrong != 0 || compared == 0 {
			t.Errorf("%d of %d codes differ, %v, %v", wrong, compared, first, err)
		}
		return
	}
	for s := range want {
		for i := range nodes {
			largest := 1.0
			for _, v := range want[s][i].Floats {
				largest = max(largest, math.Abs(float64(v)))
			}
			for k, v := range want[s][i].Floats {
				if d := math.Abs(float64(v) - float64(got[s][i].Floats[k])); !(d <= floatTolerance*largest) {
					t.Fatalf("%s[%d] of sample %d is %g, want %g", g.Out[i].Name, k, s, got[s][i].Floats[k], v)
				}
			}
		}
	}
}
