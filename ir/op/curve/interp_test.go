// SPDX-License-Identifier: Apache-2.0

package curve

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/draw"
)

// interpolated are the functions with a domain, with their rows of the table of docs/decisions/operations.md: the
// largest distance from the real number over all codes of the argument, in steps of the result.
var interpolated = []struct {
	o     *ir.Op
	attrs any
	near  func(float64) float64
	worst []float64
}{
	{Gelu, nil, func(x float64) float64 { return x / 2 * math.Erfc(-x/math.Sqrt2) },
		[]float64{0.527, 0.530, 0.543, 0.574, 0.548}},
	{GeluTanh, nil, func(x float64) float64 { return x / (1 + math.Exp(-2*geluInner(x))) },
		[]float64{0.527, 0.532, 0.532, 0.567, 0.551}},
	{Silu, &AlphaAttrs{1}, func(x float64) float64 { return x / (1 + math.Exp(-x)) },
		[]float64{0.520, 0.533, 0.526, 0.540, 0.538}},
	{Sigmoid, nil, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		[]float64{0.519, 0.532, 0.528, 0.533, 0.536}},
	{Tanh, nil, math.Tanh, []float64{0.527, 0.536, 0.560, 0.634, 0.588}},
	{Softplus, nil, softplus, []float64{0.526, 0.533, 0.527, 0.532, 0.536}},
	{Erf, nil, math.Erf, []float64{0.523, 0.540, 0.571, 0.643, 0.596}},
}

// interpFormats are the columns of that table: arguments and results.
var interpFormats = [][2]format.Fixed{{fixed(16, 8), fixed(16, 8)}, {fixed(16, 12), fixed(16, 12)},
	{fixed(16, 10), fixed(16, 14)}, {fixed(16, 12), fixed(16, 15)}, {fixed(20, 16), fixed(20, 14)}}

func fixed(w, f int) format.Fixed { return format.Fixed{W: w, F: f, Signed: true} }

// results evaluates o on codes.
func results(t *testing.T, o *ir.Op, attrs any, in, out format.Fixed, codes []int64) []int64 {
	t.Helper()
	x := ir.Type{Shape: []int{len(codes)}, Format: in}
	n := draw.Graph(o, attrs, ir.Type{Format: out}, draw.Input("x", x)).Out[0].Node
	y, err := draw.Run(n, []*ir.Tensor{{Type: x, Codes: codes}})
	if err != nil {
		t.Fatal(err)
	}
	return y.Codes
}

// TestInterpolation measures the distance of all codes, or of every interpStride-th of 20 bits, from real numbers.
func TestInterpolation(t *testing.T) {
	for _, c := range interpolated {
		for k, f := range interpFormats {
			var x []int64
			stride := int64(1)
			if f[0].W > 16 {
				stride = interpStride
			}
			for q := f[0].Min(); q <= f[0].Max(); q += stride {
				x = append(x, q)
			}
			worst, beyond, falls, last := 0.0, 0, int64(0), int64(math.MinInt64/2)
			for i, code := range results(t, c.o, c.attrs, f[0], f[1], x) {
				y := math.Ldexp(c.near(math.Ldexp(float64(x[i]), -f[0].F)), f[1].F)
				y = min(max(y, float64(f[1].Min())), float64(f[1].Max()))
				d := math.Abs(y - float64(code))
				if worst = max(worst, d); d > 0.5 {
					beyond++
				}
				falls, last = max(falls, last-code), code
			}
			name := fmt.Sprintf("%s, %s to %s", c.o.Name, f[0], f[1])
			t.Logf("%s: %.4f steps, %.2f %% of codes beyond 0.5", name, worst, 100*float64(beyond)/float64(len(x)))
			want := c.worst[k]
			if worst > want+0.0005 || worst < want-0.0011 && stride == 1 || worst < 0.49 {
				t.Errorf("%s: %.4f steps, want %.3f", name, worst, want)
			}
			if falls > 1 && c.o.Traits.Monotone {
				t.Errorf("%s falls by %d", name, falls)
			}
		}
	}
}

// TestInterpolationAnchor holds codes and samples to values that were computed apart.
func TestInterpolationAnchor(t *testing.T) {
	for _, c := range []struct {
		o      *ir.Op
		attrs  any
		at1    int64
		result []int64
	}{{Gelu, nil, 220553, []int64{-126, 0, 1917, 3446, 12329}},
		{Silu, &AlphaAttrs{1}, 191643, []int64{-900, 0, 1699, 2994, 11767}},
		{Tanh, nil, 199647, []int64{-3996, 1, 2299, 3119, 4076}}} {
		in := fixed(16, 12)
		if y := results(t, c.o, c.attrs, in, in, []int64{-9000, 1, 2600, 4096, 12345}); !slices.Equal(y, c.result) {
			t.Errorf("%s: %v, want %v", c.o.Name, y, c.result)
		}
		if y := results(t, c.o, c.attrs, fixed(17, 12), fixed(30, 18), []int64{4096}); y[0] != c.at1 {
			t.Errorf("%s: the sample at 1 is %d, want %d", c.o.Name, y[0], c.at1) // of 12+6 fraction bits
		}
	}
}
