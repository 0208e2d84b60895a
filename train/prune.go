// SPDX-License-Identifier: Apache-2.0

package train

import (
	"cmp"
	"context"
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir/hlo"
)

// prunes says that weights of a leaf become 0: matrices and kernels of layers, not tables, gains and biases.
func (l *leaf) prunes() bool { return l.Decays && l.Weighted }

// beginPruning finds what can be pruned, and masks it as step 0 has it.
func (t *Trainer) beginPruning() error {
	for i, l := range t.all {
		if _, direct := t.direct[l.param]; direct && !l.isWidth() && l.prunes() && !t.model.HoldsZero(l.param) {
			return diag.New(diag.NothingToPrune, t.all[i].Pos, "the weights of %q cannot be pruned: their format "+
				"has no code of 0", l.Node).
				WithHint("leave out [prune], or give them another format, such as weight = \"ternary*[0]\"")
		}
	}
	if t.options.Prune.Channels {
		if err := t.findChannels(); err != nil {
			return err
		}
	}
	t.mask(t.starts(), 0)
	return nil
}

// mask marks the weights that stay, of the given values, for step s: those of leaves that have no mask yet, too.
func (t *Trainer) mask(values [][]float32, s int) {
	share := t.share(s)
	if t.channels != nil {
		t.maskChannels(values, share)
		return
	}
	p := &t.options.Prune
	var all []scored
	for i := range t.all {
		l := &t.all[i]
		if _, direct := t.direct[l.param]; !direct || !l.prunes() {
			continue
		}
		was := l.mask
		l.mask = slices.Repeat([]bool{true}, len(values[i]))
		score := t.scores(i, values[i])
		if was != nil { // what is 0 stays so
			for k, keep := range was {
				if !keep {
					score[k].score = -1
				}
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

// cutLeast masks a share of weights: those worth least, of equals the first ones.
func cutLeast(t *Trainer, all []scored, share float64) {
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.leaf, b.leaf), cmp.Compare(a.at, b.at))
	})
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

// prune masks anew where the schedule says so: before a call of a cubic schedule, in the first half of training.
func (t *Trainer) prune(ctx context.Context) error {
	p := &t.options.Prune
	if !p.Given || p.Schedule != "cubic" || t.done > t.total/2+t.steps {
		return nil
	}
	now, err := t.now(ctx)
	if err != nil {
		return err
	}
	t.mask(now, t.done)
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
