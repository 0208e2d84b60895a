// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/plan"
)

// labelled are the first samples of the inputs of an example, with their labels.
func labelled(t *testing.T, model string, count int) (*example, Calibration) {
	t.Helper()
	e := load(t, model, "model.onnx")
	read := func(name string) *npz.File {
		f, err := npz.Read(filepath.Join("..", "..", "examples", model, name))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	x := read("inputs.npz").Arrays[0].Float32s()
	y, err := read("labels.npy").Arrays[0].Int64s()
	if err != nil {
		t.Fatal(err)
	}
	c := Calibration{Samples: map[string][]*ir.Tensor{}}
	in := e.Graph.In[0]
	for i := range count {
		v := ir.NewTensor(in.Type)
		copy(v.Floats, x[i*len(v.Floats):])
		c.Samples[in.Name] = append(c.Samples[in.Name], v)
		c.Labels = append(c.Labels, y[i:i+1])
	}
	return e, c
}

// TestCrossEntropy: ranges move, to less cross-entropy than the least squared error has, as measured on the graph that
// comes out, and passes that measure a gain say what is right.
func TestCrossEntropy(t *testing.T) {
	e, c := labelled(t, "digits-mlp", 100)
	const text = "[quantize]\ndata = \"fixed(3)\"\nweight = \"fixed(3)\"\nunsigned = true\ncorrect_bias = true\n"
	var loss [2]float64
	var said string
	for i, method := range []string{"mse", "cross-entropy"} {
		plan, err := plan.Parse("plan.toml", fmt.Appendf(nil, "%scalibrate = %q\n", text, method))
		if err != nil {
			t.Fatal(err)
		}
		plan.Quantize.CorrectBias = i == 0
		g, report, err := Run(t.Context(), e.Graph, plan, c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		said += strings.Join(append(report.Notes, report.Warnings...), "\n")
		if i == 0 {
			plan.Quantize.CorrectBias = false
			if g, _, err = Run(t.Context(), e.Graph, plan, c, Options{}); err != nil {
				t.Fatal(err)
			}
		}
		samples := make([]ref.Sample, len(c.Labels))
		for k, x := range c.Samples[e.Graph.In[0].Name] {
			samples[k] = ref.Sample{x}
		}
		out := outputs(t, g, samples)
		if loss[i], err = crossEntropy(out, c.Labels, false); err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprintf("cross-entropy of the outputs %.4f before, %.4f after, on 100 calibration samples", loss[0],
		loss[1])
	if !(loss[1] < 0.9*loss[0]) || !strings.Contains(said, want) || !strings.Contains(said, "dB after, accuracy 0.") {
		t.Errorf("%v: %s", loss, said)
	}
}

// TestCrossEntropyErrors: labels are missing, too few, or no classes, or the output tells a class already.
func TestCrossEntropyErrors(t *testing.T) {
	e, c := labelled(t, "digits-mlp", 4)
	plan, err := plan.Parse("plan.toml", []byte("[quantize]\ncalibrate = \"cross-entropy\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	for text, labels := range map[string][][]int64{
		"needs the classes of the calibration samples": nil,
		"3 labels for 4 calibration samples":           c.Labels[:3],
		"is none of 10 classes":                        {{3}, {10}, {4}, {4}},
	} {
		_, _, err := Run(t.Context(), e.Graph, plan, Calibration{Samples: c.Samples, Labels: labels}, Options{})
		if diag.CodeOf(err) != "L0404" || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	out := []ref.Sample{{ir.NewTensor(ir.Float(1, 4))}}
	for _, labels := range [][][]int64{{{4}}, {{1, 2, 3}}, {{-1}}} {
		if _, err := crossEntropy(out, labels, false); diag.CodeOf(err) != "L0404" {
			t.Errorf("%v: %v", labels, err)
		}
	}
}

// TestChances: rows of logits that look like probabilities make none of the others.
func TestChances(t *testing.T) {
	for want, rows := range map[bool][]float32{true: {0.25, 0.75, 1, 0}, false: {1, 0, 3, -1}} {
		x := ir.NewTensor(ir.Float(2, 2))
		copy(x.Floats, rows)
		if got, err := chances([]ref.Sample{{x}}, [][]int64{{0, 1}}); err != nil || got != want {
			t.Errorf("%v: %v, %v", rows, got, err)
		}
	}
}
