// SPDX-License-Identifier: Apache-2.0

package train_test

import (
	"testing"

	"lathe/internal/driver"
	"lathe/lower/plan"
	"lathe/train"
	"lathe/train/model"
)

// TestCount counts the adapters of a small BERT by hand: of hidden size h, inner size i, two layers and three classes,
// rank r has 2r(4h + h+i) elements a layer, 2rh of the pooler and r(h+3) of the classifier.
func TestCount(t *testing.T) {
	s := driver.Source{Model: "../examples/bert-tiny-like/hf"}
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Float(g)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]train.Counted{
		"[lora]\nrank = 6\ntrain_also = [\"classifier.bias\"]\n": {Trained: 2*6*2*(4*128+128+144) + 2*6*128 + 6*(128+3) + 3,
			Frozen: m.Elements() - 3, Adapters: 14},
		"[train]\nfreeze = [\"bert.*\"]\n": {Trained: 3*128 + 3, Frozen: m.Elements() - 3*128 - 3},
		"":                                 {Trained: m.Elements()},
	} {
		p, err := plan.ParseWith("plan.toml", []byte(text), plan.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		want.All = m.Elements()
		if got, err := train.Count(m, &p.Train, &p.LoRA); err != nil || *got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
}
