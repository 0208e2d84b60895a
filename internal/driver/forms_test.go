// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"lathe/golden"
	"lathe/golden/pjrt"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/ir/text"
)

// forms are the examples that there are in several file forms, with all their files, and how far their outputs may lie
// from each other, as a part of the largest output.
var forms = []struct {
	example string
	files   []string
	apart   float64
	tokens  int // of a Hugging Face folder
}{
	{"digits-mlp", []string{"model.onnx", "model_legacy.onnx", "model.pt2", "model_dyn.pt2"}, 1e-6, 0},
	{"digits-cnn", []string{"model.onnx", "model_folded.onnx", "model.pt2", "model_dyn.pt2"}, 1e-6, 0},
	{"digits-resnet", []string{"model.onnx", "model.pt2"}, 1e-6, 0},
	{"digits-dscnn", []string{"model.onnx", "model.pt2"}, 1e-6, 0},
	{"jets-mlp", []string{"model.onnx", "model.pt2"}, 1e-6, 0},
	{"digits-vit", []string{"model.onnx", "model_opset20.onnx", "model.pt2", "model_dyn.pt2", "model_sdpa.pt2"}, 1e-5, 0},
	{"digits-lstm", []string{"model.onnx", "model_legacy.onnx", "model.pt2"}, 1e-6, 0},
	{"digits-gru", []string{"model.onnx", "model_legacy.onnx", "model.pt2"}, 1e-6, 0},
	{"tiny-llama", []string{"hf", "model.onnx", "model.pt2"}, 5e-6, 16},
	{"tiny-gpt2", []string{"hf", "model.onnx", "model.pt2"}, 5e-6, 80},
	{"tiny-bert", []string{"hf", "model.onnx", "model.pt2"}, 5e-6, 32},
	{"bert-tiny-like", []string{"hf", "model.onnx", "model.pt2"}, 5e-6, 24},
}

// TestForms computes the outputs of every file of forms, by the reference and, on some samples, by PJRT: they are those
// that the source framework gave, within 1e-3 relative and 1e-4 absolute, and those of the other files of the example.
func TestForms(t *testing.T) {
	for _, f := range tools.Few(3, forms) {
		t.Run(f.example, func(t *testing.T) {
			dir := examples + f.example + "/"
			inputs, want := arrays(t, dir+"inputs.npz"), arrays(t, dir+"outputs.npz")
			first := formOutputs(t, dir+f.files[0], f.tokens, inputs)
			nearTo(t, f.files[0], first, want)
			for _, file := range f.files[1:] {
				got := formOutputs(t, dir+file, f.tokens, inputs)
				nearTo(t, file, got, want)
				if d := apart(t, got, first); d > f.apart {
					t.Errorf("%s lies %.2g of the largest output from %s", file, d, f.files[0])
				}
			}
		})
	}
}

