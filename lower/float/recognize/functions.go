// SPDX-License-Identifier: Apache-2.0

package recognize

import (
	"math"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

var functions = []Pattern{
	{"relu", "max(x, 0)", relu},
	{"softplus", "log(1 + exp(x))", softplus},
	{"softplus", "softplus(x), and x where x is large", softplusLarge},
	{"sigmoid", "1/(1 + exp(-x))", sigmoid},
	{"gelu", "x*(1 + erf(x/sqrt(2)))/2", gelu},
	{"gelu_tanh", "x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x^3)))/2", geluTanh},
	{"mish", "x*tanh(softplus(x))", mish},
	{"hard_swish", "x*min(max(x/6 + 1/2, 0), 1)", hardSwish},
	{"hard_sigmoid", "min(max(x/6 + 1/2, 0), 1)", hardSigmoid},
	{"silu", "x*sigmoid(alpha*x), x/(1 + exp(-alpha*x))", silu},
}

// gate is a product x*f(u), u a function of x: what activations are.
type gate struct {
	coef float64  // of the product
	f    *ir.Node // the factor
	exp  float64  // and its power
}

// gated finds x and the factor of n of the given kind whose argument, found by arg, is a function of x.
func (m *matcher) gated(n *ir.Node, arg func(f power) *ir.Node, fits func(g gate, u poly) bool) *ir.Node {
	if n.Op.Name != "mul" && n.Op.Name != "div" {
		return nil
	}
	for _, f := range m.product(n, nil).factors {
		u := arg(f)
		if u == nil {
			continue
		}
		for _, x := range m.within(u) {
			p := m.product(n, x)
			if len(p.factors) != 2 {
				continue
			}
			_, rest, okX := p.split(func(o power) bool { return o.exp == 1 && m.same(o.n, x) })
			if !okX || rest.factors[0].exp != f.exp || rest.factors[0].n != f.n {
				continue
			}
			if fits(gate{p.coef, f.n, f.exp}, m.poly(u, x, 0)) {
				return x
			}
		}
	}
	return nil
}

// unary is the operation o of x, or nil without x.
func unary(o *ir.Op, attrs any, x *ir.Node) *made {
	if x == nil {
		return nil
	}
	return &made{op: o, attrs: attrs, args: []*ir.Node{x}}
}

// around sees n as a + b*f(u) for a function of the given name.
func (m *matcher) around(n *ir.Node, name string) (a, b float64, u *ir.Node) {
	s := m.sum(n)
	if len(s.terms) != 1 || s.terms[0].n.Op.Name != name {
		return 0, 0, nil
	}
	return s.number, s.terms[0].coef, s.terms[0].n.Args[0]
}

// halves recognizes x*(1 + f(u))/2, f being odd.
func (m *matcher) halves(n *ir.Node, name string, want ...float64) *ir.Node {
	arg := func(f power) *ir.Node {
		_, _, u := m.around(f.n, name)
		if f.exp != 1 {
			return nil
		}
		return u
	}
	return m.gated(n, arg, func(g gate, u poly) bool {
		a, b, _ := m.around(g.f, name)
		if b < 0 { // 1 - erf(-u)
			b, u = -b, poly{-1}.times(u)
		}
		return near(g.coef*a, 0.5) && near(g.coef*b, 0.5) && u.is(want...)
	})
}

func relu(m *matcher, n *ir.Node) *made {
	if n.Op != pointwise.Max {
		return nil
	}
	x, _ := m.floored(n)
	return unary(pointwise.Relu, nil, x)
}

func gelu(m *matcher, n *ir.Node) *made {
	return unary(curve.Gelu, nil, m.halves(n, "erf", 0, math.Sqrt2/2))
}

func geluTanh(m *matcher, n *ir.Node) *made {
	c := math.Sqrt(2 / math.Pi)
	x := m.halves(n, "tanh", 0, c, 0, 0.044715*c)
	if x == nil { // the same by the sigmoid of twice the argument
		x = m.gated(n, called("sigmoid"), func(g gate, u poly) bool {
			return near(g.coef, 1) && u.is(0, 2*c, 0, 2*0.044715*c)
		})
	}
	return unary(curve.GeluTanh, nil, x)
}

// called takes the argument of factors that are the named function.
func called(name string) func(f power) *ir.Node {
	return func(f power) *ir.Node {
		if f.exp != 1 || f.n.Op.Name != name {
			return nil
		}
		return f.n.Args[0]
	}
}

func silu(m *matcher, n *ir.Node) *made {
	alpha := 0.0
	linear := func(u poly, sign float64) bool {
		if len(u) != 2 || math.Abs(u[0]) > 1e-7 || u[1] == 0 {
			return false
		}
		alpha = sign * u[1]
		return true
	}
	x := m.gated(n, called("sigmoid"), func(g gate, u poly) bool { return near(g.coef, 1) && linear(u, 1) })
	if x == nil {
		x = m.gated(n, m.logistic, func(g gate, u poly) bool {
			a, b, _ := m.around(g.f, "exp")
			return near(g.coef, a) && near(b, a) && linear(u, -1)
		})
	}
	return unary(curve.Silu, &curve.AlphaAttrs{Alpha: float32(alpha)}, x)
}

// logistic takes the argument of exp in 1/(1 + exp(u)).
func (m *matcher) logistic(f power) *ir.Node {
	if f.exp != -1 {
		return nil
	}
	_, _, u := m.around(f.n, "exp")
	return u
}

func sigmoid(m *matcher, n *ir.Node) *made {
	p := m.product(n, nil)
	if len(p.factors) != 1 {
		return nil
	}
	u := m.logistic(p.factors[0])
	if u == nil {
		return nil
	}
	if a, b, _ := m.around(p.factors[0].n, "exp"); !near(p.coef, a) || !near(b, a) {
		return nil
	}
	for _, x := range m.within(u) {
		if m.poly(u, x, 0).is(0, -1) {
			return unary(curve.Sigmoid, nil, x)
		}
	}
	return nil
}

func softplus(m *matcher, n *ir.Node) *made {
	if n.Op.Name != "log" {
		return nil
	}
	a, b, u := m.around(n.Args[0], "exp")
	if u == nil || a != 1 || b != 1 {
		return nil
	}
	return unary(curve.Softplus, nil, u)
}

// softplusLarge knows frameworks that take x itself where the logarithm adds nothing to it.
func softplusLarge(m *matcher, n *ir.Node) *made {
	const large = 15 // log(1 + exp(15)) is 15 and 3e-7
	if n.Op != whole.Where || n.Args[2].Op != curve.Softplus || !m.same(n.Args[1], n.Args[2].Args[0]) {
		return nil
	}
	x, more := n.Args[1], n.Args[0]
	if a, ok := more.Attrs.(*whole.CompareAttrs); !ok || a.Rel != "gt" && a.Rel != "ge" || !m.same(more.Args[0], x) {
		return nil
	}
	if v, ok := m.scalar(more.Args[1]); !ok || v < large {
		return nil
	}
	return unary(curve.Softplus, nil, x)
}

func mish(m *matcher, n *ir.Node) *made {
	arg := func(f power) *ir.Node {
		if f.exp != 1 || f.n.Op.Name != "tanh" || f.n.Args[0].Op.Name != "softplus" {
			return nil
		}
		return f.n.Args[0].Args[0]
	}
	return unary(curve.Mish, nil, m.gated(n, arg, func(g gate, u poly) bool { return near(g.coef, 1) && u.is(0, 1) }))
}

// clipped sees n as min(max(u, 0), top).
func (m *matcher) clipped(n *ir.Node) (u *ir.Node, top float64) {
	lo, hi := math.Inf(-1), math.Inf(1)
	for range 2 {
		switch n.Op.Name {
		case "clip":
			a := n.Attrs.(*pointwise.ClipAttrs)
			lo, hi, n = max(lo, float64(a.Min)), min(hi, float64(a.Max)), n.Args[0]
		case "relu":
			lo, n = max(lo, 0), n.Args[0]
		case "min", "max":
			for i, a := range n.Args {
				if v, ok := m.scalar(a); ok && n.Op.Name == "min" {
					hi, n = min(hi, v), n.Args[1-i]
					break
				} else if ok {
					lo, n = max(lo, v), n.Args[1-i]
					break
				}
			}
		}
	}
	if lo != 0 || math.IsInf(hi, 1) {
		return nil, 0
	}
	return n, hi
}

func hardSwish(m *matcher, n *ir.Node) *made {
	arg := func(f power) *ir.Node {
		if f.exp != 1 {
			return nil
		}
		u, _ := m.clipped(f.n)
		return u
	}
	x := m.gated(n, arg, func(g gate, u poly) bool {
		_, top := m.clipped(g.f)
		return near(g.coef*top, 1) && poly{g.coef}.times(u).is(0.5, 1.0/6)
	})
	if x == nil {
		x = m.gated(n, called("hard_sigmoid"), func(g gate, u poly) bool {
			a := g.f.Attrs.(*curve.HardSigmoidAttrs)
			return near(g.coef, 1) && u.is(0, 1) && near(float64(a.Alpha), 1.0/6) && near(float64(a.Beta), 0.5)
		})
	}
	return unary(curve.HardSwish, nil, x)
}

// hardSigmoid knows the two slopes that frameworks give it: others are a clip of something else.
func hardSigmoid(m *matcher, n *ir.Node) *made {
	p := m.product(n, nil)
	if len(p.factors) != 1 || p.factors[0].exp != 1 {
		return nil
	}
	u, top := m.clipped(p.factors[0].n)
	if u == nil || !near(p.coef*top, 1) {
		return nil
	}
	for _, x := range m.within(u) {
		for _, slope := range []float64{1.0 / 6, 0.2} {
			if (poly{p.coef}).times(m.poly(u, x, 0)).is(0.5, slope) {
				return unary(curve.HardSigmoid, &curve.HardSigmoidAttrs{Alpha: float32(slope), Beta: 0.5}, x)
			}
		}
	}
	return nil
}
