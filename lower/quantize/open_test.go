// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/lower/float"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

// coded makes weight w codes of the model: three bits, with one scale for each output channel.
func coded(r *rand.Rand, w *ir.Node, real bool) {
	own := ir.Type{Format: format.Affine{W: 3, Signed: true, Axis: 0}}
	values := make([]float32, w.Type.Elems())
	for c := range w.Type.Shape[0] {
		scale := float32(math.Ldexp(1, -c%3-1))
		if real {
			scale = 0.1 + 0.2*r.Float32()
		}
		own.Scales = append(own.Scales, scale)
		row := len(values) / w.Type.Shape[0]
		for i := range row {
			values[c*row+i] = float32(r.IntN(8)-4) * scale
		}
	}
	w.Attrs = &ir.Const{Data: ir.FloatBlob(values), Own: own}
}

// trained is a network with formats of its own that leaves some values open: what is in front of batch norms, an
// addition, and the output.
func trained(t *testing.T, seed uint64, real bool) *ir.Graph {
	b, r := lowertest.New(t, seed), rand.New(rand.NewPCG(seed, 4))
	quant := func(name, ints string, exp int, x *ir.Node) *ir.Node {
		scale := math.Ldexp(1, exp)
		if real {
			scale *= 1 + r.Float64()
		}
		a := &pointwise.QuantAttrs{Format: fmt.Sprintf(ints+"*%v", float32(scale))}
		return b.Add(pointwise.Quant, name, a, x)
	}
	conv := func(name string, x *ir.Node) *ir.Node {
		c := b.Conv(name, x, 4, 3, 1, 1, 1, false)
		coded(r, c.Args[1], real)
		return b.BatchNorm(name+"_norm", c)
	}
	x := quant("qx", "int(6,div=f32)", -4, b.Input("x", 1, 2, 5, 5))
	one := quant("q1", "uint(3,div=f32)", -2, b.Add(pointwise.Relu, "relu", nil, conv("conv1", x)))
	two := quant("q2", "int(4,div=f32)", -1, b.Add(pointwise.Add, "add", nil, conv("conv2", one), one))
	fc := b.Linear("fc", b.Flatten("flat", two), 3, true)
	coded(r, fc.Args[1], real)
	return b.Done(fc)
}

// farthest is the greatest difference of the outputs of two graphs on random samples.
func farthest(t *testing.T, g, q *ir.Graph) float64 {
	t.Helper()
	in := float.Random(g, plan.Default(), 5, 40)
	want := outputs(t, g, in)
	got := outputs(t, q, in)
	worst := 0.0
	for i := range want {
		values, err := got[i][0].Decode()
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range values {
			worst = max(worst, math.Abs(v-float64(want[i][0].Floats[k])))
		}
	}
	return worst
}

// TestOpenValues quantizes models with formats of their own: what those leave open is exact, with and without samples,
// unless the plan decides. Codes of weights stay those of the model behind a batch norm.
func TestOpenValues(t *testing.T) {
	for seed := range uint64(6) {
		real := seed%2 == 1
		g := trained(t, seed, real)
		var c Calibration
		if seed > 2 {
			c = samples(g, -1, 1, 9)
		}
		q, r := mustQuantize(t, g, "", c)
		if d := farthest(t, g, q); d > 1e-4 {
			t.Errorf("seed %d: off by %g: %v", seed, d, formatsOf(q))
		}
		for _, n := range q.Nodes {
			if n.Op == sum.Scale && n.Args[1].Type.Format.Width() > 2 {
				t.Errorf("seed %d: %s multiplies by %s", seed, n.Name, n.Args[1].Type)
			}
			if n.Op == sum.Conv && n.Args[1].Type.Format.Width() > 4 {
				t.Errorf("seed %d: the weights of %s are %s", seed, n.Name, n.Args[1].Type)
			}
		}
		noted := slices.ContainsFunc(r.Notes, func(s string) bool { return strings.Contains(s, "conv2 (fixed(32,") })
		if !noted {
			t.Errorf("seed %d: notes %q", seed, r.Notes)
		}
		q, _ = mustQuantize(t, g, "[[quantize.rule]]\nname = \"conv2\"\ndata_out = \"fixed(6)\"", c)
		if f := q.Find("conv2").Type.Format; f.Width() != 6 {
			t.Errorf("seed %d: a rule gives conv2 %s", seed, f)
		}
		if d := farthest(t, g, q); d < 1e-2 {
			t.Errorf("seed %d: 6 bits change nothing: %g", seed, d)
		}
		if q, _ = mustQuantize(t, g, "[quantize]\ndata = \"fixed(8)\"", c); q.Find("conv2").Type.Format.Width() != 8 {
			t.Errorf("seed %d: %v", seed, formatsOf(q))
		}
	}
}

// TestOpenJoins: padding and constants beside codes of the model keep its format, whatever its scale and zero point,
// and whoever gives no samples is not told that some would do better.
func TestOpenJoins(t *testing.T) {
	const codes = "int(8,z=5)*0.3"
	b := lowertest.New(t, 1)
	x := b.Add(pointwise.Quant, "q", &pointwise.QuantAttrs{Format: codes}, b.Input("x", 1, 2, 3))
	token := b.Const([]int{1, 1, 3}, 0.6, -0.9, 1.5)
	f, err := format.Parse(codes)
	if err != nil {
		t.Fatal(err)
	}
	token.Attrs.(*ir.Const).Own = ir.Type{Format: f}
	both := b.Add(move.Concat, "both", &move.ConcatAttrs{Axis: 1}, token, x)
	g := b.Done(b.Add(pointwise.Quant, "y", &pointwise.QuantAttrs{Format: codes}, both))
	q, r := mustQuantize(t, g, "", Calibration{})
	if p := q.Find("both.pad"); p == nil || p.Type.Format.String() != codes {
		t.Errorf("formats %v", formatsOf(q))
	}
	if d := farthest(t, g, q); d > 1e-5 { // float32 against exact multiples of 0.3
		t.Errorf("off by %g: %v", d, formatsOf(q))
	}
	for _, n := range r.Notes {
		if strings.Contains(n, "rounded") || strings.Contains(n, "do better") {
			t.Error(n)
		}
	}
}
