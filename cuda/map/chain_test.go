// SPDX-License-Identifier: Apache-2.0

package pointwise_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/map"
	"lathe/cuda/num"
)

// specials are values at which functions of floats go wrong.
var specials = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 3, -3, 6, 1e-30, -1e-30,
	0x1p-149, 88, -88, 89, -89, 104, -104, 1e30, -1e30, math.MaxFloat32, -math.MaxFloat32}

// inputs are n values: the special ones first, then ordinary ones of several sizes.
func inputs(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 6))
	out := append([]float64{}, specials...)
	for len(out) < n {
		out = append(out, r.NormFloat64()*math.Ldexp(1, r.IntN(9)-4))
	}
	return out[:n]
}

// unit is half the distance between neighbours of a codec at y, at most: the error of one rounding.
func unit(c num.Codec, y float64) float64 {
	y = math.Abs(y)
	switch c {
	case num.FP32:
		return max(y*0x1p-24, 0x1p-150)
	case num.BF16:
		return max(y*0x1p-8, 0x1p-134)
	}
	return max(y*0x1p-11, 0x1p-25)
}

// each function by itself, in and out of every float.
func TestFunctions(t *testing.T) {
	for _, c := range []num.Codec{num.FP32, num.BF16, num.FP16} {
		t.Run(c.Type, func(t *testing.T) { functions(t, c) })
	}
}

func functions(t *testing.T, c num.Codec) {
	t.Helper()
	const n = 1000
	job := cudatest.Job{Quick: c != num.FP32}
	a, b := inputs(1, n), inputs(2, n)
	r := rand.New(rand.NewPCG(7, 7))
	r.Shuffle(n, func(i, j int) { b[i], b[j] = b[j], b[i] })
	job.Buffers = append(job.Buffers, cudatest.Buffer{Name: "a", Data: words(c, a)},
		cudatest.Buffer{Name: "b", Data: words(c, b)})
	a, b = numbers(c, words(c, a)), numbers(c, words(c, b))
	for i, f := range pointwise.Functions() {
		p := pointwise.Chain{N: n, Cols: n, In: c, Out: c, Inputs: make([]pointwise.Shape, f.Arity),
			Expr: expr(t, f.Name, []pointwise.Expr{pointwise.Arg(0), pointwise.Arg(1)}[:f.Arity]...)}
		x := []cuda.Arg{cuda.Buffer(0), cuda.Buffer(1)}[:f.Arity]
		cudatest.Add(t, &job, p, pointwise.ChainOperands{X: x, Y: cuda.Buffer(2 + i)})
		job.Buffers = append(job.Buffers, cudatest.Buffer{Name: f.Name, Bytes: int64(n * c.Bytes), Out: true})
	}
	for i, out := range cudatest.Run(t, job) {
		f := pointwise.Functions()[i]
		want := make([]float64, n)
		for k := range want {
			want[k] = floatOf(c, floatWord(c, f.Of(a[k], b[k]))) // overflow included
		}
		near(t, f.Name+" of "+c.Type, numbers(c, out), want, func(k int) float64 {
			// A weight that vanishes below the smallest number is lost with all that it would weigh.
			loss := f.Loss(a[k], b[k])*max(math.Abs(want[k])*0x1p-24, 0x1p-149) + math.Abs(a[k])*0x1p-149
			return loss + 2*unit(c, want[k])
		})
	}
}

// near is cudatest.Near, and demands the sign of zeros.
func near(t *testing.T, what string, got, want []float64, tol func(k int) float64) {
	t.Helper()
	for k := range got {
		// A result beside the largest number may overflow.
		const edge = 0.999 * math.MaxFloat32
		g, w := math.Abs(got[k]), math.Abs(want[k])
		if math.IsInf(g, 0) && w > edge || math.IsInf(w, 0) && g > edge {
			got[k] = want[k]
		}
		if got[k] == 0 && want[k] == 0 && math.Signbit(got[k]) != math.Signbit(want[k]) {
			t.Errorf("%s: element %d is %v, want %v: the sign of zero", what, k, got[k], want[k])
		}
	}
	cudatest.Near(t, what, got, want, tol)
}

// Chains of several functions and inputs, over shapes and tails, aligned or not.
func TestChain(t *testing.T) {
	sum := expr(t, "add", expr(t, "gelu_erf", expr(t, "add", pointwise.Arg(0), pointwise.Arg(1))), pointwise.Arg(2))
	scaled := expr(t, "mul", expr(t, "max", pointwise.Arg(0), pointwise.Scalar(1)), pointwise.Scalar(0))
	for i, p := range []pointwise.Chain{
		{Expr: sum, N: 3 * 100, Cols: 100, In: num.BF16, Out: num.BF16, Inputs: []pointwise.Shape{0, pointwise.Row, 0}},
		{Expr: sum, N: 7 * 33, Cols: 33, In: num.FP32, Out: num.FP32,
			Inputs: []pointwise.Shape{0, pointwise.Row, pointwise.Column}},
		{Expr: sum, N: 1, Cols: 1, In: num.FP16, Out: num.FP32, Inputs: []pointwise.Shape{0, 0, 0}},
		{Expr: scaled, N: 4099, Cols: 4099, In: num.FP32, Out: num.BF16, Inputs: []pointwise.Shape{0},
			Scalars: []float32{0.5, -1}},
		{Expr: scaled, N: 8 * 31, Cols: 8, In: num.BF16, Out: num.FP16, Inputs: []pointwise.Shape{pointwise.Column},
			Scalars: []float32{-2, 0.25}},
	} {
		for shift := range int64(2) {
			t.Run(fmt.Sprintf("%d+%d", i, shift), func(t *testing.T) {
				t.Parallel()
				chained(t, p, shift)
			})
		}
	}
}

func chained(t *testing.T, p pointwise.Chain, shift int64) {
	t.Helper()
	job := cudatest.Job{}
	sizes := [...]int64{p.N, p.Cols, p.N / p.Cols}
	var x [][]float64
	var args []cuda.Arg
	away := shift * int64(p.In.Bytes)
	for k, s := range p.Inputs {
		v := inputs(uint64(k+1), int(sizes[s])+len(specials))[len(specials):] // finite: sums are compared
		data := append(make([]byte, away), words(p.In, v)...)
		job.Buffers = append(job.Buffers, cudatest.Buffer{Name: fmt.Sprintf("x%d", k), Data: data})
		args = append(args, cuda.BufferAt(k, away))
		x = append(x, numbers(p.In, words(p.In, v)))
	}
	end := shift * int64(p.Out.Bytes)
	y := cuda.BufferAt(len(x), end)
	job.Buffers = append(job.Buffers, cudatest.Buffer{Name: "y", Bytes: p.N*int64(p.Out.Bytes) + end, Out: true})
	cudatest.Add(t, &job, p, pointwise.ChainOperands{X: args, Y: y})
	got := numbers(p.Out, cudatest.Run(t, job)[0][end:])
	want, size := make([]float64, p.N), make([]float64, p.N)
	var scalars []float64
	for _, s := range p.Scalars {
		scalars = append(scalars, float64(s))
	}
	for i := range p.N {
		at := make([]float64, len(x))
		for k, s := range p.Inputs {
			at[k] = x[k][[...]int64{i, i % p.Cols, i / p.Cols}[s]]
			size[i] += math.Abs(at[k])
		}
		want[i] = p.Expr.Eval(at, scalars)
	}
	near(t, "chain", got, want, func(i int) float64 { return unit(p.Out, want[i]) + (1+size[i])*0x1p-20 })
}
