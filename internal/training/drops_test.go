// SPDX-License-Identifier: Apache-2.0

package training

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"lathe/frontend/torch/pt2test"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/lower/plan"
	"lathe/train"
	"lathe/train/slow"
)

// TestDrops finds the dropouts of a model file in the model that is trained, where layers take in activations, and
// trains with them.
func TestDrops(t *testing.T) {
	const program = "input x f32 1x8\nparam fc1.weight f32 6x8\nparam fc2.weight f32 3x6\n" +
		"a f32 1x6 = linear.default input=%x weight=%fc1.weight @ fc1:torch.nn.modules.linear.Linear\n" +
		"b f32 1x6 = relu.default self=%a @ act:torch.nn.modules.activation.ReLU\n" +
		"c f32 1x6 = dropout.default input=%b p=0.25 train=false @ drop:torch.nn.modules.dropout.Dropout\n" +
		"y f32 1x3 = linear.default input=%c weight=%fc2.weight @ fc2:torch.nn.modules.linear.Linear\noutput y\n"
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	x, labels := make([]float32, 32*8), make([]int64, 32)
	for i := range x {
		x[i] = float32(i*7%11) / 8
	}
	for i := range labels {
		labels[i] = int64(i % 3)
	}
	for _, err := range []error{os.WriteFile(at("m.pt2"), pt2test.New(program).Archive(), 0o600),
		npz.Write(at("x.npz"), []npz.Array{npz.Float32Array("x", []int{32, 8}, x)}),
		npz.Write(at("y.npz"), []npz.Array{npz.Int64Array("y", []int{32}, labels)})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		method string
		want   map[string]float64
	}{{"sft", map[string]float64{"act": 0.25}}, {"qat", map[string]float64{"fc1": 0.25}}} {
		var losses [2]float64
		for i := range losses {
			task := &Task{Source: driver.Source{Model: at("m.pt2")}, Data: at("x.npz"), Labels: at("y.npz"),
				Engine: func(context.Context) (train.Engine, error) { return slow.Engine(), nil },
				Adjust: func(p *plan.Plan) (*plan.Plan, error) {
					out := *p
					out.Train.Method, out.Train.Epochs, out.Train.ModelDropout = c.method, 1, i == 1
					return &out, nil
				}}
			p, err := task.prepare(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if drops, err := p.drops(); err != nil || i == 1 && !maps.Equal(drops, c.want) {
				t.Errorf("%s: dropouts %v, not %v: %v", c.method, drops, c.want, err)
			}
			r, err := Run(t.Context(), task)
			if err != nil {
				t.Fatal(err)
			}
			losses[i] = r.First
			p.imported.Origin.Drops[0].Behind = "gone"
			if _, err := p.drops(); (diag.CodeOf(err) == diag.NothingToTrain) != (i == 1) {
				t.Errorf("%s: a dropout behind no node of the model: %v", c.method, err)
			}
		}
		if losses[0] == losses[1] {
			t.Errorf("%s: the loss is %g with dropouts and without", c.method, losses[0])
		}
	}
}
