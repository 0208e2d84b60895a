// SPDX-License-Identifier: Apache-2.0

package calib

import (
	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sum"
)

// bounds are the least and the greatest value of every element of a tensor.
type bounds struct{ lo, hi *ir.Tensor }

// Intervals bounds the values of every node of a float graph by interval arithmetic, element by element, from the range
// of each input. Bounds are those of real arithmetic up to float32 rounding.
func Intervals(g *ir.Graph, ranges func(input *ir.Node) (lo, hi float64)) (map[*ir.Node]*Values, error) {
	all := make(map[*ir.Node]bounds, len(g.Nodes))
	out := make(map[*ir.Node]*Values, len(g.Nodes))
	for _, n := range g.Nodes {
		if n.IsConst() {
			continue // read where it is needed: all weights at once are as large as the model
		}
		b, err := intervalOf(n, all, ranges)
		if err != nil {
			return nil, err
		}
		all[n] = b
		lo, hi := Of(b.lo.Floats), Of(b.hi.Floats)
		out[n] = &Values{Min: lo.Min, Max: hi.Max}
	}
	return out, nil
}

func intervalOf(n *ir.Node, all map[*ir.Node]bounds, ranges func(*ir.Node) (lo, hi float64)) (bounds, error) {
	args := make([]bounds, len(n.Args))
	for i, a := range n.Args {
		args[i] = all[a]
		if a.IsConst() && !(n.Op.Traits.Weighted && i > 0) {
			t, err := a.Value()
			if err != nil {
				return bounds{}, err
			}
			args[i] = bounds{t, t}
		}
	}
	switch n.Op {
	case leaf.Input:
		lo, hi := ranges(n)
		return filled(n, lo, hi), nil
	case leaf.Const: // of an expansion
		t, err := n.Value()
		return bounds{t, t}, err
	case pointwise.Sub:
		return corners(n, [][2]*ir.Tensor{{args[0].lo, args[1].hi}, {args[0].hi, args[1].lo}})
	case pointwise.Mul:
		a, b := args[0], args[1]
		if n.Args[0] == n.Args[1] {
			return square(n, a)
		}
		return corners(n, [][2]*ir.Tensor{{a.lo, b.lo}, {a.lo, b.hi}, {a.hi, b.lo}, {a.hi, b.hi}})
	case norm.Softmax:
		return filled(n, 0, 1), nil
	case reduce.ArgMax:
		return filled(n, 0, float64(reduce.ArgMaxSize(n)-1)), nil
	}
	switch {
	case n.Op.Traits.Turns != nil:
		return turning(n, args[0])
	case n.Op == sum.Linear && n.Args[1].IsConst():
		return linear(n, args[0])
	case n.Op.Traits.Weighted:
		return weighted(n, args[0])
	case n.Op.Traits.Monotone:
		b, err := monotone(n, args)
		if err == nil {
			err = bounded(n, b)
		}
		return b, err
	case n.Op.Expand != nil:
		return expanded(n, all, ranges)
	}
	return bounds{}, unknown(n)
}

// expanded bounds the operations that n consists of, one after the other.
func expanded(n *ir.Node, all map[*ir.Node]bounds, ranges func(*ir.Node) (lo, hi float64)) (bounds, error) {
	parts, err := n.Op.Expand(n)
	if err != nil {
		return bounds{}, err
	}
	inside := make(map[*ir.Node]bounds, len(parts)+1)
	for _, a := range n.Args {
		inside[a] = all[a]
	}
	for _, p := range parts {
		if inside[p], err = intervalOf(p, inside, ranges); err != nil {
			return bounds{}, err
		}
	}
	return inside[parts[len(parts)-1]], nil
}

func filled(n *ir.Node, lo, hi float64) bounds {
	b := bounds{ir.NewTensor(ir.Float(n.Type.Shape...)), ir.NewTensor(ir.Float(n.Type.Shape...))}
	for i := range b.lo.Floats {
		b.lo.Floats[i], b.hi.Floats[i] = float32(lo), float32(hi)
	}
	return b
}

