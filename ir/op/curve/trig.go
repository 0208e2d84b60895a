// SPDX-License-Identifier: Apache-2.0

package curve

import (
	"math"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/pointwise"
)

// The trigonometric and hyperbolic functions, on floats only. Tanh has a quantized form, too.
var (
	Sin   = angle("sin", "sine", math.Sin, (*hlo.Builder).Sin)
	Cos   = angle("cos", "cosine", math.Cos, (*hlo.Builder).Cos)
	Tan   = angle("tan", "tangent", math.Tan, (*hlo.Builder).Tan)
	Asin  = angle("asin", "inverse sine", math.Asin, (*hlo.Builder).Asin)
	Acos  = angle("acos", "inverse cosine", math.Acos, (*hlo.Builder).Acos)
	Atan  = angle("atan", "inverse tangent", math.Atan, (*hlo.Builder).Atan)
	Sinh  = angle("sinh", "hyperbolic sine", math.Sinh, (*hlo.Builder).Sinh)
	Cosh  = angle("cosh", "hyperbolic cosine", math.Cosh, (*hlo.Builder).Cosh)
	Asinh = angle("asinh", "inverse hyperbolic sine", math.Asinh, (*hlo.Builder).Asinh)
	Acosh = angle("acosh", "inverse hyperbolic cosine", math.Acosh, (*hlo.Builder).Acosh)
	Atanh = angle("atanh", "inverse hyperbolic tangent", math.Atanh, (*hlo.Builder).Atanh)
)

// angle makes the operation of a function of floats.
func angle(name, doc string, f func(x float64) float64, print func(*hlo.Builder, hlo.Value) hlo.Value) *ir.Op {
	return &ir.Op{
		Name: name, Doc: doc, Arity: [2]int{1, 1},
		Traits: ir.Traits{FloatOnly: true, Elementwise: true},
		Infer:  column.SameShape,
		Eval: func(n *ir.Node) (ir.Kernel, error) {
			if !n.Type.IsFloat() {
				return nil, n.Errorf(diag.OpFormats, "%s takes floats", n.Op.Name)
			}
			return pointwise.Unary{Float: func(*ir.Node) func(float32) float32 {
				return func(x float32) float32 { return float32(f(float64(x))) }
			}}.Eval(n)
		},
		HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
			if !n.Type.IsFloat() {
				return hlo.Value{}, n.Errorf(diag.OpFormats, "%s takes floats", n.Op.Name)
			}
			return print(b, args[0]), b.Err()
		},
		Legal: column.NoInteger,
		Gen:   func(r *rand.Rand, o *ir.Op) *ir.Graph { return draw.Element(r, o, nil, format.FP32) },
	}
}
