// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/emit/cuda"
	"lathe/frontend/build"
	"lathe/internal/difftest"
	"lathe/internal/difftest/programs"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/whole"
	"lathe/ir/ref"
)

// unsignedCase is an operation on unsigned integers of 64 bits as importers write it out, and what it means for each
// pair of elements, or for all elements of its first argument.
type unsignedCase struct {
	name  string
	o     *ir.Op
	attrs any
	pair  func(a, b uint64) uint64
	line  func(a []uint64) []uint64
	float func(a uint64) float32
}

func unsignedCases() []unsignedCase {
	flag := func(v bool) uint64 {
		if v {
			return 1
		}
		return 0
	}
	relation := func(rel string, holds func(c int) bool) unsignedCase {
		return unsignedCase{name: rel, o: whole.Compare, attrs: &whole.CompareAttrs{Rel: rel},
			pair: func(a, b uint64) uint64 { return flag(holds(cmp.Compare(a, b))) }}
	}
	mod := func(a, b uint64) uint64 {
		if b == 0 {
			return a
		}
		return a % b
	}
	return append([]unsignedCase{
		relation("lt", func(c int) bool { return c < 0 }), relation("le", func(c int) bool { return c <= 0 }),
		relation("gt", func(c int) bool { return c > 0 }), relation("ge", func(c int) bool { return c >= 0 }),
		relation("eq", func(c int) bool { return c == 0 }), relation("ne", func(c int) bool { return c != 0 }),
		{name: "max", o: pointwise.Max, pair: func(a, b uint64) uint64 { return max(a, b) }},
		{name: "min", o: pointwise.Min, pair: func(a, b uint64) uint64 { return min(a, b) }},
		{name: "add", o: pointwise.Add, pair: func(a, b uint64) uint64 { return a + b }},
		{name: "mul", o: pointwise.Mul, pair: func(a, b uint64) uint64 { return a * b }},
		{name: "div", o: whole.Div, pair: func(a, b uint64) uint64 { return (a - mod(a, b)) / max(b, 1) * flag(b != 0) }},
		{name: "mod", o: whole.Mod, attrs: &whole.ModAttrs{}, pair: mod},
		{name: "floor mod", o: whole.Mod, attrs: &whole.ModAttrs{Floor: true}, pair: mod},
		{name: "power", o: whole.Power, pair: func(a, b uint64) uint64 {
			n := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
			return n(0).Exp(n(a), n(b), n(0).Lsh(n(1), 64)).Uint64()
		}},
		{name: "shift right", pair: func(a, b uint64) uint64 { return a >> b }},
		{name: "abs", o: curve.Abs, pair: func(a, _ uint64) uint64 { return a }},
		{name: "sign", o: curve.Sign, pair: func(a, _ uint64) uint64 { return min(a, 1) }},
	}, unsignedLines()...)
}

func unsignedLines() []unsignedCase {
	axis, small := &reduce.Attrs{Axes: []int{0}}, func(a, b uint64) int { return cmp.Compare(a, b) }
	most := func(a []uint64) uint64 { return uint64(slices.Index(a, slices.Max(a))) }
	convert := func(to ir.DType, float func(a uint64) float32) unsignedCase {
		return unsignedCase{name: "to " + string(to), o: whole.Convert, attrs: &whole.ConvertAttrs{To: to}, float: float}
	}
	top := &whole.TopKAttrs{K: 3, Largest: true}
	return []unsignedCase{
		convert(ir.F32, func(a uint64) float32 { return float32(a) }),
		convert(ir.F16, func(a uint64) float32 {
			if a >= 65520 {
				return float32(math.Inf(1))
			}
			x := float64(a)
			_, e := math.Frexp(x)
			step := math.Ldexp(1, max(e-11, 0))
			return float32(math.RoundToEven(x/step) * step)
		}),
		{name: "reduce max", o: reduce.Max, attrs: axis, line: func(a []uint64) []uint64 { return []uint64{slices.Max(a)} }},
		{name: "reduce min", o: reduce.Min, attrs: axis, line: func(a []uint64) []uint64 { return []uint64{slices.Min(a)} }},
		{name: "arg max", o: reduce.ArgMax, attrs: &reduce.ArgMaxAttrs{},
			line: func(a []uint64) []uint64 { return []uint64{most(a)} }},
		{name: "arg min", o: reduce.ArgMax, attrs: &reduce.ArgMaxAttrs{Least: true},
			line: func(a []uint64) []uint64 { return []uint64{uint64(slices.Index(a, slices.Min(a)))} }},
		{name: "top k", o: whole.TopKValues, attrs: top, line: func(a []uint64) []uint64 {
			a = slices.SortedFunc(slices.Values(a), small)
			slices.Reverse(a)
			return a[:3]
		}},
		{name: "places", o: whole.TopKIndices, attrs: &whole.TopKAttrs{K: 1, Largest: true},
			line: func(a []uint64) []uint64 { return []uint64{most(a)} }},
		{name: "scatter max", o: whole.ScatterElements, attrs: &whole.ScatterAttrs{Reduce: "max"},
			line: func(a []uint64) []uint64 { a[0] = max(a[0], a[1]); return a }},
	}
}

