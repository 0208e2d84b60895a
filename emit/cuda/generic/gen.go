// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"lathe/cuda/word"
	"lathe/emit/cuda/index"
	"lathe/emit/cuda/kernel"
	"lathe/ir/hlo"
)

// gen writes one kernel. Values known in a block are known in the blocks inside it; a value at an index is computed
// once a block.
type gen struct {
	c      *compiler
	k      *kernel.Kernel
	args   []Ref
	params map[Ref]*kernel.Param
	space  *index.Space
	vars   map[string]*kernel.Var // of the space, by name
	scopes []scope
	word   word.Type // of indices: U32 or U64
	wide   bool      // an index needs 64 bits
	next   map[string]int
	root   int // the operation that the kernel computes
	rows   *rows
	err    error
}

type scope struct {
	block  *kernel.Block
	values map[string]*kernel.Expr
}

func newGen(c *compiler, name string, count int64, as word.Type) *gen {
	g := &gen{c: c, params: map[Ref]*kernel.Param{}, space: index.NewSpace(), vars: map[string]*kernel.Var{}, word: as,
		next: map[string]int{}}
	g.k = &kernel.Kernel{Name: name, Doc: c.doc, Count: count, Body: &kernel.Block{}}
	g.scopes = []scope{{g.k.Body, map[string]*kernel.Expr{}}}
	return g
}

// run computes operation n into a buffer.
func (g *gen) run(n int, to Ref, store word.Type, doc string) {
	g.root = n
	t := g.c.p.Ops[n].Type
	i := g.variable("i", g.k.Count)
	g.k.Index = g.vars["i0"]
	v := g.eval(n, g.space.Apart(i, t.Dims))
	if v == nil {
		return
	}
	out := &kernel.Param{Name: g.name("y"), Type: store, Out: true, Stride: g.k.Count, Doc: doc}
	g.k.Params, g.args = append(g.k.Params, out), append(g.args, to)
	g.scopes[0].block.Add(kernel.Store{Param: out, Index: g.code(i), Value: kernel.Convert(store, v)})
}

// name is a fresh name that starts with prefix.
func (g *gen) name(prefix string) string {
	n := g.next[prefix]
	g.next[prefix]++
	return fmt.Sprintf("%s%d", prefix, n)
}

// variable is a new index variable with values below limit.
func (g *gen) variable(prefix string, limit int64) index.Expr {
	v := &kernel.Var{Name: g.name(prefix), Type: g.word}
	g.vars[v.Name] = v
	return g.space.Var(v.Name, limit)
}

func (g *gen) top() scope { return g.scopes[len(g.scopes)-1] }

// inside runs body with b as the current block.
func (g *gen) inside(b *kernel.Block, body func()) {
	g.scopes = append(g.scopes, scope{b, map[string]*kernel.Expr{}})
	body()
	g.scopes = g.scopes[:len(g.scopes)-1]
}

// known looks for a value that was computed before.
func (g *gen) known(key string) *kernel.Expr {
	for i := len(g.scopes) - 1; i >= 0; i-- {
		if v, ok := g.scopes[i].values[key]; ok {
			return v
		}
	}
	return nil
}

// let names a value in the current block; literals and variables stay as they are.
func (g *gen) let(prefix string, e *kernel.Expr) *kernel.Expr {
	if e.Kind == kernel.Lit || e.Kind == kernel.Ref {
		return e
	}
	v := &kernel.Var{Name: g.name(prefix), Type: e.Type}
	g.top().block.Add(kernel.Let{Var: v, Value: e})
	return kernel.Of(v)
}

// declare is a variable that set changes.
func (g *gen) declare(prefix string, e *kernel.Expr) *kernel.Expr {
	v := &kernel.Var{Name: g.name(prefix), Type: e.Type}
	g.top().block.Add(kernel.Declare{Var: v, Value: e})
	return kernel.Of(v)
}

func (g *gen) set(v, e *kernel.Expr) { g.top().block.Add(kernel.Set{Var: v.Var, Value: e}) }

// param is the parameter for a buffer.
func (g *gen) param(r Ref, prefix string, t word.Type, stride int64, doc string) *kernel.Param {
	p, ok := g.params[r]
	if !ok {
		p = &kernel.Param{Name: g.name(prefix), Type: t, Stride: stride, Doc: doc}
		g.params[r] = p
		g.k.Params, g.args = append(g.k.Params, p), append(g.args, r)
	}
	return p
}

// code is the value of an index. It may pass through numbers below zero, modulo the word.
func (g *gen) code(e index.Expr) *kernel.Expr {
	lo, hi := g.space.Range(e)
	if hi > math.MaxInt32 || lo < math.MinInt32 {
		g.wide = true
	}
	var sum *kernel.Expr
	add := func(x *kernel.Expr, negative bool) {
		switch {
		case sum == nil && negative:
			sum = kernel.Binary("-", kernel.Int(g.word, 0), x)
		case sum == nil:
			sum = x
		case negative:
			sum = kernel.Binary("-", sum, x)
		default:
			sum = kernel.Binary("+", sum, x)
		}
	}
	for _, negative := range []bool{false, true} {
		for _, t := range e.Terms {
			if t.Mul < 0 != negative {
				continue
			}
			x := g.atom(t.Atom)
			if m := max(t.Mul, -t.Mul); m != 1 {
				x = kernel.Binary("*", x, kernel.Int(g.word, m))
			}
			add(x, negative)
		}
	}
	if e.K != 0 || sum == nil {
		if sum == nil {
			return kernel.Int(g.word, e.K)
		}
		add(kernel.Int(g.word, max(e.K, -e.K)), e.K < 0)
	}
	return sum
}

