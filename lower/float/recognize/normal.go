// SPDX-License-Identifier: Apache-2.0

package recognize

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
)

// matcher holds what patterns ask of a graph.
type matcher struct {
	g       *ir.Graph
	class   map[*ir.Node]int    // nodes of one class compute the same value
	readers map[*ir.Node]int    // nil where the graph has changed
	wanted  map[*ir.Node]string // names that nodes get if they become free
	left    int                 // steps that the pattern may still take
}

// Bounds on normal forms: larger ones are no pattern, and would take long.
const (
	deepest  = 16
	mostWork = 1 << 11 // steps of one pattern at one node
	mostSame = 1 << 22 // elements of a constant that are compared with each other
)

func newMatcher(g *ir.Graph) *matcher {
	return &matcher{g: g, class: Classes(g), wanted: map[*ir.Node]string{}}
}

// Classes numbers the nodes of a graph by what they compute: two of one operation, with equal attributes and arguments
// of equal classes, have the same number. Constants are equal that have the same bytes.
func Classes(g *ir.Graph) map[*ir.Node]int {
	class := make(map[*ir.Node]int, len(g.Nodes))
	known := map[string][]*ir.Node{}
	for i, n := range g.Nodes {
		class[n] = i
		if n.Op.Name == "input" {
			continue
		}
		args := make([]int, len(n.Args))
		for k, a := range n.Args {
			args[k] = class[a]
		}
		key := fmt.Sprint(n.Op.Name, n.Type.Shape, args)
		if c, ok := n.Attrs.(*ir.Const); ok { // most differ here already
			key += string(c.Data.Bytes[:min(len(c.Data.Bytes), 16)])
		}
		at := slices.IndexFunc(known[key], func(other *ir.Node) bool { return sameNode(n, other) })
		if at >= 0 {
			class[n] = class[known[key][at]]
			continue
		}
		known[key] = append(known[key], n)
	}
	return class
}

// sameNode compares what the arguments do not tell.
func sameNode(a, b *ir.Node) bool {
	if !a.Type.SameFormat(b.Type) {
		return false
	}
	p, ok := a.Attrs.(*ir.Const)
	if !ok {
		return reflect.DeepEqual(a.Attrs, b.Attrs)
	}
	q := b.Attrs.(*ir.Const)
	if p.Data.DType != q.Data.DType || len(p.Data.Bytes) != len(q.Data.Bytes) || p.Own.Format != q.Own.Format {
		return false
	}
	return len(p.Data.Bytes) == 0 || &p.Data.Bytes[0] == &q.Data.Bytes[0] || bytes.Equal(p.Data.Bytes, q.Data.Bytes)
}

// same says that a and b compute the same value. Nodes that a pattern made have no class.
func (m *matcher) same(a, b *ir.Node) bool {
	x, okX := m.class[a]
	y, okY := m.class[b]
	return a == b || okX && okY && x == y
}

// tired counts a step, and says that there were too many: a value that is read again and again can be reached on more
// ways than there is time for.
func (m *matcher) tired() bool {
	m.left--
	return m.left < 0
}

// single says that n has one reader.
func (m *matcher) single(n *ir.Node) bool {
	if m.readers == nil {
		m.readers = m.g.Readers()
	}
	return m.readers[n] == 1
}

// scalar is the number that all elements of a constant of floats are.
func (m *matcher) scalar(n *ir.Node) (float64, bool) {
	for n.Op == move.Repeat || n.Op == move.Reshape {
		n = n.Args[0]
	}
	if n.Type.Elems() > mostSame || !n.Type.IsFloat() {
		return 0, false
	}
	return n.Uniform()
}

// near compares constants of a model: float32 roundings of a formula's number, or a few digits of it.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-4*math.Abs(b) }

// power is a factor of a product.
type power struct {
	n   *ir.Node
	exp float64
}

// product is coef times powers of values that are no constants of one number.
type product struct {
	coef    float64
	factors []power
}

// product writes n as one; stop, if not nil, is a value that is not looked into.
func (m *matcher) product(n, stop *ir.Node) product {
	p := product{coef: 1}
	m.multiply(&p, n, 1, stop, 0)
	p.factors = slices.DeleteFunc(p.factors, func(f power) bool { return f.exp == 0 })
	return p
}

