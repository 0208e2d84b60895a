// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/frontend/source"
	"lathe/frontend/stablehlo"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/difftest"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/hlo/text"
	"lathe/ir/ref"
)

// randomPrograms is how many programs TestRandomPrograms draws.
const randomPrograms = 40

// TestRandomPrograms draws programs of integers, with loops and requantizes, verifies them, and compares what XLA makes
// of their text with what the graph gives that the reader makes of it.
func TestRandomPrograms(t *testing.T) {
	loops, marks := 0, 0
	for i := range randomPrograms {
		r := difftest.Rand("random programs", i)
		b, in := drawn(r)
		p := b.Program()
		if p == nil {
			t.Fatal(i, b.Err())
		}
		for _, o := range p.Ops {
			loops, marks = loops+count(o, hlo.KindWhile), marks+count(o, hlo.KindRequantize)
		}
		for _, p := range []*hlo.Program{p, p.Expand()} {
			if err := p.Verify(); err != nil {
				t.Fatalf("%d: %v\n%s", i, err, text.Print(p))
			}
		}
		g, err := stablehlo.Parse("random.mlir", []byte(text.Print(p)), source.Options{Unroll: 8})
		if err != nil {
			t.Fatalf("%d: %v\n%s", i, err, text.Print(p))
		}
		var sample ref.Sample
		for k, a := range in {
			v := ir.NewTensor(g.In[k].Type)
			copy(v.Codes, a.Int64s())
			sample = append(sample, v)
		}
		out, err := difftest.Evaluate(t.Context(), g, []ref.Sample{sample})
		if err != nil {
			t.Fatalf("%d: %v\n%s", i, err, text.Print(p))
		}
		for k, want := range pjrttest.Run(t, b, in...) {
			if got := out[0][k].Codes; !slices.Equal(got, want.Int64s()) {
				t.Fatalf("%d, result %d: %v, XLA %v\n%s", i, k, got, want.Int64s(), text.Print(p))
			}
		}
	}
	if loops < randomPrograms/4 || marks < randomPrograms {
		t.Errorf("only %d loops and %d requantizes", loops, marks)
	}
}

func count(o hlo.Operation, k hlo.Kind) int {
	if o.Kind == k {
		return 1
	}
	return 0
}

// drawn is a random program of I32 and its inputs. Each value lies within 16 bits, so that no sum or product wraps.
func drawn(r *rand.Rand) (*hlo.Builder, []hlo.Array) {
	b := hlo.New("random")
	var values []hlo.Value
	var in []hlo.Array
	for range 2 {
		dims := []int{2 + r.IntN(3), 2 + r.IntN(3)}
		a := make([]int64, dims[0]*dims[1])
		for i := range a {
			a[i] = r.Int64N(1<<16) - 1<<15
		}
		in = append(in, hlo.FromInt64s(hlo.I32, dims, a))
		values = append(values, b.Arg("x", in[len(in)-1].Type))
	}
	for range 12 {
		b.At("step")
		x := values[r.IntN(len(values))]
		if r.IntN(6) == 0 {
			x = b.Times(1+r.IntN(4), []hlo.Value{x}, func(at hlo.Value, now []hlo.Value) []hlo.Value {
				return []hlo.Value{step(b, r, b.Add(now[0], at), true)}
			})[0]
		}
		values = append(values, step(b, r, x, false))
	}
	b.Return(values[len(values)-4:]...)
	return b, in
}

// step is a random operation on a matrix of I32 within 17 bits, brought into 16; keep asks for the same shape.
func step(b *hlo.Builder, r *rand.Rand, x hlo.Value, keep bool) hlo.Value {
	dims := x.Type().Dims
	small := b.Splat(x, r.Int64N(200)-100)
	choices := []func() hlo.Value{
		func() hlo.Value { return b.Add(x, small) },
		func() hlo.Value { return b.Sub(b.Mul(x, small), x) },
		func() hlo.Value { return b.Select(b.Compare(hlo.LT, x, small), b.Neg(x), b.Max(x, small)) },
		func() hlo.Value { return b.Xor(b.And(x, small), b.Min(x, small)) },
		func() hlo.Value { return b.Reverse(x, r.IntN(2)) },
		func() hlo.Value { return b.BroadcastTo(b.ReduceKeep(hlo.ReduceMax, x, 1), dims...) },
		func() hlo.Value { return b.Transpose(x, 1, 0) },
		func() hlo.Value { return b.Reshape(x, dims[1], dims[0]) },
		func() hlo.Value { return b.Concat(r.IntN(2), x, small) },
		func() hlo.Value { return b.Pad(x, b.Int(hlo.I32, 7), []int{1, 0}, []int{0, 1}, []int{1, 0}) },
		func() hlo.Value { return b.Slice(x, []int{1, 0}, dims, []int{1, 2}) },
		func() hlo.Value {
			y := b.Requant(x, hlo.Requantize{Shift: hlo.Places(9), Width: 8, Signed: true, Out: hlo.I8})
			return b.DotInt(y, y, hlo.Dot{LhsContract: []int{1}, RhsContract: []int{1}}, 20)
		},
		func() hlo.Value { return b.ReduceKeep(hlo.ReduceAdd, x, 0) },
	}
	count := len(choices)
	if keep {
		count = 6
	}
	y := choices[r.IntN(count)]()
	if y.Type().Len() > 64 || y.Type().Dims[0] < 2 || y.Type().Dims[1] < 2 {
		y = x
	}
	q := hlo.Requantize{Shift: hlo.Places(r.IntN(6) - 2), Round: uint8(r.IntN(9)), Over: int32(r.IntN(3)), Width: 16,
		Signed: true, Out: hlo.I32}
	return b.Requant(y, q)
}
