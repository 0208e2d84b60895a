// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/recur"
	"lathe/ir/ref"
	"lathe/lower/plan"
	"lathe/lower/quantize/fit"
)

const (
	// roundPlaces bounds what a layer reads of the samples from which weights are rounded: vectors of a linear layer,
	// windows of a convolution.
	roundPlaces = 1 << 14
	// roundColumns bounds the weights of an output channel.
	roundColumns = 1 << 12
	// countable are numbers that float32 tells apart.
	countable = 1 << 24
)

// roundWeights chooses other codes for the weights of linear layers and convolutions, of the same formats and scales,
// such that outputs of layers keep close to those of the float model: layer by layer from the inputs on, each with the
// values that the rounded ones before it give. It does nothing unless the plan asks for it.
func roundWeights(s *stage, g *ir.Graph) error {
	way := s.Plan.Quantize.RoundWeights
	if way == plan.RoundNearest {
		return nil
	}
	gain, err := newGain(s, g, "weights are rounded")
	if gain == nil {
		return err
	}
	if way == plan.RoundDigits {
		return roundDigits(s, g, gain)
	}
	r := rounder{state: s, graph: g, way: way}
	if err := r.layers(gain.samples); err != nil {
		return err
	}
	r.tellLeft()
	return gain.tell("weights of %s are rounded by %s", diag.Amount(r.done, "layer"), way)
}

// tellLeft names the layers whose weights stay as they are.
func (r *rounder) tellLeft() {
	if len(r.left) > 0 {
		r.state.Report.Note("weights stay nearest of %s: of more than 12 bits, of more than %d to an output channel, "+
			"shared, or in codes of the model's own", diag.Several(r.left), roundColumns)
	}
}

// multiplies says that n is a layer with constant weights, output channels along their first axis and along the last of
// its result.
func multiplies(n *ir.Node) bool {
	t := &n.Op.Traits
	if !t.Weighted || t.PerChannel || recur.Recurs(n.Op) || len(n.Args) < 2 || !n.Args[1].IsConst() {
		return false
	}
	w, x := n.Args[1].Type.Shape, n.Args[0].Type.Shape
	return (t.Last == nil || *t.Last(n.Attrs)) && len(w) > 1 && len(x) > 0 && w[0] == channelsOf(n) &&
		x[len(x)-1]%w[len(w)-1] == 0 && w[0]%(x[len(x)-1]/w[len(w)-1]) == 0
}

// rounder rounds the weights of one graph.
type rounder struct {
	state      *stage
	graph      *ir.Graph
	way        plan.Rounding
	price      float64 // of a digit, where that is the way
	have, want *walk   // through the quantized and the float graph
	// done counts the layers whose weights are rounded, left names the others, and cost is what the codes of the former
	// cost, where digits are rounded, and plain what the nearest ones would.
	done        int
	left        []string
	cost, plain float64
}

// layers rounds the weights of all, from the inputs on.
func (r *rounder) layers(samples []ref.Sample) error {
	r.have = newWalk(r.state.runner.Context(), r.graph, samples)
	r.want = newWalk(r.state.runner.Context(), r.state.float, samples)
	for _, n := range r.graph.Nodes {
		m := r.state.float.Find(n.Name)
		if m == nil || !multiplies(m) || !multiplies(n) || !slices.Equal(m.Args[1].Type.Shape, n.Args[1].Type.Shape) {
			continue
		}
		ok, err := r.layer(m, n)
		if err != nil {
			return err
		}
		if ok {
			r.done++
		} else {
			r.left = append(r.left, n.Name)
		}
	}
	return nil
}

// layer rounds the weights of n, of which m is the layer in the float graph. ok is false where they stay as they are.
func (r *rounder) layer(m, n *ir.Node) (ok bool, err error) {
	b := n.Args[1]
	grid, ok := format.GridOf(r.state.Report.Grids[b], b.Type.Format)
	groups := m.Args[0].Type.Shape[len(m.Args[0].Type.Shape)-1] / m.Args[1].Type.Shape[len(m.Args[1].Type.Shape)-1]
	channels := m.Args[1].Type.Shape[0]
	columns := b.Type.Elems() / channels
	if !ok || columns > roundColumns || m.Args[0].Type.Elems() > countable || readersOf(r.graph, b) != 1 ||
		m.Args[1].Attrs.(*ir.Const).Own.Format != nil {
		return false, nil
	}
	w, err := m.Args[1].Value()
	if err != nil {
		return false, err
	}
	scales := elementScales(b.Type)
	layers := make([]*fit.Layer, groups)
	for i := range layers {
		l := fit.New(channels/groups, columns)
		l.Grid = grid
		from, to := i*l.Rows*columns, (i+1)*l.Rows*columns
		l.Scales = scales[from:to]
		for _, v := range w.Floats[from:to] {
			l.Weights = append(l.Weights, float64(v))
		}
		layers[i] = l
	}
	if err := r.gather(m, n, layers); err != nil {
		return false, err
	}
	if r.way == plan.RoundDigits {
		return true, r.digits(m, n, layers)
	}
	var codes []int64
	for _, l := range layers {
		at := l.GPTQ
		if r.way == plan.RoundAdaRound {
			at = l.AdaRound
		}
		for _, k := range at() {
			codes = append(codes, grid.Codes[k])
		}
	}
	b.Attrs = ir.Computed(ir.CodeBlob(codes), b)
	return true, nil
}

