// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/npz"
)

// TestSklearn: models as skl2onnx writes them give what onnxruntime gives, sample by sample.
func TestSklearn(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "sklearn", "*.onnx"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		g, err := Load(file, source.Options{})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		arrays, err := npz.Read(strings.TrimSuffix(file, ".onnx") + ".npz")
		if err != nil {
			t.Fatal(err)
		}
		x, err := arrays.Get("X")
		if err != nil {
			t.Fatal(err)
		}
		columns := x.Shape[1]
		for i := range x.Shape[0] {
			got := evaluate(t, g, x.Float32s()[i*columns:(i+1)*columns])
			for k, o := range g.Out {
				a, err := arrays.Get(o.Name)
				if err != nil {
					t.Fatal(err)
				}
				want := a.Float64s()
				size := len(want) / x.Shape[0]
				v, err := got[k].Decode()
				if err != nil || len(v) != size {
					t.Fatalf("%s: output %s has %d values, want %d; %v", file, o.Name, len(v), size, err)
				}
				for j, w := range want[i*size : (i+1)*size] {
					if math.Abs(v[j]-w) > 2e-6*max(1, math.Abs(w)) {
						t.Errorf("%s: sample %d, output %s is %v at %d, want %v", file, i, o.Name, v[j], j, w)
					}
				}
			}
		}
	}
}

// classifier is a LinearClassifier of two features with so many rows of coefficients.
func classifier(rows int, post string, labels ...int64) testModel {
	list := func(name string, v ...float32) pb {
		a := pb(nil).str(1, name)
		for _, f := range v {
			a = a.f32(7, f)
		}
		return a.int(20, 6)
	}
	n := nd("LinearClassifier", "x", "y s", list("coefficients", slices.Repeat([]float32{0.5, -1}, rows)...),
		list("intercepts", []float32{0.1, 0.2, 0.3}[:rows]...), aInts("classlabels_ints", labels...),
		aStr("post_transform", post)).str(7, "ai.onnx.ml")
	m := single(18, vi("x", 1, 2), n)
	m.outputs = []pb{viOf("y", 7), vi("s")}
	return m
}

// TestLinearClassifier: labels and scores of onnxruntime 1.32.0 for the rows (1, 0), (0, 1) and (1.2, 0.2).
func TestLinearClassifier(t *testing.T) {
	for _, c := range []struct {
		rows   int
		post   string
		labels []int64
		want   string
		scores []float64
	}{
		{1, "NONE", []int64{3, 5}, "5 3 5", []float64{0.4, 0.6, 1.9, -0.9, 0.5, 0.5}},
		{1, "SOFTMAX", []int64{3, 5}, "5 3 5", []float64{0.4, 0.6, 1.9, -0.9, 0.5, 0.5}},
		{1, "LOGISTIC", []int64{0, 1}, "1 0 1", []float64{0.3543, 0.6457, 0.7109, 0.2891, 0.3775, 0.6225}},
		{2, "LOGISTIC", []int64{7, 8, 9}, "8 8 8", []float64{0.6457, 0.6682, 0.2891, 0.31, 0.6225, 0.6457}},
		{3, "NONE", []int64{7, 8, 9}, "9 9 9", []float64{0.6, 0.7, 0.8, -0.9, -0.8, -0.7, 0.5, 0.6, 0.7}},
		{3, "SOFTMAX", []int64{7, 8, 9}, "9 9 9", []float64{0.3006, 0.3322, 0.3672, 0.3006, 0.3322, 0.3672, 0.3006, 0.3322,
			0.3672}},
	} {
		g, err := Parse("m.onnx", classifier(c.rows, c.post, c.labels...).bytes(), source.Options{})
		if err != nil {
			t.Errorf("%d %s: %v", c.rows, c.post, err)
			continue
		}
		var labels []string
		var scores []float64
		for _, x := range [][]float32{{1, 0}, {0, 1}, {1.2, 0.2}} {
			out := evaluate(t, g, x)
			labels = append(labels, class{number: out[0].Codes[0]}.String())
			for _, v := range out[1].Floats {
				scores = append(scores, math.Round(float64(v)*1e4)/1e4)
			}
		}
		if strings.Join(labels, " ") != c.want || !slices.Equal(scores, c.scores) {
			t.Errorf("%d %s: %v %v, want %s %v", c.rows, c.post, labels, scores, c.want, c.scores)
		}
	}
}

// TestTreesAreRefused: what scikit-learn has beside sums of products says what it is and what to do.
func TestTreesAreRefused(t *testing.T) {
	for _, r := range classicRefusals() {
		domain, op := "", r.op
		if name, ok := strings.CutPrefix(r.op, classic); ok {
			domain, op = "ai.onnx.ml", name
		}
		_, err := Parse("m.onnx", single(18, vi("x", 1, 2), nd(op, "x", "y").str(7, domain)).bytes(), source.Options{})
		if err == nil || !strings.Contains(err.Error(), r.why) || !strings.Contains(err.Error(), "hint: "+r.hint) {
			t.Errorf("%s: %v", r.op, err)
		}
	}
}
