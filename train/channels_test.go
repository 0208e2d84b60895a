// SPDX-License-Identifier: Apache-2.0

package train_test

import (
	"context"
	"slices"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/lower/pass"
	"lathe/train"
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
		{"sparsity = 0.5\nscope = \"local\"\n", []int{16, 16, 10}},
		{"sparsity = 0.75\nmethod = \"l2\"\nscope = \"local\"\nschedule = \"cubic\"\n", []int{8, 8, 10}},
		{"sparsity = 1.0\n", []int{1, 1, 10}}, // each layer keeps one
		{"sparsity = 0.5\nmethod = \"random\"\n[train]\nmethod = \"sft\"\nepochs = 2\n", nil},
	} {
		d := load(t, "[prune]\ngranularity = \"channel\"\n"+c.text)
		d.plan.Train.Epochs = 2
		r := d.run(t, d.options())
		whole, err := d.model.Ship(r.Values)
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
