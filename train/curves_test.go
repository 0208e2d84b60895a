// SPDX-License-Identifier: Apache-2.0

package train_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/sum"
	"lathe/lower/plan"
	"lathe/train"
	"lathe/train/model"
)

// curves are what JAX has made of training (testdata/losses.py), by name.
func curves(t *testing.T) map[string][]float64 {
	t.Helper()
	text, err := os.ReadFile("testdata/losses.json")
	if err != nil {
		t.Fatal(err)
	}
	var out map[string][]float64
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCurves compares twenty steps with those of JAX: the losses of float models, step by step, within 1e-5 of a loss,
// or of a floor.
func TestCurves(t *testing.T) {
	want := curves(t)
	for _, c := range []struct {
		name, example, data, norms string
		floor                      float64
	}{
		{"digits-mlp", "digits-mlp", "digits-mlp", "frozen", 1e-2},
		{"digits-cnn", "digits-cnn", "digits-cnn", "frozen", 1e-2},
		{"digits-vit", "digits-vit", "digits-cnn", "frozen", 1e-1}, // its sums are longer
		{"batch norms", "digits-cnn", "digits-cnn", "train", 1e-1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, g := losses(t, filepath.Join("..", "examples", c.example), filepath.Join("..", "examples", c.data), c.norms)
			for s, w := range want[c.name][:20] {
				if off := math.Abs(got[s]-w) / max(math.Abs(w), c.floor); !(off <= 1e-5) {
					t.Errorf("step %d: the loss is %.8g, that of JAX %.8g", s+1, got[s], w)
				}
			}
			if c.norms == "train" {
				compareStatistics(t, g, want["statistics"])
			}
		})
	}
}

// compareStatistics compares those of the batch normalizations of the graph that ships, after an epoch.
func compareStatistics(t *testing.T, g *ir.Graph, want []float64) {
	t.Helper()
	for _, n := range g.Nodes {
		if n.Op != sum.BatchNorm {
			continue
		}
		for _, a := range n.Args[3:] {
			v, err := a.Value()
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range v.Floats {
				if w := want[i]; math.Abs(float64(x)-w) > 1e-4*max(math.Abs(w), 1) {
					t.Errorf("%s[%d] is %g, that of JAX %g", a.Name, i, x, w)
				}
			}
			want = want[len(v.Floats):]
		}
	}
	if len(want) > 0 {
		t.Errorf("%d statistics are missing", len(want))
	}
}

// losses are those of the steps of an epoch of an example on the training samples of a folder; g is what ships then.
func losses(t *testing.T, dir, data, norms string) (out []float64, g *ir.Graph) {
	t.Helper()
	g, err := driver.Source{Model: filepath.Join(dir, "model.onnx")}.Import()
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Float(g)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Params {
		if strings.Contains(p.Name, "running") {
			t.Errorf("%s is trained", p.Name)
		}
	}
	read := func(name string) npz.Array {
		f, err := npz.Read(filepath.Join(data, name))
		if err != nil {
			t.Fatal(err)
		}
		return f.Arrays[0]
	}
	x, y := read("train.npz"), read("train_labels.npy")
	classes, err := y.Int64s()
	if err != nil {
		t.Fatal(err)
	}
	n := len(classes)
	set := &train.Set{Name: "train.npz", N: n, Labels: hlo.FromInt64s(hlo.I32, []int{n}, classes),
		Inputs: []hlo.Array{hlo.FromFloat32s(append([]int{n}, g.In[0].Type.Shape...), x.Float32s())}}
	p := plan.Default().Train
	if p.BatchNorm = norms; norms == "train" {
		p.Freeze = []string{"conv1.bias", "conv2.bias"} // their gradients are rounding alone
	}
	p.Epochs, p.Warmup, p.Clip, p.Schedule = 1, 0, 0, "constant"
	o := &train.Options{Train: p, Watch: func(p train.Progress) { out = append(out, p.Losses...) }}
	trainer, err := train.New(m, set, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := trainer.Run(t.Context(), train.OnPJRT(pjrttest.Engine(t)))
	if err != nil {
		t.Fatal(err)
	}
	return out, r.Graph
}
