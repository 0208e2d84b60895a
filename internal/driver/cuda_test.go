// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/golden"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/ref"
	"lathe/lower"
	"lathe/lower/kernels"
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

// kernelGraph is the model in a folder as it was imported, or under its plan.
func kernelGraph(t *testing.T, m kernelModel, folder string) *ir.Graph {
	t.Helper()
	s := driver.Source{Model: filepath.Join(folder, "model.onnx")}
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
	if m.plan == "float" {
		return g
	}
	q, err := s.Quantize(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	return q.Graph
}

func runKernelExample(t *testing.T, compiler *nvrtc.Compiler, m kernelModel) {
	folder := filepath.Join("..", "..", "examples", m.model)
	g, _, err := lower.Kernels(t.Context(), kernelGraph(t, m, folder), kernels.Precision{},
		library.Portable(), kernels.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := cuda.Emit(g, cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := npz.Read(filepath.Join(folder, "inputs.npz"))
	if err != nil {
		t.Fatal(err)
	}
	samples, _, err := driver.Samples(g, file)
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
	binaries, err := driver.CompileCUDA(t.Context(), compiler, d, kernelArchs, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkBinaries(t, binaries, tools.Long || m == kernelModels()[0])
	device := gpu.Emulated(gpu.EmulatedOptions{})
	defer device.Close()
	got, err := golden.RunCUDA(t.Context(), device, d, driver.ProgramOf(d, binaries), samples, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	compareKernelOutputs(t, g, want, got)
}

// checkBinaries demands that no kernel spills and, where assemble is set, that the PTX is what it claims to be: ptxas
// takes it in its version.
func checkBinaries(t *testing.T, binaries []cuda.Binary, assemble bool) {
	t.Helper()
	for _, b := range binaries {
		for _, k := range b.Kernels {
			if k.Spill != 0 || k.Stack != 0 {
				t.Errorf("%s on %s spills %d bytes, %d on the stack", k.Kernel, b.Arch, k.Spill, k.Stack)
			}
		}
	}
	if !assemble {
		return
	}
	programs := nvrtc.Tools{Dir: tools.NeedCUDATools(t)}
	assembled := 0
	for _, b := range binaries {
		if !bytes.HasPrefix(b.Data, []byte("\x7fELF")) {
			assembled++
			if !bytes.Contains(b.Data, []byte(".version 7.4\n")) {
				t.Errorf("%s is not PTX of version 7.4", b.File)
			}
			if _, err := programs.Assemble(t.Context(), b.Data, "sm_80"); err != nil {
				t.Error(err)
			}
		}
	}
	if assembled == 0 {
		t.Error("no PTX")
	}
}

func compareKernelOutputs(t *testing.T, g *ir.Graph, want, got []ref.Sample) {
	t.Helper()
	for i, o := range g.Out {
		if err := compareKernelOutput(o.Node, outputsOf(want, i), outputsOf(got, i)); err != nil {
			t.Errorf("%s: %v", o.Name, err)
		}
	}
}

// column is output i of all samples.
func outputsOf(samples []ref.Sample, i int) []ref.Sample {
	out := make([]ref.Sample, len(samples))
	for s, values := range samples {
		if i < len(values) {
			out[s] = ref.Sample{values[i]}
		}
	}
	return out
}

// compareKernelOutput compares one output: codes bit by bit, floats within floatTolerance of the largest of a sample.
func compareKernelOutput(n *ir.Node, want, got []ref.Sample) error {
	if !n.Type.IsFloat() {
		compared, wrong, first, err := golden.Compare("cuda", []*ir.Node{n}, want, got)
		if err == nil && (wrong != 0 || compared == 0) {
			err = fmt.Errorf("%d of %d codes differ, first %v", wrong, compared, first)
		}
		return err
	}
	if len(got) != len(want) || len(want) == 0 {
		return fmt.Errorf("%d samples, want %d", len(got), len(want))
	}
	for s := range want {
		if len(got[s]) != 1 || len(got[s][0].Floats) != n.Type.Elems() {
			return fmt.Errorf("sample %d is not of %d values", s, n.Type.Elems())
		}
		w, g := want[s][0].Floats, got[s][0].Floats
		largest := 0.0
		for _, v := range w {
			largest = max(largest, math.Abs(float64(v)))
		}
		for k := range w {
			if d := math.Abs(float64(w[k]) - float64(g[k])); !(d <= floatTolerance*largest) || math.IsInf(d, 0) {
				return fmt.Errorf("value %d of sample %d is %g, want %g within %g", k, s, g[k], w[k], floatTolerance*largest)
			}
		}
	}
	return nil
}

// TestCompareKernelOutput feeds outputs that differ.
func TestCompareKernelOutput(t *testing.T) {
	floats := &ir.Node{Name: "f", Type: ir.Type{Shape: []int{2}, Format: format.FP32}}
	fixed := ir.Type{Shape: []int{2}, Format: format.Fixed{W: 8, F: 4, Signed: true}}
	codes := &ir.Node{Name: "c", Op: &ir.Op{Name: "x"}, Type: fixed}
	of := func(v ...float32) []ref.Sample { return []ref.Sample{{&ir.Tensor{Floats: v}}} }
	in := func(v ...int64) []ref.Sample { return []ref.Sample{{&ir.Tensor{Codes: v}}} }
	for _, c := range []struct {
		node      *ir.Node
		want, got []ref.Sample
		ok        bool
	}{
		{floats, of(1, 0.5), of(1, 0.500009), true}, {floats, of(1, 0.5), of(1, 0.50002), false},
		{floats, of(1e-3, 0), of(1e-3, 9e-9), true}, {floats, of(1e-3, 0), of(1e-3, 2e-8), false},
		{floats, of(1, 2), of(1), false}, {floats, of(1, 2), nil, false}, {floats, of(0, 0), of(0, 0), true},
		{codes, in(1, 2), in(1, 2), true}, {codes, in(1, 2), in(1, 3), false}, {codes, in(1, 2), in(1), false},
		{codes, in(1, 2), nil, false},
	} {
		if err := compareKernelOutput(c.node, c.want, c.got); (err == nil) != c.ok {
			t.Errorf("%v for %v: %v", c.got, c.want, err)
		}
	}
}

// TestKernelLibrary: the kernels of trained models are those of the library where it has them.
func TestKernelLibrary(t *testing.T) {
	for _, c := range []struct{ model, plan, want string }{
		{"digits-mlp", "", "int8 int8 int8"},
		{"digits-mlp", "w4", "int8 int8 int8"},
		{"digits-mlp", "mx", "mx_window own to_blocks mx_window own to_blocks mx_window to_blocks"},
		{"jets-mlp", "", "int8 int8 int8 int8"},
		{"digits-dscnn", "", "conv8 own int8 own int8 own int8"},
		{"digits-cnn", "", "conv8 own conv8 int8"},
		{"digits-resnet", "", "conv8 conv8 conv8 conv8 conv8 conv8 own int8"},
		{"digits-mlp", "float", "own own own"},
	} {
		folder := filepath.Join("..", "..", "examples", c.model)
		g := kernelGraph(t, kernelModel{c.model, c.plan}, folder)
		g, _, err := lower.Kernels(t.Context(), g, kernels.Precision{}, library.Portable(), kernels.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := cuda.Emit(g, cuda.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, u := range d.Units {
			name, _, _ := strings.Cut(u.Template, "<")
			if name == "" {
				name = "own"
			}
			got = append(got, name)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s, plan %q: %s, want %s", c.model, c.plan, s, c.want)
		}
	}
}
