// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/recur"
	"lathe/ir/ref"
)

// correctBias shifts the bias of each layer by what rounding its weights, and all in front of it, moved the mean of
// each output channel (Nagel et al., Data-Free Quantization, 2019, section 4.2, on samples): layer by layer from the
// inputs on, so that each sees what the corrected ones before it give. Unless the plan asks for it, it is about layers
// alone that read inputs far from 0, whose rounded weights times the mean are an error of many steps, and only where
// the outputs gain.
func correctBias(s *stage, g *ir.Graph) error {
	var only map[*ir.Node]bool
	if !s.Plan.Quantize.CorrectBias {
		if only = readFar(g, s.learned()); len(only) == 0 {
			return nil
		}
	}
	gain, err := newGain(s, g, "biases are corrected")
	if gain == nil {
		return err
	}
	c := biasCorrector{state: s, graph: g, samples: gain.samples, only: only}
	if err := c.layers(); err != nil {
		return err
	}
	if only == nil {
		return gain.tell("biases of %s are corrected, by up to %s", diag.Amount(c.corrected, "layer"),
			diag.Number(c.most, 3))
	}
	if c.corrected == 0 {
		return nil
	}
	if after, err := s.quality(gain.want, g, gain.samples); err != nil || after.worse(gain.before) {
		for _, b := range c.was {
			b.bias.Attrs = b.was.Attrs
		}
		return err
	}
	return gain.tell("biases of %s, whose inputs lie far from 0, are computed from the rounded weights",
		diag.Amount(c.corrected, "layer"))
}

// shifted is a bias that was shifted, and what it was.
type shifted struct {
	bias *ir.Node
	was  ir.Node
}

// farFrom0 is how many standard deviations the mean of an element of an input lies from 0, at least, for the products
// with rounded weights to have an error of their own: images and normalized features lie within 3.
const farFrom0 = 4

// readFar are the layers that read an input of the graph of which some element, over the samples, lies far from 0.
// Nothing stands between but moves.
func readFar(g *ir.Graph, samples []ref.Sample) map[*ir.Node]bool {
	far := map[*ir.Node]bool{}
	for i, in := range g.In {
		far[in] = slices.ContainsFunc(spreads(samples, i), func(s [2]float64) bool {
			return math.Abs(s[0]) > farFrom0*s[1] && s[1] > 0
		})
	}
	layers := map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		if len(n.Args) == 0 || !far[n.Args[0]] {
			continue
		}
		far[n] = n.Op.Traits.KeepsCodes
		if biased(n) || shifts(n) {
			layers[n] = true
		}
	}
	return layers
}

// spreads are mean and standard deviation of each element of input i over the samples; none without floats.
func spreads(samples []ref.Sample, i int) [][2]float64 {
	if len(samples) < 2 || len(samples[0][i].Floats) == 0 {
		return nil
	}
	out := make([][2]float64, len(samples[0][i].Floats))
	for e := range out {
		mean, square := 0.0, 0.0
		for _, s := range samples {
			mean += float64(s[i].Floats[e]) / float64(len(samples))
		}
		for _, s := range samples {
			d := float64(s[i].Floats[e]) - mean
			square += d * d / float64(len(samples))
		}
		out[e] = [2]float64{mean, math.Sqrt(square)}
	}
	return out
}

// biasCorrector corrects the biases of one graph.
type biasCorrector struct {
	state   *stage
	graph   *ir.Graph
	samples []ref.Sample
	// only are the layers to correct; nil: all. was are the biases before.
	only map[*ir.Node]bool
	was  []shifted
	// corrected counts layers, most is the largest shift of a bias.
	corrected int
	most      float64
}

// layers corrects one layer after the other.
func (c *biasCorrector) layers() error {
	want := newWalk(c.state.runner.Context(), c.state.float, c.samples)
	have := newWalk(c.state.runner.Context(), c.graph, c.samples)
	for _, n := range c.graph.Nodes {
		m := c.state.float.Find(n.Name)
		if m == nil || !c.covers(m, n) || !slices.Equal(m.Args[1].Type.Shape, n.Args[1].Type.Shape) ||
			n.Args[2].Type.Elems() != channelsOf(m) || readersOf(c.graph, n.Args[2]) != 1 {
			continue
		}
		target, err := mean(want.through(m))
		if err != nil {
			return err
		}
		read, err := mean(have.read(n))
		if err != nil {
			return err
		}
		sums, err := exactSums(m, n, read)
		if err != nil {
			return err
		}
		if err := c.shift(n, channelMeans(target, channelsOf(m)), channelMeans(sums, channelsOf(m))); err != nil {
			return err
		}
	}
	return nil
}

// covers says that the bias of n, which is m in the float graph, is to be corrected.
func (c *biasCorrector) covers(m, n *ir.Node) bool {
	if c.only != nil {
		return c.only[n] && (biased(m) && biased(n) || shifts(m) && shifts(n))
	}
	return biased(m) && biased(n)
}

// biased says that n is a layer with constant weights and a constant bias.
func biased(n *ir.Node) bool {
	t := &n.Op.Traits
	return t.Weighted && !t.PerChannel && !recur.Recurs(n.Op) && constantTerms(n)
}

// shifts says that n is a scale of channels along the last axis, with a constant bias: what is left of a normalization.
func shifts(n *ir.Node) bool {
	t := &n.Op.Traits
	axis, ok := n.ChannelAxis()
	return t.Weighted && t.PerChannel && ok && axis == len(n.Type.Shape)-1 && constantTerms(n)
}

// constantTerms says that n has factors and summands, both constants.
func constantTerms(n *ir.Node) bool {
	return len(n.Args) == 3 && n.Args[1].IsConst() && n.Args[2].IsConst()
}

// channelsOf is the number of output channels, along the last axis.
func channelsOf(n *ir.Node) int { return n.Type.Shape[len(n.Type.Shape)-1] }

// readersOf counts the arguments that are a.
func readersOf(g *ir.Graph, a *ir.Node) (readers int) {
	for _, n := range g.Nodes {
		for _, b := range n.Args {
			if b == a {
				readers++
			}
		}
	}
	return readers
}

// mean is the mean of values, element by element.
func mean(values []*ir.Tensor, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	var sums []float64
	for _, v := range values {
		x, err := v.Decode()
		if err != nil {
			return nil, err
		}
		if sums == nil {
			sums = make([]float64, len(x))
		}
		for e, y := range x {
			sums[e] += y / float64(len(values))
		}
	}
	return sums, nil
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
	shift := make([]float64, len(values))
	for i := range values {
		shift[i] = want[i] - have[i]
		values[i] += shift[i]
	}
	codes := biasCodes(b, values)
	if slices.Equal(codes, v.Codes) {
		return nil
	}
	for i := range codes {
		if codes[i] != v.Codes[i] {
			c.most = max(c.most, math.Abs(shift[i]))
		}
	}
	c.was = append(c.was, shifted{bias: b, was: *b})
	b.Attrs = ir.Computed(ir.CodeBlob(codes), b)
	c.corrected++
	return nil
}

// biasCodes are those of the format of a bias that are next to values.
func biasCodes(b *ir.Node, values []float64) []int64 {
	codes := make([]int64, len(values))
	for i, v := range values {
		if s, _, scaled := format.ScaledAlong(b.Type.Format); scaled {
			codes[i] = s.EncodeAt(format.FromFloat64(v), b.Type.Scales[i])
		} else {
			codes[i] = b.Type.Format.Encode(format.FromFloat64(v))
		}
	}
	return codes
}
