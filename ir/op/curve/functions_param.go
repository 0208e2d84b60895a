// SPDX-License-Identifier: Apache-2.0

package curve

import (
	"math"
	"math/big"
	"math/rand/v2"

	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/bigmath"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
)

// AlphaAttrs is the parameter of functions that have one.
type AlphaAttrs struct {
	Alpha float32
}

func alphaOf(attrs any) float64 { return float64(attrs.(*AlphaAttrs).Alpha) }

func alphaParams(attrs any) []float32 { return []float32{attrs.(*AlphaAttrs).Alpha} }

// Silu is x*sigmoid(alpha*x): SiLU with alpha 1, Swish in general.
var Silu = function{
	name: "silu", doc: "x/(1 + exp(-alpha*x))", attrs: AlphaAttrs{}, params: alphaParams,
	bends: func(attrs any) []float64 {
		if alphaOf(attrs) == 0 {
			return nil
		}
		return []float64{-1.27846454 / alphaOf(attrs)}
	},
	near: func(attrs any) func(float64) float64 {
		alpha := alphaOf(attrs)
		return func(x float64) float64 { return x / (1 + math.Exp(-alpha*x)) }
	},
	exact: func(attrs any) func(*big.Rat) format.Exact {
		alpha := bigmath.Float(alphaOf(attrs))
		return bigmath.Irrational(func(x *big.Float) *big.Float { return bigmath.Swish(x, alpha) })
	},
	hlo: func(b *hlo.Builder, attrs any, x hlo.Value) hlo.Value {
		return b.Mul(x, b.Logistic(b.Mul(x, carrier.Number(b, alphaOf(attrs)))))
	},
	kernel: func(attrs any) string {
		if alphaOf(attrs) != 1 {
			return ""
		}
		return "silu"
	},
	domain: func(attrs any) (domain, bool) { return domain{bits: 4, keeps: true}, alphaOf(attrs) == 1 },
	draw:   func(r *rand.Rand) any { return &AlphaAttrs{draw.One(r, 1, 1, 1.702, 0)} },
}.op()

// Elu is alpha*(exp(x) - 1) for x < 0, else x.
var Elu = function{
	name: "elu", doc: "alpha*(exp(x) - 1) for x < 0, else x", attrs: AlphaAttrs{}, params: alphaParams,
	bends: column.AtZero,
	near:  func(attrs any) func(float64) float64 { return bent(alphaOf(attrs), 1, 1) },
	exact: func(attrs any) func(*big.Rat) format.Exact { return bentExact(alphaOf(attrs), 1, 1) },
	hlo:   func(b *hlo.Builder, attrs any, x hlo.Value) hlo.Value { return bentHLO(b, x, alphaOf(attrs), 1, 1) },
	draw:  func(r *rand.Rand) any { return &AlphaAttrs{draw.One(r, 1, 1, 0.5)} },
}.op()

// Celu is alpha*(exp(x/alpha) - 1) for x < 0, else x; alpha is not 0.
var Celu = function{
	name: "celu", doc: "alpha*(exp(x/alpha) - 1) for x < 0, else x", attrs: AlphaAttrs{},
	params: func(attrs any) []float32 { return []float32{1 / attrs.(*AlphaAttrs).Alpha} }, // 0 gives an infinity
	bends:  func(any) []float64 { return nil },
	near:   func(attrs any) func(float64) float64 { return bent(alphaOf(attrs), alphaOf(attrs), 1) },
	exact:  func(attrs any) func(*big.Rat) format.Exact { return bentExact(alphaOf(attrs), alphaOf(attrs), 1) },
	hlo: func(b *hlo.Builder, attrs any, x hlo.Value) hlo.Value {
		return bentHLO(b, x, alphaOf(attrs), alphaOf(attrs), 1)
	},
	draw: func(r *rand.Rand) any { return &AlphaAttrs{draw.One(r, 1, 1, 0.5)} },
}.op()

// SeluAttrs are the parameters of selu.
type SeluAttrs struct {
	Alpha, Gamma float32
}

