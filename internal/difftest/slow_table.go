// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"math"
	"math/big"
	"sync"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/curve"
)

// IsTable says that n is one of the functions of slowTable.
func IsTable(n *ir.Node) bool {
	_, ok := slowTable(n, new(big.Rat))
	return ok
}

// slowTable is a function of one number that is a table in hardware; ok is false where n is none. No number (nil) is
// what has no real value.
func slowTable(n *ir.Node, x *big.Rat) (y *big.Rat, ok bool) {
	one := integer(1)
	switch n.Op {
	case curve.Abs:
		return new(big.Rat).Abs(x), true
	case curve.Sign:
		return integer(int64(x.Sign())), true
	case curve.Floor:
		return new(big.Rat).SetInt(round(x, format.RoundFloor)), true
	case curve.Ceil:
		return new(big.Rat).SetInt(round(x, format.RoundCeil)), true
	case curve.Round:
		return new(big.Rat).SetInt(round(x, format.RoundEven)), true
	case curve.Trunc:
		return new(big.Rat).SetInt(round(x, format.RoundZero)), true
	case curve.Softsign:
		return ratio(x, plus(one, new(big.Rat).Abs(x))), true
	case curve.HardSwish:
		gate := between(integer(0), plus(ratio(x, integer(6)), big.NewRat(1, 2)), one)
		return product(x, gate), true
	case curve.HardSigmoid:
		a := n.Attrs.(*curve.HardSigmoidAttrs)
		return between(integer(0), plus(product(x, real32(a.Alpha)), real32(a.Beta)), one), true
	case curve.ThresholdedRelu:
		if alpha := real32(n.Attrs.(*curve.AlphaAttrs).Alpha); x.Cmp(alpha) > 0 {
			return x, true
		}
		return integer(0), true
	case curve.Formula:
		return slowFormula(n.Attrs.(*curve.FormulaAttrs).Text, x), true
	case curve.Polyline:
		return slowPolyline(n.Attrs.(*curve.PolylineAttrs), x), true
	case curve.Reciprocal:
		c := real32(n.Attrs.(*curve.ReciprocalAttrs).Numerator)
		if x.Sign() == 0 {
			return infinity(c.Sign() < 0), true
		}
		return ratio(c, x), true
	}
	return slowSmooth(n, x)
}

// slowSmooth is the irrational ones.
func slowSmooth(n *ir.Node, x *big.Rat) (y *big.Rat, ok bool) {
	one := integer(1)
	switch n.Op {
	case curve.Exp:
		return expOf(x), true
	case curve.Log:
		if x.Sign() <= 0 {
			if x.Sign() < 0 && n.Type.IsFloat() {
				return nil, true
			}
			return infinity(true), true
		}
		return logOf(x), true
	case curve.Erf:
		return erfOf(x), true
	case curve.Gelu:
		half := big.NewRat(1, 2)
		return product(product(x, half), plus(one, erfOf(product(x, sqrtOf(half))))), true
	case curve.GeluTanh:
		u := plus(x, product(big.NewRat(44715, 1e6), product(x, product(x, x))))
		u = product(u, sqrtOf(ratio(integer(2), piOf())))
		return product(x, sigmoidOf(plus(u, u))), true
	case curve.Silu:
		return product(x, sigmoidOf(product(x, real32(n.Attrs.(*curve.AlphaAttrs).Alpha)))), true
	case curve.Softplus:
		return softplusOf(x), true
	case curve.Mish: // tanh z = (1 - e^-2z)/(1 + e^-2z), e^-z = sigmoid(-x) for z = softplus(x)
		e := sigmoidOf(new(big.Rat).Neg(x))
		e = product(e, e)
		return product(x, ratio(minus(one, e), plus(one, e))), true
	case curve.Elu:
		return bentOf(x, real32(n.Attrs.(*curve.AlphaAttrs).Alpha), one, one), true
	case curve.Celu:
		alpha := real32(n.Attrs.(*curve.AlphaAttrs).Alpha)
		return bentOf(x, alpha, alpha, one), true
	case curve.Selu:
		a := n.Attrs.(*curve.SeluAttrs)
		return bentOf(x, product(real32(a.Gamma), real32(a.Alpha)), one, real32(a.Gamma)), true
	case curve.Sqrt:
		return powerOf(x, 0.5, n.Type.IsFloat()), true
	case curve.Pow:
		return powerOf(x, float64(n.Attrs.(*curve.PowAttrs).Exponent), n.Type.IsFloat()), true
	}
	return nil, false
}

