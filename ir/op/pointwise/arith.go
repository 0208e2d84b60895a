// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"math"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// Add is a + b with broadcasting.
var Add = binary("add", "a + b", func(a, b float32) float32 { return a + b }, pairOp{pairSum, 1},
	(*hlo.Builder).Add, ir.Traits{Elementwise: true, Commutes: true, Monotone: true})

// Sub is a - b with broadcasting.
var Sub = binary("sub", "a - b", func(a, b float32) float32 { return a - b }, pairOp{pairSum, -1},
	(*hlo.Builder).Sub, ir.Traits{Elementwise: true})

// Mul is a * b with broadcasting.
var Mul = binary("mul", "a * b", func(a, b float32) float32 { return a * b }, pairOp{pairProduct, 1},
	(*hlo.Builder).Mul, ir.Traits{Elementwise: true, Commutes: true})

// Min is the smaller of a and b with broadcasting.
var Min = binary("min", "min(a, b)", func(a, b float32) float32 { return min(a, b) }, pairOp{pairMin, 1},
	(*hlo.Builder).Min, ir.Traits{Elementwise: true, Commutes: true, Monotone: true})

// Max is the greater of a and b with broadcasting.
var Max = binary("max", "max(a, b)", func(a, b float32) float32 { return max(a, b) }, pairOp{pairMax, 1},
	(*hlo.Builder).Max, ir.Traits{Elementwise: true, Commutes: true, Monotone: true})

func binary(name, doc string, fl func(a, b float32) float32, o pairOp,
	print func(b *hlo.Builder, x, y hlo.Value) hlo.Value, traits ir.Traits) *ir.Op {
	traits.Whole = true
	return &ir.Op{
		Name: name, Doc: doc + " with broadcasting", Arity: [2]int{2, 2},
		Traits: traits,
		Infer:  func(n *ir.Node) ([]int, error) { return walk.Broadcast(n.Args[0].Type.Shape, n.Args[1].Type.Shape) },
		Eval:   func(n *ir.Node) (ir.Kernel, error) { return binaryEval(n, fl, o) },
		Bounds: o.bounds(),
		Exact:  func(n *ir.Node) (format.Format, error) { return exactPairOf(n, o) },
		HLO:    binaryHLO(o, print),
		RTL:    func(n *ir.Node) (*rtl.Unit, error) { return pairRTL(n, o) },
		Chain:  func(*ir.Node) string { return name },
		CUDA:   ChainCUDA,
		Gen:    genBinary,
		Legal: func(n *ir.Node) error {
			if err := column.Plain(n); err != nil {
				return err
			}
			_, err := planPair(n, o)
			return err
		},
	}
}

func binaryEval(n *ir.Node, fl func(a, b float32) float32, o pairOp) (ir.Kernel, error) {
	if arith.OnWhole(n) {
		return column.BinaryWhole(n, o.whole()), nil
	}
	if n.Type.IsFloat() {
		return column.BinaryFloat(n, fl), nil
	}
	index, fill := walk.BroadcastIndices(n), column.FixedArgs(n)
	p, err := planPair(n, o)
	if err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		return p.eval(n, args, index[0], index[1])
	}, nil
}

// genBinary draws two shapes that broadcast; one argument may be constant. Some have scales that are no powers of two.
func genBinary(r *rand.Rand, o *ir.Op) *ir.Graph {
	full := draw.Shape(r, 0, 3)
	smaller := func() []int {
		shape := append([]int(nil), full...)
		for i := range shape {
			if draw.Chance(r, 30) {
				shape[i] = 1
			}
		}
		return shape[r.IntN(len(shape)+1):]
	}
	args, real := make([]*ir.Node, 2), draw.Chance(r, 30)
	for i, name := range []string{"a", "b"} {
		t := ir.Type{Shape: full, Format: draw.Format(r)}
		if !real && !arith.IsFixed(t.Format) { // these are drawn below
			t.Format = draw.Fixed(r, 16)
		}
		if real { // what factors have room for
			t.Format = draw.Fixed(r, 14)
			if draw.Chance(r, 70) {
				t.Format = draw.Affine(r, 10)
			}
		}
		if draw.Chance(r, 50) {
			t.Shape = smaller()
		}
		args[i] = draw.Input(name, t)
	}
	if i := r.IntN(4); i < 2 {
		t := args[i].Type
		args[i] = draw.Const("c", t, draw.Codes(r, t.Format, t.Elems()))
	}
	top := max(draw.Top(args[0].Type), draw.Top(args[1].Type)) + 1
	if o.Name == "mul" {
		top = draw.Top(args[0].Type) + draw.Top(args[1].Type)
	}
	if real && draw.Chance(r, 80) { // as quantized models have it
		f := draw.Affine(r, 10)
		if f.Over == format.Wrap {
			f.Over = format.Sat
		}
		f.Scale = float32(math.Ldexp(float64(f.Scale), top-draw.Top(ir.Type{Format: f})+draw.Between(r, -2, 5)))
		return draw.Graph(o, nil, ir.Type{Format: f}, args...)
	}
	return draw.Graph(o, nil, ir.Type{Format: draw.Result(r, top)}, args...)
}