func seluOf(attrs any) (alpha, gamma float64) {
	a := attrs.(*SeluAttrs)
	return float64(a.Alpha), float64(a.Gamma)
}

// Selu is gamma*alpha*(exp(x) - 1) for x < 0, else gamma*x.
var Selu = function{
	name: "selu", doc: "gamma*alpha*(exp(x) - 1) for x < 0, else gamma*x", attrs: SeluAttrs{},
	params: func(attrs any) []float32 { return []float32{attrs.(*SeluAttrs).Alpha, attrs.(*SeluAttrs).Gamma} },
	bends:  column.AtZero,
	near: func(attrs any) func(float64) float64 {
		alpha, gamma := seluOf(attrs)
		return bent(alpha*gamma, 1, gamma)
	},
	exact: func(attrs any) func(*big.Rat) format.Exact {
		alpha, gamma := seluOf(attrs)
		return bentExact(alpha*gamma, 1, gamma) // the product of two float32 is exact
	},
	hlo: func(b *hlo.Builder, attrs any, x hlo.Value) hlo.Value {
		alpha, gamma := seluOf(attrs)
		return bentHLO(b, x, alpha*gamma, 1, gamma)
	},
	draw: func(r *rand.Rand) any { return &SeluAttrs{draw.One(r, 1.6732632), draw.One(r, 1.0507010)} },
}.op()

// bent is left*(exp(x/scale) - 1) for x < 0, else right*x.
func bent(left, scale, right float64) func(x float64) float64 {
	return func(x float64) float64 {
		if x < 0 {
			return left * math.Expm1(x/scale)
		}
		return right * x
	}
}

func bentExact(left, scale, right float64) func(*big.Rat) format.Exact {
	return func(x *big.Rat) format.Exact {
		if x.Sign() >= 0 {
			return bigmath.ExactOf(bigmath.Times(bigmath.FromRat(x), bigmath.Float(right)))
		}
		v := bigmath.FromRat(x)
		return bigmath.ExactOf(bigmath.Times(bigmath.Expm1(v.Quo(v, bigmath.Float(scale))), bigmath.Float(left)))
	}
}

func bentHLO(b *hlo.Builder, x hlo.Value, left, scale, right float64) hlo.Value {
	var low hlo.Value
	if scale > 0 {
		low = b.Mul(b.Expm1(b.Div(x, carrier.Number(b, scale))), carrier.Number(b, left))
	} else { // exp(2h) - 1 = (exp(h) - 1)*(exp(h) + 1): the left side may overflow where `left` times it does not
		half := b.Expm1(b.Div(x, carrier.Number(b, 2*scale)))
		low = b.Mul(b.Mul(half, carrier.Number(b, left)), b.Add(half, carrier.Number(b, 2)))
	}
	return b.Select(b.Compare(hlo.LT, x, carrier.Number(b, 0)), low, b.Mul(x, carrier.Number(b, right)))
}

// PowAttrs is the exponent of pow.
type PowAttrs struct {
	Exponent float32
}

// Pow is x^exponent. Quantized, a negative power of 0 is the greatest value, and a power of a negative number is 0
// where the exponent is no integer.
var Pow = function{
	name: "pow", doc: "x^exponent, a constant", attrs: PowAttrs{},
	params: func(attrs any) []float32 { return []float32{attrs.(*PowAttrs).Exponent} },
	bends:  column.AtZero,
	near: func(attrs any) func(float64) float64 {
		p := float64(attrs.(*PowAttrs).Exponent)
		return func(x float64) float64 { return math.Pow(x, p) }
	},
	exact: func(attrs any) func(*big.Rat) format.Exact {
		p := float64(attrs.(*PowAttrs).Exponent)
		return func(x *big.Rat) format.Exact { return exactPower(x, p) }
	},
	hlo: func(b *hlo.Builder, attrs any, x hlo.Value) hlo.Value {
		return b.Pow(x, carrier.Number(b, float64(attrs.(*PowAttrs).Exponent)))
	},
	draw: func(r *rand.Rand) any { return &PowAttrs{draw.One(r, 2, 2, 3, 0.5, -1, -2, -0.5, 0, 1.5, 0.25)} },
}.op()

