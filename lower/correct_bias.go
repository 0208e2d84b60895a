// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"
	"math"
	"slices"

	"lathe/golden/ref"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
)

// correctSamples bounds the samples from which biases are corrected.
const correctSamples = 256

// correctBias shifts the bias of each layer by what rounding its weights, and all in front of it, moved the mean of
// each output channel (Nagel et al., Data-Free Quantization, 2019, section 4.2, on samples): layer by layer from the
// inputs on, so that each sees what the corrected ones before it give. It does nothing unless the plan asks for it.
func correctBias(s *State, g *ir.Graph) error {
	if !s.Plan.Quantize.CorrectBias {
		return nil
	}
	samples := s.Samples[:min(len(s.Samples), correctSamples)]
	if len(samples) == 0 {
		s.Report.warn("biases are corrected from samples, and there is no calibration data: they stay")
		return nil
	}
	s.Report.Loose++ // no rule of a plan can state a bias
	c := biasCorrector{state: s, graph: g, samples: samples}
	want, err := outputs(s.runner.ctx, s.float, samples)
	if err != nil {
		return err
	}
	before, err := c.ratio(want)
	if err != nil {
		return err
	}
	if err := c.layers(); err != nil {
		return err
	}
	after, err := c.ratio(want)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("biases of %d layers are corrected, by up to %s: SQNR of the outputs %.1f dB before, %.1f dB "+
		"after, on %d calibration samples", c.corrected, diag.Number(c.most, 3), before, after, len(samples))
	if after < before {
		s.Report.warn("%s: here it does harm", text)
		return nil
	}
	s.Report.note("%s", text)
	return nil
}

// biasCorrector corrects the biases of one graph.
type biasCorrector struct {
	state   *State
	graph   *ir.Graph
	samples []ref.Sample
	// corrected counts layers, most is the largest shift of a bias.
	corrected int
	most      float64
}

// ratio is the SQNR of the outputs against those of the float graph.
func (c *biasCorrector) ratio(want []ref.Sample) (float64, error) {
	got, err := outputs(c.state.runner.ctx, c.graph, c.samples)
	if err != nil {
		return 0, err
	}
	diff, err := compareRuns(want, got)
	return diff.SQNR, err
}

