// SPDX-License-Identifier: Apache-2.0

package calib

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sum"
	"lathe/ir/ref"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

func fixed(w int) format.Fixed { return format.Fixed{W: w, Signed: true} }

func TestFrac(t *testing.T) {
	ufixed := format.Fixed{W: 8}
	wrap, floor, ceil := fixed(8), fixed(8), fixed(8)
	wrap.Over, floor.Round, ceil.Round = format.Wrap, format.RoundFloor, format.RoundCeil
	rare := make([]float32, 100_000) // one value in 100,000 is far out
	for i := range rare {
		rare[i] = float32(i%100)/100 - 0.5
	}
	rare[7] = 30
	for _, c := range []struct {
		name string
		f    format.Fixed
		x    []float32
		m    plan.Method
		want int
	}{
		{"one fits seven bits below it", fixed(8), []float32{0.9, -1}, plan.MinMax, 7},
		{"-1 is a code, +1 is not", fixed(8), []float32{1, -1}, plan.MinMax, 6},
		{"rounding may still reach the last code", fixed(8), []float32{127.4 / 128}, plan.MinMax, 7},
		{"floor reaches it from further away", floor, []float32{127.9 / 128}, plan.MinMax, 7},
		{"ceil does not reach it", ceil, []float32{127.1 / 128}, plan.MinMax, 6},
		{"large values have negative fraction bits", fixed(8), []float32{1000}, plan.MinMax, -3},
		{"unsigned", ufixed, []float32{0.99}, plan.MinMax, 8},
		{"unsigned ignores the negative side", ufixed, []float32{-100, 0.99}, plan.MinMax, 8},
		{"only zeros", fixed(8), []float32{0, 0}, plan.MSE, 7},
		{"only zeros, unsigned", ufixed, []float32{0}, plan.MinMax, 8},
		{"nothing positive, unsigned", ufixed, []float32{-3}, plan.MinMax, 8},
		{"no values", fixed(8), nil, plan.MSE, 7},
		{"tiny values stop at 2^-40", fixed(8), []float32{1e-30}, plan.MinMax, fracLimit},
		{"an outlier decides minmax", fixed(8), rare, plan.MinMax, 2},
		{"percentile leaves it out", fixed(8), rare, plan.Percentile, 8},
		{"mse clips it where that pays", fixed(4), append(slices.Repeat([]float32{0.3, -0.4}, 4000), 1.2), plan.MSE, 4},
		{"mse keeps it where it does not", fixed(8), []float32{0.3, -0.4, 30}, plan.MSE, 2},
		{"wrap never clips", wrap, rare, plan.Percentile, 2},
	} {
		if got := Frac(c.f, Of(c.x), c.m); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestFiner holds the bias that is chosen against a search over all near ones, by encoding and decoding each value.
func TestFiner(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, text := range []string{"float(2,1,bias=fit)", "float(4,3,fn,bias=fit)", "log(4,bias=fit)",
		"dfloat(2,3,bias=fit)", "float(3,2,ieee,bias=fit)", "float(2,2,bias=fit,round=stochastic)"} {
		p, err := format.ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		f, _ := p.Biased()
		for range 4 {
			x := make([]float32, 200)
			scale := math.Ldexp(1, r.IntN(30)-15)
			for i := range x {
				x[i] = float32(r.NormFloat64() * scale)
			}
			least := math.Inf(1)
			of := map[int]float64{}
			for k := -40; k <= 40; k++ {
				g := format.WithRules(f.Finer(k), func(r *format.Round, _ *format.Over) { *r = format.RoundEven })
				for _, v := range x {
					got := g.Decode(g.Encode(format.FromFloat32(v)))
					if got.IsInf() {
						of[k] = math.Inf(1)
						break
					}
					d := float64(v) - got.Float64()
					of[k] += d * d
				}
				least = min(least, of[k])
			}
			if got := Finer(f, Of(x), plan.MSE); of[got] > least*(1+1e-9) {
				t.Errorf("%s at scale %g: %d, of error %g; the least is %g", text, scale, got, of[got], least)
			}
			most := Finer(f, Of(x), plan.MinMax)
			_, hi := f.Finer(most).Limits()
			_, above := f.Finer(most + 1).Limits()
			if v := Of(x); max(v.Max, -v.Min) > hi.Float64() || max(v.Max, -v.Min) <= above.Float64() {
				t.Errorf("%s at scale %g: minmax %d ends at %g, values at %g and %g", text, scale, most, hi.Float64(), v.Min, v.Max)
			}
		}
		if got := Finer(f, Of([]float32{0, 0}), plan.MSE); got != 0 {
			t.Errorf("%s of zeros: %d", text, got)
		}
	}
}

// TestSquaredError holds the fast error against encoding and decoding, for all roundings and overflows.
func TestSquaredError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	x := make([]float32, 300)
	for i := range x {
		x[i] = float32(r.NormFloat64() * 3)
		if i%3 == 0 {
			x[i] = float32(r.IntN(64)-32) / 16 // ties
		}
	}
	for round := format.RoundEven; round <= format.RoundOutward; round++ {
		for over := format.Sat; over <= format.Sym; over++ {
			f := format.Fixed{W: 5, F: 3, Signed: over == format.Sat, Round: round, Over: over}
			want := 0.0
			for _, v := range x {
				d := float64(v) - f.Decode(f.Encode(format.FromFloat32(v))).Float64()
				want += d * d
			}
			if got := SquaredError(f, 3, x); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: %g, want %g", f, got, want)
			}
		}
	}
}

