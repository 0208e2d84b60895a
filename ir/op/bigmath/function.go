// SPDX-License-Identifier: Apache-2.0

package bigmath

import (
	"math/big"
)

// Real functions to Prec bits. Every result lies on the same side of every rounding boundary as the real number:
// where a function comes so close to a short number that working precision ends on it, the result is rounded to odd.

// wider is a number of more than working precision.
func wider(x *big.Float, prec uint) *big.Float { return new(big.Float).SetPrec(prec).Set(x) }

// sumOdd is a + b, rounded to odd (Boldo and Melquiond): what is cut off leaves the last bit set.
func sumOdd(a, b *big.Float) *big.Float {
	z := new(big.Float).SetPrec(Prec).SetMode(big.ToZero).Add(a, b)
	if z.Acc() != big.Exact && z.MinPrec() < Prec {
		ulp := new(big.Float).SetMantExp(Float(1), z.MantExp(nil)-Prec)
		if z.Signbit() {
			ulp.Neg(ulp)
		}
		z.Add(z, ulp)
	}
	return z.SetMode(big.ToNearestEven)
}

// Times is the exact product of a number of the working precision and an argument or a parameter.
func Times(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(a.Prec()+b.Prec()).Mul(a, b) }

// ln2 is ln 2 = sum of 1/(i*2^i), to prec bits.
func ln2(prec uint) *big.Float {
	one := new(big.Int).Lsh(big.NewInt(1), prec+16)
	sum, half := new(big.Int), new(big.Int).Set(one)
	for i := int64(1); half.Sign() > 0; i++ {
		half.Rsh(half, 1)
		sum.Add(sum, new(big.Int).Quo(half, big.NewInt(i)))
	}
	y := new(big.Float).SetPrec(prec + 16).SetInt(sum)
	return y.SetMantExp(y, -int(prec+16))
}

// Log is the natural logarithm of x > 0: x = 2^e*m with m near 1, ln m = 2*atanh((m-1)/(m+1)).
func Log(x *big.Float) *big.Float {
	const prec = Prec + 64
	m := new(big.Float)
	e := x.MantExp(m)
	if m.Cmp(Float(0.70710678)) < 0 {
		e, m = e-1, m.SetMantExp(m, 1)
	}
	one := wider(Float(1), prec)
	z := new(big.Float).SetPrec(prec).Sub(m, one)
	z.Quo(z, new(big.Float).SetPrec(prec).Add(m, one))
	square := new(big.Float).SetPrec(prec).Mul(z, z)
	sum, term := new(big.Float).SetPrec(prec), z
	for i := int64(1); term.Sign() != 0 && (i == 1 || term.MantExp(nil) > sum.MantExp(nil)-prec); i += 2 {
		sum.Add(sum, new(big.Float).SetPrec(prec).Quo(term, new(big.Float).SetInt64(i)))
		term = new(big.Float).SetPrec(prec).Mul(term, square)
	}
	sum.Add(sum, sum)
	whole := new(big.Float).SetPrec(prec).Mul(ln2(prec), new(big.Float).SetInt64(int64(e)))
	return new(big.Float).SetPrec(Prec).Add(whole, sum)
}

// log1p is ln(1 + t) for 0 < t <= 1.
func log1p(t *big.Float) *big.Float {
	if t.MantExp(nil) > -40 {
		return Log(new(big.Float).SetPrec(Prec+64).Add(Float(1), t))
	}
	sum, power := wider(t, Prec), wider(t, Prec) // t - t^2/2 + t^3/3 - ...
	for i := int64(2); i < 8; i++ {
		power.Neg(power.Mul(power, t))
		sum = sumOdd(sum, new(big.Float).SetPrec(Prec).Quo(power, new(big.Float).SetInt64(i)))
	}
	return sum
}

// Expm1 is exp(x) - 1; below 2^-40 its series.
func Expm1(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return Float(0)
	}
	if x.MantExp(nil) > -40 {
		return sumOdd(Exp(x), Float(-1))
	}
	sum, term := wider(x, Prec), wider(x, Prec)
	for i := int64(2); i < 8; i++ {
		term.Quo(term.Mul(term, x), new(big.Float).SetInt64(i))
		sum = sumOdd(sum, term)
	}
	return sum
}

// pi is pi to prec bits: 16*atan(1/5) - 4*atan(1/239) (Machin).
func pi(prec uint) *big.Float {
	one := new(big.Int).Lsh(big.NewInt(1), prec+32)
	atan := func(n int64) *big.Int {
		sum, power := new(big.Int), new(big.Int).Quo(one, big.NewInt(n))
		for i := int64(1); power.Sign() != 0; i += 2 {
			sum.Add(sum, new(big.Int).Quo(power, big.NewInt(i)))
			power.Quo(power.Neg(power), big.NewInt(n*n))
		}
		return sum
	}
	a, b := atan(5), atan(239)
	y := new(big.Float).SetPrec(prec).SetInt(a.Sub(a.Lsh(a, 4), b.Lsh(b, 2)))
	return y.SetMantExp(y, -int(prec+32))
}

