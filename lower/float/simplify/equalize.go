// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/recur"
	"lathe/ir/op/window"
)

// Link is a layer, a norm, a scale or an input whose channels only layers read, through operations that a positive
// factor passes unchanged: powers of two may move from its constants, or from samples, to the weights of those.
type Link struct {
	From *ir.Node
	To   []*ir.Node
	// Values are From and what passes its channels on.
	Values []*ir.Node
}

// Links finds all links of a graph with channels last: of layers, and where it is asked for also of norms and scales.
func Links(g *ir.Graph, affine bool) []Link {
	users := g.Users()
	var out []Link
	for _, from := range g.Nodes {
		if !adjustable(from) && !(affine && gains(from)) {
			continue
		}
		l := Link{From: from}
		if l.follow(g, users, from) && len(l.To) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// InputLink is the link of an input, which layers read, or scales of its channels; false where something else does.
func InputLink(g *ir.Graph, in *ir.Node) (Link, bool) {
	l := Link{From: in}
	if rank := len(in.Type.Shape); rank == 0 || in.Type.Shape[rank-1] < 2 || in.Type.Format != format.FP32 {
		return l, false
	}
	return l, l.follow(g, g.Users(), in) && len(l.To) > 0
}

// Factors are those by which scales multiply the channels of an input; nil where a layer reads it, or several do.
func (l *Link) Factors() ([]float32, error) {
	if len(l.To) != 1 || !scales(l.To[0]) {
		return nil, nil
	}
	t, err := l.To[0].Args[1].Value()
	if err != nil {
		return nil, err
	}
	return t.Floats, nil
}

// follow finds the layers that read n, which carries the channels of From; false where something else does.
func (l *Link) follow(g *ir.Graph, users map[*ir.Node][]*ir.Node, n *ir.Node) bool {
	if g.IsOutput(n) {
		return false
	}
	l.Values = append(l.Values, n)
	channels := l.Channels()
	for _, to := range users[n] {
		switch {
		case slices.Contains(to.Args[1:], n):
			return false
		case passes(to):
			if !l.follow(g, users, to) {
				return false
			}
		case l.From.IsInput() && scales(to):
			l.To = append(l.To, to)
		case !adjustable(to):
			return false
		default:
			w := to.Args[1].Type.Shape
			if single(to) && w[0] != channels || !single(to) && w[len(w)-1]%channels != 0 {
				return false
			}
			l.To = append(l.To, to)
		}
	}
	return true
}

// Channels is the number of channels, which are the last axis of From.
func (l *Link) Channels() int { return l.From.Type.Shape[len(l.From.Type.Shape)-1] }

// single says that each output channel of n reads the input channel of its number alone, as a depthwise convolution.
func single(n *ir.Node) bool {
	w, x := n.Args[1].Type.Shape, n.Args[0].Type.Shape
	return w[len(w)-1] == 1 && w[0] == x[len(x)-1]
}

// column is the channel of From that element k of n weights of a layer reads.
func (l *Link) column(to *ir.Node, k, n int) int {
	if single(to) {
		return k * l.Channels() / n
	}
	return k % l.Channels() // the last axis holds whole groups of channels
}

// scales says that n multiplies each channel by a constant.
func scales(n *ir.Node) bool { return n.Op.Traits.PerChannel && gains(n) }

// gains says that n multiplies each channel, along its last axis, by a constant: a norm, or a scale.
func gains(n *ir.Node) bool {
	t := &n.Op.Traits
	if !norm.HasGains(n.Op) && !(t.Weighted && t.PerChannel) || len(n.Args) < 2 || len(n.Type.Shape) == 0 {
		return false
	}
	last := len(n.Type.Shape) - 1
	for _, a := range n.Args[1:] {
		s := a.Type.Shape
		if !floats(a) || len(s) == 0 || s[len(s)-1] != n.Type.Shape[last] || a.Type.Elems() != n.Type.Shape[last] {
			return false
		}
	}
	return t.Axis == nil || *t.Axis(n.Attrs) == last
}

// floats says that a is a constant of real values, for which the model brings no format.
func floats(a *ir.Node) bool {
	return a.IsConst() && a.Type.IsFloat() && a.Attrs.(*ir.Const).Own.Format == nil
}

// adjustable says that n has weights of float constants, for output channels along their first axis and for what it
// reads along their last, if not single, and channels along the last axis of both values.
func adjustable(n *ir.Node) bool {
	t := &n.Op.Traits
	if !t.Weighted || t.PerChannel || recur.Recurs(n.Op) || len(n.Args) < 2 || len(n.Args) > 3 {
		return false
	}
	for _, a := range n.Args[1:] {
		if !floats(a) {
			return false
		}
	}
	w, x := n.Args[1].Type.Shape, n.Args[0].Type.Shape
	if t.Last != nil && !*t.Last(n.Attrs) || len(w) < 2 {
		return false
	}
	return (w[len(w)-1] == x[len(x)-1] || single(n)) && w[0] == n.Type.Shape[len(n.Type.Shape)-1]
}

// passes says that a positive factor of the channels of argument 0 comes out as it is; reshapes keep channels the
// innermost of what they join.
func passes(n *ir.Node) bool {
	switch n.Op {
	case pointwise.Relu, pointwise.LeakyRelu, move.Identity:
		return true
	case window.MaxPool, window.AvgPool:
		return *n.Op.Traits.Last(n.Attrs)
	case move.Slice:
		return n.Attrs.(*move.SliceAttrs).Axis != len(n.Type.Shape)-1
	case move.Reshape:
		a, b := n.Args[0].Type.Shape, n.Type.Shape
		return len(a) > 0 && len(b) > 0 && b[len(b)-1]%a[len(a)-1] == 0
	}
	return false
}

// Columns is, for each channel, the largest magnitude of the weights that read it, and for each what From makes of it
// at most where its inputs, or what it has normalized, are of magnitude 1.
func (l *Link) Columns() (columns, rows []float64, err error) {
	channels := l.Channels()
	columns, rows = make([]float64, channels), make([]float64, channels)
	for _, to := range l.To {
		w, err := to.Args[1].Value()
		if err != nil {
			return nil, nil, err
		}
		for i, v := range w.Floats {
			c := l.column(to, i, len(w.Floats))
			columns[c] = max(columns[c], math.Abs(float64(v)))
		}
	}
	for k, a := range l.From.Args[min(1, len(l.From.Args)):] {
		t, err := a.Value()
		if err != nil {
			return nil, nil, err
		}
		for i, v := range t.Floats {
			if c := i * channels / len(t.Floats); k == 0 {
				rows[c] = max(rows[c], math.Abs(float64(v)))
			} else {
				rows[c] += math.Abs(float64(v))
			}
		}
	}
	return columns, rows, nil
}

// Move multiplies channel c by 2^exps[c], of an input in its samples, and divides the weights that read it by that.
// Float arithmetic stays exact but for values near its limits.
func (l *Link) Move(g *ir.Graph, exps []int) error {
	if in, ok := l.From.Attrs.(*ir.Input); ok {
		a := *in
		a.Exponents = slices.Clone(exps)
		for c, e := range in.Exponents {
			a.Exponents[c] += e
		}
		l.From.Attrs = &a
	}
	for i := 1; i < len(l.From.Args); i++ {
		if err := scaled(g, l.From, i, func(k, n int) int { return exps[k*len(exps)/n] }); err != nil {
			return err
		}
	}
	for _, to := range l.To {
		if err := scaled(g, to, 1, func(k, n int) int { return -exps[l.column(to, k, n)] }); err != nil {
			return err
		}
	}
	return nil
}

// scaled multiplies element k of n of constant argument i by 2^exp(k, n).
func scaled(g *ir.Graph, n *ir.Node, i int, exp func(k, n int) int) error {
	t, err := n.Args[i].Value()
	if err != nil {
		return err
	}
	values := slices.Clone(t.Floats)
	for k, v := range values {
		values[k] = float32(math.Ldexp(float64(v), exp(k, len(values))))
	}
	SetConst(g, n, i, n.Args[i].Type.Shape, values)
	return nil
}
