// SPDX-License-Identifier: Apache-2.0

package op

import "math/big"

// Real functions to realPrec bits. Every result lies on the same side of every rounding boundary as the real number:
// where a function comes so close to a short number that working precision ends on it, the result is rounded to odd.

// wider is a number of more than working precision.
func wider(x *big.Float, prec uint) *big.Float { return new(big.Float).SetPrec(prec).Set(x) }

// sumOdd is a + b, rounded to odd (Boldo and Melquiond): what is cut off leaves the last bit set.
func sumOdd(a, b *big.Float) *big.Float {
	z := new(big.Float).SetPrec(realPrec).SetMode(big.ToZero).Add(a, b)
	if z.Acc() != big.Exact && z.MinPrec() < realPrec {
		ulp := new(big.Float).SetMantExp(bigFloat(1), z.MantExp(nil)-realPrec)
		if z.Signbit() {
			ulp.Neg(ulp)
		}
		z.Add(z, ulp)
	}
	return z.SetMode(big.ToNearestEven)
}

// times is the exact product of a number of the working precision and an argument or a parameter.
func times(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(a.Prec()+b.Prec()).Mul(a, b) }

// realLn2 is ln 2 = sum of 1/(i*2^i), to prec bits.
func realLn2(prec uint) *big.Float {
	one := new(big.Int).Lsh(big.NewInt(1), prec+16)
	sum, half := new(big.Int), new(big.Int).Set(one)
	for i := int64(1); half.Sign() > 0; i++ {
		half.Rsh(half, 1)
		sum.Add(sum, new(big.Int).Quo(half, big.NewInt(i)))
	}
	y := new(big.Float).SetPrec(prec + 16).SetInt(sum)
	return y.SetMantExp(y, -int(prec+16))
}

// realLog is the natural logarithm of x > 0: x = 2^e*m with m near 1, ln m = 2*atanh((m-1)/(m+1)).
func realLog(x *big.Float) *big.Float {
	const prec = realPrec + 64
	m := new(big.Float)
	e := x.MantExp(m)
	if m.Cmp(bigFloat(0.70710678)) < 0 {
		e, m = e-1, m.SetMantExp(m, 1)
	}
	one := wider(bigFloat(1), prec)
	z := new(big.Float).SetPrec(prec).Sub(m, one)
	z.Quo(z, new(big.Float).SetPrec(prec).Add(m, one))
	square := new(big.Float).SetPrec(prec).Mul(z, z)
	sum, term := new(big.Float).SetPrec(prec), z
	for i := int64(1); term.Sign() != 0 && (i == 1 || term.MantExp(nil) > sum.MantExp(nil)-prec); i += 2 {
		sum.Add(sum, new(big.Float).SetPrec(prec).Quo(term, new(big.Float).SetInt64(i)))
		term = new(big.Float).SetPrec(prec).Mul(term, square)
	}
	sum.Add(sum, sum)
	whole := new(big.Float).SetPrec(prec).Mul(realLn2(prec), new(big.Float).SetInt64(int64(e)))
	return new(big.Float).SetPrec(realPrec).Add(whole, sum)
}

// realLog1p is ln(1 + t) for 0 < t <= 1.
func realLog1p(t *big.Float) *big.Float {
	if t.MantExp(nil) > -40 {
		return realLog(new(big.Float).SetPrec(realPrec+64).Add(bigFloat(1), t))
	}
	sum, power := wider(t, realPrec), wider(t, realPrec) // t - t^2/2 + t^3/3 - ...
	for i := int64(2); i < 8; i++ {
		power.Neg(power.Mul(power, t))
		sum = sumOdd(sum, new(big.Float).SetPrec(realPrec).Quo(power, new(big.Float).SetInt64(i)))
	}
	return sum
}

// realExpm1 is exp(x) - 1; below 2^-40 its series.
func realExpm1(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return bigFloat(0)
	}
	if x.MantExp(nil) > -40 {
		return sumOdd(realExp(x), bigFloat(-1))
	}
	sum, term := wider(x, realPrec), wider(x, realPrec)
	for i := int64(2); i < 8; i++ {
		term.Quo(term.Mul(term, x), new(big.Float).SetInt64(i))
		sum = sumOdd(sum, term)
	}
	return sum
}

