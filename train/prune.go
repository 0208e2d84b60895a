// SPDX-License-Identifier: Apache-2.0

package train

import (
	"cmp"
	"context"
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
)

// prunes says that weights of a leaf become 0: matrices and kernels of layers, not tables, gains and biases.
func (l *leaf) prunes() bool { return l.Decays && l.Weighted }

// beginPruning finds what can be pruned, and masks it as step 0 has it, unless that takes gradients.
func (t *Trainer) beginPruning() error {
	for i := range t.all {
		l := &t.all[i]
		if _, direct := t.direct[l.param]; !direct || l.isWidth() || !l.prunes() {
			continue
		}
		if !t.model.HoldsZero(l.param) {
			return diag.New(diag.NothingToPrune, l.Pos, "the weights of %q cannot be pruned: their format has no code of 0",
				l.Node).WithHint("leave out [prune], or give them another format, such as weight = \"ternary*[0]\"")
		}
		if !t.options.Prune.Channels {
			l.mask = slices.Repeat([]bool{true}, len(l.Start))
		}
	}
	masked := slices.ContainsFunc(t.all, func(l leaf) bool { return l.mask != nil })
	if !masked && !t.options.Prune.Channels {
		return diag.New(diag.NothingToPrune, t.set.Name, "nothing is pruned: no weight of a layer is trained as it is").
			WithHint("leave out [prune], or do without [lora] and freeze")
	}
	if t.options.Prune.Channels {
		if err := t.findChannels(); err != nil {
			return err
		}
	}
	if t.options.Prune.Method != "taylor" {
		t.cut = t.counts(0)
		t.mask(t.starts(), t.share(0))
	}
	return nil
}

// counts are how many weights or channels go by step s, of all together or of each layer.
func (t *Trainer) counts(s int) []int {
	var sizes []int
	if t.channels != nil {
		for _, lot := range t.channels.lots(t.options.Prune.Scope == "local") {
			sizes = append(sizes, len(lot))
		}
	}
	for i := range t.all {
		if t.channels == nil && t.all[i].mask != nil {
			sizes = append(sizes, len(t.all[i].mask))
		}
	}
	if t.options.Prune.Scope != "local" {
		all := 0
		for _, n := range sizes {
			all += n
		}
		sizes = []int{all}
	}
	for i, n := range sizes {
		sizes[i] = int(math.Round(t.share(s) * float64(n)))
	}
	return sizes
}

// mask marks what stays; values are those of the weights, or what else tells by its magnitude what they are worth.
func (t *Trainer) mask(values [][]float32, share float64) {
	if t.channels != nil {
		t.maskChannels(values, share)
		return
	}
	p := &t.options.Prune
	var all []scored
	for i := range t.all {
		l := &t.all[i]
		if l.mask == nil {
			continue
		}
		score := t.scores(i, values[i])
		for k, keep := range l.mask {
			if l.mask[k] = true; !keep { // what is 0 stays so
				score[k].score = -1
			}
		}
		switch {
		case p.M > 0:
			l.groups(score, p.N, p.M)
		case p.Scope == "local":
			cutLeast(t, score, share)
		default:
			all = append(all, score...)
		}
	}
	if len(all) > 0 {
		cutLeast(t, all, share)
	}
}

// share is that of zeros, or of channels that are gone, at step s: of a cubic schedule (Zhu and Gupta 2017) it grows
// over the first half of training.
func (t *Trainer) share(s int) float64 {
	p := &t.options.Prune
	if p.Schedule != "cubic" {
		return p.Sparsity
	}
	done := min(float64(s)/(float64(max(t.total, 2))/2), 1)
	return p.Sparsity * (1 - math.Pow(1-done, 3))
}

// scored is a weight and what it is worth.
type scored struct {
	leaf, at int
	score    float64
}

// scores are what the weights of leaf i are worth.
func (t *Trainer) scores(i int, values []float32) []scored {
	out := make([]scored, len(values))
	for k, v := range values {
		out[k] = scored{i, k, math.Abs(float64(v))}
		if t.options.Prune.Method == "random" {
			out[k].score = float64(word(t.plan.Seed, i, k) >> 11)
		}
	}
	return out
}

// sortLeast sorts by score, of equals the first ones first.
func sortLeast(all []scored) {
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.leaf, b.leaf), cmp.Compare(a.at, b.at))
	})
}

// cutLeast masks a share of weights: those worth least, of equals the first ones.
func cutLeast(t *Trainer, all []scored, share float64) {
	sortLeast(all)
	for _, w := range all[:int(math.Round(share*float64(len(all))))] {
		t.all[w.leaf].mask[w.at] = false
	}
}

// groups keeps n of each m weights that stand together along the axis that is summed over.
func (l *leaf) groups(score []scored, n, m int) {
	size := l.Shape[l.Contracted]
	inner := hlo.Type{Dims: l.Shape[l.Contracted+1:]}.Len()
	for first := 0; first < len(score); first++ {
		if first/inner%size%m != 0 {
			continue
		}
		var group []scored
		for k := 0; k < m && first/inner%size+k < size; k++ {
			group = append(group, score[first+k*inner])
		}
		slices.SortFunc(group, func(a, b scored) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at))
		})
		for _, w := range group[min(n, len(group)):] {
			l.mask[w.at] = false
		}
	}
}

// prune masks anew where more is to go than the masks take.
func (t *Trainer) prune(ctx context.Context) error {
	if !t.options.Prune.Given {
		return nil
	}
	counts := t.counts(t.done)
	if slices.Equal(counts, t.cut) {
		return nil
	}
	read := t.now
	if t.options.Prune.Method == "taylor" {
		read = t.worths
	}
	values, err := read(ctx)
	if err != nil {
		return err
	}
	t.cut = counts
	t.mask(values, t.share(t.done))
	return t.uploadMasks(ctx)
}

// uploadMasks brings the masks to the device.
func (t *Trainer) uploadMasks(ctx context.Context) error {
	for _, b := range t.masks {
		if err := b.Drop(ctx); err != nil {
			return err
		}
	}
	var arrays []hlo.Array
	for _, l := range t.all {
		if l.mask != nil {
			arrays = append(arrays, hlo.Array{Type: hlo.TypeOf(hlo.I8, l.Shape...), Data: maskBytes(l.mask)})
		}
	}
	t.masks = nil
	if len(arrays) == 0 {
		return nil
	}
	var err error
	t.masks, err = t.engine.Upload(ctx, arrays...)
	return err
}

func maskBytes(mask []bool) []byte {
	out := make([]byte, len(mask))
	for i, keep := range mask {
		if keep {
			out[i] = 1
		}
	}
	return out
}

// sparsity is the share of zeros among the weights that have a mask.
func (t *Trainer) sparsity() float64 {
	zeros, all := 0, 0
	for _, l := range t.all {
		all += len(l.mask)
		for _, keep := range l.mask {
			if !keep {
				zeros++
			}
		}
	}
	return float64(zeros) / float64(max(all, 1))
}

// Pruned is the model as it begins, with all the zeros that pruning will have set in the end: where they come bit by
// bit, those of the values in the beginning. It does not ask for gradients: where those say what goes, it is not meant.
func (t *Trainer) Pruned() (*ir.Graph, error) {
	var masks [][]bool
	for i := range t.all {
		masks = append(masks, slices.Clone(t.all[i].mask))
	}
	t.mask(t.starts(), t.share(t.total))
	begin := t.starts()
	g, err := t.model.Ship(t.values(begin), nil, t.lost(begin), scaleValues(t.leaves, begin))
	for i := range t.all {
		t.all[i].mask = masks[i]
	}
	return g, err
}
