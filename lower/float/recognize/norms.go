// SPDX-License-Identifier: Apache-2.0

package recognize

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
)

var norms = []Pattern{
	{"layer_norm", "(x - mean(x))/sqrt(mean((x - mean(x))^2) + eps), also with mean(x^2) - mean(x)^2", layerNorm},
	{"rms_norm", "x/sqrt(mean(x^2) + eps)", rmsNorm},
	{"layer_norm", "layer_norm(x)*scale", scaled(norm.LayerNorm)},
	{"rms_norm", "rms_norm(x)*scale", scaled(norm.RMSNorm)},
	{"layer_norm", "layer_norm(x)*scale + bias", biased},
}

// moment is mean(d^2) + eps over the axes from axis on. fast: it is mean(x^2) - mean(x)^2 + eps, d being x - mean(x).
type moment struct {
	d    *ir.Node
	axis int
	eps  float64
	fast bool
}

// moment sees v as one, broadcast to the given rank.
func (m *matcher) moment(v *ir.Node, rank int) (o moment, ok bool) {
	s := m.sum(spread(v, rank))
	if o.eps = s.number; !(o.eps >= 0 && o.eps < 1) {
		return o, false
	}
	if len(s.terms) == 1 && near(s.terms[0].coef, 1) { // at least 0, where rounding might make it less
		if x, _ := m.floored(s.terms[0].n); x != nil {
			inner := m.sum(spread(x, rank))
			s.terms = inner.terms
			if inner.number != 0 {
				return o, false
			}
		}
	}
	var square, mean *ir.Node
	for _, t := range s.terms {
		if r, is := m.reduced(t.n, rank); is {
			r.scale *= t.coef
			if square = m.squared(r.of); square == nil || o.d != nil || !r.mean() {
				return o, false
			}
			o.d, o.axis = square, r.tail()
		} else if mean = m.squared(t.n); mean == nil || !near(t.coef, -1) {
			return o, false
		}
	}
	if o.d == nil || o.axis < 0 || len(s.terms) > 2 {
		return o, false
	}
	if len(s.terms) == 2 {
		r, is := m.reduced(mean, rank)
		o.fast = true
		return o, is && r.mean() && m.same(r.of, o.d) && r.tail() == o.axis
	}
	return o, true
}

// floored sees max(x, 0).
func (m *matcher) floored(n *ir.Node) (x *ir.Node, ok bool) {
	switch n.Op.Name {
	case "relu":
		return n.Args[0], true
	case "max":
		for i, a := range n.Args {
			if v, is := m.scalar(a); is && v == 0 {
				return n.Args[1-i], true
			}
		}
	}
	return nil, false
}

// squared is x where n is x^2.
func (m *matcher) squared(n *ir.Node) *ir.Node {
	switch {
	case n.Op == pointwise.Mul && m.same(n.Args[0], n.Args[1]):
		return n.Args[0]
	case n.Op == curve.Pow && n.Attrs.(*curve.PowAttrs).Exponent == 2:
		return n.Args[0]
	}
	return nil
}

// centered is x where d is x - mean(x) over the axes from axis on.
func (m *matcher) centered(d *ir.Node, axis int) *ir.Node {
	if d.Op != pointwise.Sub {
		return nil
	}
	r, ok := m.reduced(d.Args[1], len(d.Type.Shape))
	if !ok || !r.mean() || r.tail() != axis || !m.same(r.of, d.Args[0]) {
		return nil
	}
	return d.Args[0]
}

// normalized takes n apart: d/sqrt(moment) times what others are left.
func (m *matcher) normalized(n *ir.Node) (o moment, others []power, ok bool) {
	if n.Op.Name != "mul" && n.Op.Name != "div" {
		return o, nil, false
	}
	rank := len(n.Type.Shape)
	for _, f := range m.product(n, nil).factors {
		if f.exp != -0.5 {
			continue
		}
		if o, ok = m.moment(f.n, rank); !ok {
			continue
		}
		p := m.product(n, o.d)
		if o.fast {
			p = m.product(n, nil)
		}
		_, p, ok = p.split(func(g power) bool { return g.n == f.n && g.exp == f.exp })
		if !ok || !near(p.coef, 1) {
			continue
		}
		d, p, ok := p.split(func(g power) bool {
			return g.exp == 1 && (!o.fast && m.same(g.n, o.d) || o.fast && m.centered(g.n, o.axis) != nil &&
				m.same(g.n.Args[0], o.d))
		})
		if ok {
			o.d = d.n
			return o, p.factors, true
		}
	}
	return o, nil, false
}

