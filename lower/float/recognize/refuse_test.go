// SPDX-License-Identifier: Apache-2.0

package recognize_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
	"lathe/ir/ref"
	"lathe/ir/text"
	"lathe/lower/float"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
)

// form is a float graph that is nearly a pattern, or one in a form of its own.
type form struct {
	name  string
	build func(b *lowertest.Builder) *ir.Node
	// never are operations that must not be made of it.
	never []string
	// must is one that has to be, "" for none.
	must string
}

// attended is softmax(q*transpose(k)) and the values for it; turn sees scores and probabilities.
func attended(b *lowertest.Builder, mask func(s *ir.Node) *ir.Node, guard func(p, s *ir.Node) *ir.Node) *ir.Node {
	q, k, v := b.Input("q", 1, 2, 3, 4), b.Input("k", 1, 2, 4, 3), b.Input("v", 1, 2, 3, 4)
	s := b.Add(sum.MatMul, "scores", nil, q, k)
	if mask != nil {
		s = mask(s)
	}
	p := b.Add(norm.Softmax, "softmax", &column.AxisAttrs{Axis: 3}, s)
	if guard != nil {
		p = guard(p, s)
	}
	return b.Add(sum.MatMul, "y", nil, p, v)
}

func less(b *lowertest.Builder, x *ir.Node, rel string, v float32) *ir.Node {
	return b.Add(whole.Compare, "compare."+x.Name, &whole.CompareAttrs{Rel: rel}, x, b.Const(nil, v))
}

func any3(b *lowertest.Builder, o *ir.Op, x *ir.Node) *ir.Node {
	return b.Add(o, o.Name, &reduce.Attrs{Axes: []int{3}}, x)
}

func zeroed(b *lowertest.Builder, where, p *ir.Node) *ir.Node {
	return b.Add(whole.Where, "guard", nil, where, b.Const(nil, 0), p)
}

// triangle is an additive mask [n, n] that hides what lies behind.
func triangle(n int) []float32 {
	v := make([]float32, n*n)
	for i := range n {
		for j := i + 1; j < n; j++ {
			v[i*n+j] = float32(math.Inf(-1))
		}
	}
	return v
}

