// SPDX-License-Identifier: Apache-2.0

package recognize

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
)

var softmaxes = []Pattern{
	{"softmax", "exp(x - m)/sum(exp(x - m)), m the same along the axis", softmax},
	{"log_softmax", "x - m - log(sum(exp(x - m)))", logSoftmax},
}

// softmax knows exp(d)/sum(exp(d)). Where d is x less something that is the same along the axis, it is that of x.
func softmax(m *matcher, n *ir.Node) *made {
	if n.Op.Name != "div" && n.Op.Name != "mul" {
		return nil
	}
	p := m.product(n, nil)
	if len(p.factors) != 2 || !near(p.coef, 1) {
		return nil
	}
	e, rest, ok := p.split(func(f power) bool { return f.exp == 1 && f.n.Op.Name == "exp" })
	if !ok || rest.factors[0].exp != -1 {
		return nil
	}
	axis, ok := m.sums(rest.factors[0].n, e.n)
	if !ok {
		return nil
	}
	return &made{op: norm.Softmax, attrs: &column.AxisAttrs{Axis: axis}, args: []*ir.Node{unshifted(e.n.Args[0], axis)}}
}

// sums says that n is the sum of e along one axis.
func (m *matcher) sums(n, e *ir.Node) (axis int, ok bool) {
	r, ok := m.reduced(n, len(e.Type.Shape))
	if !ok || len(r.axes) != 1 || !near(r.scale, 1) || !m.same(r.of, e) {
		return 0, false
	}
	return r.axes[0], true
}

// unshifted is x where d is x - m and m is the same along the axis.
func unshifted(d *ir.Node, axis int) *ir.Node {
	if d.Op != pointwise.Sub || !slices.Equal(d.Args[0].Type.Shape, d.Type.Shape) {
		return d
	}
	rank := len(d.Type.Shape)
	shift := spread(d.Args[1], rank).Type.Shape
	if at := axis - rank + len(shift); at >= 0 && shift[at] != 1 {
		return d
	}
	return d.Args[0]
}

// logSoftmax knows d - log(sum(exp(d))).
func logSoftmax(m *matcher, n *ir.Node) *made {
	if n.Op != pointwise.Sub {
		return nil
	}
	d := n.Args[0]
	log := spread(n.Args[1], len(n.Type.Shape))
	if log.Op.Name != "log" {
		return nil
	}
	r, ok := m.reduced(log.Args[0], len(n.Type.Shape))
	if !ok || len(r.axes) != 1 || !near(r.scale, 1) || r.of.Op.Name != "exp" || !m.same(r.of.Args[0], d) {
		return nil
	}
	return &made{op: norm.LogSoftmax, attrs: &column.AxisAttrs{Axis: r.axes[0]},
		args: []*ir.Node{unshifted(d, r.axes[0])}}
}
