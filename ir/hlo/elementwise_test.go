// SPDX-License-Identifier: Apache-2.0

package hlo_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/hlo"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }

// wrap is v as a value of d.
func wrap(d hlo.DType, v int64) int64 {
	n := 64 - d.Bits()
	if d.IsSigned() {
		return v << n >> n
	}
	return int64(uint64(v) << n >> n)
}

// numbers are extreme and random values of d.
func numbers(d hlo.DType, n int, seed uint64) []int64 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := []int64{0, 1, 2, 3, -1, -2, math.MaxInt64, math.MinInt64, 1 << (d.Bits() - 1), 1<<(d.Bits()-1) - 1}
	for len(out) < n {
		out = append(out, int64(r.Uint64())>>r.IntN(64))
	}
	for i, v := range out {
		if out[i] = wrap(d, v); d == hlo.UI64 {
			out[i] &= math.MaxInt64 // what FromInt64s takes
		}
	}
	r.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

type intCase struct {
	name  string
	build func(b *hlo.Builder, x, y hlo.Value) hlo.Value
	want  func(d hlo.DType, x, y int64) int64
}

// shiftOf is the shift that y stands for, kept below the width, where StableHLO defines it.
func shiftOf(d hlo.DType, y int64) uint { return uint(y) % uint(d.Bits()) }

func lessThan(d hlo.DType, x, y int64) bool {
	if d.IsSigned() {
		return x < y
	}
	return uint64(x) < uint64(y)
}

func flag(c bool) int64 {
	if c {
		return 1
	}
	return 0
}

func divide(d hlo.DType, x, y int64) (q, r int64) {
	switch {
	case d.IsSigned() && y == -1:
		return -x, 0
	case d.IsSigned():
		return x / y, x % y
	}
	return int64(uint64(x) / uint64(y)), int64(uint64(x) % uint64(y))
}