// erfcEnd is where erfc falls below 2^-280: beyond, only its sign matters, and that is what stands for it.
const erfcEnd = 14

// erfc is the complementary error function of a >= 0: 1 - 2/sqrt(pi)*sum (-1)^n*a^(2n+1)/(n!*(2n+1)). Terms grow up
// to e^(a^2) and the result falls to e^(-a^2), so that many bits are added.
func erfc(a *big.Float) *big.Float {
	if a.Cmp(Float(erfcEnd)) > 0 {
		return new(big.Float).SetPrec(Prec).SetMantExp(Float(1), -280)
	}
	y, prec := erfWide(a)
	one := wider(Float(1), prec)
	return wider(one.Sub(one, y), Prec)
}

// Erf is the error function.
func Erf(x *big.Float) *big.Float {
	a := new(big.Float).Abs(x)
	var y *big.Float
	if a.Cmp(Float(1)) < 0 {
		wide, _ := erfWide(a)
		y = wider(wide, Prec)
	} else {
		y = sumOdd(Float(1), new(big.Float).Neg(erfc(a)))
	}
	if x.Signbit() {
		y.Neg(y)
	}
	return y
}

// erfWide is erf(a), 0 <= a <= 14, to so many bits that 1 - erf(a) has Prec of them.
func erfWide(a *big.Float) (y *big.Float, prec uint) {
	f, _ := a.Float64()
	prec = Prec + 64 + uint(3*f*f)
	square := new(big.Float).SetPrec(prec).Mul(a, a)
	sum, power := new(big.Float).SetPrec(prec), wider(a, prec) // power is (-1)^n a^(2n+1)/n!
	for n := int64(0); power.Sign() != 0 && power.MantExp(nil) > a.MantExp(nil)-int(prec); n++ {
		sum.Add(sum, new(big.Float).SetPrec(prec).Quo(power, new(big.Float).SetInt64(2*n+1)))
		power.Mul(power, square)
		power.Neg(power.Quo(power, new(big.Float).SetInt64(n+1)))
	}
	root := new(big.Float).SetPrec(prec).Sqrt(pi(prec))
	sum.Add(sum, sum)
	return sum.Quo(sum, root), prec
}

// Gelu is x*Phi(x), Phi(x) = erfc(-x/sqrt 2)/2.
func Gelu(x *big.Float) *big.Float {
	a := new(big.Float).SetPrec(Prec).Abs(x)
	tail := erfc(a.Quo(a, new(big.Float).SetPrec(Prec).Sqrt(Float(2))))
	tail.SetMantExp(tail, -1)
	if !x.Signbit() {
		tail = sumOdd(Float(1), tail.Neg(tail))
	}
	return Times(tail, x)
}

// GeluTanh is x*(1 + tanh(u))/2 = x*sigmoid(2u), u = sqrt(2/pi)*(x + 0.044715*x^3).
func GeluTanh(x *big.Float) *big.Float {
	c, _ := new(big.Float).SetPrec(Prec).SetString("0.044715")
	cube := new(big.Float).SetPrec(Prec).Mul(x, x)
	u := cube.Mul(cube.Mul(cube, x), c)
	u.Add(u, x)
	two := Float(2)
	root := new(big.Float).SetPrec(Prec).Sqrt(two.Quo(two, pi(Prec)))
	u.Mul(u, root)
	return Times(Sigmoid(u.Add(u, u)), x)
}

// Swish is x*sigmoid(alpha*x).
func Swish(x, alpha *big.Float) *big.Float { return Times(Sigmoid(Times(x, alpha)), x) }

// Softplus is ln(1 + exp(x)) = max(x, 0) + ln(1 + exp(-|x|)).
func Softplus(x *big.Float) *big.Float {
	a := new(big.Float).SetPrec(Prec).Abs(x)
	y := log1p(Exp(a.Neg(a)))
	if x.Sign() > 0 {
		y = sumOdd(y, x)
	}
	return y
}

// Mish is x*tanh(softplus(x)) = x*(1 - 2/(s*s + 1)) with s = 1 + exp(x); for negative x with t = exp(x) that is
// x*t*(t + 2)/(t*(t + 2) + 2).
func Mish(x *big.Float) *big.Float {
	float := func() *big.Float { return new(big.Float).SetPrec(Prec) }
	if x.Sign() <= 0 {
		t := Exp(x)
		p := float().Mul(t, float().Add(t, Float(2)))
		return Times(float().Quo(p, float().Add(p, Float(2))), x)
	}
	t := Exp(float().Neg(x)) // 2/(s*s + 1) = 2*t^2/((t + 1)^2 + t^2)
	s := float().Add(t, Float(1))
	t.Mul(t, t)
	rest := float().Quo(t, s.Add(s.Mul(s, s), t))
	rest.Neg(rest.Add(rest, rest))
	return Times(sumOdd(Float(1), rest), x)
}
