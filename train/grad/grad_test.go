// SPDX-License-Identifier: Apache-2.0

package grad_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"lathe/golden/pjrt"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/diag"
	"lathe/ir/hlo"
	"lathe/train/grad"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }

// draw makes an argument.
func (v values) draw(r *rand.Rand, dims []int) []float64 {
	n := hlo.Type{Dims: dims}.Len()
	out := make([]float64, n)
	for i := range out {
		out[i] = v.lo + (v.hi-v.lo)*r.Float64()
	}
	if v.apart {
		for i, k := range r.Perm(n) {
			step := (v.hi - v.lo) / float64(n)
			out[i] = v.lo + step*(float64(k)+0.3+0.2*r.Float64())
		}
	}
	return out
}

// program computes a weighted sum of the result of a case, and its gradients.
func (c *gradCase) program(r *rand.Rand) *hlo.Builder {
	b := hlo.New("main")
	var x []hlo.Value
	for _, dims := range c.args {
		x = append(x, b.Arg("", hlo.TypeOf(hlo.F64, dims...)))
	}
	y := c.build(b, x)
	around := values{lo: 0.5, hi: 1.5}
	n := y.Type().Len()
	weights := b.Const(hlo.FromFloat64s(hlo.F64, []int{n}, around.draw(r, []int{n})))
	var loss hlo.Value
	if c.kind == hlo.KindReduce { // a fault in the rule must not stand in the way twice
		loss = b.DotGeneral(b.Reshape(y, n), weights, hlo.Dot{LhsContract: []int{0}, RhsContract: []int{0}}, hlo.F64)
	} else {
		loss = b.Reduce(hlo.ReduceAdd, b.Mul(b.Reshape(y, n), weights), 0)
	}
	grads, err := grad.Of(b, loss, x...)
	if err != nil {
		return b
	}
	b.Return(append([]hlo.Value{loss}, grads...)...)
	return b
}

// off is how far the derivative along a random direction lies from that of differences, relative to their size.
func (c *gradCase) off(t *testing.T, seed uint64) float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	b := c.program(r)
	if b.Program() == nil {
		t.Fatal(b.Err())
	}
	p, err := pjrttest.Engine(t).Compile(t.Context(), b.Program())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Drop(context.Background())
	const h = 1e-5
	var at, up, down []hlo.Array
	var along [][]float64
	for _, dims := range c.args {
		x, u := c.from.draw(r, dims), around.draw(r, dims)
		plus, minus := make([]float64, len(x)), make([]float64, len(x))
		for i := range x {
			plus[i], minus[i] = x[i]+h*u[i], x[i]-h*u[i]
		}
		along = append(along, u)
		at = append(at, hlo.FromFloat64s(hlo.F64, dims, x))
		up, down = append(up, hlo.FromFloat64s(hlo.F64, dims, plus)), append(down, hlo.FromFloat64s(hlo.F64, dims, minus))
	}
	results := run(t, p, at)
	difference := (run(t, p, up)[0].Float64s()[0] - run(t, p, down)[0].Float64s()[0]) / (2 * h)
	slope, size := 0.0, 1e-3
	for i, u := range along {
		for k, g := range results[i+1].Float64s() {
			slope += g * u[k]
			size += math.Abs(g * u[k])
		}
	}
	return math.Abs(slope-difference) / max(size, math.Abs(difference))
}

func run(t *testing.T, p *pjrt.Program, args []hlo.Array) []hlo.Array {
	t.Helper()
	out, err := p.Run(t.Context(), args)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRules compares the rule of each kind with central differences in f64.
func TestRules(t *testing.T) {
	covered := map[hlo.Kind]bool{hlo.KindConvert: true} // by TestConvert: differences do not see f32
	for _, c := range cases {
		covered[c.kind] = true
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(2) {
				if off := c.off(t, seed); !(off <= 1e-6) {
					t.Errorf("seed %d: gradient and differences are %.3g apart", seed, off)
				}
			}
		})
	}
	for k, more := range grad.Kinds() {
		if more && !covered[k] {
			t.Errorf("%s has a rule and no case", k)
		}
	}
}