func arrays(t *testing.T, path string) *npz.File {
	t.Helper()
	f, err := npz.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// formOutputs are the outputs of a model for all samples, by the reference; PJRT must agree on the first ones.
func formOutputs(t *testing.T, path string, tokens int, inputs *npz.File) []npz.Array {
	t.Helper()
	s := driver.Source{Model: path}
	if filepath.Base(path) == "hf" {
		s.Transformer.Seq = tokens
	}
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	samples, batch, err := driver.Samples(g, inputs)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := p.Run(t.Context(), samples)
	if err != nil {
		t.Fatal(err)
	}
	all, err := driver.Arrays(g, outputs, batch, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("pjrt", func(t *testing.T) { samePJRT(t, path, g, samples[:min(8, len(samples))], outputs) })
	return all
}

// samePJRT runs a float graph on PJRT.
func samePJRT(t *testing.T, path string, g *ir.Graph, samples, want []ref.Sample) {
	t.Helper()
	e, err := pjrt.Start(t.Context(), pjrttest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	got, err := golden.RunPJRT(t.Context(), e, g, samples, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for s := range got {
		for i := range got[s] {
			for k, v := range got[s][i].Floats {
				if w := want[s][i].Floats[k]; !near(float64(v), float64(w)) {
					t.Fatalf("%s: sample %d, element %d: PJRT gives %g, the reference %g", path, s, k, v, w)
				}
			}
		}
	}
}

// near is the tolerance against a source framework.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-4+1e-3*math.Abs(want) }

func nearTo(t *testing.T, file string, got []npz.Array, want *npz.File) {
	t.Helper()
	if len(got) != len(want.Arrays) {
		t.Fatalf("%s: %d outputs, want %d", file, len(got), len(want.Arrays))
	}
	for i, a := range got {
		have, wanted := a.Float32s(), want.Arrays[i].Float32s()
		if len(have) != len(wanted) {
			t.Fatalf("%s: output %s has %v elements, want %v", file, a.Name, a.Shape, want.Arrays[i].Shape)
		}
		for k := range have {
			if !near(float64(have[k]), float64(wanted[k])) {
				t.Fatalf("%s: element %d of output %s is %g, want %g", file, k, a.Name, have[k], wanted[k])
			}
		}
		t.Logf("%s: at most %.2g of the largest output from the source", file,
			apart(t, got[i:i+1], []npz.Array{want.Arrays[i]}))
	}
}

// apart is the largest difference between outputs, as a part of the largest of them.
func apart(t *testing.T, a, b []npz.Array) float64 {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%d and %d outputs", len(a), len(b))
	}
	worst, largest := 0., 0.
	for i := range a {
		x, y := a[i].Float32s(), b[i].Float32s()
		if len(x) != len(y) {
			t.Fatalf("outputs of %v and %v", a[i].Shape, b[i].Shape)
		}
		for k := range x {
			worst = max(worst, math.Abs(float64(x[k])-float64(y[k])))
			largest = max(largest, math.Abs(float64(y[k])))
		}
	}
	return worst / max(largest, math.SmallestNonzeroFloat64)
}

// circuit is the digest of a scheduled graph without names and places: graphs that have the same one are the same
// hardware.
func circuit(scheduled *ir.Graph) string {
	g := scheduled.Clone()
	g.Name = ""
	for i, n := range g.Nodes {
		n.Name, n.Pos, n.Stats = fmt.Sprintf("n%d", i), "", ir.Stats{}
	}
	for i := range g.Out {
		g.Out[i].Name = fmt.Sprintf("out%d", i)
	}
	sum := sha256.Sum256([]byte(text.Print(g)))
	return hex.EncodeToString(sum[:])
}

// sameCircuits are the PyTorch programs that become, under every plan, the circuit of the ONNX file of their example:
// what docs/results.md says of one holds for the other. Those of digits-resnet and digits-dscnn are circuits of their
// own, under some plans at least.
var sameCircuits = []string{"digits-mlp/model.pt2", "digits-mlp/model_dyn.pt2", "digits-cnn/model.pt2",
	"digits-cnn/model_dyn.pt2", "jets-mlp/model.pt2"}

// compareCircuits wants that of sameCircuits under a plan.
func compareCircuits(t *testing.T, plan string) {
	t.Helper()
	for _, path := range sameCircuits {
		example, file := filepath.Split(path)
		example = filepath.Clean(example)
		want, err := compile(t.Context(), example, "model.onnx", plan)
		if err != nil {
			t.Fatal(err)
		}
		got, err := compile(t.Context(), example, file, plan)
		if err != nil {
			t.Fatal(err)
		}
		if circuit(got.HW.Scheduled) != circuit(want.HW.Scheduled) {
			t.Errorf("%s, plan %q: not the circuit of model.onnx", path, plan)
		}
	}
}

func TestCircuits(t *testing.T) { compareCircuits(t, "") }

// TestVerifyForms takes models that are no ONNX files through the fixed-point flow: no code differs.
func TestVerifyForms(t *testing.T) {
	for _, c := range []struct{ model, file string }{{"digits-mlp", "model.pt2"}, {"digits-cnn", "model.pt2"}} {
		t.Run(c.model+"/"+c.file, func(t *testing.T) {
			e := engines(t)
			check, err := e.Verify(t.Context(), *job(t, c.model, c.file, "", 100))
			if err != nil {
				t.Fatal(err)
			}
			if check.Mismatches != 0 || check.Outputs != 1000 {
				t.Fatalf("%d of %d codes differ: %v", check.Mismatches, check.Outputs, check.First)
			}
		})
	}
}
