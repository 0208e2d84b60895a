// SPDX-License-Identifier: Apache-2.0

package train

import (
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir/hlo"
	"lathe/lower/plan"
	"lathe/train/model"
)

// leaf is an array that is trained.
type leaf struct {
	model.Param
	param int // of the model
	mask  []bool
	rate  float64 // of the learning rate, of widths and steps; 0: 1
}

// isWidth says that a leaf is about codes, the places that they lose or their step, and no values of parameters.
func (l *leaf) isWidth() bool { return l.rate > 0 }

// adapter is a matrix of the model to which a product of two leaves is added: W + alpha/rank B A (Hu et al. 2021).
type adapter struct {
	a, b  int // leaves
	scale float64
}

// leaves are what is trained of a model, and how its parameters come of them.
type leaves struct {
	model  *model.Model
	all    []leaf
	direct map[int]int     // by parameter: the leaf that it is
	merged map[int]adapter // by parameter
	narrow map[int]int     // by leaf of weights: the leaf of the places that their codes lose on the right
	data   []int           // by value of model.Each: the leaf of such places of its channels; nil: none are trained
	scales []int           // by scale of model.Scales: its leaf
}

// choose makes leaves of the parameters that are trained.
func choose(m *model.Model, t *plan.Train, lora *plan.LoRA) (*leaves, error) {
	l := &leaves{model: m, direct: map[int]int{}, merged: map[int]adapter{}, narrow: map[int]int{}}
	for i := range m.Params {
		p := &m.Params[i]
		named := func(patterns []string) bool { return slices.ContainsFunc(patterns, p.Named) }
		switch {
		case named(t.Freeze):
		case lora.Rank == 0 || named(lora.Also):
			l.direct[i] = len(l.all)
			l.all = append(l.all, leaf{Param: *p, param: i})
			if t.Init == "random" {
				l.all[len(l.all)-1].forget(t.Seed)
			}
		case len(p.Shape) == 2 && p.Weighted && named(lora.Targets): // tables of embeddings stay
			l.adapt(i, p, t.Seed, lora)
		}
	}
	if len(l.all) == 0 && lora.Rank > 0 {
		return nil, diag.New(diag.NothingToTrain, m.Graph().Name, "targets of [lora] match no matrix of a layer").
			WithHint("lathe inspect lists nodes and parameters; targets takes names with *")
	}
	if len(l.all) == 0 {
		return nil, diag.New(diag.NothingToTrain, m.Graph().Name, "all parameters are frozen").
			WithHint("lathe inspect lists nodes and parameters; freeze takes names with *")
	}
	return l, nil
}

// forget makes weights and tables random, uniform as a linear layer begins (Kaiming, a = sqrt 5), and biases of layers
// 0. Other parameters, such as the gains of norms, stay.
func (l *leaf) forget(seed uint64) {
	if !l.Weighted && !l.Table && !l.Bias {
		return
	}
	inputs := len(l.Start) / max(l.Shape[0], 1)
	if l.Weighted && l.Contracted == 0 {
		inputs = l.Shape[0]
	}
	bound := 1 / math.Sqrt(float64(max(inputs, 1)))
	l.Start = make([]float32, len(l.Start))
	for k := range l.Start {
		if !l.Bias {
			l.Start[k] = uniform(seed, streamOfStarts+l.param, k, bound)
		}
	}
}

// streamOfStarts keeps the random starts of parameters apart from those of adapters.
const streamOfStarts = 1 << 20

// uniform is random number k of a stream, between -bound and bound.
func uniform(seed uint64, stream, k int, bound float64) float32 {
	u := float64(word(seed, stream, k)>>11) / (1 << 53)
	return float32((2*u - 1) * bound)
}