// realPi is pi to prec bits: 16*atan(1/5) - 4*atan(1/239) (Machin).
func realPi(prec uint) *big.Float {
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

// realErfc is the complementary error function of a >= 0: 1 - 2/sqrt(pi)*sum (-1)^n*a^(2n+1)/(n!*(2n+1)). Terms grow up
// to e^(a^2) and the result falls to e^(-a^2), so that many bits are added.
func realErfc(a *big.Float) *big.Float {
	if a.Cmp(bigFloat(erfcEnd)) > 0 {
		return new(big.Float).SetPrec(realPrec).SetMantExp(bigFloat(1), -280)
	}
	y, prec := realErfWide(a)
	one := wider(bigFloat(1), prec)
	return wider(one.Sub(one, y), realPrec)
}

// realErf is the error function.
func realErf(x *big.Float) *big.Float {
	a := new(big.Float).Abs(x)
	var y *big.Float
	if a.Cmp(bigFloat(1)) < 0 {
		wide, _ := realErfWide(a)
		y = wider(wide, realPrec)
	} else {
		y = sumOdd(bigFloat(1), new(big.Float).Neg(realErfc(a)))
	}
	if x.Signbit() {
		y.Neg(y)
	}
	return y
}

// realErfWide is erf(a), 0 <= a <= 14, to so many bits that 1 - erf(a) has realPrec of them.
func realErfWide(a *big.Float) (y *big.Float, prec uint) {
	f, _ := a.Float64()
	prec = realPrec + 64 + uint(3*f*f)
	square := new(big.Float).SetPrec(prec).Mul(a, a)
	sum, power := new(big.Float).SetPrec(prec), wider(a, prec) // power is (-1)^n a^(2n+1)/n!
	for n := int64(0); power.Sign() != 0 && power.MantExp(nil) > a.MantExp(nil)-int(prec); n++ {
		sum.Add(sum, new(big.Float).SetPrec(prec).Quo(power, new(big.Float).SetInt64(2*n+1)))
		power.Mul(power, square)
		power.Neg(power.Quo(power, new(big.Float).SetInt64(n+1)))
	}
	root := new(big.Float).SetPrec(prec).Sqrt(realPi(prec))
	sum.Add(sum, sum)
	return sum.Quo(sum, root), prec
}

// realGelu is x*Phi(x), Phi(x) = erfc(-x/sqrt 2)/2.
func realGelu(x *big.Float) *big.Float {
	a := new(big.Float).SetPrec(realPrec).Abs(x)
	tail := realErfc(a.Quo(a, new(big.Float).SetPrec(realPrec).Sqrt(bigFloat(2))))
	tail.SetMantExp(tail, -1)
	if !x.Signbit() {
		tail = sumOdd(bigFloat(1), tail.Neg(tail))
	}
	return times(tail, x)
}

// realGeluTanh is x*(1 + tanh(u))/2 = x*sigmoid(2u), u = sqrt(2/pi)*(x + 0.044715*x^3).
func realGeluTanh(x *big.Float) *big.Float {
	c, _ := new(big.Float).SetPrec(realPrec).SetString("0.044715")
	cube := new(big.Float).SetPrec(realPrec).Mul(x, x)
	u := cube.Mul(cube.Mul(cube, x), c)
	u.Add(u, x)
	two := bigFloat(2)
	root := new(big.Float).SetPrec(realPrec).Sqrt(two.Quo(two, realPi(realPrec)))
	u.Mul(u, root)
	return times(realSigmoid(u.Add(u, u)), x)
}

// realSwish is x*sigmoid(alpha*x).
func realSwish(x, alpha *big.Float) *big.Float { return times(realSigmoid(times(x, alpha)), x) }

// realSoftplus is ln(1 + exp(x)) = max(x, 0) + ln(1 + exp(-|x|)).
func realSoftplus(x *big.Float) *big.Float {
	a := new(big.Float).SetPrec(realPrec).Abs(x)
	y := realLog1p(realExp(a.Neg(a)))
	if x.Sign() > 0 {
		y = sumOdd(y, x)
	}
	return y
}

// realMish is x*tanh(softplus(x)) = x*(1 - 2/(s*s + 1)) with s = 1 + exp(x); for negative x with t = exp(x) that is
// x*t*(t + 2)/(t*(t + 2) + 2).
func realMish(x *big.Float) *big.Float {
	float := func() *big.Float { return new(big.Float).SetPrec(realPrec) }
	if x.Sign() <= 0 {
		t := realExp(x)
		p := float().Mul(t, float().Add(t, bigFloat(2)))
		return times(float().Quo(p, float().Add(p, bigFloat(2))), x)
	}
	t := realExp(float().Neg(x)) // 2/(s*s + 1) = 2*t^2/((t + 1)^2 + t^2)
	s := float().Add(t, bigFloat(1))
	t.Mul(t, t)
	rest := float().Quo(t, s.Add(s.Mul(s, s), t))
	rest.Neg(rest.Add(rest, rest))
	return times(sumOdd(bigFloat(1), rest), x)
}
