// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/driver"
	"lathe/ir"
	"lathe/lower/plan"
)

// example is a meter of a trained model on its first samples.
func example(t *testing.T, name, plan string, samples int) *Meter {
	t.Helper()
	return exampleOn(t, name, plan, driver.Data{Most: samples})
}

// exampleOn is a meter of a trained model on its samples, as d says.
func exampleOn(t *testing.T, name, plan string, d driver.Data) *Meter {
	t.Helper()
	path := func(file string) string { return filepath.Join("..", "..", "examples", name, file) }
	s := driver.Source{Model: path("model.onnx"), Calibrate: path("calib.npz"), Plan: plan}
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	d.Inputs, d.Labels = path("inputs.npz"), path("labels.npy")
	meter, err := meterOf(s, g, d)
	if err != nil {
		t.Fatal(err)
	}
	return meter
}

// meterOf is a meter of an imported model.
func meterOf(s driver.Source, g *ir.Graph, d driver.Data) (*Meter, error) {
	subject, err := s.Subject(context.Background(), g, d)
	if err != nil {
		return nil, err
	}
	return NewMeter(context.Background(), subject)
}

// TestLayers finds what a rule can give a format, and which ReLUs are part of a layer.
func TestLayers(t *testing.T) {
	var got []string
	for _, l := range example(t, "digits-cnn", "", 1).Layers {
		got = append(got, strings.TrimSuffix(strings.Join(append([]string{l.Node}, l.Cuts...), "+"), "+"))
		if signed := l.Node == "fc"; signed == l.Unsigned {
			t.Errorf("%s: unsigned %v", l.Node, l.Unsigned)
		}
	}
	if want := []string{"x", "conv1+relu", "conv2+relu_1", "fc"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDeclared: an input whose declared range reaches below 0 keeps its sign, whatever calibration saw.
func TestDeclared(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan.toml")
	if err := os.WriteFile(plan, []byte("[[input]]\nname = \"x\"\nrange = [-1.0, 1.0]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if l := example(t, "digits-cnn", plan, 1).Layers[0]; !l.Input || l.Unsigned {
		t.Errorf("%+v", l)
	}
}

// TestMeasure holds a point against the driver's own figures for the same plan, sizes counted by hand.
func TestMeasure(t *testing.T) {
	ctx := context.Background()
	meter := example(t, "jets-mlp", "", 200)
	plan, err := meter.Plan.Uniform("test", "fixed(5)", true, true)
	if err != nil {
		t.Fatal(err)
	}
	p, q, err := meter.Measure(ctx, plan, true)
	if err != nil {
		t.Fatal(err)
	}
	full := example(t, "jets-mlp", "", 0)
	all, _, err := full.Measure(ctx, plan, false)
	if err != nil {
		t.Fatal(err)
	}
	path := func(file string) string { return filepath.Join("..", "..", "examples", "jets-mlp", file) }
	right, err := q.Right(ctx, path("inputs.npz"), path("labels.npy"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := right.Accuracy
	if *all.Accuracy != want.Quantized || *full.Accuracy != *want.Float {
		t.Errorf("accuracy %v of %v, want %v of %v", *all.Accuracy, *full.Accuracy, want.Quantized, *want.Float)
	}
	if bits := 5*(64*16+32*64+32*32+5*32) + 16*(64+32+32+5); p.ModelBits != bits || p.WeightBits != 5 || p.DataBits != 5 {
		t.Errorf("%+v, want %d bits of 5", p.Size, bits)
	}
	if p.Cost == nil || p.Cost.LUT == 0 || p.Cost.Interval == 0 {
		t.Errorf("cost %+v", p.Cost)
	}
	if p.SQNR == nil || *p.SQNR == *all.SQNR {
		t.Error("the number of samples makes no difference")
	}
}

// TestSensitivity: errors of layers add up to about that of all, shares to one, and a wide format costs nothing.
func TestSensitivity(t *testing.T) {
	meter := example(t, "jets-mlp", "", 150)
	s, err := meter.Sensitivity(context.Background(), []string{"fixed(6)", "fixed(16)", "fp32"}, Parts{true, true}, false,
		nil)
	if err != nil {
		t.Fatal(err)
	}
	share := 0.0
	for i := 0; i < len(s.Rows); i += 3 {
		share += *s.Rows[i].Share
		if r := s.Rows[i+1]; *r.SQNR != *s.Base.SQNR || r.ModelBits != s.Base.ModelBits {
			t.Errorf("%s in %s: %+v, base %+v", r.Node, r.Format, r.Point, s.Base)
		}
		if r := s.Rows[i+2]; !strings.Contains(r.Refused, "L0406") {
			t.Errorf("%s in %s: %+v", r.Node, r.Format, r)
		}
	}
	if math.Abs(share-1) > 1e-9 {
		t.Errorf("shares add up to %g", share)
	}
	if w := s.Whole[0]; w.WeightBits != 6 || w.DataBits != 6 || *w.Sum < 0.5 || *w.Sum > 2 {
		t.Errorf("all layers: %+v, sum %g", w, *w.Sum)
	}
	if s.Removed != nil {
		t.Error("the error of a plan that nobody gave is divided")
	}
}

// TestRemoved divides the error of a plan that is coarse in one layer: it is that layer's.
func TestRemoved(t *testing.T) {
	meter := example(t, "jets-mlp", "", 150)
	wide, err := meter.wide()
	if err != nil {
		t.Fatal(err)
	}
	if meter.Plan, err = wide.Assigned("test", meter.Layers[2].Assign("fixed(4)", "fixed(4)")); err != nil {
		t.Fatal(err)
	}
	s, err := meter.Sensitivity(context.Background(), []string{"fixed(8)"}, Parts{Weight: true}, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range s.Removed {
		if coarse := i == 2; coarse != (part > 0.9) || !coarse && math.Abs(part) > 0.01 {
			t.Errorf("%s: share %g", meter.Layers[i].Node, part)
		}
	}
	if r := s.Rows[0]; r.Refused == "" { // the input has no weights
		t.Errorf("%+v", r)
	}
}

// TestAssign gives results without a negative value formats without a sign, where the format leaves that open.
func TestAssign(t *testing.T) {
	l := Layer{Node: "a", Weights: 3, Unsigned: true, Cuts: []string{"r"}}
	for f, want := range map[string]string{"fixed(4)": "ufixed(4)", "fixed(4,round=floor)": "ufixed(4,round=floor)",
		"fixed(8,4)": "fixed(8,4)", "fixed(8,4,round=floor)": "fixed(8,4,round=floor)", "mxint8": "mxint8",
		"fixed(4,over=wrap)": "fixed(4,over=wrap)"} {
		list := l.Assign(f, f)
		if !slices.Equal(list, []plan.Assignment{{Node: "a", Weight: f, Data: want}, {Node: "r", Data: want}}) {
			t.Errorf("%s: %+v", f, list)
		}
	}
	weight := []plan.Assignment{{Node: "a", Weight: "fixed(4)"}}
	if list := l.Assign("fixed(4)", ""); !slices.Equal(list, weight) {
		t.Errorf("%+v", list)
	}
	if l.Weights = 0; l.Assign("fixed(4)", "") != nil {
		t.Error("a layer without weights has one")
	}
}

// TestCSV quotes what holds commas.
func TestCSV(t *testing.T) {
	got := string(CSV([][]string{{"a", "share"}, {"fixed(8,4)", "12.5 %"}, {`say "x"`, ""}}))
	if want := "a,share\n\"fixed(8,4)\",12.5\n\"say \"\"x\"\"\",\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