// adapt adds the two leaves of an adapter: A is uniform as a linear layer begins (Kaiming, a = sqrt 5), B is 0, so that
// nothing changes before the first step.
func (l *leaves) adapt(i int, p *model.Param, seed uint64, lora *plan.LoRA) {
	out, in := p.Shape[0], p.Shape[1]
	bound := 1 / math.Sqrt(float64(in))
	a := make([]float32, lora.Rank*in)
	for k := range a {
		a[k] = uniform(seed, i, k, bound)
	}
	l.merged[i] = adapter{a: len(l.all), b: len(l.all) + 1, scale: lora.Alpha / float64(lora.Rank)}
	for _, side := range []struct {
		name  string
		shape []int
		start []float32
	}{{".lora_A", []int{lora.Rank, in}, a}, {".lora_B", []int{out, lora.Rank}, make([]float32, out*lora.Rank)}} {
		l.all = append(l.all, leaf{param: i, Param: model.Param{Name: p.Name + side.name, Shape: side.shape,
			Start: side.start, Decays: true, Node: p.Node, Pos: p.Pos}})
	}
}

// elements is the number of all that is trained, widths apart.
func (l *leaves) elements() int {
	n := 0
	for i := range l.all {
		if !l.all[i].isWidth() {
			n += len(l.all[i].Start)
		}
	}
	return n
}

// base prints the parameters that stay, outside of loops; by parameter.
func (l *leaves) base(b *hlo.Builder) map[int]hlo.Value {
	out := map[int]hlo.Value{}
	for i, p := range l.model.Params {
		if _, direct := l.direct[i]; !direct {
			out[i] = b.Weight(hlo.FromFloat32s(p.Shape, p.Start))
		}
	}
	return out
}

// params prints the parameters of the model.
func (l *leaves) params(b *hlo.Builder, base map[int]hlo.Value, now, masks []hlo.Value) (out []hlo.Value,
	bits hlo.Value) {
	out = make([]hlo.Value, len(l.model.Params))
	bits = b.Float(hlo.F32, 0)
	lost := l.dataPlaces(b, now)
	for i := range out {
		if k, direct := l.direct[i]; direct {
			out[i] = masked(b, now[k], masks[k])
			if places, ok := l.narrow[k]; ok {
				var each hlo.Value
				p := &l.model.Params[i]
				out[i], each = narrowed(b, p, out[i], now[places], l.dataBits(b, p, lost))
				bits = b.Add(bits, each)
			}
			continue
		}
		out[i] = base[i]
		if a, ok := l.merged[i]; ok {
			product := b.DotGeneral(now[a.b], now[a.a], hlo.Dot{LhsContract: []int{1}, RhsContract: []int{0}}, hlo.F32)
			out[i] = b.Add(base[i], b.Mul(product, b.Float(hlo.F32, a.scale)))
		}
	}
	return out, bits
}

// masked selects: a product would leave negative zeros, which are codes in formats of floats.
func masked(b *hlo.Builder, v, mask hlo.Value) hlo.Value {
	if mask.Number() < 0 {
		return v
	}
	return b.Select(b.Compare(hlo.NE, mask, b.Splat(mask, 0)), v, b.Float(hlo.F32, 0))
}

// values are the parameters of the model for leaves of the given values: adapters are added in f64 and rounded once.
func (l *leaves) values(now [][]float32) [][]float32 {
	out := make([][]float32, len(l.model.Params))
	for i, p := range l.model.Params {
		out[i] = p.Start
		if k, direct := l.direct[i]; direct {
			out[i] = slices.Clone(now[k])
			for j, keep := range l.all[k].mask {
				if !keep {
					out[i][j] = 0
				}
			}
			if places, ok := l.narrow[k]; ok {
				cut(out[i], now[places], p.Steps)
			}
		}
		a, ok := l.merged[i]
		if !ok {
			continue
		}
		left, right := now[a.b], now[a.a]
		rank, in := l.all[a.a].Shape[0], p.Shape[1]
		out[i] = make([]float32, len(p.Start))
		for k, v := range p.Start {
			sum := 0.0
			for r := range rank {
				sum += float64(left[k/in*rank+r]) * float64(right[r*in+k%in])
			}
			out[i][k] = float32(float64(v) + a.scale*sum)
		}
	}
	return out
}

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