var intCases = []intCase{
	{"add", (*hlo.Builder).Add, func(_ hlo.DType, x, y int64) int64 { return x + y }},
	{"sub", (*hlo.Builder).Sub, func(_ hlo.DType, x, y int64) int64 { return x - y }},
	{"mul", (*hlo.Builder).Mul, func(_ hlo.DType, x, y int64) int64 { return x * y }},
	{"and", (*hlo.Builder).And, func(_ hlo.DType, x, y int64) int64 { return x & y }},
	{"or", (*hlo.Builder).Or, func(_ hlo.DType, x, y int64) int64 { return x | y }},
	{"xor", (*hlo.Builder).Xor, func(_ hlo.DType, x, y int64) int64 { return x ^ y }},
	{"max", (*hlo.Builder).Max, func(d hlo.DType, x, y int64) int64 {
		if lessThan(d, x, y) {
			return y
		}
		return x
	}},
	{"min", (*hlo.Builder).Min, func(d hlo.DType, x, y int64) int64 {
		if lessThan(d, x, y) {
			return x
		}
		return y
	}},
	{"clamp", func(b *hlo.Builder, x, y hlo.Value) hlo.Value {
		return b.Clamp(b.Int(x.Type().DType, 2), x, b.Int(x.Type().DType, 90))
	}, func(d hlo.DType, x, _ int64) int64 {
		if lessThan(d, x, 2) {
			return 2
		} else if lessThan(d, 90, x) {
			return 90
		}
		return x
	}},
	{"not", func(b *hlo.Builder, x, _ hlo.Value) hlo.Value { return b.Not(x) },
		func(_ hlo.DType, x, _ int64) int64 { return ^x }},
	{"neg", func(b *hlo.Builder, x, _ hlo.Value) hlo.Value { return b.Neg(x) },
		func(_ hlo.DType, x, _ int64) int64 { return -x }},
	{"popcount", func(b *hlo.Builder, x, _ hlo.Value) hlo.Value { return b.PopCount(x) },
		func(d hlo.DType, x, _ int64) int64 { return int64(bits.OnesCount64(uint64(x) << (64 - d.Bits()))) }},
	{"clz", func(b *hlo.Builder, x, _ hlo.Value) hlo.Value { return b.CountLeadingZeros(x) },
		func(d hlo.DType, x, _ int64) int64 {
			return int64(min(bits.LeadingZeros64(uint64(x)<<(64-d.Bits())), d.Bits()))
		}},
	{"select", func(b *hlo.Builder, x, y hlo.Value) hlo.Value {
		return b.Select(b.Compare(hlo.LT, x, y), b.Int(x.Type().DType, 7), y)
	}, func(d hlo.DType, x, y int64) int64 {
		if lessThan(d, x, y) {
			return 7
		}
		return y
	}},
	{"compare", func(b *hlo.Builder, x, y hlo.Value) hlo.Value {
		sum := b.Splat(x, 0)
		for i, dir := range []hlo.Dir{hlo.EQ, hlo.NE, hlo.LT, hlo.LE, hlo.GT, hlo.GE} {
			bit := b.Convert(b.Compare(dir, x, y), x.Type().DType)
			sum = b.Add(sum, b.Mul(bit, b.Int(x.Type().DType, 1<<i)))
		}
		return sum
	}, func(d hlo.DType, x, y int64) int64 {
		lt, eq := lessThan(d, x, y), x == y
		return flag(eq) + 2*flag(!eq) + 4*flag(lt) + 8*flag(lt || eq) + 16*flag(!lt && !eq) + 32*flag(!lt)
	}},
	{"div", func(b *hlo.Builder, x, y hlo.Value) hlo.Value { return b.Div(x, b.Or(y, b.Int(y.Type().DType, 1))) },
		func(d hlo.DType, x, y int64) int64 { q, _ := divide(d, x, y|1); return q }},
	{"rem", func(b *hlo.Builder, x, y hlo.Value) hlo.Value { return b.Rem(x, b.Or(y, b.Int(y.Type().DType, 1))) },
		func(d hlo.DType, x, y int64) int64 { _, r := divide(d, x, y|1); return r }},
	{"shl", func(b *hlo.Builder, x, y hlo.Value) hlo.Value {
		return b.ShiftLeft(x, b.And(y, b.Int(y.Type().DType, int64(y.Type().DType.Bits()-1))))
	}, func(d hlo.DType, x, y int64) int64 { return x << shiftOf(d, y) }},
	{"shr", func(b *hlo.Builder, x, y hlo.Value) hlo.Value {
		return b.ShiftRightLogical(x, b.And(y, b.Int(y.Type().DType, int64(y.Type().DType.Bits()-1))))
	}, func(d hlo.DType, x, y int64) int64 {
		n := 64 - d.Bits()
		return int64(uint64(x) << n >> n >> shiftOf(d, y))
	}},
}

var signedCases = []intCase{
	{"sar", func(b *hlo.Builder, x, y hlo.Value) hlo.Value {
		return b.ShiftRightArith(x, b.And(y, b.Int(y.Type().DType, int64(y.Type().DType.Bits()-1))))
	}, func(d hlo.DType, x, y int64) int64 { return x >> shiftOf(d, y) }},
	{"wide shl", func(b *hlo.Builder, x, y hlo.Value) hlo.Value { return b.ShiftLeft(x, b.Int(x.Type().DType, 70)) },
		func(hlo.DType, int64, int64) int64 { return 0 }},
	{"wide sar", func(b *hlo.Builder, x, y hlo.Value) hlo.Value {
		return b.ShiftRightArith(x, b.Int(x.Type().DType, 70))
	}, func(d hlo.DType, x, _ int64) int64 { return x >> 63 }},
	{"abs", func(b *hlo.Builder, x, _ hlo.Value) hlo.Value { return b.Abs(x) },
		func(_ hlo.DType, x, _ int64) int64 { return max(x, -x) }},
	{"sign", func(b *hlo.Builder, x, _ hlo.Value) hlo.Value { return b.Sign(x) },
		func(_ hlo.DType, x, _ int64) int64 { return flag(x > 0) - flag(x < 0) }},
}

