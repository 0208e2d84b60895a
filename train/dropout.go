// SPDX-License-Identifier: Apache-2.0

package train

import (
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/lower/plan"
	"lathe/train/model"
)

// siteFactor and batchFactor keep the values of a step and its batches apart.
const (
	siteFactor  uint32 = 0x85ebca6b
	batchFactor uint32 = 0x9e3779b9
)

// seedBits are those of the seed of a step, which float32 holds, and of the words that are compared with a share.
const seedBits = 24

// streamOfDropout keeps the seeds of steps apart from other random numbers.
const streamOfDropout = 1 << 21

// dropSeed is the seed of a step: what is dropped depends on nothing but the step, so that a run that goes on drops the
// same.
func dropSeed(seed uint64, step int) uint32 {
	return uint32(word(seed, streamOfDropout, step) >> (64 - seedBits))
}

// dropWord is the random word, of seedBits bits, of element i of a value: site numbers the value, batch the batches of
// a step.
func dropWord(seed, site, batch, i uint32) uint32 {
	return format.StochasticWord(seed+site*siteFactor+batch*batchFactor, i) >> (32 - seedBits)
}

// mixed prints format.Mix of values of I32.
func mixed(b *hlo.Builder, x hlo.Value) hlo.Value {
	turn := func(x hlo.Value, by uint32) hlo.Value { return b.Xor(x, b.ShiftRightLogical(x, word32(b, by))) }
	x = b.Mul(turn(x, 16), word32(b, 0x7feb352d))
	x = b.Mul(turn(x, 15), word32(b, 0x846ca68b))
	return turn(x, 16)
}

// word32 prints a constant of 32 bits.
func word32(b *hlo.Builder, v uint32) hlo.Value { return b.Int(hlo.I32, int64(int32(v))) }

// dropWords prints dropWord of all elements of a value of n; seed and batch are scalars of I32.
func dropWords(b *hlo.Builder, seed, batch hlo.Value, site, n int) hlo.Value {
	key := b.Add(seed, word32(b, uint32(site)*siteFactor))
	key = mixed(b, b.Add(key, b.Mul(batch, word32(b, batchFactor))))
	i := b.Iota(hlo.TypeOf(hlo.I32, n), 0)
	word := mixed(b, b.Xor(b.BroadcastInDim(key, []int{n}, nil), i))
	return b.ShiftRightLogical(word, b.Int(hlo.I32, 32-seedBits))
}

// dropout prints what is left of values in a step.
type dropout struct {
	layers func(node string, site int, v hlo.Value) hlo.Value // of what layers multiply; nil: all
	behind func(node string, site int, v hlo.Value) hlo.Value // of what nodes make; nil: all
}

// dropping prints dropout (Srivastava et al. 2014): a share of the values becomes 0, the others are divided by the rest
// of 1. It is that of what layers multiply, where inputs of the graph stay whole, or that of the model file.
func (s *stepper) dropping(b *hlo.Builder, seed, batch hlo.Value) (out dropout) {
	t := s.plan
	drop := func(share float64, site int, v hlo.Value) hlo.Value {
		words := b.Reshape(dropWords(b, seed, batch, site, v.Type().Len()), v.Type().Dims...)
		kept := b.Compare(hlo.GE, words, b.Splat(words, int64(share*(1<<seedBits))))
		d := v.Type().DType
		return b.Select(kept, b.Mul(v, b.Float(d, 1/(1-share))), b.Float(d, 0))
	}
	if t.Dropout > 0 {
		out.layers = func(node string, site int, v hlo.Value) hlo.Value {
			if !slices.ContainsFunc(t.DropoutOf, func(p string) bool { return plan.Glob(p, node) }) {
				return v
			}
			return drop(t.Dropout, site, v)
		}
	}
	if len(s.drops) > 0 {
		out.behind = func(node string, site int, v hlo.Value) hlo.Value {
			if share := s.drops[node]; share > 0 {
				return drop(share, site, v)
			}
			return v
		}
	}
	return out
}

// drops refuses dropout of layers that the model does not have, or that read its inputs alone. Error L1003.
func drops(m *model.Model, t *plan.Train) error {
	if t.Dropout == 0 {
		return nil
	}
	var layers []string
	for _, n := range m.Graph().Nodes {
		if n.Op.Traits.Weighted && !n.IsConst() && !n.Args[0].IsInput() {
			layers = append(layers, n.Name)
		}
	}
	for _, name := range layers {
		if slices.ContainsFunc(t.DropoutOf, func(p string) bool { return plan.Glob(p, name) }) {
			return nil
		}
	}
	e := diag.New(diag.NothingToTrain, m.Graph().Name, "dropout_of names no layer that multiplies a computed value")
	if len(layers) == 0 {
		return e.WithHint("leave dropout out of [train]")
	}
	return e.WithHint("dropout_of takes names with *; the layers are %s", strings.Join(layers, ", "))
}