// elementScales is the scale of each element of constants of type t.
func elementScales(t ir.Type) []float64 {
	out := make([]float64, t.Elems())
	if t.InBlocks() {
		(&ir.Tensor{Type: t}).EachBlock(func(block, from, to int) {
			for i := from; i < to; i++ {
				out[i] = float64(t.Scales[block])
			}
		})
		return out
	}
	for i := range out {
		out[i] = 1
		if len(t.Scales) > 0 {
			out[i] = float64(t.Scales[i*len(t.Scales)/len(out)])
		}
	}
	return out
}

// gather adds what n reads, and what m makes of it in the float graph, to the sums of the groups of a layer: at as many
// places as there are, of which a fixed selection where there are very many.
func (r *rounder) gather(m, n *ir.Node, layers []*fit.Layer) error {
	outs, err := r.want.through(m)
	if err != nil {
		return err
	}
	reads, err := r.have.read(n)
	if err != nil {
		return err
	}
	windows, err := windowsOf(m, layers)
	if err != nil {
		return err
	}
	offset, err := offsets(m)
	if err != nil {
		return err
	}
	places := m.Type.Elems() / channelsOf(m)
	stride := (places*len(reads)-1)/roundPlaces + 1
	for i, read := range reads {
		values, err := read.Decode()
		if err != nil {
			return err
		}
		var at []int
		for p := range places {
			if format.Mix(uint32(i*places+p))%uint32(stride) == 0 {
				at = append(at, p)
			}
		}
		add(layers, at, offset, outs[i].Floats, values, windows)
	}
	return nil
}

// offsets are the biases of the output channels of m.
func offsets(m *ir.Node) ([]float32, error) {
	out := make([]float32, channelsOf(m))
	if len(m.Args) < 3 {
		return out, nil
	}
	t, err := m.Args[2].Value()
	if err != nil {
		return nil, err
	}
	for c := range out {
		out[c] = t.Floats[c*len(t.Floats)/len(out)]
	}
	return out, nil
}

// add adds outputs y, less the offsets of their channels, and windows of the values x of one sample to the sums, at
// some places.
func add(layers []*fit.Layer, at []int, offset, y []float32, x []float64, windows []int) {
	if len(at) == 0 {
		return
	}
	for g, l := range layers {
		ys, xs := make([]float64, 0, len(at)*l.Rows), make([]float64, 0, len(at)*l.Cols)
		for _, p := range at {
			for c := g * l.Rows; c < (g+1)*l.Rows; c++ {
				ys = append(ys, float64(y[p*len(offset)+c])-float64(offset[c]))
			}
			from := (p*len(layers) + g) * l.Cols
			for _, k := range windows[from : from+l.Cols] {
				if k == 0 {
					xs = append(xs, 0)
				} else {
					xs = append(xs, x[k-1])
				}
			}
		}
		l.Add(ys, xs, len(at))
	}
}

// windowsOf are, for each place of the result of m and each group, the elements of what m reads that the columns of its
// weights multiply, numbered from 1 on; 0 is padding. A convolution of those numbers with single ones for weights, one
// for each column, gives them; there are fewer than countable.
func windowsOf(m *ir.Node, layers []*fit.Layer) ([]int, error) {
	in := ir.NewTensor(ir.Float(m.Args[0].Type.Shape...))
	for i := range in.Floats {
		in.Floats[i] = float32(i + 1)
	}
	y := in
	if len(m.Args[1].Type.Shape) > 2 || len(layers) > 1 {
		columns := layers[0].Cols
		ones := make([]float32, len(layers)*columns*columns)
		for i := range len(layers) * columns {
			ones[i*columns+i%columns] = 1
		}
		w := *m.Args[1]
		shape := slices.Clone(w.Type.Shape)
		shape[0] = len(layers) * columns
		w.Type, w.Attrs = ir.Float(shape...), &ir.Const{Data: ir.FloatBlob(ones)}
		one := *m
		one.Args = []*ir.Node{m.Args[0], &w}
		one.Type.Shape = slices.Clone(m.Type.Shape)
		one.Type.Shape[len(one.Type.Shape)-1] = shape[0]
		kernel, err := one.Kernel()
		if err != nil {
			return nil, err
		}
		if y, err = kernel([]*ir.Tensor{in, nil}); err != nil {
			return nil, err
		}
	}
	from := make([]int, len(y.Floats))
	for i, v := range y.Floats {
		from[i] = int(v)
	}
	return from, nil
}