// layers corrects one layer after the other.
func (c *biasCorrector) layers() error {
	float := c.state.float
	means, err := c.means(float, func(n *ir.Node) *ir.Node {
		if biased(n) {
			return n
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, n := range c.graph.Nodes {
		m := float.Find(n.Name)
		if m == nil || !biased(m) || !biased(n) || !slices.Equal(m.Args[1].Type.Shape, n.Args[1].Type.Shape) ||
			n.Args[2].Type.Elems() != channelsOf(m) || c.shares(n.Args[2]) {
			continue
		}
		read, err := c.means(c.graph, func(k *ir.Node) *ir.Node {
			if k == n {
				return n.Args[0]
			}
			return nil
		})
		if err != nil {
			return err
		}
		sums, err := exactSums(m, n, read[n])
		if err != nil {
			return err
		}
		if err := c.shift(n, channelMeans(means[m], channelsOf(m)), channelMeans(sums, channelsOf(m))); err != nil {
			return err
		}
	}
	return nil
}

// biased says that n is a layer with constant weights and a constant bias.
func biased(n *ir.Node) bool {
	t := &n.Op.Traits
	return t.Weighted && !t.PerChannel && !t.Recurs && len(n.Args) == 3 && n.Args[1].IsConst() && n.Args[2].IsConst()
}

// channelsOf is the number of output channels, along the last axis.
func channelsOf(n *ir.Node) int { return n.Type.Shape[len(n.Type.Shape)-1] }

// shares says that several nodes read the constant a.
func (c *biasCorrector) shares(a *ir.Node) bool {
	readers := 0
	for _, n := range c.graph.Nodes {
		for _, b := range n.Args {
			if b == a {
				readers++
			}
		}
	}
	return readers != 1
}

// means are the means over samples, element by element, of the values that of names for nodes of g.
func (c *biasCorrector) means(g *ir.Graph, of func(n *ir.Node) *ir.Node) (map[*ir.Node][]float64, error) {
	program, err := ref.New(g)
	if err != nil {
		return nil, err
	}
	asked := map[*ir.Node][]*ir.Node{}
	for _, n := range g.Nodes {
		if a := of(n); a != nil {
			asked[a] = append(asked[a], n)
		}
	}
	in := make([]ref.Sample, len(c.samples))
	for i, s := range c.samples {
		in[i] = enter(g, s)
	}
	sums := map[*ir.Node][]float64{}
	parts := make([]map[*ir.Node][]float64, len(in)) // added in the order of samples
	for i := range parts {
		parts[i] = map[*ir.Node][]float64{}
	}
	err = program.Each(c.state.runner.ctx, in, func(i, k int, v *ir.Tensor) error {
		if asked[g.Nodes[k]] == nil {
			return nil
		}
		x, err := v.Decode()
		parts[i][g.Nodes[k]] = x
		return err
	})
	for _, part := range parts {
		for a, x := range part {
			for _, n := range asked[a] {
				if sums[n] == nil {
					sums[n] = make([]float64, len(x))
				}
				for e, v := range x {
					sums[n][e] += v / float64(len(in))
				}
			}
		}
	}
	return sums, err
}

// exactSums is what the quantized layer n makes of an input with these values, before it rounds: layers are linear, so
// that of the mean is the mean. m is the layer in the float graph.
func exactSums(m, n *ir.Node, x []float64) ([]float64, error) {
	one := *m
	one.Args = slices.Clone(m.Args)
	for i := 1; i <= 2; i++ {
		v, err := n.Args[i].Value()
		if err != nil {
			return nil, err
		}
		values, err := v.Decode()
		if err != nil {
			return nil, err
		}
		a := *n.Args[i]
		a.Type, a.Attrs = ir.Float(m.Args[i].Type.Shape...), &ir.Const{Data: ir.FloatBlob(narrowed(values))}
		one.Args[i] = &a
	}
	kernel, err := one.Kernel()
	if err != nil {
		return nil, err
	}
	in := ir.NewTensor(ir.Float(m.Args[0].Type.Shape...))
	copy(in.Floats, narrowed(x))
	y, err := kernel([]*ir.Tensor{in, nil, nil})
	if err != nil {
		return nil, err
	}
	return y.Decode()
}

func narrowed(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// channelMeans are the means along the last axis, which has so many elements.
func channelMeans(x []float64, channels int) []float64 {
	out := make([]float64, channels)
	for i, v := range x {
		out[i%channels] += v * float64(channels) / float64(len(x))
	}
	return out
}

// shift moves the bias of n from one mean to the other, to the nearest codes of its format.
func (c *biasCorrector) shift(n *ir.Node, want, have []float64) error {
	b := n.Args[2]
	v, err := b.Value()
	if err != nil {
		return err
	}
	values, err := v.Decode()
	if err != nil || b.Type.InBlocks() {
		return err
	}
	codes := make([]int64, len(values))
	moved := false
	for i := range values {
		shifted := values[i] + want[i] - have[i]
		typ := b.Type.Format
		if s, _, scaled := format.ScaledAlong(typ); scaled {
			codes[i] = s.EncodeAt(format.FromFloat64(shifted), b.Type.Scales[i])
		} else {
			codes[i] = typ.Encode(format.FromFloat64(shifted))
		}
		if codes[i] != v.Codes[i] {
			moved, c.most = true, max(c.most, math.Abs(shifted-values[i]))
		}
	}
	if moved {
		b.Attrs = ir.Computed(ir.CodeBlob(codes), b)
		c.corrected++
	}
	return nil
}
