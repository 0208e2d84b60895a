// SPDX-License-Identifier: Apache-2.0

package curve

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/bigmath"
	"lathe/ir/op/carrier"
	"lathe/ir/op/draw"
)

// The rational functions: every result is a fraction, known exactly.
var (
	Abs = fractional("abs", "|x|", math.Abs, func(x *big.Rat) *big.Rat { return new(big.Rat).Abs(x) },
		(*hlo.Builder).Abs, func(v int64) int64 { return max(v, -v) }, 0)
	Sign = fractional("sign", "-1, 0 or 1", sign, func(x *big.Rat) *big.Rat { return big.NewRat(int64(x.Sign()), 1) },
		(*hlo.Builder).Sign, func(v int64) int64 { return int64(cmp.Compare(v, 0)) })
	Floor = fractional("floor", "greatest integer not above x", math.Floor, bigmath.Floor, (*hlo.Builder).Floor, nil)
	Ceil  = fractional("ceil", "least integer not below x", math.Ceil,
		func(x *big.Rat) *big.Rat {
			y := bigmath.Floor(new(big.Rat).Neg(x))
			return y.Neg(y)
		}, (*hlo.Builder).Ceil, nil)
	Round = fractional("round", "nearest integer, ties to even", math.RoundToEven, bigmath.Round,
		(*hlo.Builder).RoundEven, nil)
	Trunc = fractional("trunc", "x without its fraction", math.Trunc,
		func(x *big.Rat) *big.Rat { return new(big.Rat).SetInt(new(big.Int).Quo(x.Num(), x.Denom())) },
		func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Mul(b.Sign(x), b.Floor(b.Abs(x))) }, nil)
	Softsign = fractional("softsign", "x/(1 + |x|)", func(x float64) float64 { return x / (1 + math.Abs(x)) },
		func(x *big.Rat) *big.Rat {
			y := new(big.Rat).Abs(x)
			return y.Quo(x, y.Add(y, big.NewRat(1, 1)))
		},
		func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Div(x, b.Add(b.Abs(x), carrier.Number(b, 1))) }, nil)
	HardSwish = fractional("hard_swish", "x*min(max(x/6 + 1/2, 0), 1)",
		func(x float64) float64 { return x * min(max(x+3, 0), 6) / 6 },
		func(x *big.Rat) *big.Rat {
			y := bigmath.Clamp(new(big.Rat).Add(x, big.NewRat(3, 1)), big.NewRat(6, 1))
			return y.Mul(y.Mul(y, x), big.NewRat(1, 6))
		},
		func(b *hlo.Builder, x hlo.Value) hlo.Value {
			gate := b.Clamp(carrier.Number(b, 0), b.Add(x, carrier.Number(b, 3)), carrier.Number(b, 6))
			return b.Mul(x, b.Div(gate, carrier.Number(b, 6))) // x*gate could overflow
		}, nil, -1.5)
)

// fractional makes the operation of a rational function without parameters. whole is nil where it takes no whole
// numbers.
func fractional(name, doc string, near func(float64) float64, exact func(*big.Rat) *big.Rat,
	print func(*hlo.Builder, hlo.Value) hlo.Value, whole func(int64) int64, bends ...float64) *ir.Op {
	f := function{
		name: name, doc: doc, monotone: len(bends) == 0, fraction: true, whole: whole,
		near: func(any) func(float64) float64 { return near },
		exact: func(any) func(*big.Rat) format.Exact {
			return func(x *big.Rat) format.Exact { return format.FromRat(exact(x)) }
		},
		hlo: func(b *hlo.Builder, _ any, x hlo.Value) hlo.Value { return print(b, x) },
	}
	if !f.monotone {
		f.bends = func(any) []float64 { return bends }
	}
	return f.op()
}

// sign of NaN is NaN, as ONNX and StableHLO have it.
func sign(x float64) float64 {
	if x == 0 || x != x {
		return x
	}
	return math.Copysign(1, x)
}

// HardSigmoidAttrs are the slope and the value at 0 of hard_sigmoid.
type HardSigmoidAttrs struct {
	Alpha, Beta float32
}

// HardSigmoid is min(max(alpha*x + beta, 0), 1).
var HardSigmoid = function{
	name: "hard_sigmoid", doc: "min(max(alpha*x + beta, 0), 1)", attrs: HardSigmoidAttrs{}, fraction: true,
	params: func(attrs any) []float32 {
		return []float32{attrs.(*HardSigmoidAttrs).Alpha, attrs.(*HardSigmoidAttrs).Beta}
	},
	bends: func(any) []float64 { return nil }, // it falls where alpha is negative
	near: func(attrs any) func(float64) float64 {
		a := attrs.(*HardSigmoidAttrs)
		return func(x float64) float64 { return min(max(float64(a.Alpha)*x+float64(a.Beta), 0), 1) }
	},
	exact: func(attrs any) func(*big.Rat) format.Exact {
		a := attrs.(*HardSigmoidAttrs)
		return func(x *big.Rat) format.Exact {
			y := new(big.Rat).Mul(x, bigmath.Rational(a.Alpha))
			return format.FromRat(bigmath.Clamp(y.Add(y, bigmath.Rational(a.Beta)), big.NewRat(1, 1)))
		}
	},
	hlo: func(b *hlo.Builder, attrs any, x hlo.Value) hlo.Value {
		a := attrs.(*HardSigmoidAttrs)
		y := b.Add(b.Mul(x, carrier.Number(b, float64(a.Alpha))), carrier.Number(b, float64(a.Beta)))
		return b.Clamp(carrier.Number(b, 0), y, carrier.Number(b, 1))
	},
	draw: func(r *rand.Rand) any { return &HardSigmoidAttrs{draw.One(r, 0.2, 1.0/6), draw.One(r, 0.5)} },
}.op()

// ThresholdedRelu is x for x > alpha, else 0.
var ThresholdedRelu = function{
	name: "thresholded_relu", doc: "x for x > alpha, else 0", attrs: AlphaAttrs{}, params: alphaParams, fraction: true,
	bends: func(attrs any) []float64 { return []float64{alphaOf(attrs)} },
	near: func(attrs any) func(float64) float64 {
		alpha := alphaOf(attrs)
		return func(x float64) float64 {
			if x > alpha {
				return x
			}
			return 0
		}
	},
	exact: func(attrs any) func(*big.Rat) format.Exact {
		alpha := bigmath.Rational(attrs.(*AlphaAttrs).Alpha)
		return func(x *big.Rat) format.Exact {
			if x.Cmp(alpha) > 0 {
				return format.FromRat(x)
			}
			return format.FromInt(0, 0)
		}
	},
	hlo: func(b *hlo.Builder, attrs any, x hlo.Value) hlo.Value {
		return b.Select(b.Compare(hlo.GT, x, carrier.Number(b, alphaOf(attrs))), x, carrier.Number(b, 0))
	},
	draw: func(r *rand.Rand) any { return &AlphaAttrs{draw.One(r, 1, 0)} },
}.op()