var nearly = []form{
	{"small probabilities are dropped", func(b *lowertest.Builder) *ir.Node {
		return attended(b, nil, func(p, _ *ir.Node) *ir.Node { return zeroed(b, less(b, p, "lt", 0.3), p) })
	}, []string{"attention"}, ""},
	{"small scores are dropped", func(b *lowertest.Builder) *ir.Node {
		return attended(b, nil, func(p, s *ir.Node) *ir.Node { return zeroed(b, less(b, s, "lt", 0.1), p) })
	}, []string{"attention"}, ""},
	{"all that are numbers are dropped", func(b *lowertest.Builder) *ir.Node {
		return attended(b, nil, func(p, _ *ir.Node) *ir.Node {
			return zeroed(b, b.Add(whole.Not, "not", nil, b.Add(whole.IsNaN, "nan", nil, p)), p)
		})
	}, []string{"attention"}, ""},
	{"rows with a key are dropped", func(b *lowertest.Builder) *ir.Node {
		return attended(b, nil, func(p, s *ir.Node) *ir.Node {
			return zeroed(b, any3(b, reduce.Any, less(b, s, "ne", float32(math.Inf(-1)))), p)
		})
	}, []string{"attention"}, ""},
	{"rows with a hidden key are dropped", func(b *lowertest.Builder) *ir.Node {
		return attended(b, func(s *ir.Node) *ir.Node {
			return b.Add(pointwise.Add, "masked", nil, s, b.Const([]int{3, 3}, triangle(3)...))
		}, func(p, s *ir.Node) *ir.Node {
			return zeroed(b, any3(b, reduce.Any, less(b, s, "eq", float32(math.Inf(-1)))), p)
		})
	}, []string{"attention"}, ""},
	{"rows without keys are zeros", func(b *lowertest.Builder) *ir.Node {
		return attended(b, func(s *ir.Node) *ir.Node {
			return b.Add(pointwise.Add, "masked", nil, s, b.Const([]int{3, 3}, triangle(3)...))
		}, func(p, s *ir.Node) *ir.Node {
			some := any3(b, reduce.Any, b.Add(whole.Not, "not", nil, less(b, s, "eq", float32(math.Inf(-1)))))
			return zeroed(b, b.Add(whole.Not, "none", nil, some), p)
		})
	}, nil, "attention"},
	{"what is no number is zero", func(b *lowertest.Builder) *ir.Node {
		return attended(b, nil, func(p, _ *ir.Node) *ir.Node { return zeroed(b, b.Add(whole.IsNaN, "nan", nil, p), p) })
	}, nil, "attention"},
	{"a triangle over heads", func(b *lowertest.Builder) *ir.Node {
		q, k, v := b.Input("q", 1, 3, 3, 4), b.Input("k", 1, 3, 4, 3), b.Input("v", 1, 3, 3, 4)
		s := b.Add(sum.MatMul, "scores", nil, q, k)
		s = b.Add(pointwise.Add, "masked", nil, s, b.Const([]int{1, 3, 1, 3}, triangle(3)...))
		return b.Add(sum.MatMul, "y", nil, b.Add(norm.Softmax, "softmax", &column.AxisAttrs{Axis: 3}, s), v)
	}, nil, "attention"},
	{"softmax of another axis", func(b *lowertest.Builder) *ir.Node {
		q, k, v := b.Input("q", 1, 2, 3, 4), b.Input("k", 1, 2, 4, 3), b.Input("v", 1, 2, 3, 4)
		s := b.Add(sum.MatMul, "scores", nil, q, k)
		return b.Add(sum.MatMul, "y", nil, b.Add(norm.Softmax, "softmax", &column.AxisAttrs{Axis: 2}, s), v)
	}, []string{"attention"}, ""},
	{"one key for many values", func(b *lowertest.Builder) *ir.Node {
		q, k, v := b.Input("q", 1, 1, 3, 4), b.Input("k", 1, 1, 4, 1), b.Input("v", 1, 1, 3, 4)
		s := b.Add(sum.MatMul, "scores", nil, q, k)
		s = b.Add(pointwise.Add, "masked", nil, s, b.Random(1, 3, 3))
		return b.Add(sum.MatMul, "y", nil, b.Add(norm.Softmax, "softmax", &column.AxisAttrs{Axis: 3}, s), v)
	}, []string{"attention"}, ""},
	{"a mask inside heads that are one axis later", func(b *lowertest.Builder) *ir.Node {
		q, k, v := b.Input("q", 4, 3, 4), b.Input("k", 4, 4, 3), b.Input("v", 4, 3, 4)
		s := b.Add(sum.MatMul, "scores", nil, q, k)
		s = b.Add(move.Reshape, "heads", &move.ReshapeAttrs{Shape: []int{2, 2, 3, 3}}, s)
		s = b.Add(pointwise.Add, "masked", nil, s, b.Random(1, 2, 1, 3, 3))
		s = b.Add(move.Reshape, "flat", &move.ReshapeAttrs{Shape: []int{4, 3, 3}}, s)
		return b.Add(sum.MatMul, "y", nil, b.Add(norm.Softmax, "softmax", &column.AxisAttrs{Axis: 2}, s), v)
	}, nil, ""},
	{"scores of less than no weight", func(b *lowertest.Builder) *ir.Node {
		return attended(b, func(s *ir.Node) *ir.Node { return b.Add(pointwise.Mul, "scaled", nil, s, b.Const(nil, -0.5)) },
			nil)
	}, nil, ""},
	{"a scale behind the mask", func(b *lowertest.Builder) *ir.Node {
		return attended(b, func(s *ir.Node) *ir.Node {
			s = b.Add(pointwise.Add, "masked", nil, s, b.Random(1, 3, 3))
			return b.Add(pointwise.Mul, "scaled", nil, s, b.Const(nil, 0.5))
		}, nil)
	}, nil, ""},
	{"a cap around the mask", func(b *lowertest.Builder) *ir.Node {
		return attended(b, func(s *ir.Node) *ir.Node {
			s = b.Add(curve.Tanh, "tanh", nil, b.Add(pointwise.Add, "masked", nil, s, b.Random(1, 3, 3)))
			return b.Add(pointwise.Mul, "scaled", nil, s, b.Const(nil, 5))
		}, nil)
	}, nil, ""},
	{"two caps", func(b *lowertest.Builder) *ir.Node {
		return attended(b, func(s *ir.Node) *ir.Node {
			s = b.Add(pointwise.Mul, "scaled", nil, b.Add(curve.Tanh, "tanh", nil, s), b.Const(nil, 2))
			return b.Add(pointwise.Mul, "again", nil, b.Add(curve.Tanh, "tanh.again", nil, s), b.Const(nil, 3))
		}, nil)
	}, nil, ""},
	{"cosines of whole numbers that differ", func(b *lowertest.Builder) *ir.Node {
		x := b.Input("x", 1, 2, 3, 4)
		at := b.Add(whole.Convert, "at", &whole.ConvertAttrs{To: ir.I64}, b.Input("position", 3, 1))
		each := b.Const([]int{4}, 0, 1, 2, 3)
		each.Attrs, each.Type.Format = &ir.Const{Data: ir.CodeBlob([]int64{0, 1, 2, 3})}, ir.Int64
		at = b.Add(whole.Convert, "angle", &whole.ConvertAttrs{To: ir.F32}, b.Add(pointwise.Mul, "times", nil, at, each))
		half := func(name string, start int) *ir.Node {
			return b.Add(move.Slice, name, &move.SliceAttrs{Axis: 3, Start: start, Count: 2, Step: 1}, x)
		}
		low := b.Add(pointwise.Mul, "neg", nil, half("high", 2), b.Const(nil, -1))
		turned := b.Add(move.Concat, "turned", &move.ConcatAttrs{Axis: 3}, low, half("low", 0))
		return b.Add(pointwise.Add, "y", nil, b.Add(pointwise.Mul, "xc", nil, x, b.Add(curve.Cos, "cos", nil, at)),
			b.Add(pointwise.Mul, "xs", nil, turned, b.Add(curve.Sin, "sin", nil, at)))
	}, []string{"rotary"}, ""},
	{"a power of a large exponent", func(b *lowertest.Builder) *ir.Node {
		x := b.Input("x", 3)
		u := b.Add(curve.Pow, "pow", &curve.PowAttrs{Exponent: 1e15}, x)
		return b.Add(pointwise.Mul, "y", nil, x, b.Add(curve.Sigmoid, "sigmoid", nil, u))
	}, []string{"silu"}, ""},
}

