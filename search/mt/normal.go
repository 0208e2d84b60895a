// SPDX-License-Identifier: Apache-2.0

package mt

import "math"

// logRoot2Pi is log(sqrt(2*pi)).
const logRoot2Pi = 0.918938533204672741780329736405617640

// LogPhi is the logarithm of the standard normal distribution function. Far to the left it follows from the asymptotic
// series of Mills' ratio (Abramowitz and Stegun, 26.2.12).
func LogPhi(x float64) float64 {
	switch {
	case x > 6:
		return -0.5 * math.Erfc(x/math.Sqrt2)
	case x > -20:
		return math.Log(0.5 * math.Erfc(-x/math.Sqrt2))
	}
	term, sum := 1.0, 1.0
	for k := 1; k < 60; k++ {
		next := -term * float64(2*k-1) / (x * x)
		if math.Abs(next) >= math.Abs(term) || sum+next == sum {
			break
		}
		term = next
		sum += term
	}
	return -0.5*x*x - math.Log(-x) - logRoot2Pi + math.Log(sum)
}

// logDifference is log(exp(a) - exp(b)), a >= b.
func logDifference(a, b float64) float64 { return a + math.Log1p(-math.Exp(b-a)) }

// logSum is log(exp(a) + exp(b)).
func logSum(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// LogMass is the logarithm of the standard normal mass between a and b, a < b. Both tails are computed on the left,
// where differences keep their digits.
func LogMass(a, b float64) float64 {
	switch {
	case b <= 0:
		return logDifference(LogPhi(b), LogPhi(a))
	case a > 0:
		return logDifference(LogPhi(-a), LogPhi(-b))
	}
	return math.Log1p(-0.5*math.Erfc(-a/math.Sqrt2) - 0.5*math.Erfc(b/math.Sqrt2))
}

// LogDensity is the logarithm of the density, at x, of a normal distribution with mean and sigma that is cut to
// [low, high]; mass is LogMass between the standardized bounds.
func LogDensity(x, mean, sigma, mass float64) float64 {
	z := (x - mean) / sigma
	return -0.5*z*z - logRoot2Pi - mass - math.Log(sigma)
}

// inversePhi is the x with LogPhi(x) = y, y < 0: Newton's method on LogPhi, which is concave.
func inversePhi(y float64) float64 {
	if y > -0.01 { // near 1, the other tail keeps the digits
		return -inversePhi(math.Log(-math.Expm1(y)))
	}
	var x float64
	if y < -5 {
		x = -math.Sqrt(-2 * (y + logRoot2Pi))
	} else { // the logistic distribution function is near
		x = -math.Sqrt(3) / math.Pi * math.Log(math.Expm1(-y))
	}
	for range 100 {
		at := LogPhi(x)
		step := (at - y) * math.Exp(at+0.5*x*x+logRoot2Pi)
		x -= step
		if math.Abs(step) < 1e-12*math.Abs(x) || math.Abs(step) < 1e-15 {
			break
		}
	}
	return x
}

// Truncated is the quantile u, in (0, 1), of a normal distribution with mean and sigma that is cut to [low, high].
func Truncated(u, mean, sigma, low, high float64) float64 {
	a, b := (low-mean)/sigma, (high-mean)/sigma
	if u == 0 {
		return low
	}
	mass := LogMass(a, b)
	if a < 0 {
		return mean + sigma*inversePhi(logSum(LogPhi(a), math.Log(u)+mass))
	}
	return mean - sigma*inversePhi(logSum(LogPhi(-b), math.Log1p(-u)+mass))
}
