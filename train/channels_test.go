// SPDX-License-Identifier: Apache-2.0

package train_test

import (
	"context"
	"slices"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/sum"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/train"
	"lathe/train/model"
	"lathe/train/slow"
)

// codes are what g computes of the test digits.
func (d *digits) codes(t *testing.T, g *ir.Graph) (out [][]*ir.Tensor) {
	t.Helper()
	samples, err := pass.Outputs(context.Background(), g, d.samples[:100])
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		out = append(out, s)
	}
	return out
}

// TestChannels removes channels: the graph that ships is smaller and computes what the masked one computes.
func TestChannels(t *testing.T) {
	for _, c := range []struct {
		text   string
		hidden []int // outputs of the layers; nil where any may lose them
	}{
		{"sparsity = 0.5\nmethod = \"l2\"\nscope = \"local\"\n", []int{16, 16, 10}},
		{"sparsity = 0.75\nmethod = \"taylor\"\nscope = \"local\"\nschedule = \"cubic\"\n", []int{8, 8, 10}},
		{"sparsity = 1.0\n", []int{1, 1, 10}}, // each layer keeps one
		{"sparsity = 0.5\nmethod = \"random\"\n[train]\nmethod = \"sft\"\nepochs = 2\n", nil},
	} {
		d := load(t, "[prune]\ngranularity = \"channel\"\n"+c.text)
		d.plan.Train.Epochs = 2
		r := d.run(t, d.options())
		whole, err := d.model.Ship(r.Values, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, out := range d.codes(t, whole) {
			small := d.codes(t, r.Graph)[i]
			if !slices.Equal(out[0].Codes, small[0].Codes) || !slices.Equal(out[0].Floats, small[0].Floats) {
				t.Fatalf("%ssample %d: %v, masked %v", c.text, i, small[0], out[0])
			}
		}
		var outs []int
		for _, n := range r.Graph.Nodes {
			if n.Op.Traits.Weighted {
				outs = append(outs, n.Type.Shape[len(n.Type.Shape)-1])
			}
		}
		if c.hidden != nil && !slices.Equal(outs, c.hidden) || r.Removed != 64+10-outs[0]-outs[1]-outs[2] ||
			r.Channels != 64 {
			t.Errorf("%slayers have %d outputs, not %d; %d of %d went", c.text, outs, c.hidden, r.Removed, r.Channels)
		}
	}
}

// TestUnprunable refuses what has no zero, and matrices that stay.
func TestUnprunable(t *testing.T) {
	for _, text := range []string{
		"[quantize]\nweight = \"binary*[0]\"\n[prune]\nsparsity = 0.5\n",
		"[quantize]\nweight = \"binary*[0]\"\n[prune]\ngranularity = \"channel\"\n",
		"[train]\nfreeze = [\"*.weight\"]\n[prune]\ngranularity = \"channel\"\n",
	} {
		d := load(t, text)
		if _, err := train.New(d.model, d.set, d.options()); diag.CodeOf(err) != diag.NothingToPrune {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestTaylor prunes by gradients: the weights of a sum that matter least to its square error go, neither the least ones
// nor those with the least gradients.
func TestTaylor(t *testing.T) {
	b := lowertest.New(t, 1)
	x := b.Input("x", 1, 4)
	w := b.Const([]int{1, 4}, 3, 1, 2, 0.25)
	m, err := model.Float(b.Done(b.Add(sum.Linear, "y", nil, x, w)))
	if err != nil {
		t.Fatal(err)
	}
	set := &train.Set{Name: "x", N: 2, Inputs: []hlo.Array{hlo.FromFloat32s([]int{2, 1, 4},
		[]float32{0.125, 2, 0.125, 1, 0.125, 2, 0.125, 1})}, Labels: hlo.FromFloat32s([]int{2, 1, 1}, []float32{0, 0})}
	p, err := plan.ParseWith("plan.toml", []byte("[train]\nmethod = \"sft\"\nloss = \"mse\"\nepochs = 0\n"+
		"[prune]\nmethod = \"taylor\"\nsparsity = 0.5\n"), plan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	trainer, err := train.New(m, set, &train.Options{Train: p.Train, Prune: p.Prune})
	if err != nil {
		t.Fatal(err)
	}
	r, err := trainer.Run(t.Context(), slow.Engine())
	if err != nil {
		t.Fatal(err)
	}
	if want := []float32{3, 1, 0, 0}; !slices.Equal(r.Values[0], want) { // weight times data: .375, 2, .25, .25
		t.Errorf("%v, not %v", r.Values[0], want)
	}
}