func TestIntegers(t *testing.T) {
	const n = 300
	for _, d := range []hlo.DType{hlo.I8, hlo.I32, hlo.I64, hlo.UI8, hlo.UI32, hlo.UI64} {
		cases := intCases
		if d.IsSigned() {
			cases = append(append([]intCase{}, cases...), signedCases...)
		}
		xs, ys := numbers(d, n, 1), numbers(d, n, 2)
		b := hlo.New(string(d))
		x, y := b.Arg("x", hlo.TypeOf(d, n)), b.Arg("y", hlo.TypeOf(d, n))
		var outs []hlo.Value
		for _, c := range cases {
			outs = append(outs, c.build(b, x, y))
		}
		b.Return(outs...)
		got := pjrttest.Run(t, b, hlo.FromInt64s(d, []int{n}, xs), hlo.FromInt64s(d, []int{n}, ys))
		for k, c := range cases {
			for i, v := range got[k].Int64s() {
				if want := wrap(d, c.want(d, xs[i], ys[i])); v != want {
					t.Fatalf("%s %s(%d, %d) = %d, want %d", d, c.name, xs[i], ys[i], v, want)
				}
			}
		}
	}
}

// floatCases are functions of one argument and their allowed errors.
var floatCases = []struct {
	name  string
	build func(b *hlo.Builder, x hlo.Value) hlo.Value
	want  func(x float64) float64
	ulps  float64 // allowed error in units of float32 precision; 0 is exact
}{
	{"exp", (*hlo.Builder).Exp, math.Exp, 4},
	{"expm1", (*hlo.Builder).Expm1, math.Expm1, 4},
	{"log", func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Log(b.Abs(x)) },
		func(x float64) float64 { return math.Log(math.Abs(x)) }, 4},
	{"log1p", func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Log1p(b.Abs(x)) },
		func(x float64) float64 { return math.Log1p(math.Abs(x)) }, 4},
	{"tanh", (*hlo.Builder).Tanh, math.Tanh, 8},
	{"erf", (*hlo.Builder).Erf, math.Erf, 8},
	{"sin", (*hlo.Builder).Sin, math.Sin, 8},
	{"cos", (*hlo.Builder).Cos, math.Cos, 8},
	{"atan", (*hlo.Builder).Atan, math.Atan, 8},
	{"asinh", (*hlo.Builder).Asinh, math.Asinh, 16},
	{"sinh", (*hlo.Builder).Sinh, math.Sinh, 16},
	{"cosh", (*hlo.Builder).Cosh, math.Cosh, 16},
	{"acosh", func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Acosh(b.Add(b.Abs(x), b.Splat(x, 2))) },
		func(x float64) float64 { return math.Acosh(math.Abs(x) + 2) }, 16},
	{"asin", func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Asin(b.Mul(x, b.Float(x.Type().DType, 1.0/16))) },
		func(x float64) float64 { return math.Asin(x / 16) }, 16},
	{"logistic", (*hlo.Builder).Logistic, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 8},
	{"sqrt", func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Sqrt(b.Abs(x)) },
		func(x float64) float64 { return math.Sqrt(math.Abs(x)) }, 1},
	{"rsqrt", func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Rsqrt(b.Abs(x)) },
		func(x float64) float64 { return 1 / math.Sqrt(math.Abs(x)) }, 4},
	{"pow", func(b *hlo.Builder, x hlo.Value) hlo.Value {
		return b.Pow(b.Abs(x), b.Float(x.Type().DType, 1.5))
	}, func(x float64) float64 { return math.Pow(math.Abs(x), 1.5) }, 8},
	{"floor", (*hlo.Builder).Floor, math.Floor, 0},
	{"ceil", (*hlo.Builder).Ceil, math.Ceil, 0},
	{"even", (*hlo.Builder).RoundEven, math.RoundToEven, 0},
	{"away", (*hlo.Builder).RoundAway, math.Round, 0},
	{"abs", (*hlo.Builder).Abs, math.Abs, 0},
	{"neg", (*hlo.Builder).Neg, func(x float64) float64 { return -x }, 0},
	{"int", func(b *hlo.Builder, x hlo.Value) hlo.Value {
		return b.Convert(b.Convert(x, hlo.I32), x.Type().DType)
	}, math.Trunc, 0},
	{"bits", func(b *hlo.Builder, x hlo.Value) hlo.Value {
		wide := map[hlo.DType]hlo.DType{hlo.F32: hlo.I32, hlo.F64: hlo.I64}[x.Type().DType]
		return b.Bitcast(b.Bitcast(x, wide), x.Type().DType)
	}, func(x float64) float64 { return x }, 0},
	{"nan", func(b *hlo.Builder, x hlo.Value) hlo.Value {
		nan := b.Float(x.Type().DType, math.NaN())
		return b.Select(b.Compare(hlo.NE, nan, nan), x, b.Float(x.Type().DType, math.Inf(1)))
	}, func(x float64) float64 { return x }, 0},
}

