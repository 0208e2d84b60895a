// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/ir/ref"
	"lathe/lower/float"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// TestCorrectBias: with the correction, the mean of each output channel is that of the float model, within what
// rounding of results leaves, and nothing but biases changes.
func TestCorrectBias(t *testing.T) {
	ctx := context.Background()
	e := load(t, "digits-cnn", "model.onnx")
	text := "[quantize]\ndata = \"fixed(10)\"\nunsigned = true\nweight = \"fixed(3)\"\n"
	plain, err := plan.Parse("plan.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := plan.Parse("plan.toml", []byte(text+"correct_bias = true\n"))
	if err != nil {
		t.Fatal(err)
	}
	a, _, err := Run(ctx, e.Graph, plain, e.calib, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, report, err := Run(ctx, e.Graph, plan, e.calib, Options{})
	if err != nil {
		t.Fatal(err)
	}
	note := slices.IndexFunc(report.Notes, func(s string) bool { return strings.HasPrefix(s, "biases of 3 layers are ") })
	if note < 0 || report.Loose == 0 {
		t.Errorf("%q, %d loose", report.Notes, report.Loose)
	}
	for _, n := range a.Nodes { // of the two graphs, only biases differ
		m := b.Find(n.Name)
		if m == nil || !m.Type.SameFormat(n.Type) {
			t.Fatalf("%s has changed", n.Name)
		}
		if n.IsConst() && sameConst(t, n, m) == strings.HasSuffix(n.Name, ".bias") {
			t.Errorf("%s: same codes %v", n.Name, sameConst(t, n, m))
		}
	}
	samples := make([]ref.Sample, len(e.calib.Samples["x"]))
	for i, x := range e.calib.Samples["x"] {
		samples[i] = ref.Sample{x}
	}
	want, before, after := channelsOn(t, e, samples), meansOn(t, a, samples), meansOn(t, b, samples)
	for c := range want {
		was, is := math.Abs(before[c]-want[c]), math.Abs(after[c]-want[c])
		if is > 0.05 || was < is {
			t.Errorf("channel %d: the mean is off by %g, without correction by %g", c, is, was)
		}
	}
}

// sameConst says that two constants have the same codes.
func sameConst(t *testing.T, a, b *ir.Node) bool {
	t.Helper()
	x, err := a.Value()
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.Value()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Equal(x.Codes, y.Codes)
}

func channelsOn(t *testing.T, e *example, samples []ref.Sample) []float64 {
	t.Helper()
	g, err := float.Simplify(context.Background(), e.Graph, pass.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return meansOn(t, g, samples)
}

// TestCorrectBiasBlind: without samples nothing is corrected, and the report says so.
func TestCorrectBiasBlind(t *testing.T) {
	e := load(t, "jets-mlp", "model.onnx")
	plan, err := plan.Parse("plan.toml", []byte("[quantize]\ncorrect_bias = true\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, report, err := Run(context.Background(), e.Graph, plan, Calibration{}, Options{})
	if err != nil || !slices.ContainsFunc(report.Warnings, func(s string) bool {
		return strings.HasPrefix(s, "biases are corrected from samples")
	}) {
		t.Errorf("%q, %v", report.Warnings, err)
	}
}

// meansOn are the means of the elements of output 0.
func meansOn(t *testing.T, g *ir.Graph, samples []ref.Sample) []float64 {
	t.Helper()
	out := outputs(t, g, samples)
	var mean []float64
	for _, s := range out {
		x, err := s[0].Decode()
		if err != nil {
			t.Fatal(err)
		}
		if mean == nil {
			mean = make([]float64, len(x))
		}
		for i, v := range x {
			mean[i] += v / float64(len(out))
		}
	}
	return mean
}

// TestFarInputs: weights are rounded, and their products with an input far from 0 are wrong by the mean times as much;
// the bias makes up for it, without being asked. Inputs around 0 are left as they are.
func TestFarInputs(t *testing.T) {
	for _, c := range []struct {
		mean, spread float64
		direct, near bool
	}{{293, 5, false, false}, {1013, 8, true, false}, {-70, 2, true, false}, {0.2, 1, false, true},
		{1, 0.6, true, true}} {
		b := lowertest.New(t, 9)
		x := b.Input("x", 1, 4)
		mean := b.Const([]int{4}, float32(c.mean), float32(c.mean*1.01), float32(c.mean*0.98), float32(c.mean*1.1))
		y := b.Add(pointwise.Sub, "centred", nil, x, mean)
		y = b.Add(pointwise.Mul, "scaled", nil, y, b.Const([]int{1}, float32(1/c.spread)))
		y = b.Linear("first", y, 8, true)
		if !c.direct {
			y = b.Add(pointwise.Relu, "relu", nil, y)
		}
		g := b.Done(b.Linear("last", y, 2, true))
		in := samples(g, -1, 1, 60)
		for _, s := range in.Samples["x"] {
			for i := range s.Floats {
				s.Floats[i] = float32(c.mean) + s.Floats[i]*float32(c.spread)
			}
		}
		_, r := mustQuantize(t, g, "", in)
		told := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "lie far from 0") })
		_, fine := mustQuantize(t, g, "[quantize]\nweight = \"fixed(16)\"\nunsigned = true\n", in)
		if got, most := r.Outputs[0].SQNR, fine.Outputs[0].SQNR; got < most-3 || told && c.near {
			t.Errorf("%g +- %g: %.1f dB, with fine weights %.1f, told %v", c.mean, c.spread, got, most, told)
		}
	}
}