// eval runs the node on given argument values.
func eval(n *ir.Node, args ...*ir.Tensor) (*ir.Tensor, error) {
	k, err := n.Op.Eval(n)
	if err != nil {
		return nil, err
	}
	return k(args)
}

// monotone handles operations that grow with every argument: both bounds are evaluated.
func monotone(n *ir.Node, args []bounds) (bounds, error) {
	lo, hi := make([]*ir.Tensor, len(args)), make([]*ir.Tensor, len(args))
	for i, a := range args {
		lo[i], hi[i] = a.lo, a.hi
	}
	l, err := eval(n, lo...)
	if err != nil {
		return bounds{}, err
	}
	h, err := eval(n, hi...)
	return bounds{l, h}, err
}

// corners evaluates the node on several pairs of arguments and takes the least and the greatest of each element.
func corners(n *ir.Node, pairs [][2]*ir.Tensor) (bounds, error) {
	var b bounds
	for i, p := range pairs {
		t, err := eval(n, p[0], p[1])
		if err != nil {
			return b, err
		}
		if i == 0 {
			b = bounds{clone(t), clone(t)}
			continue
		}
		for k, v := range t.Floats {
			b.lo.Floats[k], b.hi.Floats[k] = min(b.lo.Floats[k], v), max(b.hi.Floats[k], v)
		}
	}
	return b, nil
}

// square bounds x*x, which is never negative: roots are taken of means of squares.
func square(n *ir.Node, x bounds) (bounds, error) {
	b, err := corners(n, [][2]*ir.Tensor{{x.lo, x.lo}, {x.hi, x.hi}})
	if err != nil {
		return bounds{}, err
	}
	for i, lo := range x.lo.Floats {
		if lo < 0 && x.hi.Floats[i] > 0 {
			b.lo.Floats[i] = 0
		}
	}
	return b, nil
}

func clone(t *ir.Tensor) *ir.Tensor {
	return &ir.Tensor{Type: t.Type, Floats: append([]float32(nil), t.Floats...)}
}

// weighted bounds linear, conv and scale: positive weights carry a bound to the same bound, negative ones to the other.
func weighted(n *ir.Node, x bounds) (bounds, error) {
	pos, err := part(n, func(w float32) float32 { return max(w, 0) }, true)
	if err != nil {
		return bounds{}, err
	}
	neg, err := part(n, func(w float32) float32 { return min(w, 0) }, false)
	if err != nil {
		return bounds{}, err
	}
	var b bounds
	for _, side := range []struct {
		to             **ir.Tensor
		forPos, forNeg *ir.Tensor
	}{{&b.lo, x.lo, x.hi}, {&b.hi, x.hi, x.lo}} {
		p, err := eval(pos, side.forPos, nil, nil)
		if err != nil {
			return b, err
		}
		q, err := eval(neg, side.forNeg, nil, nil)
		if err != nil {
			return b, err
		}
		sum := clone(p)
		for i, v := range q.Floats {
			sum.Floats[i] += v
		}
		*side.to = sum
	}
	return b, nil
}

// part is n with weights f(w), and with its bias or a bias of zero.
func part(n *ir.Node, f func(float32) float32, bias bool) (*ir.Node, error) {
	t, err := n.Args[1].Value()
	if err != nil {
		return nil, err
	}
	p := *n
	w := make([]float32, len(t.Floats))
	for i, v := range t.Floats {
		w[i] = f(v)
	}
	p.Args = append([]*ir.Node(nil), n.Args...)
	p.Args[1] = floatConst(n.Args[1], w)
	if len(n.Args) > 2 && !bias {
		p.Args[2] = floatConst(n.Args[2], make([]float32, n.Args[2].Type.Elems()))
	}
	return &p, nil
}

func floatConst(like *ir.Node, values []float32) *ir.Node {
	c := *like
	c.Attrs = ir.Computed(ir.FloatBlob(values), like)
	return &c
}