// TestIntervals holds the bounds of random networks against values that samples reach, and the bounds of one layer
// against its worst inputs.
func TestIntervals(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(100) {
		g := lowertest.RandomCNN(t, seed)
		bounds, err := Intervals(g, func(*ir.Node) (lo, hi float64) { return -0.5, 2 })
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r := rand.New(rand.NewPCG(seed, 9))
		var samples []ref.Sample
		for range 10 {
			x := ir.NewTensor(g.In[0].Type)
			for i := range x.Floats {
				x.Floats[i] = []float32{-0.5, 2, r.Float32()}[r.IntN(3)]
			}
			samples = append(samples, ref.Sample{x})
		}
		seen, err := Observe(ctx, g, samples)
		if err != nil {
			t.Fatal(err)
		}
		for n, v := range seen {
			b := bounds[n]
			slack := 1e-5 * (1 + max(-b.Min, b.Max))
			if v.Min < b.Min-slack || v.Max > b.Max+slack {
				t.Errorf("seed %d: %s takes [%g, %g] beyond [%g, %g]", seed, n.Name, v.Min, v.Max, b.Min, b.Max)
			}
		}
	}
}

// TestLayerNorm: no element is further from the mean than the root of one less than their number.
func TestLayerNorm(t *testing.T) {
	b := lowertest.New(t, 1)
	y := b.Add(norm.LayerNorm, "y", &norm.Attrs{Axis: 1}, b.Input("x", 1, 2), b.Const([]int{2}, -3, 2),
		b.Const([]int{2}, 0, 1))
	v, err := Intervals(b.Done(y), func(*ir.Node) (lo, hi float64) { return -1, 3 })
	if err != nil || v[y].Min != -3 || v[y].Max != 3 {
		t.Errorf("%v, %v", v[y], err)
	}
}