func TestFloats(t *testing.T) {
	for _, d := range []hlo.DType{hlo.F32, hlo.F64} {
		xs := []float64{0.5, 1.5, 2.5, -0.5, -1.5, 3, -3, 0.125, 1.0 / 1024, 8}
		for r := rand.New(rand.NewPCG(3, 3)); len(xs) < 200; {
			xs = append(xs, float64(float32(r.NormFloat64()*3)))
		}
		b := hlo.New("floats")
		x := b.Arg("x", hlo.TypeOf(d, len(xs)))
		var outs []hlo.Value
		for _, c := range floatCases {
			outs = append(outs, c.build(b, x))
		}
		b.Return(outs...)
		got := pjrttest.Run(t, b, hlo.FromFloat64s(d, []int{len(xs)}, xs))
		for k, c := range floatCases {
			for i, v := range got[k].Float64s() {
				want := c.want(xs[i])
				if tol := c.ulps * 6e-8 * max(math.Abs(want), 1e-2); !(math.Abs(v-want) <= tol) {
					t.Errorf("%s %s(%v) = %v, want %v", d, c.name, xs[i], v, want)
				}
			}
		}
	}
}

// TestDivision wants the rounded quotient, which a product with the rounded reciprocal misses for some of these.
func TestDivision(t *testing.T) {
	x := make([]float64, 1000)
	for i := range x {
		x[i] = float64(i)
	}
	b := hlo.New("division")
	n := b.Weight(hlo.FromFloat64s(hlo.F32, nil, []float64{49}))
	b.Return(b.Div(b.Arg("x", hlo.TypeOf(hlo.F32, len(x))), n))
	got := pjrttest.Run(t, b, hlo.FromFloat64s(hlo.F32, []int{len(x)}, x))[0].Float64s()
	for i, v := range got {
		if want := float64(float32(x[i]) / 49); v != want {
			t.Fatalf("%v/49 = %v, want %v", x[i], v, want)
		}
	}
}

// TestConvert covers every pair of element types on values that both hold, and the cut of wider integers.
func TestConvert(t *testing.T) {
	all := []hlo.DType{hlo.I1, hlo.I8, hlo.I32, hlo.I64, hlo.UI8, hlo.UI32, hlo.UI64, hlo.F32, hlo.F64}
	b := hlo.New("convert")
	wide := []int64{-1, 1 << 40, 300, -129, 1<<31 + 5}
	big := b.Const(hlo.FromInt64s(hlo.I64, []int{len(wide)}, wide))
	var outs []hlo.Value
	for _, from := range all {
		x := b.Const(hlo.FromInt64s(from, []int{2}, []int64{0, 1}))
		for _, to := range all {
			outs = append(outs, b.Convert(x, to))
		}
	}
	cuts := []hlo.DType{hlo.I8, hlo.I32, hlo.UI8, hlo.UI32}
	for _, d := range cuts {
		outs = append(outs, b.Convert(big, d))
	}
	b.Return(outs...)
	got := pjrttest.Run(t, b)
	for i := range len(all) * len(all) {
		if v := got[i].Float64s(); v[0] != 0 || v[1] != 1 {
			t.Errorf("%s to %s: %v", all[i/len(all)], all[i%len(all)], v)
		}
	}
	for i, d := range cuts {
		for j, v := range got[len(all)*len(all)+i].Int64s() {
			if v != wrap(d, wide[j]) {
				t.Errorf("%d to %s is %d", wide[j], d, v)
			}
		}
	}
}
