// SPDX-License-Identifier: Apache-2.0

package train

import (
	"lathe/lower/plan"
	"lathe/train/model"
)

// Counted is what a plan trains of a model, in elements of parameters.
type Counted struct {
	// Trained are those that are trained, adapters included; All are those of the model, Frozen those that stay.
	Trained int `json:"trained"`
	All     int `json:"parameters"`
	Frozen  int `json:"frozen"`
	// Adapters is the number of matrices with an adapter.
	Adapters int `json:"adapters,omitempty"`
}

// Count says what a plan trains of a model. Error L1003 where that is nothing.
func Count(m *model.Model, t *plan.Train, lora *plan.LoRA) (*Counted, error) {
	l, err := choose(m, t, lora)
	if err != nil {
		return nil, err
	}
	c := &Counted{Trained: l.elements(), All: m.Elements(), Adapters: len(l.merged)}
	c.Frozen = c.All
	for i := range l.direct {
		c.Frozen -= len(m.Params[i].Start)
	}
	return c, nil
}
