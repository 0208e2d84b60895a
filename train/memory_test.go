// SPDX-License-Identifier: Apache-2.0

package train_test

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/diag"
	"lathe/ir/hlo"
	"lathe/train"
)

// TestAccumulate: a step over two batches is that over one of twice the samples.
func TestAccumulate(t *testing.T) {
	losses := func(text string) (out []float64) {
		d := load(t, "[train]\nmethod = \"sft\"\nepochs = 1\n"+text)
		o := d.options()
		o.Watch = func(p train.Progress) { out = append(out, p.Losses...) }
		d.run(t, o)
		return out
	}
	want, got := losses("batch = 48\n"), losses("batch = 16\naccumulate = 3\n")
	if len(want) != len(got) || len(want) != 1347/48 {
		t.Fatalf("%d and %d steps", len(want), len(got))
	}
	for i, w := range want {
		if off := math.Abs(got[i]-w) / max(w, 1e-2); !(off < 1e-4) {
			t.Errorf("step %d: the loss is %.8g, that of one batch %.8g", i+1, got[i], w)
		}
	}
}

// TestMemory counts a program by hand: what a product reads and makes, not what is added to it.
func TestMemory(t *testing.T) {
	b := hlo.New("main")
	x, w := b.Arg("x", hlo.TypeOf(hlo.F32, 4, 8)), b.Arg("w", hlo.TypeOf(hlo.F32, 8, 16))
	dot := hlo.Dot{LhsContract: []int{1}, RhsContract: []int{0}}
	hidden := b.Max(b.DotGeneral(x, w, dot, hlo.F32), b.Float(hlo.F32, 0))
	back := hlo.Dot{LhsContract: []int{1}, RhsContract: []int{1}}
	b.Return(b.Tanh(b.DotGeneral(b.Reshape(hidden, 4, 16), w, back, hlo.F32)))
	const given, product, result = 4 * (4*8 + 8*16), 4 * 4 * 16, 4 * 4 * 8
	// At the second product: the rectified result of the first one, and its own.
	if got := train.Memory(b.Program()); got != given+max(2*product, product+result) {
		t.Errorf("%d bytes, want %d", got, given+max(2*product, product+result))
	}
}

// TestTooLittleMemory: what does not fit is refused, and what the hint says fits.
func TestTooLittleMemory(t *testing.T) {
	d := load(t, "[train]\nmethod = \"sft\"\nbatch = 1024\n")
	o := d.options()
	o.Memory = 1 << 20
	_, err := train.New(d.model, d.set, o)
	if diag.CodeOf(err) != diag.TrainMemory {
		t.Fatalf("error %v", err)
	}
	var e *diag.Error
	errors.As(err, &e)
	hint := regexp.MustCompile(`--batch (\d+), with accumulate = (\d+)`).FindStringSubmatch(e.Hint)
	if hint == nil {
		t.Fatalf("hint of %v", err)
	}
	o.Train.Batch, _ = strconv.Atoi(hint[1])
	o.Train.Accumulate, _ = strconv.Atoi(hint[2])
	if o.Train.Samples() != 1024 {
		t.Errorf("steps have %d samples", o.Train.Samples())
	}
	trainer, err := train.New(d.model, d.set, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trainer.Run(t.Context(), train.OnPJRT(pjrttest.Engine(t))); err != nil {
		t.Error(err)
	}
}
