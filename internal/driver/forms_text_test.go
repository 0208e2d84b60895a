// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"math"
	"slices"
	"testing"

	"lathe/frontend/source"
	"lathe/frontend/stablehlo"
	"lathe/golden"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/hlo/text"
	"lathe/ir/ref"
)

// TestThreeForms computes one network from ONNX, from PyTorch, and from StableHLO text: that of the printer, which
// takes the weights as arguments. All outputs lie within 1e-5 of the largest from the first form's.
func TestThreeForms(t *testing.T) {
	for _, example := range []string{"digits-mlp", "digits-cnn", "digits-vit"} {
		t.Run(example, func(t *testing.T) {
			dir := examples + example + "/"
			x := arrays(t, dir+"inputs.npz").Arrays[0].Float32s()
			var first []float32
			for _, file := range []string{"model.onnx", "model.pt2"} {
				g, err := driver.Source{Model: dir + file}.Import()
				if err != nil {
					t.Fatal(err)
				}
				direct := firstOutputs(t, g, x, nil)
				if first == nil {
					first = direct
				}
				text, weights := printedAgain(t, g)
				for form, y := range [][]float32{direct, firstOutputs(t, text, x, weights)} {
					if d := distance(y, first); !(d <= 1e-5) {
						t.Errorf("%s, form %d lies %.2g of the largest output from model.onnx", file, form, d)
					}
				}
			}
		})
	}
}

// printedAgain prints a graph for one sample and reads the text as a model. Its inputs behind those of the graph are
// the weights.
func printedAgain(t *testing.T, g *ir.Graph) (*ir.Graph, []hlo.Array) {
	t.Helper()
	p, err := golden.Print(g, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	p = p.Expand()
	again, err := stablehlo.Parse("model.mlir", []byte(text.Print(p)), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(again.In) != len(g.In)+len(p.Weights) {
		t.Fatalf("%d inputs for %d weights", len(again.In), len(p.Weights))
	}
	return again, p.Data()
}

// firstOutputs are the first output of g on the first samples of x, in a row.
func firstOutputs(t *testing.T, g *ir.Graph, x []float32, weights []hlo.Array) (y []float32) {
	t.Helper()
	const count = 20
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	var samples []ref.Sample
	for one := range slices.Chunk(x[:count*g.In[0].Type.Elems()], g.In[0].Type.Elems()) {
		s := ref.Sample{{Type: g.In[0].Type, Floats: one}}
		for i, w := range weights {
			v := ir.NewTensor(g.In[i+1].Type)
			for k, f := range w.Float64s() {
				v.Floats[k] = float32(f)
			}
			s = append(s, v)
		}
		samples = append(samples, s)
	}
	outputs, err := p.Run(t.Context(), samples)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outputs {
		y = append(y, o[0].Floats...)
	}
	return y
}

// distance is the largest difference, as a part of the largest of want; NaN where the lengths differ.
func distance(got, want []float32) float64 {
	if len(got) != len(want) {
		return math.NaN()
	}
	most, top := 0.0, 0.0
	for i, w := range want {
		most = max(most, math.Abs(float64(got[i]-w)))
		top = max(top, math.Abs(float64(w)))
	}
	return most / top
}
