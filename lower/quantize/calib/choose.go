// SPDX-License-Identifier: Apache-2.0

// Package calib finds out which values the nodes of a float graph take, by measurement or by interval analysis, and
// chooses fraction bits for them.
package calib

import (
	"math"
	"slices"

	"lathe/ir/format"
	"lathe/ir/format/array"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// Values are what is known of the values of one node.
type Values struct {
	// Min and Max bound all values.
	Min, Max float64
	// Sample holds values seen, a fixed selection where there are many; nil where only bounds are known.
	Sample []float32
	// Tail holds the largest values beside Sample where that is a selection, of which each value stands for Share: few
	// values, that a selection misses, may be most of the power.
	Tail  []float32
	Share float64
	// Spread is how far the values of an output vary about the means of its channels, a standard deviation, and Offset the
	// greatest of these means; 0 where that is not known.
	Spread, Offset float64
	// Finer is by how many bits CrossEntropy is finer than MSE.
	Finer int
}

// Of takes all of x as values.
func Of(x []float32) *Values {
	v := &Values{Min: math.Inf(1), Max: math.Inf(-1), Sample: x}
	for _, f := range x {
		v.Min, v.Max = min(v.Min, float64(f)), max(v.Max, float64(f))
	}
	if len(x) == 0 {
		v.Min, v.Max = 0, 0
	}
	return v
}

const (
	// fracLimit bounds the fraction bits of a choice: values below 2^-40 count as zero.
	fracLimit = 40
	// mseSteps is how many finer steps than that of MinMax are tried.
	mseSteps = 4
	// tail is the share of values that Percentile leaves out at either end.
	tail = 1e-4
)

// Frac chooses the fraction bits of a fixed-point format for values v; F of f is not read. Formats that wrap take those
// of MinMax whatever the method: a value that overflows would change its sign.
func Frac(f format.Fixed, v *Values, m plan.Method) int {
	widest := fit(f, v.Min, v.Max)
	if f.Over == format.Wrap || len(v.Sample) == 0 {
		return widest
	}
	switch m {
	case plan.MSE, plan.CrossEntropy:
		return v.finest(widest, m, func(frac int) float64 { return v.squared(f, frac) })
	case plan.Percentile:
		lo, hi := v.most()
		return fit(f, lo, hi)
	}
	return widest
}

// finest is the number of fraction bits of the least error, from widest on, and for CrossEntropy as many more as the
// values say.
func (v *Values) finest(widest int, m plan.Method, squared func(frac int) float64) int {
	best, least := widest, math.Inf(1)
	for frac := widest; frac <= min(widest+mseSteps, fracLimit); frac++ {
		if e := squared(frac); e < least {
			best, least = frac, e
		}
	}
	if m == plan.CrossEntropy {
		return min(best+v.Finer, fracLimit)
	}
	return best
}

// most bounds the sample but for its tails.
func (v *Values) most() (lo, hi float64) {
	sorted := slices.Clone(v.Sample)
	slices.Sort(sorted)
	cut := int(tail * float64(len(sorted)))
	return float64(sorted[cut]), float64(sorted[len(sorted)-1-cut])
}

// fit is the largest number of fraction bits with which neither lo nor hi saturates once rounded. An unsigned format
// looks at hi only. Without any value but zero it is that of the range [-1, 1).
func fit(f format.Fixed, lo, hi float64) int {
	if !f.Signed {
		lo = 0
	}
	if lo == 0 && hi <= 0 {
		if f.Signed {
			return f.W - 1
		}
		return f.W
	}
	least, most := float64(f.Min()), float64(f.Max())
	for frac := fracLimit; frac > -fracLimit; frac-- {
		if f.Round.Integer(math.Ldexp(lo, frac)) >= least && f.Round.Integer(math.Ldexp(hi, frac)) <= most {
			return frac
		}
	}
	return -fracLimit
}

// bulk is the share of the values, the smallest ones, that Enough looks at.
const bulk = 0.99

// Enough is f with as many more bits, up to so many, as keep least dB of what most values seen vary by, beside the
// error of all in the fraction bits that Frac chooses. A few large values, which would be most of the power, are no
// measure: norms bring what lies beside them to the size of the others.
func Enough(f format.Fixed, v *Values, m plan.Method, least float64, most int) format.Fixed {
	n, sum := 0.0, 0.0
	for i, list := range [][]float32{v.Sample, v.Tail} {
		each := []float64{max(v.Share, 1), 1}[i]
		n += each * float64(len(list))
		for _, x := range list {
			sum += each * float64(x)
		}
	}
	if len(v.Sample) == 0 {
		return f
	}
	squares := make([]float64, len(v.Sample))
	for i, x := range v.Sample {
		squares[i] = (float64(x) - sum/n) * (float64(x) - sum/n)
	}
	slices.Sort(squares)
	squares = squares[:max(1, int(bulk*float64(len(squares))))]
	signal := 0.0
	for _, s := range squares {
		signal += s * n / float64(len(squares))
	}
	for signal > 0 && f.W < most && pass.Decibels(signal, v.squared(f, Frac(f, v, m))) < least {
		f.W++
	}
	return f
}

// EnoughFor is f with as many more bits, up to so many, as keep least dB of what function y makes of the values seen.
// Results beyond those of exact values, such as 1/0, count as the nearest of them.
func EnoughFor(f format.Fixed, v *Values, m plan.Method, y func([]float32) []float32, least float64,
	most int) format.Fixed {
	want := y(v.Sample)
	low, high, sum, n := math.Inf(1), math.Inf(-1), 0.0, 0.0
	for _, w := range want {
		if w := float64(w); !math.IsInf(w, 0) && w == w {
			low, high, sum, n = min(low, w), max(high, w), sum+w, n+1
		}
	}
	rounded := make([]float32, len(v.Sample))
	for n > 0 && f.W < most {
		frac := Frac(f, v, m)
		for i, x := range v.Sample {
			code := min(max(f.Round.Integer(math.Ldexp(float64(x), frac)), float64(f.Min())), float64(f.Max()))
			rounded[i] = float32(math.Ldexp(code, -frac))
		}
		signal, noise := 0.0, 0.0
		for i, g := range y(rounded) {
			if w := float64(want[i]); !math.IsInf(w, 0) && w == w {
				d := min(max(float64(g), low), high) - w
				signal += (w - sum/n) * (w - sum/n)
				if d == d {
					noise += d * d
				}
			}
		}
		if signal == 0 || pass.Decibels(signal, noise) >= least {
			break
		}
		f.W++
	}
	return f
}

// EnoughTimes is f with as many more bits, up to so many, as keep least dB of the values y of a product with other
// values. The rounding of one factor tells nothing of the other: a large reciprocal meets small values alone, but its
// error meets all.
func EnoughTimes(f format.Fixed, v, other, y *Values, m plan.Method, least float64, most int) format.Fixed {
	signal, by := y.power(), other.power()
	for signal > 0 && f.W < most && pass.Decibels(signal, by*v.squared(f, Frac(f, v, m))/v.count()) < least {
		f.W++
	}
	return f
}

// count is how many values Sample and Tail stand for.
func (v *Values) count() float64 {
	return max(v.Share, 1)*float64(len(v.Sample)) + float64(len(v.Tail))
}

// power is the mean of the squares of these values; 0 for none.
func (v *Values) power() float64 {
	sum := 0.0
	for i, list := range [][]float32{v.Sample, v.Tail} {
		for _, x := range list {
			sum += []float64{max(v.Share, 1), 1}[i] * float64(x) * float64(x)
		}
	}
	return sum / max(v.count(), 1)
}

// squared is the sum of squared errors of all values that Sample and Tail stand for.
func (v *Values) squared(f format.Fixed, frac int) float64 {
	return max(v.Share, 1)*SquaredError(f, frac, v.Sample) + SquaredError(f, frac, v.Tail)
}

// SquaredError is the sum of squared differences between the values of x and their codes in f with frac fraction bits.
func SquaredError(f format.Fixed, frac int, x []float32) float64 {
	least, most := float64(f.Min()), float64(f.Max())
	step, inverse := math.Ldexp(1, -frac), math.Ldexp(1, frac)
	sum := 0.0
	for _, v := range x {
		q := min(max(f.Round.Integer(float64(v)*inverse), least), most)
		d := float64(v) - q*step
		sum += d * d
	}
	return sum
}

// Finer chooses by how much the bias of f grows for values v, as Frac chooses fraction bits: that moves all values by a
// power of two.
func Finer(f format.Biased, v *Values, m plan.Method) int {
	lo, hi := v.Min, v.Max
	if m == plan.Percentile && len(v.Sample) > 0 {
		lo, hi = v.most()
	}
	most := max(math.Abs(lo), math.Abs(hi))
	if most == 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return 0
	}
	_, greatest := f.Limits()
	limit, _ := greatest.Rat().Float64()
	widest := fracLimit
	for widest > -fracLimit && math.Ldexp(most, widest) > limit {
		widest--
	}
	if m != plan.MSE && m != plan.CrossEntropy || len(v.Sample) == 0 {
		return widest
	}
	return v.finest(widest, m, func(k int) float64 { return movedError(f, k, v.Sample) })
}

// movedError is the sum of squared differences between the values of x and their codes in f with a bias greater by k;
// stochastic rounding counts as even, its mean.
func movedError(f format.Format, k int, x []float32) float64 {
	f = format.WithRules(f, func(r *format.Round, _ *format.Over) {
		if *r == format.RoundStochastic {
			*r = format.RoundEven
		}
	})
	moved := make([]float64, len(x))
	for i, v := range x {
		moved[i] = math.Ldexp(float64(v), k)
	}
	e, err := array.Encode(f, []int{len(x)}, moved, 0)
	if err != nil {
		return math.Inf(1)
	}
	sum := 0.0
	for i, v := range e.Values() {
		d := moved[i] - v
		sum += d * d
	}
	return math.Ldexp(sum, -2*k)
}
