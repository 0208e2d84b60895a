// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"path/filepath"
	"testing"

	"lathe/frontend/source"
	engines "lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
)

// TestTransformer runs all files of a vision transformer on PJRT, as internal/driver does with the others: within
// 2e-5 of the stored outputs, and a ten-thousandth of them. frontend's own test has the reference.
func TestTransformer(t *testing.T) {
	const folder, samples = "../../examples/digits-vit/", 50
	paths, err := filepath.Glob(folder + "*.onnx")
	if err != nil || len(paths) < 4 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	read := func(file, name string) []float32 {
		f, err := npz.Read(folder + file)
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		return a.Float32s()
	}
	x, want := read("inputs.npz", "x"), read("outputs.npz", "logits")
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			e := pjrttest.Engine(t)
			g, err := Load(path, source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var in []ref.Sample
			for s := range samples {
				in = append(in, ref.Sample{{Type: g.In[0].Type, Floats: x[64*s : 64*(s+1)]}})
			}
			out, err := engines.RunPJRT(t.Context(), e, g, in, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			for s := range samples {
				compareWith(t, out[s][0], want[10*s:10*(s+1)])
			}
		})
	}
}

func compareWith(t *testing.T, got *ir.Tensor, want []float32) {
	t.Helper()
	if len(got.Floats) != len(want) {
		t.Fatalf("%d values, want %d", len(got.Floats), len(want))
	}
	for i, w := range want {
		if d := math.Abs(float64(got.Floats[i] - w)); !(d <= 2e-5+1e-4*math.Abs(float64(w))) {
			t.Fatalf("value %d is %g, want %g", i, got.Floats[i], w)
		}
	}
}