func plus(a, b *big.Rat) *big.Rat    { return new(big.Rat).Add(a, b) }
func minus(a, b *big.Rat) *big.Rat   { return new(big.Rat).Sub(a, b) }
func product(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func ratio(a, b *big.Rat) *big.Rat   { return new(big.Rat).Quo(a, b) }

func between(lo, x, hi *big.Rat) *big.Rat {
	if x.Cmp(hi) > 0 {
		return hi
	}
	return largest(lo, x)
}

// infinity is a number that no format and no float32 holds.
func infinity(negative bool) *big.Rat {
	if negative {
		return new(big.Rat).Neg(power(4000))
	}
	return power(4000)
}

// beyond brings results of 2^128 and more to the ends of a format, also where that wraps.
func beyond(t ir.Type, v *big.Rat) *big.Rat {
	if v == nil || t.IsFloat() || new(big.Rat).Abs(v).Cmp(power(128)) < 0 {
		return v
	}
	switch f := t.Format.(type) {
	case format.Fixed:
		if f.Over == format.Wrap {
			f.Over = format.Sat
		}
		return decodeOne(ir.Type{Format: f}, 0, encode(f, v))
	case format.Affine:
		if f.Over == format.Wrap {
			f.Over = format.Sat
		}
		return decodeOne(ir.Type{Format: f}, 0, encode(f, v))
	}
	return v
}

func expOf(x *big.Rat) *big.Rat {
	if x.Sign() <= 0 {
		return expOfNegative(new(big.Rat).Neg(x))
	}
	return new(big.Rat).Inv(expOfNegative(x))
}

func sigmoidOf(x *big.Rat) *big.Rat {
	e := expOfNegative(new(big.Rat).Abs(x))
	if x.Sign() < 0 {
		return ratio(e, plus(integer(1), e))
	}
	return ratio(integer(1), plus(integer(1), e))
}

// bentOf is left*(exp(x/scale) - 1) for x < 0, else right*x.
func bentOf(x, left, scale, right *big.Rat) *big.Rat {
	if x.Sign() < 0 {
		return product(left, minus(expOf(ratio(x, scale)), integer(1)))
	}
	return product(right, x)
}

// softplusOf is ln(1 + e^x).
func softplusOf(x *big.Rat) *big.Rat {
	e := expOfNegative(new(big.Rat).Abs(x))
	y := e // ln(1 + e) where its square does not count
	if e.Cmp(power(-300)) > 0 {
		y = logOf(plus(integer(1), e))
	}
	if x.Sign() > 0 {
		y = plus(y, x)
	}
	return y
}

// logOf is the natural logarithm by the bits of log2: squaring doubles it.
func logOf(x *big.Rat) *big.Rat {
	const places = 1200 // each squaring doubles the error
	k := x.Num().BitLen() - x.Denom().BitLen()
	m := product(x, power(-k))
	for m.Cmp(integer(2)) >= 0 {
		m, k = product(m, big.NewRat(1, 2)), k+1
	}
	for m.Cmp(integer(1)) < 0 {
		m, k = product(m, integer(2)), k-1
	}
	if x.Cmp(integer(1)) == 0 {
		return integer(0)
	}
	v := new(big.Int).Quo(new(big.Int).Lsh(m.Num(), places), m.Denom())
	two := new(big.Int).Lsh(big.NewInt(2), places)
	bits := big.NewInt(int64(k))
	for range precision {
		v.Rsh(v.Mul(v, v), places)
		bits.Lsh(bits, 1)
		if v.Cmp(two) >= 0 {
			v.Rsh(v, 1)
			bits.Add(bits, big.NewInt(1))
		}
	}
	ln2 := new(big.Rat) // -ln(1/2) = sum of 2^-i/i
	sum := new(big.Int)
	for i := int64(1); i < precision+40; i++ {
		sum.Add(sum, new(big.Int).Quo(new(big.Int).Lsh(big.NewInt(1), uint(precision+60-i)), big.NewInt(i)))
	}
	ln2.SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), precision+60))
	return product(ln2, new(big.Rat).SetFrac(bits, new(big.Int).Lsh(big.NewInt(1), precision)))
}

