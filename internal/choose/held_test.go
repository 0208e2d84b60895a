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
	d := Data{Labels: path("labels.npy"), HoldOut: 25}
	_, held := d.split(n)
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
		study, err := NewStudy(t.Context(), s, g, d)
		if err != nil {
			t.Fatal(err)
		}
		if study.On.HeldOut != len(held) || study.HeldAccuracy == nil {
			t.Errorf("%+v", study.On)
		}
		if facts := strings.Join(study.Facts(), "\n"); !strings.Contains(facts, "neither the search nor calibration") {
			t.Error(facts)
		}
		q, err := study.source.QuantizeUnder(t.Context(), study.graph, study.Plan)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text.Print(q.Graph))
	}
	if texts[0] != texts[1] {
		t.Error("samples held out change the quantized graph")
	}
}

// TestSplit: some are held out where that is asked for, and some stay.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		n, held int
		percent float64
	}{{10, 0, 0}, {10, 3, 30}, {10, 1, 1}, {1, 0, 50}, {2, 1, 90}} {
		d := Data{HoldOut: c.percent}
		if use, held := d.split(c.n); len(held) != c.held || len(use) != c.n-c.held {
			t.Errorf("%+v: %v and %v", c, use, held)
		}
	}
}