func TestIntervalOps(t *testing.T) {
	for _, c := range []struct {
		name   string
		build  func(b *lowertest.Builder, x *ir.Node) *ir.Node
		lo, hi float64
	}{
		{"linear", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(sum.Linear, "y", nil, x, b.Const([]int{1, 2}, 2, -3), b.Const([]int{1}, 0.5))
		}, -2*1 - 3*3 + 0.5, 2*3 + 3*1 + 0.5},
		{"scale", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(sum.Scale, "y", &column.ScaleAttrs{Axis: 1}, x, b.Const([]int{2}, -2, 1), b.Const([]int{2}, 1, 0))
		}, -5, 3},
		{"sub", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(pointwise.Sub, "y", nil, x, b.Add(pointwise.Relu, "r", nil, x))
		}, -4, 3},
		{"mul", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(pointwise.Mul, "y", nil, x, b.Add(move.Identity, "i", nil, x))
		}, -3, 9},
		{"a square", func(b *lowertest.Builder, x *ir.Node) *ir.Node { return b.Add(pointwise.Mul, "y", nil, x, x) }, 0, 9},
		{"rms_norm, whose elements are below the root of their number", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(norm.RMSNorm, "y", &norm.Attrs{Axis: 1, Eps: 1}, x)
		}, -1, float64(float32(math.Sqrt2))},
		{"leaky_relu that turns", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(pointwise.LeakyRelu, "y", &pointwise.LeakyAttrs{Alpha: -5}, x)
		}, 0, 5},
		{"abs turns at 0", func(b *lowertest.Builder, x *ir.Node) *ir.Node { return b.Add(curve.Abs, "y", nil, x) }, 0, 3},
		{"thresholded_relu jumps", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(curve.ThresholdedRelu, "y", &curve.AlphaAttrs{Alpha: -0.5}, x)
		}, -0.4999999701976776, 3},
		{"a falling hard_sigmoid", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(curve.HardSigmoid, "y", &curve.HardSigmoidAttrs{Alpha: -0.25, Beta: 0.5}, x)
		}, 0, 0.75},
		{"prelu turns where a slope is negative", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(pointwise.PRelu, "y", &column.ScaleAttrs{Axis: 1}, x, b.Const([]int{2}, -5, 0.5))
		}, -0.5, 5},
		{"softmax", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(norm.Softmax, "y", &column.AxisAttrs{Axis: 1}, x)
		}, 0, 1},
		{"batch_norm with a negative factor", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			gamma, zero, one := b.Const([]int{2}, -2, 1), b.Const([]int{2}, 0, 0), b.Const([]int{2}, 1, 1)
			return b.Add(sum.BatchNorm, "y", &sum.BatchNormAttrs{Axis: 1}, x, gamma, zero, zero, one)
		}, -6, 3},
		{"argmax", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(reduce.ArgMax, "y", &reduce.ArgMaxAttrs{Axis: -1}, x)
		}, 0, 1},
	} {
		b := lowertest.New(t, 1)
		x := b.Input("x", 1, 2)
		y := c.build(b, x)
		g := b.Done(y)
		all, err := Intervals(g, func(*ir.Node) (lo, hi float64) { return -1, 3 })
		if err != nil {
			t.Fatal(err)
		}
		if v := all[y]; v.Min != c.lo || v.Max != c.hi {
			t.Errorf("%s: [%g, %g], want [%g, %g]", c.name, v.Min, v.Max, c.lo, c.hi)
		}
	}
}

// TestUnknownBounds refuses an operation that it knows nothing of, instead of guessing.
func TestUnknownBounds(t *testing.T) {
	b := lowertest.New(t, 1)
	y := b.Add(pointwise.Relu, "y", nil, b.Input("x", 1, 2))
	g := b.Done(y)
	odd := *pointwise.Relu
	odd.Name, odd.Traits = "odd", ir.Traits{}
	y.Op = &odd
	_, err := Intervals(g, func(*ir.Node) (lo, hi float64) { return -1, 3 })
	if diag.CodeOf(err) != "L0410" || !strings.Contains(err.Error(), "bounds of odd") {
		t.Errorf("%v", err)
	}
}

// TestPole refuses functions whose argument may be a pole.
func TestPole(t *testing.T) {
	for _, o := range []*ir.Op{curve.Log, curve.Reciprocal} {
		b := lowertest.New(t, 1)
		var attrs any
		if o == curve.Reciprocal {
			attrs = &curve.ReciprocalAttrs{Numerator: 1}
		}
		g := b.Done(b.Add(o, "y", attrs, b.Input("x", 1, 2)))
		_, err := Intervals(g, func(*ir.Node) (lo, hi float64) { return -1, 3 })
		if diag.CodeOf(err) != "L0410" {
			t.Errorf("%s: %v", o.Name, err)
		}
	}
}

// TestObserve keeps true bounds and the same selection of values however the samples are scheduled.
func TestObserve(t *testing.T) {
	b := lowertest.New(t, 1)
	x := b.Input("x", 1, 5000)
	y := b.Add(pointwise.Relu, "y", nil, x)
	g := b.Done(y)
	var samples []ref.Sample
	for k := range 40 {
		s := ir.NewTensor(x.Type)
		for i := range s.Floats {
			s.Floats[i] = float32(k*5000+i) - 1000
		}
		samples = append(samples, ref.Sample{s})
	}
	first, err := Observe(context.Background(), g, samples)
	if err != nil {
		t.Fatal(err)
	}
	v := first[x]
	if v.Min != -1000 || v.Max != 198_999 || len(v.Sample) < keep/2 || len(v.Sample) > keep*3/2 || first[y].Min != 0 {
		t.Errorf("bounds [%g, %g], %d values", v.Min, v.Max, len(v.Sample))
	}
	for range 5 {
		again, err := Observe(context.Background(), g, samples)
		if err != nil || !slices.Equal(again[x].Sample, v.Sample) {
			t.Fatalf("another selection, %v", err)
		}
	}
	samples[3][0].Floats[17] = float32(math.Inf(1))
	if _, err := Observe(context.Background(), g, samples); diag.CodeOf(err) != "L0404" {
		t.Errorf("infinite value: %v", err)
	}
}