// atom is the value of a variable, or a quotient or remainder that is computed once a block.
func (g *gen) atom(i int) *kernel.Expr {
	a := g.space.Atom(i)
	if a.Kind == index.Var {
		return kernel.Of(g.vars[a.Name])
	}
	key := fmt.Sprintf("atom %d", i)
	if v := g.known(key); v != nil {
		return v
	}
	operator := "/"
	if a.Kind == index.Mod {
		operator = "%"
	}
	of := g.code(a.Of)
	v := g.let("n", kernel.Binary(operator, of, kernel.Int(g.word, a.By)))
	g.top().values[key] = v
	return v
}

// loop runs body for count values of an index.
func (g *gen) loop(count int64, body func(i index.Expr)) {
	if count == 1 {
		body(index.Const(0))
		return
	}
	if count == 0 {
		return
	}
	i := g.variable("k", count)
	block := &kernel.Block{}
	v := g.vars[g.space.Atom(i.Terms[0].Atom).Name]
	g.inside(block, func() { body(i) })
	g.top().block.Add(kernel.For{Var: v, Count: count, Body: block})
}

// loops nests a loop for each count.
func (g *gen) loops(counts []int, body func(at []index.Expr)) {
	at := make([]index.Expr, len(counts))
	var nest func(axis int)
	nest = func(axis int) {
		if axis == len(counts) {
			body(at)
			return
		}
		g.loop(int64(counts[axis]), func(i index.Expr) {
			at[axis] = i
			nest(axis + 1)
		})
	}
	nest(0)
}

// eval is the value of element at of operation n; nil after an error.
func (g *gen) eval(n int, at []index.Expr) *kernel.Expr {
	if g.err != nil {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d", n)
	for _, e := range at {
		b.WriteString(" " + e.Key())
	}
	key := b.String()
	if v := g.known(key); v != nil {
		return v
	}
	v := g.compute(n, at)
	if v == nil {
		return nil
	}
	v = g.let("v", v)
	g.top().values[key] = v
	return v
}

// operand is the value of operand k of operation n.
func (g *gen) operand(n, k int, at []index.Expr) *kernel.Expr {
	return g.eval(g.c.p.Ops[n].Operands[k], at)
}

// compute writes what eval names.
func (g *gen) compute(n int, at []index.Expr) *kernel.Expr {
	o := &g.c.p.Ops[n]
	if g.rows != nil && n != g.root {
		if p, ok := g.rows.local[n]; ok {
			return g.loadLocal(p, g.space.Flat(at, o.Type.Dims))
		}
	}
	if r, ok := g.c.place[n]; ok && n != g.root {
		t := TypeOf(o.Type.DType)
		p := g.param(r, "t", t, int64(o.Type.Len()), "scratch "+dims(o.Type))
		return g.load(p, t, at, o.Type.Dims)
	}
	switch o.Kind {
	case hlo.KindInput:
		b := g.c.p.Inputs[o.Attrs.Index]
		p := g.param(Ref{Input, o.Attrs.Index}, "x", b.Store, int64(o.Type.Len()), b.Doc)
		return g.load(p, TypeOf(o.Type.DType), at, o.Type.Dims)
	case hlo.KindWeight:
		return g.constant(n, g.c.p.Weights[o.Attrs.Index], at)
	case hlo.KindConstant:
		return g.constant(n, o.Attrs.Value, at)
	case hlo.KindIota:
		return kernel.Convert(TypeOf(o.Type.DType), g.code(at[o.Attrs.Axes[0]]))
	}
	if v, ok := g.move(n, at); ok {
		return v
	}
	if looped(o.Kind) {
		return g.accumulate(n, at)
	}
	return g.element(n, at)
}

func (g *gen) load(p *kernel.Param, t word.Type, at []index.Expr, dims []int) *kernel.Expr {
	return kernel.Convert(t, kernel.Element(p, g.code(g.space.Flat(at, dims))))
}

// constant is a literal where all elements are equal, else an element of a table.
func (g *gen) constant(n int, a hlo.Array, at []index.Expr) *kernel.Expr {
	t := TypeOf(a.Type.DType)
	if n := a.Type.DType.Bytes(); len(a.Data) == n || len(a.Data) > n && bytes.Equal(a.Data[n:], a.Data[:len(a.Data)-n]) {
		return literal(a.Data[:n], t)
	}
	r, store := g.c.table(n, a)
	p := g.param(r, "w", store, 0, strings.TrimSuffix("constants "+sizes(a.Type), " "))
	return g.load(p, t, at, a.Type.Dims)
}

// literal is the value with the given bytes.
func literal(data []byte, t word.Type) *kernel.Expr {
	e := &kernel.Expr{Kind: kernel.Lit, Type: t}
	for i, b := range data {
		e.Bits |= uint64(b) << (8 * i)
	}
	if n := 64 - 8*len(data); t.IsSigned() {
		e.Bits = uint64(int64(e.Bits) << n >> n)
	}
	return e
}

// sizes prints the sizes of a type: 3x4.
func sizes(t hlo.Type) string {
	return strings.TrimSuffix(strings.TrimSuffix(dims(t), string(t.DType)), "x")
}

// dims prints the sizes and the element of a type: 1x1xf32.
func dims(t hlo.Type) string {
	return strings.TrimSuffix(strings.TrimPrefix(t.String(), "tensor<"), ">")
}
