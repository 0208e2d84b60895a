// SPDX-License-Identifier: Apache-2.0

package slow_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/difftest"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/hlo/text"
	"lathe/ir/op/carrier"
	"lathe/ir/ref"
	"lathe/train"
	"lathe/train/slow"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }

// run runs a program in Go.
func run(t *testing.T, p *hlo.Program, args []hlo.Array) []hlo.Array {
	t.Helper()
	c, err := slow.Engine().Compile(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	held, err := slow.Engine().Upload(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return step(t, c, held)
}

func step(t *testing.T, c train.Program, held []train.Buffer) []hlo.Array {
	t.Helper()
	results, err := c.Step(t.Context(), held)
	if err != nil {
		t.Fatal(err)
	}
	var out []hlo.Array
	for _, b := range results {
		a, err := b.Download(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if msg := a.Check(); msg != "" {
			t.Fatal(msg)
		}
		out = append(out, a)
	}
	return out
}

// compare demands equal integers, and floats that are apart by no more than a part of the largest of the result.
func compare(t *testing.T, p *hlo.Program, got, want []hlo.Array, part float64) {
	t.Helper()
	for i, w := range want {
		if !got[i].Type.Equal(w.Type) {
			t.Fatalf("result %d is %s, not %s", i, got[i].Type, w.Type)
		}
		if !w.Type.DType.IsFloat() {
			if string(got[i].Data) != string(w.Data) {
				t.Fatalf("result %d: %v, PJRT %v\n%s", i, got[i].Int64s(), w.Int64s(), text.Print(p))
			}
			continue
		}
		x, y := got[i].Float64s(), w.Float64s()
		size := 1e-30
		for _, v := range y {
			if v-v == 0 {
				size = max(size, math.Abs(v))
			}
		}
		for k := range y {
			if x[k] != y[k] && !(x[k] != x[k] && y[k] != y[k]) && !(math.Abs(x[k]-y[k]) <= part*size) {
				t.Fatalf("result %d, %s, element %d: %v, PJRT %v\n%s", i, p.Ops[p.Results[i]].Kind, k, x[k], y[k], text.Print(p))
			}
		}
	}
}

// both runs a program on both engines.
func both(t *testing.T, b *hlo.Builder, args []hlo.Array, part float64) {
	t.Helper()
	want := pjrttest.Run(t, b, args...)
	compare(t, b.Program(), run(t, b.Program(), args), want, part)
}

// dyads, which take two, and singles are by what they take.
var (
	dyads = map[string]func(b *hlo.Builder, x, y hlo.Value) hlo.Value{
		"add": (*hlo.Builder).Add, "subtract": (*hlo.Builder).Sub, "multiply": (*hlo.Builder).Mul,
		"divide": (*hlo.Builder).Div, "remainder": (*hlo.Builder).Rem, "maximum": (*hlo.Builder).Max,
		"minimum": (*hlo.Builder).Min, "compare": func(b *hlo.Builder, x, y hlo.Value) hlo.Value {
			out := b.Convert(b.Compare(hlo.EQ, x, y), hlo.I32)
			for _, d := range []hlo.Dir{hlo.NE, hlo.LT, hlo.LE, hlo.GT, hlo.GE} {
				out = b.Add(b.Add(out, out), b.Convert(b.Compare(d, x, y), hlo.I32))
			}
			return out
		}, "select": func(b *hlo.Builder, x, y hlo.Value) hlo.Value { return b.Select(b.Compare(hlo.LT, x, y), y, x) },
	}
	bitDyads = map[string]func(b *hlo.Builder, x, y hlo.Value) hlo.Value{
		"and": (*hlo.Builder).And, "or": (*hlo.Builder).Or, "xor": (*hlo.Builder).Xor, "left": (*hlo.Builder).ShiftLeft,
		"right": (*hlo.Builder).ShiftRightArith, "logical": (*hlo.Builder).ShiftRightLogical,
	}
	bitSingles = map[string]func(b *hlo.Builder, x hlo.Value) hlo.Value{
		"not": (*hlo.Builder).Not, "count": (*hlo.Builder).PopCount, "zeros": (*hlo.Builder).CountLeadingZeros,
		"negate": (*hlo.Builder).Neg, "abs": (*hlo.Builder).Abs, "sign": (*hlo.Builder).Sign,
	}
)

// edge has special values among random ones.
func edge(r *rand.Rand, d hlo.DType, n int) hlo.Array {
	if d.IsFloat() {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64() * math.Exp2(float64(r.IntN(40)-20))
		}
		copy(x, []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 0.5, 1.5, 2.5, -2.5})
		r.Shuffle(n, func(i, k int) { x[i], x[k] = x[k], x[i] })
		return hlo.FromFloat64s(d, []int{n}, x)
	}
	a := hlo.Array{Type: hlo.TypeOf(d, n), Data: make([]byte, n*d.Bytes())}
	for i := range a.Data {
		if a.Data[i] = byte(r.Uint32()); d == hlo.I1 {
			a.Data[i] &= 1
		}
	}
	for i := range n / 2 { // small ones, which are shifts, too
		at := a.Data[i*d.Bytes() : (i+1)*d.Bytes()]
		clear(at[1:])
		at[0] &= 63
	}
	return a
}

// TestWholes compares the kinds of integers, wrapping and edges included.
func TestWholes(t *testing.T) {
	for i, d := range []hlo.DType{hlo.I1, hlo.I8, hlo.I32, hlo.I64, hlo.UI8, hlo.UI32, hlo.UI64} {
		t.Run(string(d), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 2))
			x, y := edge(r, d, 200), edge(r, d, 200)
			r.Shuffle(100, func(i, k int) { // small divisors and shifts beside large numbers
				for n := range d.Bytes() {
					p, q := &y.Data[(100+i)*d.Bytes()+n], &y.Data[k*d.Bytes()+n]
					*p, *q = *q, *p
				}
			})
			b := hlo.New("main")
			p, q := b.Arg("", x.Type), b.Arg("", y.Type)
			var out []hlo.Value
			for name, f := range dyads {
				if d != hlo.I1 || name == "compare" || name == "select" || name == "maximum" || name == "minimum" {
					out = append(out, f(b, p, q))
				}
			}
			for name, f := range bitDyads {
				if d != hlo.I1 || name == "and" || name == "or" || name == "xor" {
					out = append(out, f(b, p, q))
				}
			}
			for name, f := range bitSingles {
				if d != hlo.I1 && (d.IsSigned() || name == "not" || name == "count" || name == "zeros") || name == "not" {
					out = append(out, f(b, p))
				}
			}
			for _, to := range []hlo.DType{hlo.I1, hlo.I8, hlo.I32, hlo.I64, hlo.UI8, hlo.UI32, hlo.UI64, hlo.F32, hlo.F64} {
				out = append(out, b.Convert(p, to))
				if to.Bits() == d.Bits() && d != hlo.I1 {
					out = append(out, b.Bitcast(p, to))
				}
			}
			if d != hlo.I1 {
				values, places := b.SortPlaces(b.Reshape(p, 10, 20), 0, i%2 == 0)
				out = append(out, values, places, b.Reduce(hlo.ReduceMul, p, 0), b.Reduce(hlo.ReduceMin, q, 0),
					b.Iota(hlo.TypeOf(d, 3, 4), 1))
			}
			b.Return(out...)
			both(t, b, []hlo.Array{x, y}, 0)
		})
	}
}

