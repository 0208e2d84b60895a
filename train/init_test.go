// SPDX-License-Identifier: Apache-2.0

package train_test

import (
	"slices"
	"testing"
)

// TestRandomInit trains from random parameters: nothing of the model is left, a seed decides, and the loss falls.
func TestRandomInit(t *testing.T) {
	run := func(seed string, epochs string) (values [][]float32, first, last float64) {
		d := load(t, "[train]\ninit = \"random\"\nlr = 0.01\nseed = "+seed+"\nepochs = "+epochs+"\n")
		r := d.run(t, d.options())
		return r.Values, r.First, r.Last
	}
	one, _, _ := run("1", "0")
	again, _, _ := run("1", "0")
	other, _, _ := run("2", "0")
	model := load(t, "[train]\nmethod = \"sft\"\nepochs = 0\n")
	was := model.run(t, model.options()).Values
	for i := range one {
		if !slices.Equal(one[i], again[i]) {
			t.Errorf("parameter %d differs from run to run", i)
		}
		if slices.Equal(one[i], was[i]) {
			t.Errorf("parameter %d is that of the model", i)
		}
		if zero := slices.Max(one[i]) == 0 && slices.Min(one[i]) == 0; !zero && slices.Equal(one[i], other[i]) {
			t.Errorf("parameter %d does not depend on the seed", i)
		}
	}
	if _, first, last := run("1", "4"); !(last < first/2) {
		t.Errorf("loss %v -> %v", first, last)
	}
}
