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
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/rtl"
)

// LeakyAttrs is the slope of the negative side.
type LeakyAttrs struct {
	Alpha float32
}

// LeakyRelu is x for x >= 0, else alpha*x; alpha is the exact float32 value.
var LeakyRelu = &ir.Op{
	Name: "leaky_relu", Doc: "x for x >= 0, else alpha*x", Attrs: LeakyAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Elementwise: true, Table: true, Bends: column.AtZero}, // with a negative alpha it falls and rises
	Infer:  column.SameShape,
	Eval: Unary{
		Float: func(n *ir.Node) func(float32) float32 {
			alpha := n.Attrs.(*LeakyAttrs).Alpha
			return func(x float32) float32 {
				if x < 0 {
					return alpha * x
				}
				return x
			}
		},
		Exact: leakyExact,
	}.Eval,
	HLO: affineHLO(leakyHLO),
	RTL: affineRTL(leakyRTL),
	Gen: genLeaky,
	Legal: func(n *ir.Node) error {
		if err := column.Plain(n); err != nil {
			return err
		}
		return column.Finite("alpha", float64(n.Attrs.(*LeakyAttrs).Alpha))
	},
}

func leakyExact(n *ir.Node, exp int) (func(int64) int64, error) {
	pos := arith.Encoder(n.Type.Format, exp)
	sig, aexp := arith.Significand(n.Attrs.(*LeakyAttrs).Alpha)
	neg := arith.Encoder(n.Type.Format, exp+aexp)
	f := n.Type.Format
	return func(v int64) int64 {
		switch {
		case v >= 0:
			return pos(v)
		case v > -1<<37:
			return neg(v * sig)
		}
		return f.Encode(format.FromInt(v, exp).Mul(format.FromInt(sig, aexp)))
	}, nil
}

func genLeaky(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 3), Format: draw.Format(r)})
	alphas := []float32{0.01, 0.1, 0.25, 1, 0, -0.5, 1.5, float32(math.Ldexp(r.Float64(), draw.Between(r, -12, 3)))}
	return draw.Graph(o, &LeakyAttrs{alphas[r.IntN(len(alphas))]}, ir.Type{Format: draw.Result(r, draw.Top(x.Type))}, x)
}

func leakyHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	x := args[0]
	alpha := n.Attrs.(*LeakyAttrs).Alpha
	if n.Type.IsFloat() {
		return b.Select(b.Compare(hlo.LT, x, b.Splat(x, 0)), b.Mul(x, b.Float(hlo.F32, float64(alpha))), x), b.Err()
	}
	exp, bits, err := carrier.ArgStep(n)
	if err != nil {
		return hlo.Value{}, err
	}
	sig, aexp := arith.Significand(alpha)
	if bits+24 > 63 {
		return hlo.Value{}, n.Errorf(diag.IntegerWidth, "leaky_relu on %d bits needs products beyond 63 bits", bits)
	}
	pos, err := carrier.Requant(b, n, x, exp, bits)
	if err != nil {
		return hlo.Value{}, err
	}
	neg, err := carrier.Requant(b, n, b.Mul(carrier.Wide(b, x), b.Int(hlo.I64, sig)), exp+aexp, bits+24)
	if err != nil {
		return hlo.Value{}, err
	}
	return b.Select(b.Compare(hlo.LT, x, b.Splat(x, 0)), neg, pos), b.Err()
}

func leakyRTL(n *ir.Node) (*rtl.Unit, error) {
	sig, aexp := arith.Significand(n.Attrs.(*LeakyAttrs).Alpha)
	return hardware.Elementwise("op_leaky_relu", n, hardware.ArgExp(n), "ALPHA_SIG", sig, "ALPHA_EXP", aexp)
}