// TestNearly proves that graphs that are nearly patterns keep their values.
func TestNearly(t *testing.T) {
	for i, f := range nearly {
		t.Run(f.name, func(t *testing.T) {
			b := lowertest.New(t, uint64(i))
			g := b.Done(f.build(b))
			g.Stage = ir.StageFloat
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			whole, report, err := float.Recognize(ctx, g, pass.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var made []string
			for _, r := range report.Recognized {
				made = append(made, r.Op)
			}
			for _, o := range f.never {
				if slices.Contains(made, o) {
					t.Errorf("%s is made of it", o)
				}
			}
			if f.must != "" && !slices.Contains(made, f.must) {
				t.Errorf("no %s is made of it: %v", f.must, made)
			}
			compareGraphs(t, g, whole)
		})
	}
}

// compareGraphs runs two graphs on the same samples; what is no number in the first may be anything in the second.
func compareGraphs(t *testing.T, a, b *ir.Graph) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 5))
	var samples []ref.Sample
	for range 8 {
		var s ref.Sample
		for _, in := range a.In {
			x := ir.NewTensor(in.Type)
			for i := range x.Floats {
				x.Floats[i] = float32(2 * r.NormFloat64())
			}
			s = append(s, x)
		}
		samples = append(samples, s)
	}
	var out [2][]ref.Sample
	for i, g := range []*ir.Graph{a, b} {
		p, err := ref.New(g)
		if err != nil {
			t.Fatal(err)
		}
		if out[i], err = p.Run(t.Context(), samples); err != nil {
			t.Fatal(err)
		}
	}
	for i := range samples {
		for k, want := range out[0][i][0].Floats {
			if have := out[1][i][0].Floats[k]; math.Abs(float64(have-want)) > 1e-4*(1+math.Abs(float64(want))) ||
				have != have && want == want {
				t.Fatalf("sample %d, element %d is %g, not %g\n%s", i, k, have, want, text.Print(b))
			}
		}
	}
}
