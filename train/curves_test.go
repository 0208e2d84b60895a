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
	"lathe/ir/hlo"
	"lathe/lower/plan"
	"lathe/train"
	"lathe/train/model"
)

// TestCurves compares twenty steps with those of JAX (testdata/losses.py): the losses of float models, step by step,
// within 1e-5 of a loss, or of a floor.
func TestCurves(t *testing.T) {
	text, err := os.ReadFile("testdata/losses.json")
	if err != nil {
		t.Fatal(err)
	}
	var curves map[string][]float64
	if err := json.Unmarshal(text, &curves); err != nil {
		t.Fatal(err)
	}
	for example, want := range curves {
		t.Run(example, func(t *testing.T) {
			data, floor := example, 1e-2
			if example == "digits-vit" { // trained on the digits of another example; its sums are longer
				data, floor = "digits-cnn", 1e-1
			}
			got := curve(t, filepath.Join("..", "examples", example), filepath.Join("..", "examples", data), len(want))
			for s, w := range want {
				if off := math.Abs(got[s]-w) / max(math.Abs(w), floor); !(off <= 1e-5) {
					t.Errorf("step %d: the loss is %.8g, that of JAX %.8g", s+1, got[s], w)
				}
			}
		})
	}
}

// curve are the losses of the first steps of an example on the training samples of a folder, one a call.
func curve(t *testing.T, dir, data string, steps int) []float64 {
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
	p.Epochs, p.Warmup, p.Clip, p.Schedule = 1, 0, 0, "constant"
	var losses []float64
	o := &train.Options{Train: p, Watch: func(p train.Progress) { losses = append(losses, p.Losses...) }}
	trainer, err := train.New(m, set, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trainer.Run(t.Context(), train.OnPJRT(pjrttest.Engine(t))); err != nil {
		t.Fatal(err)
	}
	return losses[:steps]
}
