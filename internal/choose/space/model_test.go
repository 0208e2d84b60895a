// SPDX-License-Identifier: Apache-2.0

package space

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/choose"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/lower/plan"
	"lathe/search"
)

// TestModels: a configuration makes the model that it says, without the layers that it does not have; models that
// cannot be are trials that fail, and lost engines are none; a mistake names its line.
func TestModels(t *testing.T) {
	c := study(t)
	c.Layers = slices.Clone(c.Layers)
	for i := range 3 {
		c.Layers = append(c.Layers, choose.Layer{Node: fmt.Sprintf("m.layer.%d.out", i), Op: "linear", Weights: 4,
			Square: true})
	}
	presetsOf(t, c)
	var made []source.NewModel
	var fault error
	c.New = func(_ context.Context, m source.NewModel, epochs int) (*choose.Meter, error) {
		if made = append(made, m); epochs != 5 {
			t.Errorf("%d epochs", epochs)
		}
		one := *c
		one.Layers = c.Layers[:len(c.Layers)-3] // of a model without those
		return &one, fault
	}
	const text = "[study]\nobjectives = [\"sqnr max\"]\n[model]\nlayers = [1, 3]\nheads = [2, 4]\nhidden = [8]\n" +
		"identity = [\"*.out\"]\nepochs = 5\n[[quantize]]\nformat = [\"fixed(6..8)\"]\n"
	s, err := Read("s.toml", []byte(text), c)
	if err != nil {
		t.Fatal(err)
	}
	params := func(layers float64) (out []search.Param) {
		for _, p := range s.Parameters {
			v := p.Dist.High
			if p.Name == "model.layers" {
				v = layers
			}
			out = append(out, search.Param{Name: p.Name, Dist: p.Dist, Value: v})
		}
		return out
	}
	for layers, want := range []source.NewModel{
		{Layers: 1, Heads: 4, Hidden: 8, Seed: 1, Identity: []string{"m.layer.0.out"}},
		{Layers: 3, Heads: 4, Hidden: 8, Seed: 1, Identity: []string{"m.layer.0.out", "m.layer.1.out", "m.layer.2.out"}}} {
		o, err := s.Try(t.Context(), c, params(float64(layers)), nil)
		if err != nil || o.State != search.Complete {
			t.Fatalf("%v, %+v", err, o)
		}
		if got := made[len(made)-1]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("made %+v, not %+v", got, want)
		}
	}
	fault = diag.New(diag.BadAttribute, "config.json", "4 attention heads do not divide")
	if o, err := s.Try(t.Context(), c, params(0), nil); err != nil || o.State != search.Fail || o.Refused == "" {
		t.Errorf("%v, %+v", err, o)
	}
	fault = diag.New(diag.PJRTWorker, "", "gone")
	if _, err := s.Try(t.Context(), c, params(0), nil); err == nil {
		t.Error("a lost engine is a trial that failed")
	}
	wrongModels(t, c, text)
}

// wrongModels reads spaces with a mistake each.
func wrongModels(t *testing.T, c *choose.Meter, text string) {
	t.Helper()
	if n, err := Largest("s.toml", []byte(text)); err != nil || n == nil || n.Layers != 3 {
		t.Errorf("%+v, %v", n, err)
	}
	for _, r := range []struct{ old, new, want string }{
		{"hidden = [8]", "hidden = [8, 8]", "s.toml:6: L1101: hidden = [8 8]: different numbers of at least 1"},
		{"epochs = 5", "", "s.toml:3: L1101: new models are trained in floats: write epochs = 5"},
		{"*.out", "*.outer", "s.toml:7: L1101: unknown linear layer of as many outputs as inputs \"*.outer\""},
	} {
		_, err := Read("s.toml", []byte(strings.Replace(text, r.old, r.new, 1)), c)
		if err == nil || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%s: %v", r.new, err)
		}
	}
}

// presetsOf reads the spaces of presets that make new models.
func presetsOf(t *testing.T, c *choose.Meter) {
	t.Helper()
	for _, p := range Presets() {
		if !p.New {
			continue
		}
		for _, curve := range p.Curves(c, source.NewModel{Layers: 2, Heads: 2, Hidden: 8, Intermediate: 16}) {
			c := *c
			c.Train = func(context.Context, *plan.Plan) (*driver.Quantized, error) { return nil, nil }
			c.New = func(context.Context, source.NewModel, int) (*choose.Meter, error) { return nil, nil }
			s, err := Read(curve.Name, []byte(curve.Text), &c)
			if err != nil || len(s.model.identity) != 3 || len(s.model.sizes) != 4 {
				t.Errorf("%s, %s: %v", p.Name, curve.Label, err)
			}
		}
	}
}

// TestRungs: a trial is measured from rung to rung, is trained for as long as each says, and ends where the pruner ends
// it, but not behind the last one.
func TestRungs(t *testing.T) {
	c := study(t)
	var steps []int
	c.Train = func(ctx context.Context, p *plan.Plan) (*driver.Quantized, error) {
		steps = append(steps, p.Train.Steps*1000+p.Train.Epochs)
		_, q, err := c.Measure(ctx, p, false)
		return q, err
	}
	const text = "[study]\nobjectives = [\"accuracy max\"]\npruner = \"halving\"\n[rung]\n1 = \"proxy:10\"\n" +
		"3 = \"ptq\"\n27 = \"qat:full\"\n9 = \"qat:2\"\n[[quantize]]\nformat = [\"fixed(6..8)\"]\n[train]\nepochs = 4\n"
	s, err := Read("s.toml", []byte(text), c)
	if err != nil {
		t.Fatal(err)
	}
	if want := "1 = proxy:10, 3 = ptq, 9 = qat:2, 27 = qat:full"; s.Fidelity() != want || !s.Climbs() || !s.Trains() {
		t.Errorf("%q", s.Fidelity())
	}
	var params []search.Param
	for _, p := range s.Parameters {
		params = append(params, search.Param{Name: p.Name, Dist: p.Dist, Value: p.Dist.High})
	}
	for _, end := range []int{0, 3, 27} {
		var heard []int
		steps = nil
		o, err := s.Try(t.Context(), c, params, func(step int, v float64) (bool, error) {
			if heard = append(heard, step); step == 1 && math.Abs(v*10-math.Round(v*10)) > 1e-9 {
				t.Errorf("%g is no share of 10 samples", v)
			}
			return step == end, nil
		})
		want, state := "[1 3 9 27] [0 2004 4]", search.Complete
		if end == 3 {
			want, state = "[1 3] [0]", search.Pruned
		}
		if got := fmt.Sprint(heard, steps); err != nil || got != want || o.State != state {
			t.Errorf("end at %d: %s, not %s; %v, %+v", end, got, want, err, o)
		}
	}
	for _, r := range []struct{ old, new, want string }{
		{"qat:2", "qat:two", `rung 9 = "qat:two": write`}, {"\"ptq\"", "\"ptx\"", "did you mean \"ptq\"?"},
		{"3 =", "x =", `rung "x" is no step`}, {"27 = \"qat:full\"\n", "", "which [rung] lacks"},
		{"halving", "halvin", "did you mean \"halving\"?"}, {"epochs = 4", "epochs = 0", "there are none"},
		{"accuracy max", "lut min", "one objective that is measured"},
		{"[rung]\n1 = \"proxy:10\"\n3 = \"ptq\"\n27 = \"qat:full\"\n9 = \"qat:2\"\n", "", "there are none"},
	} {
		_, err := Read("s.toml", []byte(strings.Replace(text, r.old, r.new, 1)), c)
		if err == nil || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%s: %v", r.new, err)
		}
	}
}
