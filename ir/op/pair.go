// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
)

// pairKind is what a pair computes: the parameter KIND of op_pair.
type pairKind int

const (
	pairSum pairKind = iota
	pairMin
	pairMax
	pairProduct
)

// pairOp is a kind and, for a sum, the sign of the second operand.
type pairOp struct {
	kind pairKind
	sign int64
}

// whole is the operation on whole numbers; what exceeds 64 bits is lost.
func (o pairOp) whole() func(a, b int64) int64 {
	switch o.kind {
	case pairMin:
		return func(a, b int64) int64 { return min(a, b) }
	case pairMax:
		return func(a, b int64) int64 { return max(a, b) }
	case pairProduct:
		return func(a, b int64) int64 { return a * b }
	}
	return func(a, b int64) int64 { return a + o.sign*b }
}

// pairSide is how a code x becomes an operand: (x-zero) * mul * 2^shift; in a product x-zero.
type pairSide struct {
	zero, mul int64
	shift     uint
}

func (s pairSide) of(x int64) int64 { return (x - s.zero) * s.mul << s.shift }

func (s pairSide) big(x int64) *big.Int {
	v := new(big.Int).Sub(big.NewInt(x), big.NewInt(s.zero))
	v.Mul(v, big.NewInt(s.mul))
	return v.Lsh(v, s.shift)
}

// exactPair combines two integers exactly to t. Without a scale they are lattice integers and t counts steps of 2^exp,
// which one rounding brings into the result format. With a scale they are codes, and it makes a code of t.
type exactPair struct {
	kind  pairKind
	sides [2]pairSide
	exp   int
	bits  int // signed bits that hold t
	scale *rescale
}

// planPair chooses the form: that of lattices, or that of codes where an argument or the result has a zero point or a
// scale that is no power of two.
func planPair(n *ir.Node, o pairOp) (exactPair, error) {
	var c [3]integers
	real := false
	for i, t := range []ir.Type{n.Args[0].Type, n.Args[1].Type, n.Type} {
		_, affine := t.Format.(format.Affine)
		real = real || affine && !isFixed(t.Format)
		var ok bool
		if c[i], ok = integersOf(t.Format); !ok {
			return planLattice(n.Args[0].Type, n.Args[1].Type, o)
		}
	}
	if !real {
		return planLattice(n.Args[0].Type, n.Args[1].Type, o)
	}
	return planCodes(c[0], c[1], c[2], o)
}

// planLattice moves both operands of a sum to the smaller of the two steps.
func planLattice(a, b ir.Type, o pairOp) (exactPair, error) {
	ea, okA := step(a)
	eb, okB := step(b)
	if !okA || !okB {
		return exactPair{}, fmt.Errorf("%s and %s have no common step", a.Format, b.Format)
	}
	p := exactPair{kind: o.kind, sides: [2]pairSide{{mul: 1}, {mul: o.sign}}}
	if o.kind == pairProduct {
		p.exp, p.bits = ea+eb, magnitude(a.Format)+magnitude(b.Format)
		return p, nil
	}
	p.exp = min(ea, eb)
	p.sides[0].shift, p.sides[1].shift = uint(ea-p.exp), uint(eb-p.exp)
	p.bits = max(magnitude(a.Format)+ea, magnitude(b.Format)+eb) - p.exp
	if o.kind == pairSum {
		p.bits++
	}
	return p, nil
}

