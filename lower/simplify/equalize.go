// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/window"
)

// Link is a layer whose output channels only one other layer reads, through operations that a positive factor passes
// unchanged: a power of two may move from the weights of one to those of the other.
type Link struct{ From, To *ir.Node }

// Links finds all links of a graph with channels last.
func Links(g *ir.Graph) []Link {
	users := g.Users()
	var out []Link
	for _, to := range g.Nodes {
		if !adjustable(to) {
			continue
		}
		from := to.Args[0]
		for len(users[from]) == 1 && !g.IsOutput(from) && passes(from) {
			from = from.Args[0]
		}
		if !adjustable(from) || len(users[from]) != 1 || g.IsOutput(from) {
			continue
		}
		channels, w := from.Args[1].Type.Shape[0], to.Args[1].Type.Shape
		if single(to) && w[0] == channels || !single(to) && w[len(w)-1]%channels == 0 {
			out = append(out, Link{from, to})
		}
	}
	return out
}

// single says that each output channel of n reads the input channel of its number alone, as a depthwise convolution.
func single(n *ir.Node) bool {
	w, x := n.Args[1].Type.Shape, n.Args[0].Type.Shape
	return w[len(w)-1] == 1 && w[0] == x[len(x)-1]
}

// column is the output channel of From that element k of n weights of To reads.
func (l Link) column(k, n int) int {
	channels := l.From.Args[1].Type.Shape[0]
	if single(l.To) {
		return k * channels / n
	}
	return k % channels // the last axis holds whole groups of channels
}

// adjustable says that n has weights of float constants, for output channels along their first axis and for what it
// reads along their last, if not single, and channels along the last axis of both values.
func adjustable(n *ir.Node) bool {
	t := &n.Op.Traits
	if !t.Weighted || t.PerChannel || t.Recurs || len(n.Args) < 2 || len(n.Args) > 3 {
		return false
	}
	for _, a := range n.Args[1:] {
		if !a.IsConst() || !a.Type.IsFloat() || a.Attrs.(*ir.Const).Own.Format != nil {
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
	case move.Reshape:
		a, b := n.Args[0].Type.Shape, n.Type.Shape
		return len(a) > 0 && len(b) > 0 && b[len(b)-1]%a[len(a)-1] == 0
	}
	return false
}

// Columns is, for each output channel of From, the largest magnitude of the weights of To that read it, and for each
// what From makes of it at most where its inputs are of magnitude 1.
func (l Link) Columns() (columns, rows []float64, err error) {
	channels := l.From.Args[1].Type.Shape[0]
	columns, rows = make([]float64, channels), make([]float64, channels)
	w, err := l.To.Args[1].Value()
	if err != nil {
		return nil, nil, err
	}
	for i, v := range w.Floats {
		c := l.column(i, len(w.Floats))
		columns[c] = max(columns[c], math.Abs(float64(v)))
	}
	for k, a := range l.From.Args[1:] {
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

// Move multiplies output channel c of From by 2^exps[c], and divides the weights of To that read it by that. Float
// arithmetic stays exact but for values near its limits.
func (l Link) Move(g *ir.Graph, exps []int) error {
	for i := 1; i < len(l.From.Args); i++ {
		if err := scaled(g, l.From, i, func(k, n int) int { return exps[k*len(exps)/n] }); err != nil {
			return err
		}
	}
	return scaled(g, l.To, 1, func(k, n int) int { return -exps[l.column(k, n)] })
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