// sqrtOf is the square root, the last bit set where it is none.
func sqrtOf(x *big.Rat) *big.Rat {
	v := new(big.Int).Lsh(x.Num(), 2*precision)
	v, rest := v.QuoRem(v, x.Denom(), new(big.Int))
	root := new(big.Int).Sqrt(v)
	if rest.Sign() != 0 || new(big.Int).Mul(root, root).Cmp(v) != 0 {
		root.SetBit(root, 0, 1)
	}
	return new(big.Rat).SetFrac(root, new(big.Int).Lsh(big.NewInt(1), precision))
}

// powerOf is x^p: by multiplication and square roots where p has up to three fraction bits, else by logarithms.
func powerOf(x *big.Rat, p float64, float bool) *big.Rat {
	switch {
	case p == 0:
		return integer(1)
	case x.Sign() == 0 && p < 0:
		return infinity(false)
	case x.Sign() == 0:
		return integer(0)
	case x.Sign() < 0 && p != math.Trunc(p):
		if float {
			return nil
		}
		return integer(0)
	}
	if math.Abs(p) < 40 && p*8 == math.Trunc(p*8) {
		y := integer(1)
		for range int(math.Abs(p * 8)) {
			y.Mul(y, x)
		}
		if p < 0 {
			y.Inv(y)
		}
		if p == math.Trunc(p) { // an eighth power: no sign is lost but that of x
			y = integer(1)
			for range int(math.Abs(p)) {
				y.Mul(y, x)
			}
			if p < 0 {
				y.Inv(y)
			}
			return y
		}
		return sqrtOf(sqrtOf(sqrtOf(y)))
	}
	return expOf(product(new(big.Rat).SetFloat64(p), logOf(x)))
}

// erfOf is the error function: 2/sqrt(pi)*e^(-x^2)*sum 2^n*x^(2n+1)/(1*3*...*(2n+1)), all terms of one sign.
func erfOf(x *big.Rat) *big.Rat {
	const places = 1000
	a := new(big.Rat).Abs(x)
	if a.Cmp(integer(16)) > 0 {
		y := minus(integer(1), power(-390))
		if x.Sign() < 0 {
			y.Neg(y)
		}
		return y
	}
	one := new(big.Int).Lsh(big.NewInt(1), places)
	fixed := func(v *big.Rat) *big.Int { return new(big.Int).Quo(new(big.Int).Mul(v.Num(), one), v.Denom()) }
	square := fixed(product(a, a))
	sum, term := new(big.Int), fixed(a)
	for n := int64(1); term.Sign() > 0; n++ {
		sum.Add(sum, term)
		term.Rsh(term.Mul(term, square), places-1)
		term.Quo(term, big.NewInt(2*n+1))
	}
	e := big.NewInt(0) // e^(-x^2) as 1/e^(x^2)
	grow := new(big.Int).Set(one)
	for n := int64(1); grow.Sign() > 0; n++ {
		e.Add(e, grow)
		grow.Rsh(grow.Mul(grow, square), places)
		grow.Quo(grow, big.NewInt(n))
	}
	y := new(big.Rat).SetFrac(sum, e)
	y = product(y, ratio(integer(2), sqrtOf(piOf())))
	if x.Sign() < 0 {
		y.Neg(y)
	}
	return y
}

