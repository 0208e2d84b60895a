// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir/text"
)

// TestHeldOutApart: samples that are held out do not calibrate either, however large they are.
func TestHeldOutApart(t *testing.T) {
	path := func(file string) string { return filepath.Join("..", "..", "examples", "jets-mlp", file) }
	file, err := npz.Read(path("inputs.npz"))
	if err != nil {
		t.Fatal(err)
	}
	x := &file.Arrays[0]
	values, n := x.Float32s(), x.Shape[0]
	d := driver.Data{Inputs: path("inputs.npz"), Labels: path("labels.npy"), HoldOut: 25}
	held := exampleOn(t, "jets-mlp", "", d).subject.Held.Use
	var texts []string
	for _, by := range []float32{1, 1000} {
		loud := append([]float32(nil), values...)
		for _, k := range held {
			for e := range len(loud) / n {
				loud[k*len(loud)/n+e] *= by
			}
		}
		d.Inputs = filepath.Join(t.TempDir(), "x.npz")
		if err := npz.Write(d.Inputs, []npz.Array{npz.Float32Array(x.Name, x.Shape, loud)}); err != nil {
			t.Fatal(err)
		}
		s := driver.Source{Model: path("model.onnx")}
		g, err := s.Import()
		if err != nil {
			t.Fatal(err)
		}
		meter, err := meterOf(s, g, d)
		if err != nil {
			t.Fatal(err)
		}
		if meter.On.HeldOut != len(held) || meter.HeldAccuracy == nil {
			t.Errorf("%+v", meter.On)
		}
		if facts := strings.Join(meter.Facts(), "\n"); !strings.Contains(facts, "neither the search nor calibration") {
			t.Error(facts)
		}
		q, err := meter.subject.Quantize(t.Context(), meter.Plan)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text.Print(q.Graph))
	}
	if texts[0] != texts[1] {
		t.Error("samples held out change the quantized graph")
	}
}
