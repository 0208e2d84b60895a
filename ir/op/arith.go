// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"

	"lathe/golden/hlo"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/rtl"
)

// Add is a + b with broadcasting.
var Add = binary("add", "a + b", func(a, b float32) float32 { return a + b }, sum(1), (*hlo.Builder).Add,
	ir.Traits{Elementwise: true, Monotone: true})

// Sub is a - b with broadcasting.
var Sub = binary("sub", "a - b", func(a, b float32) float32 { return a - b }, sum(-1), (*hlo.Builder).Sub,
	ir.Traits{Elementwise: true})

// Mul is a * b with broadcasting.
var Mul = binary("mul", "a * b", func(a, b float32) float32 { return a * b }, prod, (*hlo.Builder).Mul,
	ir.Traits{Elementwise: true})

// Min is the smaller of a and b with broadcasting.
var Min = binary("min", "min(a, b)", func(a, b float32) float32 { return min(a, b) }, choice(pairMin),
	(*hlo.Builder).Min, ir.Traits{Elementwise: true, Monotone: true})

// Max is the greater of a and b with broadcasting.
var Max = binary("max", "max(a, b)", func(a, b float32) float32 { return max(a, b) }, choice(pairMax),
	(*hlo.Builder).Max, ir.Traits{Elementwise: true, Monotone: true})

// pairKind is what a pair computes: the parameter KIND of op_pair.
type pairKind int

const (
	pairSum pairKind = iota
	pairMin
	pairMax
	pairProduct
)

// exactPair combines two lattice integers, each moved by its shift, into an exact value at exponent exp.
type exactPair struct {
	kind           pairKind
	shiftA, shiftB uint
	exp            int
	sign           int64 // of the second operand of a sum
	bits           int   // signed bits that hold the result
}

// aligned moves both operands to the smaller of the two steps.
func aligned(a, b ir.Type) (exactPair, error) {
	ea, okA := step(a)
	eb, okB := step(b)
	if !okA || !okB {
		return exactPair{}, fmt.Errorf("%s and %s have no common step", a.Format, b.Format)
	}
	e := min(ea, eb)
	p := exactPair{shiftA: uint(ea - e), shiftB: uint(eb - e), exp: e}
	p.bits = max(magnitude(a.Format)+ea-e, magnitude(b.Format)+eb-e)
	return p, nil
}

// sum returns the exact a + sign*b.
func sum(sign int64) func(a, b ir.Type) (exactPair, error) {
	return func(a, b ir.Type) (exactPair, error) {
		p, err := aligned(a, b)
		p.kind, p.sign = pairSum, sign
		p.bits++
		return p, err
	}
}

// choice returns the exact minimum or maximum.
func choice(kind pairKind) func(a, b ir.Type) (exactPair, error) {
	return func(a, b ir.Type) (exactPair, error) {
		p, err := aligned(a, b)
		p.kind = kind
		return p, err
	}
}

// prod returns the exact product.
func prod(a, b ir.Type) (exactPair, error) {
	ea, okA := step(a)
	eb, okB := step(b)
	if !okA || !okB {
		return exactPair{}, fmt.Errorf("%s and %s have no common step", a.Format, b.Format)
	}
	return exactPair{kind: pairProduct, exp: ea + eb, bits: magnitude(a.Format) + magnitude(b.Format)}, nil
}

func binary(name, doc string, fl func(a, b float32) float32, plan func(a, b ir.Type) (exactPair, error),
	print func(b *hlo.Builder, x, y hlo.Value) hlo.Value, traits ir.Traits) *ir.Op {
	return &ir.Op{
		Name: name, Doc: doc + " with broadcasting", Arity: [2]int{2, 2},
		Traits: traits,
		Infer:  func(n *ir.Node) ([]int, error) { return broadcast(n.Args[0].Type.Shape, n.Args[1].Type.Shape) },
		Eval:   func(n *ir.Node) (ir.Kernel, error) { return binaryEval(n, fl, plan) },
		HLO:    binaryHLO(plan, print),
		RTL:    func(n *ir.Node) (*rtl.Unit, error) { return pairRTL(n, plan) },
		Gen:    genBinary,
		Legal: func(n *ir.Node) error {
			if err := plain(n); err != nil {
				return err
			}
			_, err := plan(n.Args[0].Type, n.Args[1].Type)
			return err
		},
	}
}