// TestPlanted plants a fault in what each rule gives each operand: the cases of the kind find it.
func TestPlanted(t *testing.T) {
	for _, c := range cases {
		for i := range max(len(c.args), 1) {
			operand := i
			if c.kind == hlo.KindSelect || c.kind == hlo.KindThrough {
				operand = i + 1
			}
			if c.kind == hlo.KindScatter && i == 1 {
				operand = 2
			}
			for _, factor := range []float64{-1, 0} {
				undo := grad.Plant(c.kind, operand, factor)
				off := c.off(t, 0)
				undo()
				if off <= 1e-6 {
					t.Errorf("%s: nothing notices that operand %d gets %g times its gradient", c.name, operand, factor)
				}
			}
		}
	}
}

// TestConvert passes gradients on in the type of what is converted.
func TestConvert(t *testing.T) {
	slope := func() float64 {
		b := hlo.New("main")
		x := b.Arg("x", hlo.TypeOf(hlo.F64))
		g, err := grad.Of(b, b.Mul(b.Convert(x, hlo.F32), b.Float(hlo.F32, 3)), x)
		if err != nil {
			t.Fatal(err)
		}
		b.Return(g...)
		return pjrttest.Run(t, b, hlo.FromFloat64s(hlo.F64, nil, []float64{1.5}))[0].Float64s()[0]
	}
	if v := slope(); v != 3 {
		t.Errorf("gradient %g, not 3", v)
	}
	undo := grad.Plant(hlo.KindConvert, 0, -1)
	defer undo()
	if v := slope(); v != -3 {
		t.Errorf("with a planted fault: gradient %g", v)
	}
}

// TestTies gives all of the gradient to the first of equals, and counts it once.
func TestTies(t *testing.T) {
	b := hlo.New("main")
	x := b.Arg("x", hlo.TypeOf(hlo.F32, 1, 4, 4, 1))
	y := b.Arg("y", hlo.TypeOf(hlo.F32, 1, 4, 4, 1))
	pool := b.ReduceWindow(hlo.ReduceMax, b.Max(x, y), hlo.Window{Size: []int{2, 2}, Stride: []int{2, 2}}.Spatial(x))
	loss := b.Add(b.Reduce(hlo.ReduceAdd, pool, 0, 1, 2, 3), b.Reduce(hlo.ReduceMax, x, 0, 1, 2, 3))
	g, err := grad.Of(b, loss, x, y)
	if err != nil {
		t.Fatal(err)
	}
	b.Return(g...)
	ones := hlo.FromFloat32s([]int{1, 4, 4, 1}, []float32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
	got := pjrttest.Run(t, b, ones, ones)
	want := []float64{2, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0}
	for i, w := range want {
		if v := got[0].Float64s()[i]; v != w {
			t.Errorf("element %d has gradient %g, not %g", i, v, w)
		}
		if v := got[1].Float64s()[i]; v != 0 {
			t.Errorf("element %d of the second argument has gradient %g, not 0", i, v)
		}
	}
}

// TestZero gives 0 for what the loss does not depend on, and for what moves in steps.
func TestZero(t *testing.T) {
	b := hlo.New("main")
	x, y := b.Arg("x", hlo.TypeOf(hlo.F32)), b.Arg("y", hlo.TypeOf(hlo.F32))
	loss := b.Mul(b.RoundEven(x), b.Float(hlo.F32, 3))
	g, err := grad.Of(b, loss, x, y)
	if err != nil {
		t.Fatal(err)
	}
	b.Return(g...)
	for i, a := range pjrttest.Run(t, b, hlo.FromFloat32s(nil, []float32{1.2}), hlo.FromFloat32s(nil, []float32{2})) {
		if v := a.Float64s()[0]; v != 0 {
			t.Errorf("gradient %d is %g", i, v)
		}
	}
}

// TestRefused names the operation that has no rule, and its place in the model.
func TestRefused(t *testing.T) {
	b := hlo.New("main")
	x := b.Arg("x", hlo.TypeOf(hlo.F32, 4))
	b.At("model.onnx: top (TopK)")
	sorted, _ := b.SortPlaces(x, 0, true)
	loss := b.Reduce(hlo.ReduceAdd, sorted, 0)
	_, err := grad.Of(b, loss, x)
	if diag.CodeOf(err) != diag.NoGradient || err.Error() != "model.onnx: top (TopK): L1001: sort has no gradient here: a"+
		" parameter that is trained reaches the loss through it" {
		t.Errorf("got %v", err)
	}
	_, err = grad.Of(b, x, x)
	if diag.CodeOf(err) != diag.LossNotScalar {
		t.Errorf("got %v", err)
	}
}