// multiply takes n^exp, exp whole, into p.
func (m *matcher) multiply(p *product, n *ir.Node, exp float64, stop *ir.Node, depth int) {
	if v, ok := m.scalar(n); ok {
		p.coef *= math.Pow(v, exp)
		return
	}
	if stop != nil && m.same(n, stop) || depth > deepest || m.tired() {
		m.factor(p, n, exp)
		return
	}
	if base := spread(n, len(n.Type.Shape)); base != n {
		m.multiply(p, base, exp, stop, depth+1)
		return
	}
	switch n.Op.Name {
	case "mul":
		m.multiply(p, n.Args[0], exp, stop, depth+1)
		m.multiply(p, n.Args[1], exp, stop, depth+1)
	case "div":
		m.multiply(p, n.Args[0], exp, stop, depth+1)
		m.multiply(p, n.Args[1], -exp, stop, depth+1)
	case "reciprocal":
		p.coef *= math.Pow(float64(n.Attrs.(*curve.ReciprocalAttrs).Numerator), exp)
		m.multiply(p, n.Args[0], -exp, stop, depth+1)
	case "pow":
		if e := float64(n.Attrs.(*curve.PowAttrs).Exponent); e == math.Trunc(e) {
			m.multiply(p, n.Args[0], exp*e, stop, depth+1)
		} else {
			m.factor(p, n.Args[0], exp*e)
		}
	case "sqrt":
		m.factor(p, n.Args[0], exp/2)
	default:
		if c, x, ok := m.negated(n); ok {
			p.coef *= math.Pow(c, exp)
			m.multiply(p, x, exp, stop, depth+1)
			return
		}
		m.factor(p, n, exp)
	}
}

// negated sees 0 - x.
func (m *matcher) negated(n *ir.Node) (float64, *ir.Node, bool) {
	if n.Op.Name == "neg" {
		return -1, n.Args[0], true
	}
	if n.Op == pointwise.Sub && slices.Equal(n.Type.Shape, n.Args[1].Type.Shape) {
		if v, ok := m.scalar(n.Args[0]); ok && v == 0 {
			return -1, n.Args[1], true
		}
	}
	return 0, nil, false
}

// factor adds a power; those of one value become one.
func (m *matcher) factor(p *product, n *ir.Node, exp float64) {
	for i := range p.factors {
		if m.same(p.factors[i].n, n) {
			p.factors[i].exp += exp
			return
		}
	}
	p.factors = append(p.factors, power{n, exp})
}

// split takes the one factor out that is like n^exp; ok is false if there is none.
func (p product) split(like func(power) bool) (f power, rest product, ok bool) {
	i := slices.IndexFunc(p.factors, like)
	if i < 0 {
		return f, p, false
	}
	rest = product{p.coef, slices.Delete(slices.Clone(p.factors), i, i+1)}
	return p.factors[i], rest, true
}

// only says that p is coef times x and nothing else.
func (p product) only(m *matcher, x *ir.Node) bool {
	return len(p.factors) == 1 && p.factors[0].exp == 1 && m.same(p.factors[0].n, x)
}

// term is a summand: coef times a value.
type term struct {
	n    *ir.Node
	coef float64
}

// addends is a number plus terms.
type addends struct {
	number float64
	terms  []term
}

// sum writes n as one. Products of several values, and of powers, are terms as they are.
func (m *matcher) sum(n *ir.Node) addends {
	var s addends
	m.addTo(&s, n, 1, 0)
	return s
}

func (m *matcher) addTo(s *addends, n *ir.Node, coef float64, depth int) {
	if v, ok := m.scalar(n); ok {
		s.number += coef * v
		return
	}
	if depth < deepest && !m.tired() {
		switch n.Op.Name {
		case "add":
			m.addTo(s, n.Args[0], coef, depth+1)
			m.addTo(s, n.Args[1], coef, depth+1)
			return
		case "sub":
			m.addTo(s, n.Args[0], coef, depth+1)
			m.addTo(s, n.Args[1], -coef, depth+1)
			return
		case "mul", "div", "neg":
			p := m.product(n, nil)
			if len(p.factors) == 1 && p.factors[0].exp == 1 && p.factors[0].n != n {
				m.addTo(s, p.factors[0].n, coef*p.coef, depth+1)
				return
			}
		}
	}
	for i := range s.terms {
		if m.same(s.terms[i].n, n) {
			s.terms[i].coef += coef
			return
		}
	}
	s.terms = append(s.terms, term{n, coef})
}