// TestFloats compares the kinds of two floats and the conversions.
func TestFloats(t *testing.T) {
	for i, d := range []hlo.DType{hlo.F32, hlo.F64} {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		x, y := edge(r, d, 200), edge(r, d, 200)
		b := hlo.New("main")
		p, q := b.Arg("", x.Type), b.Arg("", y.Type)
		var out []hlo.Value
		number := func(v hlo.Value) hlo.Value { return b.Select(b.Compare(hlo.EQ, v, v), v, b.Float(d, 0)) }
		for name, f := range dyads {
			if name == "maximum" || name == "minimum" { // XLA on CPUs may drop NaN in them
				out = append(out, f(b, number(p), number(q)))
				continue
			}
			out = append(out, f(b, p, q))
		}
		small := b.Clamp(b.Float(d, -100), number(p), b.Float(d, 100))
		for _, to := range []hlo.DType{hlo.I1, hlo.I8, hlo.I32, hlo.I64} {
			out = append(out, b.Convert(small, to))
		}
		bits := hlo.I32
		if d == hlo.F64 {
			bits = hlo.I64
		}
		values, places := b.SortPlaces(b.Reshape(p, 10, 20), 1, i == 0)
		out = append(out, b.Bitcast(small, bits), values, places, b.Floor(p), b.Ceil(p), b.RoundEven(p), b.RoundAway(p),
			b.Neg(p), b.Abs(p), b.Sign(p), b.Sqrt(p), b.Reduce(hlo.ReduceMax, number(p), 0), b.Iota(hlo.TypeOf(d, 3, 4), 0),
			b.Convert(b.Convert(p, hlo.F32), hlo.F64))
		b.Return(out...)
		both(t, b, []hlo.Array{x, y}, 0)
	}
}

