// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math/big"

	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/format"
)

// encoder returns the one rounding from the integer v, meaning v*2^exp, into format f.
func encoder(f format.Format, exp int) func(v int64) int64 {
	if fx, ok := format.AsFixed(f); ok {
		return func(v int64) int64 { return fx.Requant(v, exp) }
	}
	return func(v int64) int64 { return f.Encode(format.FromInt(v, exp)) }
}

// latticeRange is the least and the greatest lattice integer over all codes of f, which has a lattice. It counts codes
// that Encode never returns, since they may still arrive from outside.
func latticeRange(f format.Format) (lo, hi *big.Int) {
	exp, _, _ := f.Lattice()
	least, most := f.CodeSet().Limits()
	l, _ := least.Int64(exp)
	h, _ := most.Int64(exp)
	return big.NewInt(l), big.NewInt(h)
}

// magnitude is the width of a two's complement number that holds every lattice integer of f; formats without a lattice
// give 64.
func magnitude(f format.Format) int {
	if _, _, ok := f.Lattice(); !ok {
		return 64
	}
	return format.SignedBits(latticeRange(f))
}

// step is the exponent of the lattice of f; formats without one have no step (ok false).
func step(t ir.Type) (int, bool) {
	exp, _, ok := t.Format.Lattice()
	return exp, ok
}

// commonStep is the exponent of the lattice of argument 0 of n, which must have one.
func commonStep(n *ir.Node) (int, error) {
	exp, ok := step(n.Args[0].Type)
	if !ok {
		return 0, n.Errorf("L0308", "%s has no common step, which %s needs", n.Args[0].Type.Format, n.Op.Name)
	}
	return exp, nil
}

// sameShape infers the shape of the first argument.
func sameShape(n *ir.Node) ([]int, error) { return n.Args[0].Type.Shape, nil }

// plain is the rule of all operations but casts: what they read has one step, and what they make has one scale. Blocks
// and scales along an axis are for constants. Codes that are no integers are moved and looked up, not computed on.
func plain(n *ir.Node) error {
	for _, t := range append(typesOf(n.Args), n.Type) {
		if t.Format != nil && format.Coded(t.Format) && !TakesCodes(n) {
			return fmt.Errorf("%s computes on fixed values; casts decode and encode %s", n.Op.Name, t.Format)
		}
	}
	return oneStep(n)
}

// oneStep is plain, of codes of any scalar format.
func oneStep(n *ir.Node) error {
	for _, a := range n.Args {
		if _, ok := step(a.Type); !ok && !a.IsConst() {
			return fmt.Errorf("%s has no common step of 63 bits, which %s needs", a.Type.Format, n.Op.Name)
		}
	}
	if _, scales := format.ScaleAxis(n.Type.Format); scales || n.Type.InBlocks() {
		return fmt.Errorf("%s makes values of one scale, not %s", n.Op.Name, n.Type.Format)
	}
	return nil
}

// sameFormat is the rule of operations that move codes without changing them.
func sameFormat(n *ir.Node) error {
	if n.Type.InBlocks() && n.Args[0].Type.InBlocks() {
		return blocksLegal(n)
	}
	if err := plain(n); err != nil {
		return err
	}
	if !n.Type.SameFormat(n.Args[0].Type) {
		return fmt.Errorf("%s keeps codes as they are, so %s cannot become %s", n.Op.Name, n.Args[0].Type.Format,
			n.Type.Format)
	}
	return nil
}

// passThrough evaluates operations that leave values alone.
func passThrough(n *ir.Node) (ir.Kernel, error) {
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		t := *args[0]
		t.Type = n.Type
		return &t, nil
	}, nil
}

// unary is an element-wise operation: fl computes it on float32; ex prepares the exact function from the lattice
// integer of an argument code (at exponent exp) to the code of the result.
type unary struct {
	fl func(n *ir.Node) func(float32) float32
	ex func(n *ir.Node, exp int) (func(v int64) int64, error)
}

// unaryGrain is the least number of elements worth a goroutine.
const unaryGrain = 1 << 12

// eval is the Eval column of a unary operation.
func (u unary) eval(n *ir.Node) (ir.Kernel, error) {
	if n.Type.IsFloat() {
		f := u.fl(n)
		return func(args []*ir.Tensor) (*ir.Tensor, error) {
			out := ir.NewTensor(n.Type)
			workers.Ranges(len(out.Floats), unaryGrain, func(from, to int) {
				x, y := args[0].Floats[from:to], out.Floats[from:to]
				for i, v := range x {
					y[i] = f(v)
				}
			})
			return out, nil
		}, nil
	}
	exp, err := commonStep(n)
	if err != nil {
		return nil, err
	}
	f, err := u.ex(n, exp)
	if err != nil {
		return nil, err
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		l, err := args[0].Lattice()
		if err != nil {
			return nil, n.Errorf("L0308", "%v", err)
		}
		out := ir.NewTensor(n.Type)
		for i, v := range l.Ints {
			out.Codes[i] = f(v)
		}
		return out, nil
	}, nil
}

// constArg returns the value of a constant argument.
func constArg(n *ir.Node, i int) (*ir.Tensor, error) {
	if !n.Args[i].IsConst() {
		return nil, n.Errorf("L0315", "argument %d (%s) must be a constant", i, n.Args[i].Name)
	}
	return n.Args[i].Value()
}

// product of dimensions.
func product(dims []int) int {
	p := 1
	for _, d := range dims {
		p *= d
	}
	return p
}

// normAxis maps a possibly negative axis into 0..rank-1.
func normAxis(axis, rank int) (int, error) {
	if axis < -rank || axis >= rank {
		return 0, fmt.Errorf("axis %d is outside of rank %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis, nil
}