// ReciprocalAttrs is the numerator of reciprocal.
type ReciprocalAttrs struct {
	Numerator float32
}

// Reciprocal is numerator/x. Quantized, that of 0 is the greatest value, the least where the numerator is negative.
var Reciprocal = function{
	name: "reciprocal", doc: "numerator/x", attrs: ReciprocalAttrs{}, fraction: true,
	params: func(attrs any) []float32 { return []float32{attrs.(*ReciprocalAttrs).Numerator} },
	bends:  column.AtZero,
	near: func(attrs any) func(float64) float64 {
		c := float64(attrs.(*ReciprocalAttrs).Numerator)
		return func(x float64) float64 { return c / x }
	},
	exact: func(attrs any) func(*big.Rat) format.Exact {
		c := bigmath.Rational(attrs.(*ReciprocalAttrs).Numerator)
		return func(x *big.Rat) format.Exact {
			if x.Sign() == 0 {
				return format.Inf(c.Sign() < 0)
			}
			return format.FromRat(new(big.Rat).Quo(c, x))
		}
	},
	hlo: func(b *hlo.Builder, attrs any, x hlo.Value) hlo.Value {
		return b.Div(carrier.Number(b, float64(attrs.(*ReciprocalAttrs).Numerator)), x)
	},
	draw: func(r *rand.Rand) any { return &ReciprocalAttrs{draw.One(r, 1, 1, -1, 3)} },
}.op()

// mostPower is the greatest exponent for which integer powers are multiplied out.
const mostPower = 64

// exactPower is x^p. Integer exponents, and those with up to 4 fraction bits, are powers and square roots of exact
// fractions; so are, for any exponent, powers of two. All others are irrational: exp(p*ln x).
func exactPower(x *big.Rat, p float64) format.Exact {
	whole := p == math.Trunc(p)
	switch {
	case p == 0:
		return format.FromInt(1, 0)
	case x.Sign() == 0 && p < 0:
		return format.Inf(false)
	case x.Sign() == 0, x.Sign() < 0 && !whole:
		return format.FromInt(0, 0)
	case math.Abs(p)*16 == math.Trunc(math.Abs(p)*16) && math.Abs(p) <= mostPower:
		return rootOfPower(x, p)
	}
	a := bigmath.FromRat(new(big.Rat).Abs(x))
	var y *big.Float
	if e := a.MantExp(nil) - 1; a.MinPrec() == 1 && float64(e)*p == math.Trunc(float64(e)*p) {
		y = new(big.Float).SetMantExp(bigmath.Float(1), int(max(-1<<12, min(1<<12, float64(e)*p))))
	} else {
		log := bigmath.Log(a)
		y = bigmath.Exp(log.Mul(log, bigmath.Float(p)))
	}
	if x.Sign() < 0 && math.Mod(p, 2) != 0 {
		y.Neg(y)
	}
	return bigmath.ExactOf(y)
}

// rootOfPower is x^p with p*16 an integer: the power by multiplication, then square roots; what these cut off leaves
// the last bit set.
func rootOfPower(x *big.Rat, p float64) format.Exact {
	roots := 0
	for p != math.Trunc(p) {
		p, roots = 2*p, roots+1
	}
	n := big.NewInt(int64(math.Abs(p)))
	num, den := new(big.Int).Exp(x.Num(), n, nil), new(big.Int).Exp(x.Denom(), n, nil)
	y := new(big.Rat).SetFrac(num, den)
	if p < 0 {
		y.Inv(y)
	}
	for range roots {
		const places = 512
		shifted := new(big.Int).Lsh(y.Num(), 2*places)
		shifted, rest := shifted.QuoRem(shifted, y.Denom(), new(big.Int))
		root := new(big.Int).Sqrt(shifted)
		if rest.Sign() != 0 || new(big.Int).Mul(root, root).Cmp(shifted) != 0 {
			root.SetBit(root, 0, 1)
		}
		y.SetFrac(root, new(big.Int).Lsh(big.NewInt(1), places))
	}
	return format.FromRat(y)
}
