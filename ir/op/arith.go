// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/rtl"
)

// Add is a + b with broadcasting.
var Add = binary("add", "a + b", func(a, b float32) float32 { return a + b }, pairOp{pairSum, 1},
	(*hlo.Builder).Add, ir.Traits{Elementwise: true, Monotone: true})

// Sub is a - b with broadcasting.
var Sub = binary("sub", "a - b", func(a, b float32) float32 { return a - b }, pairOp{pairSum, -1},
	(*hlo.Builder).Sub, ir.Traits{Elementwise: true})

// Mul is a * b with broadcasting.
var Mul = binary("mul", "a * b", func(a, b float32) float32 { return a * b }, pairOp{pairProduct, 1},
	(*hlo.Builder).Mul, ir.Traits{Elementwise: true})

// Min is the smaller of a and b with broadcasting.
var Min = binary("min", "min(a, b)", func(a, b float32) float32 { return min(a, b) }, pairOp{pairMin, 1},
	(*hlo.Builder).Min, ir.Traits{Elementwise: true, Monotone: true})

// Max is the greater of a and b with broadcasting.
var Max = binary("max", "max(a, b)", func(a, b float32) float32 { return max(a, b) }, pairOp{pairMax, 1},
	(*hlo.Builder).Max, ir.Traits{Elementwise: true, Monotone: true})

func binary(name, doc string, fl func(a, b float32) float32, o pairOp,
	print func(b *hlo.Builder, x, y hlo.Value) hlo.Value, traits ir.Traits) *ir.Op {
	traits.Whole = true
	return &ir.Op{
		Name: name, Doc: doc + " with broadcasting", Arity: [2]int{2, 2},
		Traits: traits,
		Infer:  func(n *ir.Node) ([]int, error) { return broadcast(n.Args[0].Type.Shape, n.Args[1].Type.Shape) },
		Eval:   func(n *ir.Node) (ir.Kernel, error) { return binaryEval(n, fl, o) },
		Exact: func(n *ir.Node) (format.Fixed, error) {
			p, err := planLattice(n.Args[0].Type, n.Args[1].Type, o)
			return format.Fixed{W: p.bits, F: -p.exp, Signed: true}, err
		},
		HLO:  binaryHLO(o, print),
		RTL:  func(n *ir.Node) (*rtl.Unit, error) { return pairRTL(n, o) },
		CUDA: ir.OneNode(chainCUDA(name)),
		Gen:  genBinary,
		Legal: func(n *ir.Node) error {
			if err := plain(n); err != nil {
				return err
			}
			_, err := planPair(n, o)
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

func binaryEval(n *ir.Node, fl func(a, b float32) float32, o pairOp) (ir.Kernel, error) {
	if _, ok := wholeOf(n); ok {
		return pairWhole(n, o.whole()), nil
	}
	if n.Type.IsFloat() {
		return pairReal(n, fl), nil
	}
	index, fill := broadcasts(n), fixedArgs(n)
	p, err := planPair(n, o)
	if err != nil {
		return nil, n.Errorf("L0308", "%v", err)
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		return p.eval(n, args, index[0], index[1])
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