// broadcast is NumPy's rule: shapes are aligned at the end, sizes agree or one of them is 1.
func broadcast(a, b []int) ([]int, error) {
	out := make([]int, max(len(a), len(b)))
	for i := range out {
		da, db := dimFromEnd(a, len(out)-i), dimFromEnd(b, len(out)-i)
		switch {
		case da == db || db == 1:
			out[i] = da
		case da == 1:
			out[i] = db
		default:
			return nil, fmt.Errorf("shapes %s and %s do not broadcast", ir.ShapeString(a), ir.ShapeString(b))
		}
	}
	return out, nil
}

func dimFromEnd(shape []int, fromEnd int) int {
	if fromEnd > len(shape) {
		return 1
	}
	return shape[len(shape)-fromEnd]
}

// broadcastIndex lists, for each element of out, the index of the element of in that it reads.
func broadcastIndex(in, out []int) []int {
	index := []int{0}
	strides := make([]int, len(out))
	s := 1
	for i := 1; i <= len(out); i++ {
		if d := dimFromEnd(in, i); d != 1 {
			strides[len(out)-i] = s
			s *= d
		}
	}
	for i, d := range out {
		next := make([]int, 0, len(index)*d)
		for _, base := range index {
			for k := range d {
				next = append(next, base+k*strides[i])
			}
		}
		index = next
	}
	return index
}

func binaryEval(n *ir.Node, fl func(a, b float32) float32,
	plan func(a, b ir.Type) (exactPair, error)) (ir.Kernel, error) {
	ia := broadcastIndex(n.Args[0].Type.Shape, n.Type.Shape)
	ib := broadcastIndex(n.Args[1].Type.Shape, n.Type.Shape)
	var exact func(args []*ir.Tensor) (*ir.Tensor, error)
	if !n.Type.IsFloat() {
		p, err := plan(n.Args[0].Type, n.Args[1].Type)
		if err != nil {
			return nil, n.Errorf("L0308", "%v", err)
		}
		exact = func(args []*ir.Tensor) (*ir.Tensor, error) { return p.eval(n, args, ia, ib) }
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := withConsts(n, args)
		if err != nil {
			return nil, err
		}
		if exact != nil {
			return exact(args)
		}
		out := ir.NewTensor(n.Type)
		for i := range out.Floats {
			out.Floats[i] = fl(args[0].Floats[ia[i]], args[1].Floats[ib[i]])
		}
		return out, nil
	}, nil
}

// withConsts fills in the values of constant arguments, which come as nil.
func withConsts(n *ir.Node, args []*ir.Tensor) ([]*ir.Tensor, error) {
	full := append([]*ir.Tensor(nil), args...)
	for i, a := range full {
		if a == nil {
			t, err := n.Args[i].Value()
			if err != nil {
				return nil, err
			}
			full[i] = t
		}
	}
	return full, nil
}

func (p exactPair) eval(n *ir.Node, args []*ir.Tensor, ia, ib []int) (*ir.Tensor, error) {
	a, err := args[0].Lattice()
	if err != nil {
		return nil, n.Errorf("L0308", "%v", err)
	}
	b, err := args[1].Lattice()
	if err != nil {
		return nil, n.Errorf("L0308", "%v", err)
	}
	out := ir.NewTensor(n.Type)
	enc := encoder(n.Type.Format, p.exp)
	for i := range out.Codes {
		x, y := a.Ints[ia[i]], b.Ints[ib[i]]
		if p.bits > 62 {
			out.Codes[i] = n.Type.Format.Encode(p.wide(x, y, a.Exp(0), b.Exp(0)))
		} else {
			out.Codes[i] = enc(p.of(x, y))
		}
	}
	return out, nil
}

// of computes one element; the result has at most 62 bits.
func (p exactPair) of(x, y int64) int64 {
	if p.kind == pairProduct {
		return x * y
	}
	x, y = x<<p.shiftA, y<<p.shiftB
	switch p.kind {
	case pairMin:
		return min(x, y)
	case pairMax:
		return max(x, y)
	}
	return x + p.sign*y
}

// wide computes the same without bounds on the width.
func (p exactPair) wide(x, y int64, ea, eb int) format.Exact {
	u, v := format.FromInt(x, ea), format.FromInt(y, eb)
	switch {
	case p.kind == pairProduct:
		return u.Mul(v)
	case p.kind != pairSum && (u.Cmp(v) < 0) == (p.kind == pairMin):
		return u
	case p.kind != pairSum:
		return v
	}
	return u.Add(format.FromInt(p.sign, 0).Mul(v))
}
