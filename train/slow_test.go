// SPDX-License-Identifier: Apache-2.0

package train_test

import (
	"context"
	"math"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/train"
	"lathe/train/slow"
)

// TestSlow trains the digits for an epoch on the engine in Go, with each optimizer: losses are those of PJRT.
func TestSlow(t *testing.T) {
	for _, optimizer := range []string{"adamw", "sgd"} {
		d := load(t, threeBits+"[train]\nepochs = 1\noptimizer = \""+optimizer+"\"\n")
		losses := func(e train.Engine) (out []float64) {
			o := d.options()
			o.Watch = func(p train.Progress) { out = append(out, p.Loss) }
			trainer, err := train.New(d.model, d.set, o)
			if err != nil {
				t.Fatal(err)
			}
			r, err := trainer.Run(context.Background(), e)
			if err != nil {
				t.Fatal(err)
			}
			return append(out, r.Last)
		}
		got := losses(slow.Engine())
		if last := got[len(got)-1]; !(last > 0 && last < 0.5) {
			t.Errorf("%s: loss %g after an epoch", optimizer, last)
		}
		for i, want := range losses(train.OnPJRT(pjrttest.Engine(t))) {
			if !(math.Abs(got[i]-want) <= 1e-3*want) {
				t.Errorf("%s: loss %d is %g, of PJRT %g", optimizer, i, got[i], want)
			}
		}
	}
}