// poly is a polynomial: the coefficient of x^i at i; nil is none.
type poly []float64

const mostDegree = 6

// poly writes n as a polynomial in x.
func (m *matcher) poly(n, x *ir.Node, depth int) poly {
	if v, ok := m.scalar(n); ok {
		return poly{v}
	}
	if m.same(n, x) {
		return poly{0, 1}
	}
	if depth > deepest || m.tired() {
		return nil
	}
	arg := func(i int) poly { return m.poly(n.Args[i], x, depth+1) }
	switch n.Op.Name {
	case "add":
		return arg(0).plus(arg(1), 1)
	case "sub":
		return arg(0).plus(arg(1), -1)
	case "neg":
		return poly{-1}.times(arg(0))
	case "mul":
		return arg(0).times(arg(1))
	case "div":
		if v, ok := m.scalar(n.Args[1]); ok && v != 0 {
			return arg(0).times(poly{1 / v})
		}
	case "pow":
		e := n.Attrs.(*curve.PowAttrs).Exponent
		if !(e >= 1 && e <= mostDegree) || e != float32(int(e)) {
			return nil
		}
		base, out := arg(0), poly{1}
		for range int(e) {
			out = out.times(base)
		}
		return out
	}
	return nil
}

func (p poly) plus(q poly, sign float64) poly {
	if p == nil || q == nil {
		return nil
	}
	out := make(poly, max(len(p), len(q)))
	copy(out, p)
	for i, v := range q {
		out[i] += sign * v
	}
	return out
}

func (p poly) times(q poly) poly {
	if p == nil || q == nil || len(p)+len(q)-2 > mostDegree {
		return nil
	}
	out := make(poly, len(p)+len(q)-1)
	for i, v := range p {
		for j, w := range q {
			out[i+j] += v * w
		}
	}
	return out
}

// is compares with the coefficients that a formula has.
func (p poly) is(want ...float64) bool {
	if p == nil {
		return false
	}
	for i := range max(len(p), len(want)) {
		var v, w float64
		if i < len(p) {
			v = p[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if w == 0 && math.Abs(v) > 1e-7 || w != 0 && !near(v, w) {
			return false
		}
	}
	return true
}

// within lists the values from which n is computed by constants alone, n first: what n may be a function of.
func (m *matcher) within(n *ir.Node) []*ir.Node {
	list := []*ir.Node{n}
	for i := 0; i < len(list) && len(list) < 2*deepest; i++ {
		switch list[i].Op.Name {
		case "add", "sub", "mul", "div", "pow", "neg":
			for _, a := range list[i].Args {
				if _, constant := m.scalar(a); !constant && !slices.Contains(list, a) {
					list = append(list, a)
				}
			}
		}
	}
	return list
}

// apply puts r in the place of n; it refuses what does not give a value of the same shape.
func (m *matcher) apply(n *ir.Node, r *made) bool {
	probe := &ir.Node{Name: n.Name, Op: r.op, Attrs: r.attrs, Args: r.args, Pos: n.Pos, Type: n.Type}
	for _, b := range append(slices.Clip(r.before), probe) {
		if len(b.Args) == 0 {
			continue
		}
		if shape, err := b.Op.Infer(b); err != nil || !slices.Equal(shape, b.Type.Shape) {
			return false
		}
	}
	if r.self != "" {
		n.Name = m.g.FreshName(r.self)
	}
	for _, b := range r.before {
		m.wanted[b] = b.Name // that of what it was made of may become free
		b.Name = m.g.FreshName(b.Name)
		m.g.InsertBefore(n, b)
	}
	n.Op, n.Attrs, n.Args, m.readers = r.op, r.attrs, r.args, nil
	return true
}
