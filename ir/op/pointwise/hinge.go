// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
)

// Hinge is max(1 - x, 0), element by element.
var Hinge = &ir.Op{
	Name: "hinge", Doc: "max(1 - x, 0)", Arity: [2]int{1, 1},
	Traits: ir.Traits{Elementwise: true, FloatOnly: true},
	Infer:  column.SameShape,
	Eval: Unary{
		Float: func(*ir.Node) func(float32) float32 { return func(x float32) float32 { return max(1-x, 0) } },
	}.Eval,
	HLO: func(b *hlo.Builder, _ *ir.Node, args []hlo.Value) (hlo.Value, error) {
		x := args[0]
		return b.Max(b.Sub(b.Splat(x, 1), x), b.Splat(x, 0)), b.Err()
	},
	Legal: column.NoInteger,
	Gen:   func(r *rand.Rand, o *ir.Op) *ir.Graph { return draw.Element(r, o, nil, format.FP32) },
}