// piOf is pi = 4*atan(1/2) + 4*atan(1/3) (Euler).
func piOf() *big.Rat {
	const places = precision + 40
	one := new(big.Int).Lsh(big.NewInt(4), places)
	sum := new(big.Int)
	for _, n := range []int64{2, 3} {
		term := new(big.Int).Quo(one, big.NewInt(n))
		for i := int64(1); term.Sign() != 0; i += 2 {
			sum.Add(sum, new(big.Int).Quo(term, big.NewInt(i)))
			term.Quo(term.Neg(term), big.NewInt(n*n))
		}
	}
	return new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), places))
}

// slowAngle is a trigonometric or hyperbolic function: by the exponential, the logarithm and the series of sine, cosine
// and inverse tangent. nil is what is not defined; known is false for other operations.
func slowAngle(o *ir.Op, x *big.Rat) (y *big.Rat, known bool) {
	one, half, square := integer(1), big.NewRat(1, 2), product(x, x)
	inside := square.Cmp(one) <= 0
	switch o {
	case curve.Sin:
		return sineOf(x), true
	case curve.Cos:
		return sineOf(plus(x, product(turn(), big.NewRat(1, 4)))), true
	case curve.Tan:
		return ratio(sineOf(x), sineOf(plus(x, product(turn(), big.NewRat(1, 4))))), true
	case curve.Sinh:
		return product(half, minus(expOf(x), expOf(new(big.Rat).Neg(x)))), true
	case curve.Cosh:
		return product(half, plus(expOf(x), expOf(new(big.Rat).Neg(x)))), true
	case curve.Atan:
		return atanOf(x), true
	case curve.Asinh:
		y := logOf(plus(new(big.Rat).Abs(x), sqrtOf(plus(square, one))))
		return product(y, integer(int64(x.Sign()))), true
	case curve.Acosh:
		if x.Cmp(one) < 0 {
			return nil, true
		}
		return logOf(plus(x, sqrtOf(minus(square, one)))), true
	}
	switch {
	case o != curve.Asin && o != curve.Acos && o != curve.Atanh:
		return nil, false
	case !inside || o == curve.Atanh && square.Cmp(one) == 0:
		return nil, true
	case o == curve.Atanh:
		return product(half, logOf(ratio(plus(one, x), minus(one, x)))), true
	case o == curve.Acos:
		return minus(product(piOf(), half), asinOf(x)), true
	}
	return asinOf(x), true
}

// turn is 2*pi.
var turn = sync.OnceValue(func() *big.Rat { return cut(product(integer(2), piOf())) })

// sineOf is x - x^3/3! + x^5/5! - ..., of x brought between -pi and pi.
func sineOf(x *big.Rat) *big.Rat {
	turns := round(ratio(x, turn()), format.RoundEven)
	x = minus(x, product(turn(), new(big.Rat).SetInt(turns)))
	return series(x, func(i int64) (next, weight int64) { return (i + 1) * (i + 2), 1 })
}

// asinOf is atan(x/sqrt(1 - x^2)).
func asinOf(x *big.Rat) *big.Rat {
	rest := minus(integer(1), product(x, x))
	if rest.Sign() == 0 {
		return product(product(piOf(), big.NewRat(1, 2)), x)
	}
	return atanOf(ratio(x, sqrtOf(rest)))
}

// atanOf is 8*atan of what three halvings of the angle leave, by x - x^3/3 + x^5/5 - ...
func atanOf(x *big.Rat) *big.Rat {
	for range 3 {
		x = cut(ratio(x, plus(integer(1), sqrtOf(plus(integer(1), product(x, x))))))
	}
	return product(series(x, func(i int64) (next, weight int64) { return 1, i }), integer(8))
}

// cutPlaces are the binary places of intermediate results.
const cutPlaces = 200

// cut drops what lies 2^-cutPlaces below 1, so that fractions stay short.
func cut(x *big.Rat) *big.Rat {
	return product(new(big.Rat).SetInt(round(product(x, power(cutPlaces)), format.RoundEven)), power(-cutPlaces))
}
