// SPDX-License-Identifier: Apache-2.0

package train

import "lathe/ir"

// Pruned is the model as it begins, with all the zeros that pruning will have set in the end: where they come bit by
// bit, those of the values in the beginning.
func (t *Trainer) Pruned() (*ir.Graph, error) {
	var masks [][]bool
	for i := range t.all {
		masks = append(masks, t.all[i].mask)
	}
	t.mask(t.starts(), t.total)
	g, err := t.model.Ship(t.values(t.starts()))
	for i := range t.all {
		t.all[i].mask = masks[i]
	}
	return g, err
}
