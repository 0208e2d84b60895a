// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/clitest"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir/hlo"
	"lathe/lower/plan"
	"lathe/train"
	"lathe/train/grad"
	"lathe/train/model"
	"lathe/train/tokens"
)

// trainFaults are those of training that no command shows by itself.
var trainFaults = map[diag.Code]func(t *testing.T) error{
	"L1001": func(*testing.T) error {
		b := hlo.New("main")
		x := b.Arg("x", hlo.TypeOf(hlo.F32, 4))
		sorted, _ := b.SortPlaces(x, 0, true)
		_, err := grad.Of(b, b.Reduce(hlo.ReduceAdd, sorted, 0), x)
		return err
	},
	"L1002": func(*testing.T) error {
		b := hlo.New("main")
		x := b.Arg("x", hlo.TypeOf(hlo.F32, 4))
		_, err := grad.Of(b, x, x)
		return err
	},
	"L1006": func(t *testing.T) error {
		_, err := smallTrainer(t, "").Run(t.Context(), &bad{})
		return err
	},
	"L1007": func(t *testing.T) error {
		dir := t.TempDir()
		if _, err := smallTrainer(t, dir).Run(cancelled(t), &bad{}); diag.CodeOf(err) != diag.TrainInterrupted {
			t.Fatal(err)
		}
		_, err := trainerOf(t, &train.Options{Folder: dir}, 3)
		return err
	},
	"L1012": func(t *testing.T) error {
		path := filepath.Join(t.TempDir(), "tokenizer.json")
		if err := os.WriteFile(path, []byte(`{"model": {"type": "Unigram"}}`), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := tokens.Read(path)
		return err
	},
	"L1013": func(t *testing.T) error {
		_, err := trainerOf(t, &train.Options{Memory: 1 << 10}, 1)
		return err
	},
	"L1010": func(t *testing.T) error {
		_, err := smallTrainer(t, "").Run(cancelled(t), &bad{})
		return err
	},
}

// Spread is Upload.
func (b *bad) Spread(ctx context.Context, _ int, a hlo.Array) (train.Buffer, error) {
	out, err := b.Upload(ctx, a)
	return out[0], err
}

func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// bad is an engine whose steps have no finite loss.
type bad struct{ results []hlo.Array }

func (e *bad) Compile(_ context.Context, p *hlo.Program) (train.Program, error) {
	for _, n := range p.Results {
		t := p.Ops[n].Type
		e.results = append(e.results, hlo.Array{Type: t, Data: make([]byte, t.Len()*t.DType.Bytes())})
	}
	e.results[len(e.results)-4] = hlo.FromInt64s(hlo.I32, nil, []int64{10})
	return e, nil
}

func (e *bad) Upload(_ context.Context, arrays ...hlo.Array) ([]train.Buffer, error) {
	return held(arrays), nil
}

func (e *bad) Step(context.Context, []train.Buffer) ([]train.Buffer, error) {
	return held(e.results), nil
}

func held(arrays []hlo.Array) []train.Buffer {
	out := make([]train.Buffer, len(arrays))
	for i, a := range arrays {
		out[i] = array{a}
	}
	return out
}

type array struct{ hlo.Array }

func (a array) Download(context.Context) (hlo.Array, error) { return a.Array, nil }

func (a array) Drop(context.Context) error { return nil }

// smallTrainer trains a small network on one sample.
func smallTrainer(t *testing.T, folder string) *train.Trainer {
	t.Helper()
	r, err := trainerOf(t, &train.Options{Folder: folder}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func trainerOf(t *testing.T, o *train.Options, epochs int) (*train.Trainer, error) {
	t.Helper()
	dir := t.TempDir()
	if err := clitest.WriteModels(dir); err != nil {
		t.Fatal(err)
	}
	g, err := driver.Source{Model: dir + "/model.onnx"}.Import()
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Float(g)
	if err != nil {
		t.Fatal(err)
	}
	in, out := g.In[0].Type, g.Out[0].Node.Type.Shape
	labels := hlo.FromInt64s(hlo.I32, append([]int{1}, out[:len(out)-1]...), []int64{0})
	set := &train.Set{Name: "x.npz", N: 1, Labels: labels,
		Inputs: []hlo.Array{hlo.FromFloat32s(append([]int{1}, in.Shape...), make([]float32, in.Elems()))}}
	p := plan.Default().Train
	p.Batch, p.Epochs = 1, epochs
	o.Train = p
	return train.New(m, set, o)
}
