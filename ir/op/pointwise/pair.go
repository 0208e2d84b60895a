// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"fmt"
	"math/big"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
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
	scale *arith.Rescale
}

// planPair chooses the form: that of lattices, or that of codes where an argument or the result has a zero point or a
// scale that is no power of two.
func planPair(n *ir.Node, o pairOp) (exactPair, error) {
	var c [3]format.Integers
	real := false
	for i, t := range []ir.Type{n.Args[0].Type, n.Args[1].Type, n.Type} {
		real = real || !format.IsFixed(t.Format)
		var ok bool
		if c[i], ok = format.IntegersOf(t.Format); !ok {
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
	ea, okA := arith.Step(a)
	eb, okB := arith.Step(b)
	if !okA || !okB {
		return exactPair{}, fmt.Errorf("%s and %s have no common step", a.Format, b.Format)
	}
	p := exactPair{kind: o.kind, sides: [2]pairSide{{mul: 1}, {mul: o.sign}}}
	if o.kind == pairProduct {
		p.exp, p.bits = ea+eb, arith.Magnitude(a.Format)+arith.Magnitude(b.Format)
		return p, nil
	}
	p.exp = min(ea, eb)
	p.sides[0].shift, p.sides[1].shift = uint(ea-p.exp), uint(eb-p.exp)
	p.bits = max(arith.Magnitude(a.Format)+ea, arith.Magnitude(b.Format)+eb) - p.exp
	if o.kind == pairSum {
		p.bits++
	}
	return p, nil
}

// planCodes works on codes without their zero points: shifts where all ratios of steps are powers of two; else a
// product is rescaled by one factor, and both operands of a sum by one factor each, at one common shift.
func planCodes(a, b, y format.Integers, o pairOp) (exactPair, error) {
	p := exactPair{kind: o.kind, sides: [2]pairSide{{zero: a.Zero, mul: 1}, {zero: b.Zero, mul: o.sign}}}
	wa, wb := a.Bits(), b.Bits()
	ra, rb := new(big.Rat).Quo(a.Step.Rat(), y.Step.Rat()), new(big.Rat).Quo(b.Step.Rat(), y.Step.Rat())
	p.scale = &arith.Rescale{Out: y.Codes, Zero: y.Zero}
	if o.kind == pairProduct {
		var err error
		ratio := ra.Mul(ra, b.Step.Rat())
		p.bits = wa + wb
		if e, ok := arith.Log2(ratio); ok {
			p.scale.Shift = []int{-e}
		} else {
			p.scale, err = arith.NewRescale(y, []*big.Rat{ratio}, p.bits)
		}
		return p, err
	}
	ea, okA := arith.Log2(ra)
	eb, okB := arith.Log2(rb)
	if okA && okB {
		e := min(ea, eb)
		p.sides[0].shift, p.sides[1].shift = uint(ea-e), uint(eb-e)
		p.bits = max(wa+ea, wb+eb) - e + 1
		p.scale.Shift = []int{-e}
		return p, nil
	}
	bits := min(arith.FactorBits, arith.ProductBits-1-max(wa, wb))
	if bits < arith.LeastFactor {
		return p, fmt.Errorf("operands of %d and %d bits leave no room for factors; up to %d do", wa, wb,
			arith.ProductBits-1-arith.LeastFactor)
	}
	top := ra
	if rb.Cmp(ra) > 0 {
		top = rb
	}
	_, shift, err := arith.Factor(top, bits)
	if err != nil {
		return p, err
	}
	p.sides[0].mul = arith.Scaled(ra, shift).Int64()
	p.sides[1].mul = o.sign * arith.Scaled(rb, shift).Int64()
	p.scale.Shift = []int{shift}
	p.bits = max(wa, wb) + bits + 1
	return p, nil
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
		return arith.Encoder(f, p.exp), func(t *big.Int) int64 { return f.Encode(format.FromBig(t, p.exp)) }
	}
	return func(t int64) int64 { return p.scale.Code(0, t) }, func(t *big.Int) int64 {
		if p.scale.Mul != nil {
			t.Mul(t, big.NewInt(p.scale.Mul[0]))
		}
		return p.scale.CodeBig(0, t)
	}
}

// integersIn are the integers of an argument: codes, or lattice integers.
func (p exactPair) integersIn(n *ir.Node, t *ir.Tensor) ([]int64, error) {
	if p.scale != nil {
		return t.Codes, nil
	}
	l, err := t.Lattice()
	if err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
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

// keepNaN is x where that is NaN, else y: plugins take the number of a NaN and a number for the maximum.
func keepNaN(b *hlo.Builder, x, y hlo.Value) hlo.Value {
	return b.Select(b.Compare(hlo.NE, x, x), x, y)
}

// binaryHLO prints a pair: both operands aligned in i64, then one rounding.
func binaryHLO(o pairOp, print func(b *hlo.Builder, x, y hlo.Value) hlo.Value) carrier.Column {
	return func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		v, err := carrier.Operands(b, n, args)
		if err != nil {
			return hlo.Value{}, err
		}
		if n.Type.IsFloat() {
			y := print(b, v[0], v[1])
			if o.kind == pairMin || o.kind == pairMax {
				y = keepNaN(b, v[0], keepNaN(b, v[1], y))
			}
			return y, b.Err()
		}
		if arith.OnWhole(n) {
			return carrier.Wrap(b, print(b, v[0], v[1]), n.Type), b.Err()
		}
		p, err := planPair(n, o)
		if err != nil {
			return hlo.Value{}, n.Errorf(diag.OpFormats, "%v", err)
		}
		for i, s := range p.sides {
			if p.scale == nil {
				if _, err := arith.FixedOf(n, n.Args[i].Type); err != nil {
					return hlo.Value{}, err
				}
			}
			v[i] = carrier.Wide(b, v[i])
			if s.zero != 0 {
				v[i] = b.Sub(v[i], b.Int(hlo.I64, s.zero))
			}
			if s.mul != 1 && s.mul != -1 { // a difference is printed as one
				v[i] = b.Mul(v[i], b.Int(hlo.I64, max(s.mul, -s.mul)))
			}
			v[i] = b.ShiftLeft(v[i], b.Int(hlo.I64, int64(s.shift)))
		}
		if p.bits > 63 {
			return hlo.Value{}, n.Errorf(diag.IntegerWidth, "%s needs %d bits, StableHLO integers have 63", n.Op.Name, p.bits)
		}
		t := print(b, v[0], v[1])
		if p.scale != nil {
			return carrier.Rescale(p.scale, b, n, t, p.bits)
		}
		return carrier.Requant(b, n, t, p.exp, p.bits)
	}
}

// bounds is the column of operations on two operands that fall with one of them; the others are Monotone.
func (o pairOp) bounds() func(*ir.Node, []ir.Bounds) (ir.Bounds, error) {
	switch {
	case o.kind == pairProduct:
		return productBounds
	case o.kind == pairSum && o.sign < 0:
		return differenceBounds
	}
	return nil
}

func differenceBounds(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) {
	a, b := args[0], args[1]
	return column.Extremes(n, []*ir.Tensor{a.Lo, b.Hi}, []*ir.Tensor{a.Hi, b.Lo})
}

// productBounds looks at the corners. A square is never negative: roots are taken of means of squares.
func productBounds(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) {
	x, y := args[0], args[1]
	if n.Args[0] != n.Args[1] {
		return column.Extremes(n, []*ir.Tensor{x.Lo, y.Lo}, []*ir.Tensor{x.Lo, y.Hi}, []*ir.Tensor{x.Hi, y.Lo},
			[]*ir.Tensor{x.Hi, y.Hi})
	}
	b, err := column.Extremes(n, []*ir.Tensor{x.Lo, x.Lo}, []*ir.Tensor{x.Hi, x.Hi})
	if err != nil {
		return b, err
	}
	for i, lo := range x.Lo.Floats {
		if lo < 0 && x.Hi.Floats[i] > 0 {
			b.Lo.Floats[i] = 0
		}
	}
	return b, nil
}