// TestLoops runs nested loops whose rounds read what lies outside, and rows that are read and written.
func TestLoops(t *testing.T) {
	b := hlo.New("main")
	x := b.Arg("x", hlo.TypeOf(hlo.I32, 4, 3))
	twice := b.Add(x, x)
	out := b.Times(4, []hlo.Value{x, b.Int(hlo.I32, 0)}, func(at hlo.Value, now []hlo.Value) []hlo.Value {
		row := b.Row(now[0], 0, at)
		inner := b.Times(2, []hlo.Value{row}, func(k hlo.Value, row []hlo.Value) []hlo.Value {
			return []hlo.Value{b.Add(row[0], b.Mul(b.Row(twice, 0, at), k))}
		})
		next := b.PutRow(now[0], b.Add(inner[0], row), 0, b.Sub(b.Int(hlo.I32, 3), at))
		return []hlo.Value{next, b.Add(now[1], b.Reduce(hlo.ReduceAdd, row, 0))}
	})
	b.Return(append(out, b.Add(out[0], twice))...)
	matrix := edge(rand.New(rand.NewPCG(1, 1)), hlo.I32, 12)
	matrix.Type = x.Type()
	both(t, b, []hlo.Array{matrix}, 0)
}

// TestOperations compares the programs of all operations, in integers and in floats.
func TestOperations(t *testing.T) {
	compared := 0
	for _, o := range difftest.Ops() {
		for i := range tools.Sample(2, 6) {
			g, r := difftest.Case(o, i)
			if i%2 == 1 && g.Stage != ir.StageFloat {
				f, err := difftest.Float(r, g)
				if err != nil {
					t.Fatal(err)
				}
				g = f
			}
			const n = 3
			p, err := golden.Print(g, n, false)
			if err != nil || len(p.Inputs) != len(g.In) {
				continue // it has no program, or blocks
			}
			compared++
			part := 1e-5
			args := stacked(g, difftest.Samples(r, g, n))
			c, err := pjrttest.Engine(t).Compile(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			want, err := c.Run(t.Context(), args)
			if err != nil {
				t.Fatal(err)
			}
			c.Drop(t.Context())
			compare(t, p, run(t, p, args), want, part)
		}
	}
	if t.Logf("%d programs", compared); compared < tools.Sample(130, 200) {
		t.Errorf("only %d programs", compared)
	}
}

// stacked are the arguments of a program of all samples.
func stacked(g *ir.Graph, samples []ref.Sample) []hlo.Array {
	var out []hlo.Array
	for i, n := range g.In {
		dims := append([]int{len(samples)}, n.Type.Shape...)
		var floats []float32
		var codes []int64
		for _, s := range samples {
			floats, codes = append(floats, s[i].Floats...), append(codes, s[i].Codes...)
		}
		if n.Type.IsFloat() {
			out = append(out, hlo.FromFloat32s(dims, floats))
		} else {
			out = append(out, hlo.FromInt64s(carrier.DType(n.Type), dims, codes))
		}
	}
	return out
}

// TestUnknown names the kind.
func TestUnknown(t *testing.T) {
	b := hlo.New("main")
	x := b.Arg("x", hlo.TypeOf(hlo.F32, 4))
	b.Return(b.Exp(x))
	p := *b.Program()
	p.Ops = append([]hlo.Operation{}, p.Ops...)
	p.Ops[1].Kind = hlo.NumKinds
	_, err := slow.Engine().Compile(t.Context(), &p)
	if err == nil || !strings.Contains(err.Error(), "L0810: operation 1 of kind") {
		t.Errorf("got %v", err)
	}
}
