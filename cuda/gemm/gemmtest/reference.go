// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"encoding/binary"
	"fmt"
	"math"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
)

// weight is the value of an element of MXINT8 as bf16 holds it: q * 2^(X-133), NaN for X = 255. The one value beyond
// bf16, q = -128 with X = 254, is -Inf.
func weight(q, x byte) float64 {
	switch {
	case x == 255:
		return math.NaN()
	case x == 254 && q == 0x80:
		return math.Inf(-1)
	}
	return math.Ldexp(float64(int8(q)), int(x)-133)
}

// activate is the activation in float64.
func activate(a gemm.Activation, x float64) float64 {
	switch a {
	case gemm.Relu:
		if x < 0 {
			return 0
		}
	case gemm.GeluErf:
		return 0.5 * x * math.Erfc(-x/math.Sqrt2)
	case gemm.GeluTanh:
		return x / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	case gemm.Silu:
		return x / (1 + math.Exp(-x))
	}
	return x
}

// slope bounds the derivative of the activation.
func slope(a gemm.Activation) float64 {
	if a == gemm.None || a == gemm.Relu || a == gemm.ReluLast {
		return 1
	}
	return 1.13
}

// sums are the exact sums of a product, and the sums of magnitudes by which their errors are measured.
type sums struct{ value, size float64 }

// end applies the epilogue to the sums of a row, sum j of which is s(j). bound is the error that each sum may have in
// units of its size; the results are the value and the error that it may have.
func end(e gemm.Epilogue, s func(j int) sums, bias []float32, residual float64, col int, bound float64) (y,
	tol float64) {
	at := func(j int) sums {
		v := s(j)
		if e.Bias {
			v.value += float64(bias[j])
			v.size += math.Abs(float64(bias[j]))
		}
		return v
	}
	if e.Gate {
		g, u := at(2*col), at(2*col+1)
		f := activate(e.Act, g.value)
		y = f * u.value
		tol = bound * (slope(e.Act)*g.size*math.Abs(u.value) + math.Abs(f)*u.size + slope(e.Act)*g.size*u.size*bound)
	} else {
		v := at(col)
		y, tol = activate(e.Act, v.value), bound*v.size*slope(e.Act)
	}
	if e.Act > gemm.Relu && e.Act < gemm.ReluLast {
		tol += math.Abs(y) * approximate
	}
	y += residual
	tol += math.Ldexp(math.Abs(y)+math.Abs(residual), -23)
	if e.Act == gemm.ReluLast {
		y = activate(gemm.Relu, y)
	}
	switch e.Out {
	case word.BF16:
		tol += math.Ldexp(math.Abs(y), -8) + math.Ldexp(1, -134)
	case word.F16:
		tol += math.Ldexp(math.Abs(y), -11) + math.Ldexp(1, -25)
	case word.F32:
		tol += math.Ldexp(math.Abs(y), -24) + math.Ldexp(1, -149)
	}
	return y, tol
}

// approximate is the relative error of the activations that use ex2.approx, rcp.approx and erfcf.
const approximate = 1.0 / (1 << 20)

// linearBound is the error of a sum of k products in fp32 in units of the sum of magnitudes: c = 1 for sums that are
// rounded once an mma, 4 for tensor cores, which truncate.
func linearBound(c float64, k int) float64 { return c * math.Ldexp(math.Sqrt(float64(max(k, 1))), -23) }

// F32At is element i of fp32 words.
func F32At(b []byte, i int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
}

// wordAt is element i of words of fp32, f16, or bf16 for all others.
func wordAt(b []byte, i int, t word.Type) float64 {
	switch t {
	case word.F32:
		return F32At(b, i)
	case word.F16:
		return f16Values()[binary.LittleEndian.Uint16(b[2*i:])]
	}
	return cuda.BF16At(b, int64(i))
}

// verdict gathers comparisons.
type verdict struct {
	cuda.Verdict
	bad, all int
}

// near compares element i with a value and an allowed error; infinities and NaN must be met exactly.
func (v *verdict) near(i int, got, want, tol float64) {
	v.all++
	if got == want || got != got && want != want {
		return
	}
	v.BitEqual = false
	off := math.Abs(got - want)
	// What is allowed beside an infinity is infinite: every value would pass.
	if off <= tol && !math.IsInf(off, 0) {
		v.MaxErr = max(v.MaxErr, off/tol)
		return
	}
	if v.bad++; v.bad == 1 {
		v.Wrong = fmt.Sprintf("element %d is %v, want %v within %v", i, got, want, tol)
	}
}

// same demands equal words.
func (v *verdict) same(i int, got, want uint64) {
	v.all++
	if got != want {
		v.BitEqual = false
		if v.bad++; v.bad == 1 {
			v.Wrong = fmt.Sprintf("element %d is %#x, want %#x", i, got, want)
		}
	}
}

func (v *verdict) done() cuda.Verdict {
	if v.bad > 1 {
		v.Wrong += fmt.Sprintf("; %d of %d are wrong", v.bad, v.all)
	}
	v.Tol = 1
	return v.Verdict
}

// sampled is the number of products from which a check looks at some rows only.
const sampled = 1 << 27

// sample are the rows of m that a check of so many products each looks at: all, or some spread over them with the first
// and the last.
func sample(m, products int) []int {
	some := m
	if m*products > sampled {
		some = max(min(m, 8), 1)
	}
	var out []int
	for i := range some {
		out = append(out, i*(m-1)/max(some-1, 1))
	}
	return out
}
