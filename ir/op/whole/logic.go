// SPDX-License-Identifier: Apache-2.0

package whole

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
)

// The operations on bits. On Bool they are logical.
var (
	And = bitwise("and", "a & b, bit by bit", func(a, b int64) int64 { return a & b }, (*hlo.Builder).And)
	Or  = bitwise("or", "a | b, bit by bit", func(a, b int64) int64 { return a | b }, (*hlo.Builder).Or)
	Xor = bitwise("xor", "a ^ b, bit by bit", func(a, b int64) int64 { return a ^ b }, (*hlo.Builder).Xor)
)

// The shifts of whole numbers. Amounts below 0, and those of W and more, move all bits out.
var (
	ShiftLeft = shift("shift_left", "a * 2^b modulo 2^W", func(a int64, by uint64) int64 { return a << by },
		(*hlo.Builder).ShiftLeft)
	ShiftRight = shift("shift_right", "floor(a / 2^b)", func(a int64, by uint64) int64 { return a >> by },
		(*hlo.Builder).ShiftRightArith)
)

func bitwise(name, doc string, f func(a, b int64) int64,
	print func(*hlo.Builder, hlo.Value, hlo.Value) hlo.Value) *ir.Op {
	return binaryOp{
		name: name, doc: doc,
		whole: func(*ir.Node, format.Fixed) func(a, b int64) int64 { return f },
		codes: func(b *hlo.Builder, _ *ir.Node, _ format.Fixed, x, y hlo.Value) hlo.Value { return print(b, x, y) },
	}.op()
}

// shift makes a shift: codes are sign-extended or, unsigned, not negative, so that one right shift serves both.
func shift(name, doc string, f func(a int64, by uint64) int64,
	print func(*hlo.Builder, hlo.Value, hlo.Value) hlo.Value) *ir.Op {
	return binaryOp{
		name: name, doc: doc,
		whole: func(_ *ir.Node, w format.Fixed) func(a, b int64) int64 {
			return func(a, by int64) int64 {
				if by < 0 || by >= int64(w.W) {
					by = 64
				}
				return f(a, uint64(by))
			}
		},
		codes: func(b *hlo.Builder, _ *ir.Node, w format.Fixed, x, by hlo.Value) hlo.Value {
			out := b.Or(b.Compare(hlo.LT, by, b.Splat(by, 0)), b.Compare(hlo.GE, by, b.Splat(by, int64(w.W))))
			return print(b, x, b.Select(out, b.Splat(by, int64(by.Type().DType.Bits())), by))
		},
	}.op()
}

// Not is the complement: of Bool the other truth value.
var Not = &ir.Op{
	Name: "not", Doc: "all bits of x turned over", Arity: [2]int{1, 1},
	Traits: ir.Traits{FloatOnly: true, Elementwise: true},
	Infer:  column.SameShape,
	Format: func(n *ir.Node) (format.Format, error) {
		f := n.Args[0].Type.Format
		if !ir.IsWhole(f) {
			return nil, fmt.Errorf("not takes integers and booleans, %q is %s", n.Args[0].Name, f)
		}
		return f, nil
	},
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		if err := column.InFloatGraph(n); err != nil {
			return nil, err
		}
		return column.WholeUnary(n, func(v int64) int64 { return ^v }), nil
	},
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		if err := column.InFloatGraph(n); err != nil {
			return hlo.Value{}, err
		}
		return carrier.Wrap(b, b.Not(args[0]), n.Type), b.Err()
	},
	Legal: column.NoInteger,
	Gen:   func(r *rand.Rand, o *ir.Op) *ir.Graph { return draw.Element(r, o, nil, draw.Whole(r)) },
}