const unsignedElems = 8

// graph is the operation on inputs that importers marked as unsigned.
func (c unsignedCase) graph(t *testing.T) *ir.Graph {
	t.Helper()
	b := build.New(c.name, "m.onnx")
	in := make([]*ir.Node, 2)
	var n *ir.Node
	var err error
	for i := range in {
		if in[i], err = b.Input(string(rune('a'+i)), ir.U64, []int{unsignedElems}); err != nil {
			t.Fatal(err)
		}
	}
	args := in
	if c.line != nil || c.float != nil || c.name == "abs" || c.name == "sign" {
		args = in[:1]
	}
	b.Unsigned(func() {
		b.MarkUnsigned(in[0])
		b.MarkUnsigned(in[1])
		at := build.Place{Name: "y", Source: c.name}
		switch c.o {
		case nil:
			n, err = b.ShiftRight(at, in[0], in[1])
			return
		case whole.ScatterElements: // element 1 meets element 0
			place, e := b.Const("place", ir.CodeBlob([]int64{0}), []int{1})
			if err = e; err == nil {
				one, e := b.Const("one", ir.CodeBlob([]int64{1}), []int{1})
				var u *ir.Node
				if err = e; err == nil {
					u, err = b.Emit(build.Place{Name: "u"}, whole.Gather, &column.AxisAttrs{}, in[0], one)
				}
				args = []*ir.Node{in[0], place, u}
			}
		}
		if err == nil {
			n, err = b.Emit(at, c.o, c.attrs, args...)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Output("y", n)
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// unsignedSamples draws numbers around 0, 2^63 and 2^64, and of any size.
func unsignedSamples(r *rand.Rand, g *ir.Graph, n int) []ref.Sample {
	samples := make([]ref.Sample, n)
	for i := range samples {
		for _, in := range g.In {
			t := ir.NewTensor(in.Type)
			for k := range t.Codes {
				near := r.Uint64N(70)
				t.Codes[k] = int64([]uint64{near, 1<<63 - near, 1<<63 + near, -near, r.Uint64(), r.Uint64() >> near,
					uint64(math.Float32bits(r.Float32())|1<<23)<<40 | 1<<39 | near&1}[r.IntN(7)])
			}
			samples[i] = append(samples[i], t)
		}
	}
	return samples
}

// TestUnsigned compares integers of 64 bits without sign, which graphs hold as Int64, with Go's uint64 on the
// reference, on PJRT and in CUDA kernels.
func TestUnsigned(t *testing.T) {
	for i, c := range unsignedCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := c.graph(t)
			samples := unsignedSamples(difftest.Rand("unsigned", i), g, 200)
			out, err := difftest.Evaluate(t.Context(), g, samples)
			if err != nil {
				t.Fatal(err)
			}
			for s, got := range out {
				if d := c.wrong(samples[s], got[0]); d != "" {
					difftest.Report(t, g, d, s, samples[s])
				}
			}
			programs.CompareSamples(t, g, samples, 0)
			t.Run("kernels", func(t *testing.T) {
				tools.NeedNVRTC(t)
				d, err := cuda.Emit(g, cuda.Options{})
				if err != nil {
					t.Fatal(err)
				}
				compareSamplesDesign(t, emulated, g, d, samples[:kernelSamples], 0)
			})
		})
	}
}

// wrong compares one sample; it is "" where all is right.
func (c unsignedCase) wrong(in ref.Sample, got *ir.Tensor) string {
	a, b := in[0].Codes, in[0].Codes
	if len(in) > 1 {
		b = in[1].Codes
	}
	var all []uint64
	for i, v := range a {
		switch all = append(all, uint64(v)); {
		case c.float != nil:
			if want := c.float(uint64(v)); got.Floats[i] != want {
				return fmt.Sprintf("y[%d] of %d is %g, want %g", i, uint64(v), got.Floats[i], want)
			}
		case c.pair != nil:
			if want := c.pair(uint64(v), uint64(b[i])); uint64(got.Codes[i]) != want {
				return fmt.Sprintf("y[%d] of %d, %d is %d, want %d", i, uint64(v), uint64(b[i]), uint64(got.Codes[i]), want)
			}
		}
	}
	if c.line != nil {
		for i, want := range c.line(all) {
			if uint64(got.Codes[i]) != want {
				return fmt.Sprintf("y[%d] is %d, want %d", i, uint64(got.Codes[i]), want)
			}
		}
	}
	return ""
}
