// SPDX-License-Identifier: Apache-2.0

package train

import (
	"slices"

	"lathe/ir"
)

// Pruned is the model as it begins, with all the zeros that pruning will have set in the end: where they come bit by
// bit, those of the values in the beginning. It does not ask for gradients: where those say what goes, it is not meant.
func (t *Trainer) Pruned() (*ir.Graph, error) {
	var masks [][]bool
	for i := range t.all {
		masks = append(masks, slices.Clone(t.all[i].mask))
	}
	t.mask(t.starts(), t.share(t.total))
	g, err := t.model.Ship(t.values(t.starts()), nil)
	for i := range t.all {
		t.all[i].mask = masks[i]
	}
	return g, err
}
