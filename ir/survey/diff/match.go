// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"reflect"
	"slices"

	"lathe/ir"
)

// matching pairs the nodes of two graphs.
type matching struct {
	a, b  *ir.Graph
	of    map[*ir.Node]*ir.Node   // the partner in the other graph, both ways
	users map[*ir.Node][]*ir.Node // of nodes of a

	options Options
}

// match pairs nodes: by name, if names count, where the operation is the same; then along the edges, first such that
// are equal but for their names, then such that have the operation in common; and what is left by name alone.
func match(a, b *ir.Graph, names bool) *matching {
	m := &matching{a: a, b: b, of: make(map[*ir.Node]*ir.Node, len(a.Nodes)+len(b.Nodes)), users: a.Users()}
	byName := make(map[string]*ir.Node, len(a.Nodes))
	for _, n := range a.Nodes {
		byName[n.Name] = n
	}
	m.named(byName, func(x, y *ir.Node) bool {
		return x.Op == y.Op && slices.Equal(x.Type.Shape, y.Type.Shape) && (names || x.Op.Traits.Source)
	})
	for i := range min(len(a.In), len(b.In)) { // inputs that have other names, by place
		if x, y := a.In[i], b.In[i]; slices.Equal(x.Type.Shape, y.Type.Shape) {
			m.match(x, y)
		}
	}
	for _, alike := range []func(x, y *ir.Node) bool{equal, sameOp} {
		for before := -1; before != len(m.of); {
			before = len(m.of)
			m.forward(alike)
			m.backward(alike)
		}
	}
	m.named(byName, func(_, _ *ir.Node) bool { return true })
	m.constants(byName)
	return m
}

// match makes x and y partners where neither has one and both are constants or neither is.
func (m *matching) match(x, y *ir.Node) bool {
	if m.of[x] != nil || m.of[y] != nil || x.IsConst() != y.IsConst() {
		return false
	}
	m.of[x], m.of[y] = y, x
	return true
}

func equal(x, y *ir.Node) bool {
	return sameOp(x, y) && slices.Equal(x.Type.Shape, y.Type.Shape) && reflect.DeepEqual(x.Attrs, y.Attrs)
}

func sameOp(x, y *ir.Node) bool { return x.Op == y.Op && len(x.Args) == len(y.Args) }

// named pairs nodes of one name.
func (m *matching) named(byName map[string]*ir.Node, alike func(x, y *ir.Node) bool) {
	for _, n := range m.b.Nodes {
		if p := byName[n.Name]; p != nil && !n.IsConst() && alike(p, n) {
			m.match(p, n)
		}
	}
}

// forward pairs nodes whose arguments are partners.
func (m *matching) forward(alike func(x, y *ir.Node) bool) {
	for _, n := range m.b.Nodes {
		if m.of[n] != nil || n.IsConst() {
			continue
		}
		var least []*ir.Node // the readers of the argument that has the fewest
		for _, arg := range n.Args {
			if p := m.of[arg]; p != nil && (least == nil || len(m.users[p]) < len(least)) {
				least = m.users[p]
			}
		}
		for _, p := range least {
			if m.of[p] == nil && alike(p, n) && m.sameArgs(p, n) {
				m.match(p, n)
				break
			}
		}
	}
}

// sameArgs says that the arguments of p and n are partners; constants are looked at later.
func (m *matching) sameArgs(p, n *ir.Node) bool {
	for i, x := range p.Args {
		if y := n.Args[i]; x.IsConst() != y.IsConst() || !x.IsConst() && m.of[x] != y {
			return false
		}
	}
	return true
}

// backward pairs the arguments of partners, and the outputs.
func (m *matching) backward(alike func(x, y *ir.Node) bool) {
	for i := range min(len(m.a.Out), len(m.b.Out)) {
		if x, y := m.a.Out[i].Node, m.b.Out[i].Node; alike(x, y) {
			m.match(x, y)
		}
	}
	for _, n := range slices.Backward(m.b.Nodes) {
		p := m.of[n]
		if p == nil || !sameOp(p, n) {
			continue
		}
		for i, x := range p.Args {
			if y := n.Args[i]; !x.IsConst() && !x.Op.Traits.Source && alike(x, y) {
				m.match(x, y)
			}
		}
	}
}

// constants pairs constants of one name and shape, then those that partners read at the same place.
func (m *matching) constants(byName map[string]*ir.Node) {
	for _, n := range m.b.Nodes {
		if p := byName[n.Name]; p != nil && n.IsConst() && slices.Equal(p.Type.Shape, n.Type.Shape) {
			m.match(p, n)
		}
	}
	for _, n := range m.b.Nodes {
		p := m.of[n]
		if p == nil || n.IsConst() {
			continue
		}
		for i := range min(len(p.Args), len(n.Args)) {
			if p.Args[i].IsConst() && n.Args[i].IsConst() {
				m.match(p.Args[i], n.Args[i])
			}
		}
	}
}