func layerNorm(m *matcher, n *ir.Node) *made {
	o, others, ok := m.normalized(n)
	if !ok {
		return nil
	}
	x := m.centered(o.d, o.axis)
	if x == nil {
		return nil
	}
	return normOf(norm.LayerNorm, n, o, x, others)
}

func rmsNorm(m *matcher, n *ir.Node) *made {
	o, others, ok := m.normalized(n)
	if !ok || o.fast {
		return nil
	}
	return normOf(norm.RMSNorm, n, o, o.d, others)
}

// normOf is the operation, with a scale where one factor is left that fits.
func normOf(o *ir.Op, n *ir.Node, at moment, x *ir.Node, others []power) *made {
	r := &made{op: o, attrs: &norm.Attrs{Axis: at.axis, Eps: float32(at.eps)}, args: []*ir.Node{x}}
	switch {
	case len(others) == 0:
		return r
	case len(others) > 1 || others[0].exp != 1 || !r.param(n, others[0].n, at.axis):
		return nil
	}
	return r
}

// param appends a scale or bias over the axes from axis on; false if it has other axes.
func (r *made) param(n, with *ir.Node, axis int) bool {
	rank := len(n.Type.Shape)
	with = spread(with, rank)
	shape := with.Type.Shape
	extra := max(0, len(shape)-(rank-axis))
	if slices.ContainsFunc(shape[:extra], func(d int) bool { return d != 1 }) {
		return false
	}
	if extra > 0 {
		with = r.reshaped(with, shape[extra:])
	}
	r.args = append(r.args, with)
	return true
}

// reshaped is x in another shape, and x itself where that is its own.
func (r *made) reshaped(x *ir.Node, shape []int) *ir.Node {
	if slices.Equal(x.Type.Shape, shape) {
		return x
	}
	shape = slices.Clone(shape)
	y := &ir.Node{Name: x.Name, Pos: x.Pos, Type: x.Type.WithShape(shape)}
	if c, ok := x.Attrs.(*ir.Const); ok { // the same bytes
		same := ir.Computed(c.Data, x)
		same.Own = c.Own
		y.Op, y.Attrs = x.Op, same
	} else {
		y.Name, y.Op, y.Attrs, y.Args = x.Name+".shape", move.Reshape, &move.ReshapeAttrs{Shape: shape}, []*ir.Node{x}
	}
	r.before = append(r.before, y)
	return y
}

// scaled puts a factor behind a norm without one into it.
func scaled(o *ir.Op) func(m *matcher, n *ir.Node) *made {
	return func(m *matcher, n *ir.Node) *made {
		if n.Op != pointwise.Mul {
			return nil
		}
		for i, x := range n.Args {
			if x.Op != o || len(x.Args) != 1 || !m.single(x) {
				continue
			}
			if r := extended(x); r.param(n, n.Args[1-i], x.Attrs.(*norm.Attrs).Axis) {
				return r
			}
		}
		return nil
	}
}

// extended is norm x again, for another argument.
func extended(x *ir.Node) *made {
	a := *x.Attrs.(*norm.Attrs)
	return &made{op: x.Op, attrs: &a, args: slices.Clone(x.Args)}
}

// biased puts a summand behind a layer norm with a scale into it.
func biased(m *matcher, n *ir.Node) *made {
	if n.Op != pointwise.Add {
		return nil
	}
	for i, x := range n.Args {
		if x.Op != norm.LayerNorm || len(x.Args) != 2 || !m.single(x) {
			continue
		}
		if r := extended(x); r.param(n, n.Args[1-i], x.Attrs.(*norm.Attrs).Axis) {
			return r
		}
	}
	return nil
}