// planCodes works on codes without their zero points: shifts where all ratios of steps are powers of two; else a
// product is rescaled by one factor, and both operands of a sum by one factor each, at one common shift.
func planCodes(a, b, y integers, o pairOp) (exactPair, error) {
	p := exactPair{kind: o.kind, sides: [2]pairSide{{zero: a.zero, mul: 1}, {zero: b.zero, mul: o.sign}}}
	wa, wb := a.bits(), b.bits()
	ra, rb := new(big.Rat).Quo(a.step.Rat(), y.step.Rat()), new(big.Rat).Quo(b.step.Rat(), y.step.Rat())
	p.scale = &rescale{out: y.ints, zero: y.zero}
	if o.kind == pairProduct {
		var err error
		ratio := ra.Mul(ra, b.step.Rat())
		p.bits = wa + wb
		if e, ok := log2(ratio); ok {
			p.scale.shift = []int{-e}
		} else {
			p.scale, err = newRescale(y, []*big.Rat{ratio}, p.bits)
		}
		return p, err
	}
	ea, okA := log2(ra)
	eb, okB := log2(rb)
	if okA && okB {
		e := min(ea, eb)
		p.sides[0].shift, p.sides[1].shift = uint(ea-e), uint(eb-e)
		p.bits = max(wa+ea, wb+eb) - e + 1
		p.scale.shift = []int{-e}
		return p, nil
	}
	bits := min(factorBits, productBits-1-max(wa, wb))
	if bits < leastFactor {
		return p, fmt.Errorf("operands of %d and %d bits leave no room for factors; up to %d do", wa, wb,
			productBits-1-leastFactor)
	}
	top := ra
	if rb.Cmp(ra) > 0 {
		top = rb
	}
	_, shift, err := factor(top, bits)
	if err != nil {
		return p, err
	}
	p.sides[0].mul = scaledRat(ra, shift).Int64()
	p.sides[1].mul = o.sign * scaledRat(rb, shift).Int64()
	p.scale.shift = []int{shift}
	p.bits = max(wa, wb) + bits + 1
	return p, nil
}

// bits is the width of a two's complement number that holds every code without its zero point.
func (c integers) bits() int {
	lo, hi := c.span()
	return format.SignedBits(big.NewInt(lo), big.NewInt(hi))
}

// of is t for two integers; it has at most 62 bits.
func (p exactPair) of(x, y int64) int64 {
	if p.kind == pairProduct {
		return (x - p.sides[0].zero) * (y - p.sides[1].zero)
	}
	x, y = p.sides[0].of(x), p.sides[1].of(y)
	switch p.kind {
	case pairMin:
		return min(x, y)
	case pairMax:
		return max(x, y)
	}
	return x + y
}

// big is of without bounds.
func (p exactPair) big(x, y int64) *big.Int {
	u, v := p.sides[0].big(x), p.sides[1].big(y)
	switch less := u.Cmp(v) < 0; {
	case p.kind == pairProduct:
		return u.Mul(u, v)
	case p.kind == pairSum:
		return u.Add(u, v)
	case less == (p.kind == pairMin):
		return u
	}
	return v
}

// encoder is the code of the result for t, and for a t of any width.
func (p exactPair) encoder(f format.Format) (small func(int64) int64, wide func(*big.Int) int64) {
	if p.scale == nil {
		return encoder(f, p.exp), func(t *big.Int) int64 { return f.Encode(format.FromBig(t, p.exp)) }
	}
	return func(t int64) int64 { return p.scale.code(0, t) }, func(t *big.Int) int64 {
		if p.scale.mul != nil {
			t.Mul(t, big.NewInt(p.scale.mul[0]))
		}
		return p.scale.codeBig(0, t)
	}
}

// integersIn are the integers of an argument: codes, or lattice integers.
func (p exactPair) integersIn(n *ir.Node, t *ir.Tensor) ([]int64, error) {
	if p.scale != nil {
		return t.Codes, nil
	}
	l, err := t.Lattice()
	if err != nil {
		return nil, n.Errorf("L0308", "%v", err)
	}
	return l.Ints, nil
}

// eval computes one sample, element by element of the result at ia and ib of the arguments.
func (p exactPair) eval(n *ir.Node, args []*ir.Tensor, ia, ib []int) (*ir.Tensor, error) {
	a, err := p.integersIn(n, args[0])
	if err != nil {
		return nil, err
	}
	b, err := p.integersIn(n, args[1])
	if err != nil {
		return nil, err
	}
	out := ir.NewTensor(n.Type)
	small, wide := p.encoder(n.Type.Format)
	for i := range out.Codes {
		if x, y := a[ia[i]], b[ib[i]]; p.bits > 62 {
			out.Codes[i] = wide(p.big(x, y))
		} else {
			out.Codes[i] = small(p.of(x, y))
		}
	}
	return out, nil
}
