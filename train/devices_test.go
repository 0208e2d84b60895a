// SPDX-License-Identifier: Apache-2.0

package train_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"lathe/golden/pjrt"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/diag"
	"lathe/ir/hlo"
	"lathe/train"
)

// several is an engine of two devices that compares what they hold after each step.
type several struct {
	train.Engine
	t *testing.T
}

type compared struct {
	train.Program
	t *testing.T
}

func (s several) Compile(ctx context.Context, p *hlo.Program) (train.Program, error) {
	c, err := s.Engine.Compile(ctx, p)
	return compared{c, s.t}, err
}

func (c compared) Step(ctx context.Context, args []train.Buffer) ([]train.Buffer, error) {
	out, err := c.Program.Step(ctx, args)
	for i, b := range out {
		var held [2]hlo.Array
		for d := range held {
			a, err := b.(*pjrt.Buffer).DownloadFrom(ctx, d)
			if err != nil {
				return nil, err
			}
			held[d] = a
		}
		if !bytes.Equal(held[0].Data, held[1].Data) {
			c.t.Errorf("the devices differ in array %d", i)
		}
	}
	return out, err
}

// TestDevices divides batches among two devices: the losses are those of one but for rounding, both devices hold the
// same bits, and an interrupted run ends as one that was not.
func TestDevices(t *testing.T) {
	cfg := pjrttest.Config(t)
	cfg.Devices = 2
	e, err := pjrt.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const text = "[train]\nepochs = 2\ndropout = 0.1\naccumulate = 2\nscales = \"lsq\"\n" + threeBits
	d := load(t, text)
	var one, two []float64
	o := d.options()
	o.Watch = func(p train.Progress) { one = append(one, p.Losses...) }
	d.run(t, o)
	o.Devices = 2
	run := func(ctx context.Context, folder string, watch func(train.Progress)) (*train.Result, error) {
		o.Folder, o.Watch = folder, watch
		trainer, err := train.New(d.model, d.set, o)
		if err != nil {
			t.Fatal(err)
		}
		return trainer.Run(ctx, several{train.OnPJRT(e), t})
	}
	whole, err := run(t.Context(), "", func(p train.Progress) { two = append(two, p.Losses...) })
	if err != nil {
		t.Fatal(err)
	}
	const few = 10 // steps, before a rounded sum has moved a weight across the middle between two codes
	for i := range few {
		if math.Abs(one[i]-two[i]) > 1e-4*one[i] {
			t.Errorf("step %d: the loss is %g, on one device %g", i+1, two[i], one[i])
		}
	}
	if len(one) != len(two) || math.Abs(one[len(one)-1]-two[len(two)-1]) > 0.2*one[0] {
		t.Errorf("losses end at %g, on one device at %g", two[len(two)-1], one[len(one)-1])
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := run(ctx, dir, func(train.Progress) { cancel() }); diag.CodeOf(err) != diag.TrainInterrupted {
		t.Fatal(err)
	}
	again, err := run(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole.Values {
		if !slices.EqualFunc(again.Values[i], whole.Values[i], sameBits) {
			t.Errorf("parameter %d is another one after an interruption", i)
		}
	}
}

// TestIndivisible refuses batches that devices cannot share.
func TestIndivisible(t *testing.T) {
	for text, want := range map[string]string{"batch = 32": "use --batch 30", "batch = 2": "use --devices 2 or less"} {
		d := load(t, "[train]\n"+text+"\n")
		o := d.options()
		o.Devices = 3
		_, err := train.New(d.model, d.set, o)
		if diag.CodeOf(err) != diag.TrainBatch || !strings.Contains(err.(*diag.Error).Hint, want) {
			t.Errorf("%s on three devices: %v", text, err)
		}
	}
	d := load(t, "")
	o := d.options()
	o.Devices = 3
	if _, err := train.New(d.model, d.set, o); err != nil {
		t.Errorf("without a batch in the plan: %v", err)
	}
}
