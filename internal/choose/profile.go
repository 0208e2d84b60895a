// SPDX-License-Identifier: Apache-2.0

// Package choose measures what number formats cost and keep: which values a float model takes, what each layer loses in
// a format, what a whole model does, and which assignment of formats is the cheapest that is good enough. Everything
// quantized is computed by the reference engine on the graph that lowering makes of a plan.
package choose

import (
	"context"
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/ref"
	"lathe/lower/float"
	"lathe/lower/pass"
)

// Profile is which values the tensors of a float model take.
type Profile struct {
	Model   string   `json:"model"`
	Samples int      `json:"samples"`
	Tensors []Tensor `json:"tensors"`
}

// Tensor is the values of one node over all samples, or of a constant.
type Tensor struct {
	Name   string `json:"name"`
	Op     string `json:"op"`
	Source string `json:"source,omitempty"`
	Shape  []int  `json:"shape"`
	Spread
	// Channels are the values of each channel: along the last axis, of weights along the first, one output each.
	Channels []Spread `json:"channels,omitempty"`
	// Histogram counts the selected values in equal steps from Min to Max.
	Histogram []int `json:"histogram"`
}

// Spread is how values are distributed.
type Spread struct {
	Count int     `json:"count"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Mean  float64 `json:"mean"`
	Std   float64 `json:"std"`
	Zeros int     `json:"zeros"`
	// Percentiles are of a selection that depends on positions only, at Percents, in percent.
	Percentiles [len(Percents)]float64 `json:"percentiles"`
	// Outliers is the share of selected values further than 6 standard deviations from the mean.
	Outliers float64 `json:"outliers"`
	// OutlierBits is how many bits finer a format could be that lets the largest 0.1 % of magnitudes saturate.
	OutlierBits float64 `json:"outlier_bits"`
}

// Percents are the percentiles of a Spread.
var Percents = [...]float64{0.1, 1, 25, 50, 75, 99, 99.9}

const (
	bins     = 48
	deviant  = 6       // standard deviations from the mean on, a value is an outlier
	mostKept = 1 << 16 // selected values of one tensor
	trace    = 16      // samples whose values are held at once
)

// count is the values of one tensor or channel while they come in.
type count struct {
	n, zeros    int
	min, max    float64
	sum, square float64
	kept        []float32
}

func newCount() *count { return &count{min: math.Inf(1), max: math.Inf(-1)} }

func (c *count) add(x float32, keep bool) {
	v := float64(x)
	c.n++
	c.sum, c.square = c.sum+v, c.square+v*v
	c.min, c.max = min(c.min, v), max(c.max, v)
	if v == 0 {
		c.zeros++
	}
	if keep {
		c.kept = append(c.kept, x)
	}
}

// join adds what o has counted; sums are added in the order of calls, whoever has counted them.
func (c *count) join(o *count) {
	c.n, c.zeros = c.n+o.n, c.zeros+o.zeros
	c.min, c.max = min(c.min, o.min), max(c.max, o.max)
	c.sum, c.square = c.sum+o.sum, c.square+o.square
	c.kept = append(c.kept, o.kept...)
}

// spread is the result of a count.
func (c *count) spread() Spread {
	s := Spread{Count: c.n, Zeros: c.zeros}
	if c.n == 0 {
		return s
	}
	s.Min, s.Max, s.Mean = c.min, c.max, c.sum/float64(c.n)
	s.Std = math.Sqrt(max(0, c.square/float64(c.n)-s.Mean*s.Mean))
	sorted := slices.Clone(c.kept)
	if len(sorted) == 0 {
		sorted = []float32{float32(c.min), float32(c.max)}
	}
	slices.Sort(sorted)
	far := 0
	magnitudes := make([]float32, len(sorted))
	for i, v := range sorted {
		magnitudes[i] = float32(math.Abs(float64(v)))
		if math.Abs(float64(v)-s.Mean) > deviant*s.Std {
			far++
		}
	}
	slices.Sort(magnitudes)
	for i, p := range Percents {
		s.Percentiles[i] = percentile(sorted, p)
	}
	s.Outliers = float64(far) / float64(len(sorted))
	if most := percentile(magnitudes, 99.9); most > 0 {
		s.OutlierBits = math.Log2(max(1, max(-s.Min, s.Max)/most))
	}
	return s
}

// percentile is the value below which p percent of sorted ones lie, by the nearest rank.
func percentile(sorted []float32, p float64) float64 {
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return float64(sorted[max(0, rank-1)])
}

// histogram counts selected values in equal steps between the bounds.
func (c *count) histogram() []int {
	out := make([]int, bins)
	for _, v := range c.kept {
		place := 0
		if c.max > c.min {
			place = int(float64(bins) * (float64(v) - c.min) / (c.max - c.min))
		}
		out[max(0, min(place, bins-1))]++
	}
	return out
}

// tensor counts the values of a node, all together and by channel.
type tensor struct {
	all      *count
	channels []*count
	inner    int // elements of one channel that lie side by side
}

// mostChannels bounds the channels that are counted each.
const mostChannels = 4096

// newTensor counts by channels along an axis of shape; none where there are no axes or too many channels.
func newTensor(shape []int, axis int) *tensor {
	t := &tensor{all: newCount(), inner: 1}
	if axis < 0 || axis >= len(shape) || shape[axis] > mostChannels || shape[axis] < 2 {
		return t
	}
	for _, n := range shape[axis+1:] {
		t.inner *= n
	}
	for range shape[axis] {
		t.channels = append(t.channels, newCount())
	}
	return t
}

// add counts a value of sample k of so many.
func (t *tensor) add(x []float32, k, samples int) {
	stride := uint32(len(x)*samples/mostKept) + 1
	for i, v := range x {
		keep := stride == 1 || format.Mix(uint32(k*len(x)+i))%stride == 0
		t.all.add(v, keep)
		if t.channels != nil {
			t.channels[i/t.inner%len(t.channels)].add(v, keep)
		}
	}
}

func (t *tensor) join(o *tensor) {
	t.all.join(o.all)
	for i, c := range o.channels {
		t.channels[i].join(c)
	}
}

func (t *tensor) result(n *ir.Node) Tensor {
	out := Tensor{Name: n.Name, Op: n.Op.Name, Source: n.Pos, Shape: n.Type.Shape, Spread: t.all.spread(),
		Histogram: t.all.histogram()}
	for _, c := range t.channels {
		out.Channels = append(out.Channels, c.spread())
	}
	return out
}

// NewProfile runs the float graph g of a model on samples, at most so many of them if most is not 0, and counts what
// its values and its constants are: those of the simplified graph, whose names the rules of a plan match. Error L0411
// for a graph that is quantized already.
func NewProfile(ctx context.Context, model string, g *ir.Graph, file *npz.File, most int, o pass.Options) (*Profile,
	error) {
	if g.Stage != ir.StageFloat {
		return nil, diag.New(diag.WrongStage, model, "the graph is %s already; a profile is about values of float graphs",
			g.Stage)
	}
	g, err := float.Simplify(ctx, g, o)
	if err != nil {
		return nil, err
	}
	samples, _, err := driver.Samples(g, file)
	if err != nil {
		return nil, err
	}
	if most > 0 {
		samples = samples[:min(most, len(samples))]
	}
	counts, err := observe(ctx, g, samples)
	if err != nil {
		return nil, err
	}
	p := &Profile{Model: model, Samples: len(samples)}
	for k, n := range g.Nodes {
		switch {
		case counts[k] != nil:
			p.Tensors = append(p.Tensors, counts[k].result(n))
		case n.IsConst() && n.Type.IsFloat() && len(n.Type.Shape) > 0:
			axis := 0
			if len(n.Type.Shape) == 1 { // channels of one value each tell nothing
				axis = -1
			}
			v, err := n.Value()
			if err != nil {
				return nil, err
			}
			t := newTensor(n.Type.Shape, axis)
			t.add(v.Floats, 0, 1)
			p.Tensors = append(p.Tensors, t.result(n))
		}
	}
	return p, nil
}

// observe counts the values of every node but constants, by position in the graph.
func observe(ctx context.Context, g *ir.Graph, samples []ref.Sample) ([]*tensor, error) {
	program, err := ref.New(g)
	if err != nil {
		return nil, err
	}
	counts := make([]*tensor, len(g.Nodes))
	for at := 0; at < len(samples); at += trace {
		chunk := samples[at:min(at+trace, len(samples))]
		parts := make([][]*tensor, len(chunk))
		for i := range parts {
			parts[i] = make([]*tensor, len(g.Nodes))
		}
		err := program.Each(ctx, chunk, func(i, k int, v *ir.Tensor) error {
			if n := g.Nodes[k]; v.Floats != nil && !n.IsConst() {
				parts[i][k] = newTensor(v.Type.Shape, len(v.Type.Shape)-1)
				parts[i][k].add(v.Floats, at+i, len(samples))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, part := range parts { // in the order of samples: sums do not depend on who was first
			for k, t := range part {
				switch {
				case t == nil:
				case counts[k] == nil:
					counts[k] = t
				default:
					counts[k].join(t)
				}
			}
		}
	}
	return counts, nil
}
